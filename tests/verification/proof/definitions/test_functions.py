import functools
from collections.abc import Mapping
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import onnx
import pytest
from depth import DEEP
from onnx import helper
from sessions import open_session
from straightline import Error
from straightline.facts.fact import Fact
from straightline.facts.polynomial import Dimension
from straightline.ir import Operator
from straightline.reference import run
from straightline.verification.proof.definitions.functions import (
    DEFINITIONS,
    OVER_REALS_ONLY,
    Application,
    function_of,
)
from straightline.verification.proof.terms.budget import Budget
from straightline.verification.proof.terms.term_manager import Terms

TYPES = (np.float32, np.float64, np.float16, ml_dtypes.bfloat16)
INTEGERS = (np.int32, np.int64, np.uint32, np.uint64)
KINDS = ("plain", "special", "zero", "large")
TOLERANCE = {1: 0.0, 2: 3e-2, 4: 2e-4, 8: 1e-9}
"""By bytes of a float: kernels round in between."""


class Case(NamedTuple):
    """Operator with shapes of its inputs; a tensor stands for itself, None for an absent input."""

    op_type: str
    opset: int
    inputs: tuple[Any, ...]
    attributes: Mapping[str, Any] = {}
    outputs: int = 1
    types: tuple[Any, ...] = TYPES
    kinds: tuple[str, ...] = KINDS
    unread: int = 0


FINITE = {"types": TYPES[:1], "kinds": KINDS[:1]}
"""Numbers on which definitions that hold over the reals only are compared."""

ELEMENTWISE = ("Elu", "Gelu", "HardSigmoid", "HardSwish", "LeakyRelu", "Mish", "Shrink", "Softsign")
SMALL_INTEGERS = (np.int8, np.uint8, np.int16, np.uint16)
VARIANCE = np.array([0.5, 2, 7], np.float32)
SCALES = np.array([[0.3, -1.7, np.inf, 3e30], [0.0, 7.1, 0.1, np.nan]], np.float32)


def numbers(kind):
    """All kinds of integers of a type, and one for each column."""
    info = np.iinfo(kind)
    table = (
        np.random.default_rng(4).integers(info.min, info.max, (4, 4), endpoint=True).astype(kind)
    )
    table[0, :2] = info.min, info.max
    return table, np.array([info.max, info.min, 0, 3], kind)


