import numpy as np
import onnx
import pytest
from depth import DEEP
from onnx import helper
from operator_cases import Case, cases
from straightline import ir
from straightline.analysis.shapes.onnx_inference_cache import connected_message
from straightline.facts.fact import UNKNOWN, constant_fact
from straightline.ops import OperatorRules, described, rules_of
from straightline.ops.axis_map import PassesAxes, axis_map_of
from straightline.ops.products import Einsum, Gemm, MatMul
from straightline.reference import EvaluationError, operator_kernel

MAPPED = sorted(
    name for name, rules in described().items() if rules.defines(OperatorRules.axis_map)
)


def numbers(rng, *shape):
    return rng.integers(-8, 9, shape).astype(np.float32) / 4


def small(rng, *shape):
    return rng.integers(0, 9, shape).astype(np.uint8)


def batches(rng):  # noqa: PLR0915
    """Nodes that take rows of a batch each by itself, and others that random cases leave out."""
    f = lambda *shape: numbers(rng, *shape)  # noqa: E731
    u = lambda *shape: small(rng, *shape)  # noqa: E731
    n, s, z = int(rng.integers(2, 5)), np.float32(0.5), np.uint8(3)
    channels = [f(4), f(4), f(4), abs(f(4)) + 1]
    yield "Conv", 22, [f(n, 4, 5), f(2, 2, 3), f(2)], {"group": 2}
    yield "ConvTranspose", 22, [f(n, 4, 3, 3), f(4, 1, 2, 2)], {}
    yield "ConvInteger", 10, [u(n, 1, 4, 4), u(2, 1, 2, 2), z], {}
    yield "QLinearConv", 10, [u(n, 1, 4, 4), s, z, u(2, 1, 2, 2), s, z, s, z], {}
    offset = f(n, 8, 2, 2)
    yield "DeformConv", 22, [f(n, 1, 3, 3), f(1, 1, 2, 2), offset], {"kernel_shape": [2, 2]}
    for pool in ("MaxPool", "AveragePool", "LpPool"):
        yield pool, 22, [f(n, 2, 5, 4)], {"kernel_shape": [2, 3]}
    for pool in ("GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool"):
        yield pool, 21, [f(n, 2, 3, 4)], {}
    yield "LRN", 21, [f(n, 4, 2, 2)], {"size": 3}
    yield "GridSample", 20, [f(n, 1, 3, 3), f(n, 2, 2, 2) / 4], {}
    yield "Col2Im", 18, [f(n, 4, 4), np.array([3, 3]), np.array([2, 2])], {}
    yield "DepthToSpace", 13, [f(n, 8, 2, 2)], {"blocksize": 2}
    yield "SpaceToDepth", 13, [f(n, 2, 4, 4)], {"blocksize": 2}
    yield "BatchNormalization", 15, [f(n, 4, 3), *channels], {}
    yield "InstanceNormalization", 22, [f(n, 4, 3), f(4), f(4)], {}
    yield "GroupNormalization", 21, [f(n, 4, 3), f(4), f(4)], {"num_groups": 2}
    yield "LayerNormalization", 17, [f(n, 4, 3), f(4, 3), f(3)], {"axis": 1}
    yield "LayerNormalization", 17, [f(n, 4, 3), f(4, 1), f(1)], {"axis": -1}
    yield "RMSNormalization", 23, [f(n, 4, 3), f(3)], {"axis": 2}
    yield "Dropout", 13, [f(n, 4, 3)], {}
    yield "LpNormalization", 22, [f(n, 4, 3)], {"axis": int(rng.integers(-3, 3)), "p": 1}
    yield "CastLike", 19, [f(n, 3, 2), u(1)], {}
    yield "Det", 22, [f(n, 2, 3, 3)], {}
    yield "GatherND", 13, [f(n, 3, 2), rng.integers(-3, 3, (n, 2, 1))], {"batch_dims": 1}
    yield "GatherND", 13, [f(n, 3, 2), rng.integers(-2, 2, (4, 2))], {}
    axis = int(rng.integers(-3, 3))
    length = (n, 3, 4)[axis]
    places = rng.integers(-length, length, (n - 1, 2, 3))
    yield "GatherElements", 13, [f(n, 3, 4), places], {"axis": axis}
    yield "ScatterElements", 18, [f(n, 3, 4), places, f(n - 1, 2, 3)], {"axis": axis}
    yield "ScatterND", 13, [f(4, 3, n), rng.permutation(12).reshape(-1, 1) % 4, f(12, 3, n)], {}
    pairs = np.array([[3, 0], [0, -1]])
    yield "ScatterND", 18, [f(4, 3, n), pairs, f(2, n)], {"reduction": "add"}
    times = {"batch_axis": 0, "time_axis": 1}
    yield "ReverseSequence", 10, [f(n, 3, 2), rng.integers(0, 4, n)], times
    yield "Gather", 13, [f(n, 3, 4), rng.integers(-length, length, (2, 3))], {"axis": axis}
    for equation in ("abc,acd->abd", "ab c,d c->adb", "abc,cd", "abc->ca", "aab,c->bc"):
        first = f(3, 3, n) if equation.startswith("aab") else f(n, 3, 4)
        second = {"abc,acd->abd": (n, 4, 2), "abc,cd": (4, 2), "aab,c->bc": (2,)}
        rest = [f(*second.get(equation, (2, 4)))] if "," in equation else []
        yield "Einsum", 12, [first, *rest], {"equation": equation}
    yield "MatMul", 13, [f(n, 1, 3, 4), f(2, 4, 3)], {}
    yield "MatMul", 13, [f(4), f(n, 4, 3)], {}
    yield "MatMul", 13, [f(4), f(4, n)], {}
    yield "MatMul", 13, [f(n, 3, 4), f(4)], {}
    yield "MatMulInteger", 10, [u(n, 3, 4), u(4, 3), z, z], {}
    yield "QLinearMatMul", 10, [u(n, 3, 4), s, z, u(4, 3), s, z, s, z], {}
    for turned in (0, 1):
        operands = [f(3, n) if turned else f(n, 3), f(3, 2), f(*((n, 1), (2,))[turned])]
        yield "Gemm", 13, operands, {"transA": turned}
        yield "Gemm", 13, [f(n, 3), f(2, 3) if turned else f(3, 2)], {"transB": turned}
    yield "QuantizeLinear", 19, [f(n, 3, 2), abs(f(3)) + 1, u(3)], {"axis": -2}
    yield "DequantizeLinear", 19, [u(n, 3, 2), s, z], {}
    pads = [0, *map(int, rng.integers(-1, 3, 2)), 0, 0, 2]
    yield "Pad", 19, [f(n, 3, 4), np.array(pads), s], {}
    yield "Pad", 10, [f(n, 3, 4)], {"pads": pads, "mode": "reflect"}
    yield "Pad", 18, [f(n, 3, 4), np.array([1, 2]), None, np.array([-2])], {"mode": "edge"}
    yield "Tile", 13, [f(n, 3, 4), np.array([1, 2, 3])], {}
    yield "CenterCropPad", 18, [f(n, 3, 4), np.array([2, 5])], {"axes": [1, -1]}
    yield "DFT", 17, [f(n, 3, 4, 1)], {"axis": 2, "onesided": 1}
    yield "DFT", 20, [f(n, 3, 4, 2), None, np.array(-3)], {}
    depth = np.array(4)
    yield "OneHot", 11, [f(n, 3), depth, f(2)], {"axis": int(rng.integers(-3, 3))}
    yield "Slice", 13, [f(n, 3, 4), *map(np.array, ([2], [-9], [1], [-1]))], {}
    yield "Compress", 11, [f(n, 3, 4), rng.random(3) < 0.5], {"axis": int(rng.integers(-3, 3))}


