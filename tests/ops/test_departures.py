from typing import Any

import numpy as np
import pytest
from departure_examples import EXAMPLES as EXAMPLES_OF
from departure_examples import Example
from onnx import parser
from onnxruntime import OrtValue
from onnxruntime.capi import onnxruntime_pybind11_state
from sessions import open_session, outputs
from straightline import ir, reference
from straightline.ops import departures
from straightline.ops.schema_queries import ElementTypes

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