LABELS = np.array([[0, 4, 1, 2], [3, 3, 0, 1]])
CASES = [
    *(Case(name, 22, (shape,)) for name in ELEMENTWISE for shape in ((3, 5), (), (0, 2))),
    Case("Gelu", 20, ((3, 5),), {"approximate": "tanh"}),
    Case("HardSigmoid", 6, ((3, 5),), {"alpha": 0.3, "beta": 0.7}),
    Case("Shrink", 9, ((3, 5),), {"lambd": 0.7, "bias": 0.3}),
    Case("ThresholdedRelu", 22, ((3, 5),), {"alpha": 0.3}),
    Case("Swish", 24, ((3, 5),), {"alpha": 0.7}),
    Case("SwiGLU", 28, ((3, 5), (3, 5))),
    Case("PRelu", 16, ((3, 5), (5,)), types=INTEGERS),
    *(
        Case(name, 13, (shape,), {"axis": axis})
        for name in ("Softmax", "LogSoftmax")
        for shape, axis in (((3, 5), -1), ((2, 3, 4), 1), ((3, 0), 1), ((3, 1), 1))
    ),
    *(Case("LayerNormalization", 17, (s, s[-1:], s[-1:])) for s in ((2, 3, 5), (2, 1), (0, 4))),
    Case("LayerNormalization", 17, ((2, 3, 5), (3, 5)), {"axis": 1, "epsilon": 0.1}),
    Case("LayerNormalization", 17, ((2, 3, 5), (5,), (5,)), {}, 3, (np.float32,)),
    Case("LayerNormalization", 17, ((2, 5), (5,)), {"stash_type": 11}, types=(np.float64,)),
    *(
        Case("RMSNormalization", 23, (s, s[-1:]), kinds=("plain", "special", "zero"))
        for s in ((2, 3, 5), (2, 1), (0, 4))
    ),
    # Runtimes run onnx's function, which subtracts squares and so overflows early.
    *(
        Case("GroupNormalization", 21, (s, (4,), (4,)), {"num_groups": 2}, kinds=KINDS[:3])
        for s in ((2, 4, 5), (1, 4, 2, 3))
    ),
    Case("MeanVarianceNormalization", 13, ((2, 4, 5, 2),), **FINITE),
    Case("InstanceNormalization", 22, ((2, 3, 4, 2), (3,), (3,)), {"epsilon": 0.1}, **FINITE),
    Case("BatchNormalization", 15, ((2, 3, 4), *[(3,)] * 3, VARIANCE), **FINITE),
    Case("Softplus", 22, ((3, 5),), **FINITE),
    Case("ReduceLogSumExp", 13, ((2, 3, 4),), {"axes": [1]}, **FINITE),
    Case("Gemm", 13, ((3, 4), (4, 5), (5,)), types=TYPES[:2] + INTEGERS),
    Case("Gemm", 13, ((4, 3), (4, 5), (5,)), {"transA": 1, "beta": 0.3}, types=TYPES[:2]),
    Case("Gemm", 13, ((3, 4), (5, 4)), {"transB": 1, "alpha": 0.5}, types=TYPES[:3]),
    Case("Gemm", 13, ((3, 0), (0, 5), (5,)), types=TYPES[:2]),
    *(
        Case("Gemm", 13, (*shapes, *rest), {"alpha": alpha}, types=TYPES[:1])
        for shapes in (((1, 1), (1, 1)), ((3, 4), (4, 5)))
        for rest in ((), (np.zeros((), np.float32),), (np.full((), -0.0, np.float32),))
        for alpha in (1.0, -1.0)
    ),
    *(
        Case(name, 13, (shape,), attributes, types=types)
        for name, types in (
            ("ReduceL1", TYPES[:2] + INTEGERS),
            ("ReduceSumSquare", TYPES[:2] + INTEGERS),
            ("ReduceL2", TYPES[:2]),
            ("ReduceLogSum", TYPES[:2]),
        )
        for shape, attributes in (
            ((3, 5), {"axes": [1]}),
            ((3, 0), {"axes": [-1]}),
            ((2, 3), {"keepdims": 0}),
        )
    ),
    *(
        Case("DepthToSpace", 13, ((2, 12, 2, 3),), {"blocksize": 2, "mode": mode}, types=types)
        for mode in ("DCR", "CRD")
        for types in (TYPES, INTEGERS)
    ),
    Case("Tile", 13, ((2, 3), np.array([2, 0])), types=TYPES + INTEGERS),
    Case("Tile", 13, ((2, 3), np.array([1, 4])), types=TYPES + INTEGERS),
    Case("SpaceToDepth", 13, ((2, 3, 4, 6),), {"blocksize": 2}, types=TYPES + INTEGERS),
    *(
        Case(name, 28, ((2, 4, 4, 6),), {"blocksize": 2, "mode": mode}, types=TYPES[:1])
        for name in ("DepthToSpace", "SpaceToDepth")
        for mode in ("DCR", "CRD")
    ),
    *(
        Case(name, 18, ((2, 3), np.array([axis])), {"keepdims": axis}, types=TYPES[:2])
        for name in ("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceSumSquare")
        for axis in (0, 1)
    ),
    Case("CausalConvWithState", 27, ((2, 3, 5), (3, 1, 4), (3,), (2, 3, 3)), {}, 2, TYPES[:3]),
    Case("CausalConvWithState", 27, ((2, 3, 5), (3, 1, 2)), {"activation": "silu"}, 2, TYPES[:3]),
    *(
        Case("CenterCropPad", 18, ((3, 5), np.array(sizes)), types=TYPES[:2] + INTEGERS[:2])
        for sizes in ([4, 3], [2, 7], [3, 5], [1, 1], [8, 2])
    ),
    Case("CenterCropPad", 18, ((3, 5, 4), np.array([7, 2])), {"axes": [-1, 1]}),
    *(
        Case("GatherND", 13, (shape, np.array(indices)), types=TYPES[:2] + INTEGERS[:2])
        for shape, indices in (
            ((3, 4), [[0, 3], [-1, -4]]),
            ((3, 4, 2), [[[2, 1]], [[-3, -1]]]),
            ((3, 4), [[2], [-1]]),
            ((3, 4, 2), [[[2]], [[-3]]]),
            ((3, 0), np.zeros((0, 2), np.int64)),
        )
    ),
    *(
        Case("ScatterND", 13, (shape, np.array(indices), rows), types=TYPES[:2] + INTEGERS[:2])
        for shape, indices, rows in (
            ((3, 4), [[0, 3], [-1, -4]], (2,)),
            ((3, 4, 2), [[[2, 1]], [[-3, -1]]], (2, 1, 2)),
            ((3, 4), [[2], [-2]], (2, 4)),
            ((3, 0), [[2], [-1]], (2, 0)),
            ((3, 4), np.zeros((0, 2), np.int64), (0,)),
        )
    ),
    *(
        Case("NegativeLogLikelihoodLoss", 13, inputs, {"reduction": reduction})
        for reduction in ("mean", "sum", "none")
        for inputs in (((2, 5, 4), LABELS), ((2, 5), LABELS[:, 0], (5,)))
    ),
    Case("SoftmaxCrossEntropyLoss", 13, ((2, 5, 4), LABELS), {}, 2, **FINITE),
    *(
        Case("RotaryEmbedding", 23, ((2, 3, 4, 8), half, half), {"interleaved": n, **attributes})
        for n in (0, 1)
        for half, attributes in (((2, 4, 4), {}), ((2, 4, 2), {"rotary_embedding_dim": 4}))
    ),
    Case("Attention", 23, ((2, 3, 4, 8), (2, 3, 6, 8), (2, 3, 6, 8)), **FINITE),
    Case(
        *("Attention", 24, ((2, 4, 24), (2, 6, 24), (2, 6, 24))),
        {"q_num_heads": 3, "kv_num_heads": 3, "is_causal": 1},
        **FINITE,
    ),
    *(
        Case(name, 22, (shape,), **FINITE)
        for name in ("GlobalAveragePool", "GlobalMaxPool")
        for shape in ((2, 3, 4, 5), (2, 3, 1), (1, 2, 33))
    ),
    *(
        Case("Trilu", 14, (shape, np.array(k)), {"upper": upper}, types=types)
        for upper in (0, 1)
        for shape, k in (((3, 5), 1), ((2, 4, 3), -2), ((2, 0, 3), 0), ((3, 3), 2**62))
        for types in (TYPES[:2], INTEGERS[:2])
    ),
    Case("Trilu", 14, ((4, 3),), types=TYPES[:1]),
    *(
        Case(name, 13, (shape,), {"select_last_index": 1, **attributes}, types=types)
        for name in ("ArgMax", "ArgMin")
        for shape, attributes in (((9, 3), {}), ((2, 9), {"axis": -1, "keepdims": 0}))
        for types in ((np.int8, np.uint8), INTEGERS[:2])
    ),
    *(
        Case("DequantizeLinear", 21, inputs, {"axis": axis, **more}, types=SMALL_INTEGERS)
        for axis, more, inputs in (
            (1, {}, ((3, 4), np.array(0.3, np.float32))),
            (1, {}, ((3, 4), SCALES[0, :1])),
            (-1, {}, ((2, 3, 4), SCALES[0])),
            (0, {}, ((4, 3), SCALES[1])),
            (1, {"block_size": 2}, ((2, 7), SCALES)),
        )
    ),
    *(
        Case("DequantizeLinear", 21, (numbers(kind)[0], SCALES[0], numbers(kind)[1]), types=(kind,))
        for kind in SMALL_INTEGERS
    ),
    Case("DequantizeLinear", 13, ((3, 4), SCALES[0]), types=INTEGERS[:1]),
    *(
        Case("Pow", 15, ((3, 4), numbers(kind)[0][:3] % 5), types=TYPES[:2])
        for kind in (np.uint8, np.int16, np.int32)
    ),
    *(
        Case("GatherElements", 13, (x, places), {"axis": axis}, types=types)
        for axis, x, places in (
            (0, (5,), np.array([4, 0, -1, -5], np.int32)),
            (0, (3, 4), np.array([[2, -3, 0, 1], [0, 0, -1, 2]])),
            (-1, (3, 4), np.array([[3, -4], [0, 1], [-1, 2]])),
            (1, (2, 3, 2), np.array([[[2, -3]], [[0, 1]]])),
            (0, (3, 4), np.zeros((0, 4), np.int64)),
        )
        for types in (TYPES[:2], INTEGERS[:2])
    ),
    *(
        Case(
            "TopK",
            13,
            ((3, 7), np.array([count])),
            {"axis": axis, "largest": largest},
            types=types,
            unread=1,
        )
        for axis, count, largest in ((0, 2, 1), (1, 4, 0), (-1, 7, 1), (1, 0, 0))
        for types in (TYPES[:2], INTEGERS[:2])
    ),
    *(
        Case("Einsum", 12, shapes, {"equation": equation}, types=types)
        for shapes, *equations in (
            (((2, 3),), "ij->ji"),
            (((2, 3, 4),), "ijk->k"),
            (((20, 2), (2, 20)), "ij,jk->ik", "ij,jk->ki", "ij,jk"),
            (((20, 2), (20, 2)), "ij,kj->ik", "ij,ij->j", "ij,ij->i"),
            (((2, 3, 5, 2), (2, 3, 4, 2)), "bhqd,bhkd->bhqk"),
            (((2, 3, 4), (4, 2)), "bnd,de->bne"),
            (((3,), (3,)), "i,i->"),
            (((2, 3), (3,)), "ij,j"),
        )
        for equation in equations
        for types in (TYPES[:2], INTEGERS[:2])
    ),
    *(
        Case("Einsum", 12, tuple(shapes), {"equation": equation}, types=INTEGERS[:2])
        for equation, *shapes in (
            ("i,j->ij", (3,), (4,)),
            ("ijs,jt->ij", (2, 3, 2), (3, 4)),
            ("ij,jk->ik", (2, 1), (3, 4)),
            ("ij,jk->ik", (9, 1), (1, 9)),
            ("ij,jk->ik", (2, 0), (0, 4)),
        )
    ),
    Case("Celu", 12, ((3, 5),), {"alpha": 1.5}, **FINITE),
    Case("Selu", 22, ((3, 5),), **FINITE),
]


