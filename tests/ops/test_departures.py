import itertools
from typing import Any

import numpy as np
import pytest
from departure_examples import EXAMPLES as EXAMPLES_OF
from departure_examples import Example
from onnx import parser
from onnxruntime import OrtValue
from onnxruntime.capi import onnxruntime_pybind11_state
from reference_oracle import one_node
from sessions import open_session, outputs
from straightline import ir, reference
from straightline.ops import departures
from straightline.ops.departures import _ONE_HOT_KERNELS
from straightline.ops.schema_queries import ElementTypes
from tables import table

_ERRORS = (onnxruntime_pybind11_state.Fail, onnxruntime_pybind11_state.InvalidArgument)
EXAMPLES = [
    pytest.param(row, example, id=f"{row.name}-{index}")
    for row in departures.table()
    for index, example in enumerate(EXAMPLES_OF[row.name])
]


def model_of(example: Example) -> Any:
    header = f'<ir_version: 8, opset_import: ["" : {example.opset}]>'
    return parser.parse_model(f"{header} {example.text}")


def feeds_of(example: Example) -> dict[str, np.ndarray]:
    return {name: np.array(value, dtype) for name, (dtype, value) in example.feeds.items()}


def are(results: list[np.ndarray], expected: Any) -> bool:
    """Test for equal numbers and signs of zeros."""
    pairs = zip(results, expected, strict=True)
    return all(
        one.shape == np.shape(other) and _same(one, np.asarray(other)) for one, other in pairs
    )


def _same(one: np.ndarray, other: np.ndarray) -> bool:
    if one.dtype.hasobject:
        return one.tolist() == other.tolist()
    return bool(np.array_equal(one, other.astype(one.dtype), equal_nan=one.dtype.kind == "f"))


def run(model: Any, feeds: dict[str, np.ndarray], example: Example) -> list[Any]:
    """Run onnxruntime; what it leaves unwritten is a buffer of sevens."""
    if not example.is_unwritten:
        return outputs(model, feeds, optimized=example.optimized)
    session = open_session(model)
    binding = session.io_binding()
    for name, array in feeds.items():
        binding.bind_cpu_input(name, array)
    for info, specified in zip(session.get_outputs(), reference.run(model, feeds), strict=True):
        buffer = np.full_like(specified, 7)
        binding.bind_ortvalue_output(info.name, OrtValue.ortvalue_from_numpy(buffer))
    session.run_with_iobinding(binding)
    return list(binding.copy_outputs_to_cpu())


@pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")
@pytest.mark.parametrize(("row", "example"), EXAMPLES)
def test_onnxruntime_departs_as_the_table_says(row, example):
    model, feeds = model_of(example), feeds_of(example)
    assert are(reference.run(model, feeds), example.specified)
    try:
        computed = run(model, feeds, example)
    except _ERRORS:
        assert example.computed is None
        return
    if example.computed is None:
        assert not are(computed, example.specified), "onnxruntime no longer departs"
    else:
        assert are(computed, example.computed), "onnxruntime departs otherwise, or not any more"


@pytest.mark.parametrize("row", departures.table(), ids=lambda row: row.name)
def test_each_operator_has_an_example(row):
    tried = {node.op_type for e in EXAMPLES_OF[row.name] for node in model_of(e).graph.node}
    assert {*row.operators} - {"GRU"} <= tried  # onnxruntime ends the process


@pytest.mark.parametrize(("row", "example"), EXAMPLES)
def test_departing_nodes_match_their_row(row, example):
    model, found = ir.load(model_of(example)), []
    values = dict(feeds_of(example).items())
    for node in model.graph.nodes():
        arrays = [_array(v, values) for v in node.inputs]
        if all(v is None or a is not None for v, a in zip(node.inputs, arrays, strict=True)):
            found.append(departures.on_arrays(node, arrays))
        found.append(departures.of_node(node, ElementTypes()))
    assert row in found


def _array(value: Any, values: dict[str, np.ndarray]) -> Any:
    if value is None:
        return None
    return values.get(value.name) if value.constant is None else value.constant.numpy()


def test_a_body_may_outlive_its_node():
    """A fold of legalization is done again for another node after its own was replaced."""
    model = ir.load(
        parser.parse_model("""<ir_version: 8, opset_import: ["" : 17]> g (float[2] x, bool c)
        => (float[2] y) <float[2] k = {1, 2}, int64[1] i = {-1}> { y = If (c) <then_branch = t ()
        => (float[2] u) { p = Gather (k, i) u = Add (x, p) }, else_branch = e () => (float[2] v) {
        v = Neg (x) }> }""")
    )
    (holder,) = model.graph.nodes()
    (gather,) = holder.body("then_branch").nodes_of("Gather")
    operands = [value.constant.numpy() for value in gather.inputs]
    assert departures.on_arrays(gather, operands) is None
    model.graph.replace_uses(holder.output(), model.graph.inputs[0])
    model.graph.remove(holder)
    assert gather.graph is not None and departures.on_arrays(gather, operands) is None


def row_of(body: str, inputs: str = "float[n] x, int64[n] i, int32[n] j, bool[n] b") -> str:
    """The name of the row of the last node; empty if it agrees."""
    head = '<ir_version: 8, opset_import: ["" : 17]> g '
    model = ir.load(parser.parse_model(f"{head} ({inputs}) => (float[m] y) {body}"))
    found = departures.of_node(model.graph.nodes()[-1], ElementTypes())
    return "" if found is None else found.name