def case(op_type, opset, operands, attributes):
    names = ["" if a is None else f"i{i}" for i, a in enumerate(operands)]
    outputs = {"Dropout": 2, "LayerNormalization": 3, "MaxPool": 2}
    results = [f"o{i}" for i in range(outputs.get(op_type, 1))]
    return Case(helper.make_node(op_type, names, results, **attributes), opset, operands)


def drawn(name, count):
    rng = np.random.default_rng(list(name.encode()))
    yield from cases(count, 0, only={name})
    for _ in range(count):
        yield from (case(*each) for each in batches(rng) if each[0] == name)


class Node:
    """One node of a case, and what the reference makes of operands."""

    def __init__(self, drawn):
        nothing = onnx.ModelProto(ir_version=10)
        self.imports = {"": drawn.opset}
        model = ir.Model(nothing)
        model.opset_imports = dict(self.imports)
        values = [model.graph.add_input(name) if name else None for name in drawn.node.input]
        named = {message.name: message for message in drawn.node.attribute}
        op = ir.Operator(drawn.node.op_type, attributes=named)
        self.node = model.graph.add_node(op, values, list(drawn.node.output))
        self.operands = list(drawn.operands)
        self.facts = [
            UNKNOWN if a is None else constant_fact(ir.Tensor(array=a)) for a in self.operands
        ]

    def run(self, operands, **changed):
        op = self.node.op
        kept = [m for m in op.attributes.values() if m.name not in changed]
        op = op.with_attributes([*kept, *(ir.attribute_message(n, v) for n, v in changed.items())])
        kernel = operator_kernel(connected_message(op, self.node), self.imports)
        return kernel(operands)

    def run_with(self, operands, changed):
        """Run with other attributes, by name, and other operands, by position."""
        operands = [*operands]
        attributes = {key: value for key, value in changed.items() if isinstance(key, str)}
        for key in changed.keys() - attributes.keys():
            operands += [None] * (key + 1 - len(operands))
            operands[key] = np.array(changed[key], np.int64)
        return self.run(operands, **attributes)