def random_tensor(shape, dtype, kind, seed):
    """Numbers of a kind; those after the first input are plain."""
    random = np.random.default_rng(seed)
    if np.dtype(dtype).kind in "iu":
        return random.integers(0 if np.dtype(dtype).kind == "u" else -9, 9, shape).astype(dtype)
    numbers = np.asarray(random.normal(size=shape) * 2)
    if kind == "special":
        mask = random.random(shape) < 0.3
        special = random.choice([np.nan, np.inf, -np.inf, 0.0, -0.0], shape)
        numbers = np.where(mask, special, numbers)
    if kind == "zero":
        numbers = numbers * 0
    if kind == "large":
        numbers = numbers * (1e4 if dtype is np.float16 else 1e30)
    with np.errstate(all="ignore"):
        return np.asarray(numbers).astype(dtype)


def arrays_of(case, dtype, kind):
    arrays = []
    for seed, each in enumerate(case.inputs):
        if isinstance(each, tuple):
            arrays.append(random_tensor(each, dtype, kind if seed == 0 else "plain", seed))
        else:
            arrays.append(each)
    return arrays


def is_choice(case, dtype):
    """onnxruntime adds the two sides of a Where, so that -0 becomes 0."""
    return case.op_type == "Trilu" and np.dtype(dtype).kind == "f"