@pytest.mark.parametrize("op_type", ["ReduceSum", "ReduceL1", "ReduceProd", "ReduceSumSquare"])
def test_sums_of_integers(op_type):
    for value in ("i", "j"):
        assert row_of(f"{{ y = {op_type} ({value}) }}") == "integer-sums"
    assert row_of(f"{{ y = {op_type} (x) }}") == ""


def test_small_integers_are_summed_exactly():
    for to in (6, 7):
        assert row_of(f"{{ c = Cast <to = {to}> (b) y = ReduceSum (c) }}") == ""
    assert row_of("<int64[3] k = {1, 2, 3}> { y = ReduceSum (k) }") == ""
    assert row_of("{ s = Shape (x) y = ReduceProd (s) }") == ""
    assert row_of("{ s = Shape (x) t = Mul (s, s) y = ReduceProd (t) }") == "integer-sums"
    assert row_of("<int64[1] k = {9007199254740993}> { y = ReduceSum (k) }") == "integer-sums"


@table(
    ("i->", "integer-sums"),
    ("i,i->", ""),
    ("ij,jk->ik", ""),
    ("ij,jk", ""),
    ("ij,jk->i", "integer-sums"),
    ("i,j->j", "integer-sums"),
    ("...i,...i->...", ""),
)
def test_einsums_of_integers(equation, name):
    operands = "i, i" if "," in equation else "i"
    assert row_of(f'{{ y = Einsum <equation = "{equation}"> ({operands}) }}') == name
    assert row_of('{ y = Einsum <equation = "i->"> (x) }') == ""


def test_powers_of_integers():
    assert row_of("<int64 k = {2}> { y = Pow (i, k) }") == "integer-powers"
    assert row_of("<int64 k = {2}> { c = Cast <to = 7> (b) y = Pow (c, k) }") == ""
    assert row_of("<float k = {2}> { y = Pow (i, k) }") == ""


def test_selects():
    assert row_of("{ y = Where (b, x, x) }") == "select-of-negative-zero"
    assert row_of("{ y = Where (b, i, i) }") == ""
    assert row_of("{ e = Exp (x) y = Where (b, e, e) }") == ""
    assert row_of("<float k = {1}> { e = Exp (x) y = Where (b, k, e) }") == ""
    assert row_of("<float k = {-0.0}> { e = Exp (x) y = Where (b, k, e) }") != ""


@pytest.mark.parametrize("rank", range(3))
def test_a_whole_second_value_keeps_its_signs(rank):
    """By trial: the table says nothing that onnxruntime contradicts."""
    shapes = [(), (1,), (2,), (1, 1), (1, 2), (2, 1), (2, 2)]
    node = ir.Node(ir.Operator("Where"), [None] * 3, ["y"])
    for condition in shapes:
        for second in shapes:
            parts = [
                np.zeros(condition, bool),
                np.ones(shapes[(0, 2, 6)[rank]], np.float32),
                np.full(second, -0.0, np.float32),
            ]
            if departures.on_arrays(node, parts) is None:
                model, feeds = one_node("Where", parts, 17)
                assert np.signbit(outputs(model, feeds, optimized=False)[0]).all()


def test_slices():
    tail = "int64[1] a = {0}, int64[1] t = {-1}> { y = Slice (x, s, e, a, t) }"
    assert row_of(f"<int64[1] s = {{-1}}, int64[1] e = {{2147483647}}, {tail}") == "backward-slice"
    assert row_of(f"<int64[1] s = {{-1}}, int64[1] e = {{-9}}, {tail}") == ""
    forward = tail.replace("-1", "1")
    assert row_of(f"<int64[1] s = {{0}}, int64[1] e = {{2147483647}}, {forward}") == ""


def test_shapes_of_one_computed_size():
    for constant, name in (("0", "copied-size"), ("4", "")):
        nodes = "{ s = Shape (x) t = Concat <axis = 0> (s, z) y = Reshape (x, t) }"
        assert row_of(f"<int64[1] z = {{{constant}}}> {nodes}") == name


@pytest.mark.parametrize("opset", [9, 10, 11, 17])
def test_classes(opset):
    text = (
        f'<ir_version: 8, opset_import: ["" : {opset}]> g (INDICES i, int64 d, float[2] v)'
        " => (float[n, m] y) { y = OneHot (i, d, v) }"
    )
    for indices, may in (("int64[n]", opset < 11), ("uint8[n]", False), ("int8[n]", False)):
        (node,) = ir.parse(text.replace("INDICES", indices)).graph.nodes()
        assert (departures.of_node(node, ElementTypes()) is not None) == may


def test_onnxruntime_has_the_kernels_of_one_hot():
    """Float16 and strings left aside; of other types the specification alone decides."""
    kinds = {1: "float", 6: "int32", 7: "int64", 3: "int8"}
    for types in itertools.product(kinds, repeat=3):
        index, depth, value = map(kinds.__getitem__, types)
        text = (
            f'<ir_version: 4, opset_import: ["" : 9]> g ({index}[2] i, {depth} d, {value}[2] v)'
            f" => ({value}[a, b] y) {{ y = OneHot (i, d, v) }}"
        )
        try:
            open_session(parser.parse_model(text))
        except onnxruntime_pybind11_state.NotImplemented:
            assert types not in _ONE_HOT_KERNELS
        else:
            assert types in _ONE_HOT_KERNELS


def test_other_domains_have_no_rows():
    assert departures.has_rows("Where") and not departures.has_rows("Add")