def part(array, axis, start, size):
    return np.take(array, range(start, start + size), axis)


def assert_alike(got, expected, node):
    assert got.shape == expected.shape and got.dtype == expected.dtype, node
    if got.dtype.hasobject:
        assert got.tolist() == expected.tolist(), node
    elif rules_of(node.op).exact or got.dtype.kind not in "fV":
        assert got.tobytes() == expected.tobytes(), node
    else:
        with np.errstate(all="ignore"):
            one, other = (np.asarray(array, np.float64) for array in (got, expected))
            np.testing.assert_allclose(one, other, 1e-5, 1e-6, err_msg=str(node))


def checked(drawn, rng):
    """Check one case: the canonical form, and parts along each axis; how many parts leave something
    out, and how many leave an axis out."""
    node = Node(drawn)
    try:
        results = node.run(node.operands)
    except EvaluationError:
        return 0, 0
    rules = rules_of(node.node.op)
    if isinstance(rules, (Einsum, Gemm, MatMul)) and (
        results[0].dtype.kind in "iu" or not rules.is_settled(node.node, node.operands, results)
    ):
        return 0, 0  # what overflows on the way does so in another order
    canonical = rules.canonical(node.node, node.facts)
    for got, expected in zip(node.run_with(node.operands, canonical), results, strict=True):
        assert_alike(got, expected, node.node)
    parts = dropped = 0
    # Operators of which the reference does not compute all scalars.
    no_scalars = ("Cast", "CastLike", "Softsign")
    for axis in range(results[0].ndim):
        match = axis_map_of(node.node, node.facts, axis)
        if match is None or not results[0].shape[axis]:
            continue
        length = results[0].shape[axis]
        sizes = [(a, own) for a, own in zip(node.operands, match.inputs, strict=True)]
        stretched = [match.stretches and own is not None and a.shape[own] == 1 for a, own in sizes]
        fits = [own is None or a.shape[own] == length for a, own in sizes]
        if not all(np.logical_or(fits, stretched)):
            continue  # proofs take no part of these
        start = int(rng.integers(length))
        size = int(rng.integers(1, max(2, length - start)))
        operands = [
            a if own is None or stretched[n] else part(a, own, start, size)
            for n, (a, own) in enumerate(sizes)
        ]
        for index, (got, whole) in enumerate(zip(node.run(operands), results, strict=True)):
            if not index or match.all_outputs:
                assert_alike(got, part(whole, axis, start, size), node.node)
                parts += size < length
        if match.changed is None or (results[0].ndim == 1 and node.node.op_type in no_scalars):
            continue
        row = [
            a if own is None else np.asarray(np.take(a, 0 if stretched[n] else start, own), a.dtype)
            for n, (a, own) in enumerate(sizes)
        ]
        for got, whole in zip(node.run_with(row, match.changed), results, strict=True):
            assert_alike(got, np.asarray(np.take(whole, start, axis), whole.dtype), node.node)
            dropped += 1
    return parts, dropped


@pytest.mark.sample(30)
@pytest.mark.parametrize("name", MAPPED)
def test_parts_of_results_are_results_of_parts(name):
    rng, count = np.random.default_rng(1), 4 if DEEP else 2
    counts = np.array([checked(each, rng) for each in drawn(name, count)])
    assert counts[:, 0].sum() >= count, "cases have no parts; add some to `batches`"
    if isinstance(described()[name], PassesAxes):
        assert counts[:, 1].sum() >= count, "cases have no axis to leave out; add some"