def application_of(case, arrays, index, over_reals):
    terms = Terms(Budget())
    args = []
    for place, array in enumerate(arrays):
        shape = tuple(map(Dimension.constant, array.shape))
        fact = Fact(helper.np_dtype_to_tensor_dtype(array.dtype), shape)
        args.append(terms.leaf("input", f"i{place}", fact))
    op = Operator.make(case.op_type, **case.attributes)
    head = terms.heads.of(op, {"": case.opset}, case.outputs)
    return Application(head, tuple(args), index, over_reals)


def model_of(nodes, opset, arrays, outputs):
    infos = [
        helper.make_tensor_value_info(f"i{n}", helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
        for n, a in enumerate(arrays)
    ]
    results = [onnx.ValueInfoProto(name=f"o{n}") for n in range(outputs)]
    graph = helper.make_graph(nodes, "g", infos, results)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    return onnx.shape_inference.infer_shapes(model)


def inlined(function, arrays, outputs):
    """The definition as a model with the inputs and outputs of the operator."""
    names = dict.fromkeys(function.input, "")
    names.update({name: f"i{n}" for n, name in enumerate(function.input) if n < len(arrays)})
    names.update({name: f"o{n}" for n, name in enumerate(function.output)})
    nodes = []
    for node in function.node:
        copy = onnx.NodeProto()
        copy.CopyFrom(node)
        copy.input[:] = [names.get(name, f"v_{name}" * bool(name)) for name in node.input]
        copy.output[:] = [names.get(name, f"v_{name}" * bool(name)) for name in node.output]
        nodes.append(copy)
    return model_of(nodes, function.opset_import[0].version, arrays, outputs)


def by_reference(model):
    def call(feeds):
        try:
            return run(model, feeds)
        except Error:
            return None

    return call


def by_onnxruntime(model):
    """A session; None where onnxruntime has no kernels for the model."""
    try:
        session = open_session(model, optimized=False)
    except Exception:  # noqa: BLE001
        return lambda feeds: None
    return functools.partial(session.run, None)


def assert_alike(one, other, exact):
    """Compare type, shape, NaN, infinities and signs of zero; numbers up to rounding."""
    one, other = np.asarray(one), np.asarray(other)
    assert (one.shape, one.dtype) == (other.shape, other.dtype)
    if one.dtype.kind in "iub" or exact:
        np.testing.assert_array_equal(one.astype(float), other.astype(float))
    wide = one.astype(np.float64), other.astype(np.float64)
    np.testing.assert_array_equal(np.isnan(wide[0]), np.isnan(wide[1]))
    infinite = np.isinf(wide[0]) | np.isinf(wide[1])
    np.testing.assert_array_equal(wide[0][infinite], wide[1][infinite])
    zero = (wide[0] == 0) & (wide[1] == 0)
    np.testing.assert_array_equal(np.signbit(wide[0][zero]), np.signbit(wide[1][zero]))
    finite = np.isfinite(wide[0]) & ~infinite
    tolerance = TOLERANCE[one.dtype.itemsize]
    np.testing.assert_allclose(wide[0][finite], wide[1][finite], tolerance, tolerance)


@pytest.mark.sample(50)
@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c.op_type}-{c.opset}-{c.inputs[0]}")
def test_an_operator_is_its_definition(case):
    definition, compared = DEFINITIONS[case.op_type], 0
    over_reals = definition.elem_types == OVER_REALS_ONLY
    for dtype in case.types if DEEP else {case.types[0], case.types[-1]}:
        arrays = arrays_of(case, dtype, "plain")
        application = application_of(case, arrays, case.outputs - 1, over_reals)
        function = function_of(application)
        if function is None:
            continue
        names = [f"i{n}" for n in range(len(arrays))], [f"o{n}" for n in range(case.outputs)]
        results = [*names[1], *[f"u{n}" for n in range(case.unread)]]
        node = helper.make_node(case.op_type, names[0], results, **case.attributes)
        models = (
            model_of([node], case.opset, arrays, case.outputs),
            inlined(function, arrays, case.outputs),
        )
        for runtime in (by_reference, by_onnxruntime):
            if runtime is by_onnxruntime and (
                dtype is ml_dtypes.bfloat16 or is_choice(case, dtype)
            ):
                continue
            operator, body = map(runtime, models)
            for kind in case.kinds:
                arrays = arrays_of(case, dtype, kind)
                feeds = dict(zip(names[0], arrays, strict=True))
                before, after = operator(feeds), body(feeds)
                if before is None or after is None:
                    continue
                for one, other in zip(before, after, strict=True):
                    assert_alike(one, other, definition.is_exact)
                compared += 1
    assert compared


QUERY, CACHE = np.ones((1, 2, 3, 8), np.float32), np.ones((5, 4), np.float32)
SCORES, MATRIX = np.ones((2, 5), np.float32), np.ones((2, 3), np.float32)
CHANNELS = [np.ones(4, np.float32)] * 2
NUMBERS = (5, 4, -1, -5, -6, 100)
FAILING = [
    *(
        Case("Tile", 13, (MATRIX, np.array(repeats)))
        for repeats in ([-1, 1], [1, -2], [0, -1], [-1, -1], [0, 2])
    ),
    *(
        Case(name, 18, (MATRIX, np.array(axes)))
        for name in ("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceSumSquare")
        for axes in ([2], [-3], [0, 0], [0, -2], [1, 5])
    ),
    *(Case("RotaryEmbedding", 23, (QUERY, CACHE, CACHE, np.array([[0, 1, n]]))) for n in NUMBERS),
    *(
        Case(name, 13, (SCORES, np.array([0, n])))
        for name in ("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")
        for n in NUMBERS
    ),
    *(
        Case("GroupNormalization", 21, (np.ones(s, np.float32), *CHANNELS), {"num_groups": 2})
        for s in ((0, 4, 2), (2, 4, 0), (0, 4, 0), (1, 4, 2))
    ),
    *(
        Case("CenterCropPad", 18, (MATRIX, np.array(sizes)))
        for sizes in ([-1, 3], [-5, -5], [1 << 62, 3], [0, 0], [3, 4])
    ),
    *(
        Case("GatherElements", 13, (MATRIX, np.array([[0, 1, n]])), {"axis": axis})
        for axis in (0, 1)
        for n in (1, 2, 3, -1, -2, -3, -4, 6, -6)
    ),
    *(
        Case("GatherND", 13, (MATRIX, np.array(index)))
        for index in ([[0, 2]], [[-2, -3]], [[2, 0]], [[0, 3]], [[-3, 0]], [[1, 9]], [[5]])
    ),
    *(
        Case("ScatterND", 13, (MATRIX, np.array(index), MATRIX[0, :1]))
        for index in ([[0, 2]], [[-2, -3]], [[2, 0]], [[0, 3]], [[-3, 0]], [[1, 9]])
    ),
    *(
        Case("ScatterND", 13, (MATRIX[:, :size], np.array([[n]]), MATRIX[:1, :size]))
        for n in (0, 1, 2, -2, -3)
        for size in (0, 3)
    ),
    *(
        Case("TopK", 13, (MATRIX, np.array([count])), {"axis": axis}, unread=1)
        for axis, count in ((0, 2), (0, 3), (1, 4), (1, -1), (0, 0))
    ),
    *(
        Case("Einsum", 12, (MATRIX, other), {"equation": equation})
        for other in (MATRIX, MATRIX.T, MATRIX[:1], MATRIX[:, :1], MATRIX[:, :0])
        for equation in ("ij,jk->ik", "ij,kj->ik", "ij,ij->j", "ij,ij->ij")
    ),
    *(Case("Trilu", 14, (x, np.array(1))) for x in (SCORES, SCORES[:0])),
    *(
        Case(name, 13, (x,), {"select_last_index": 1, "axis": axis})
        for name in ("ArgMax", "ArgMin")
        for x, axis in ((SCORES, 0), (SCORES[:0], 0), (SCORES[:0], 1), (SCORES, 2), (SCORES, -3))
    ),
    *(
        Case("DequantizeLinear", 21, (numbers(np.int8)[0], s, z), more)
        for s, z, more in (
            (SCALES[0, :3], np.zeros(3, np.int8), {}),
            (SCALES[0], np.zeros(3, np.int8), {"axis": 0}),
            (SCALES, np.zeros((1, 4), np.int8), {"block_size": 2}),
            (SCALES, np.zeros((2, 4), np.int8), {"block_size": 2, "axis": 0}),
            (SCALES, np.zeros((2, 4), np.int8), {"block_size": 1, "axis": 0}),
            (SCALES, np.zeros((2, 4), np.int8), {"block_size": 9, "axis": 0}),
        )
    ),
]


@pytest.mark.sample(66)
@pytest.mark.parametrize("case", FAILING, ids=lambda c: c.op_type)
def test_an_operator_fails_where_its_definition_does(case):
    assert DEFINITIONS[case.op_type].fails_alike
    arrays = list(case.inputs)
    function = function_of(application_of(case, arrays, 0, True))
    names = [f"i{n}" for n in range(len(arrays))]
    results = ["o0", *[f"u{n}" for n in range(case.unread)]]
    node = helper.make_node(case.op_type, names, results, **case.attributes)
    models = model_of([node], case.opset, arrays, 1), inlined(function, arrays, 1)
    feeds = dict(zip(names, arrays, strict=True))
    for runtime in (by_reference, by_onnxruntime):
        operator, body = map(runtime, models)
        assert runs(operator, feeds) <= runs(body, feeds)


def runs(session, feeds):
    try:
        return session(feeds) is not None
    except Exception:  # noqa: BLE001
        return False


def test_each_that_fails_alike_has_a_case():
    names = {name for name, definition in DEFINITIONS.items() if definition.fails_alike}
    assert {case.op_type for case in FAILING} == names


def test_a_formula_reads_all_attributes():
    """Later versions may add some, such as the mode of SpaceToDepth."""
    for name, definition in DEFINITIONS.items():
        if definition.formula is not None:
            assert set(onnx.defs.get_schema(name, "").attributes) <= definition.attributes, name


def test_each_definition_has_a_case():
    # Operators whose definitions read constants: `test_movement.py`, `test_resampling.py`.
    other_tests = {"Pad", "Resize"}
    assert {case.op_type for case in CASES} | other_tests == set(DEFINITIONS)
