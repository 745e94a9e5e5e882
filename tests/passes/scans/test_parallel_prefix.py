import itertools

import numpy as np
import onnx
import pytest
from harness import check_model, op_types, run_in_onnxruntime
from straightline import ir, reference
from straightline.analysis.shapes.inference import ShapeInference
from straightline.facts.fact import Fact
from straightline.ir import Operator
from straightline.ops.builder import Builder
from straightline.passes.scans.parallel_prefix import OneOperator, joins_rows, parallel_prefix

FIRST_LEFT = "g (float[N, 2, 2] x) => (float[N, 2, 2] y) { y = Identity (x) }"


def doubled(op_type, most, opset=17, straight=False, text=FIRST_LEFT):
    """A model of what the operator makes of the rows of x."""
    head = f'<ir_version: 8, opset_import: ["" : {opset}]>'
    model = ir.load(onnx.parser.parse_model(head + text))
    (x,) = model.graph.inputs
    fact = ShapeInference(model).fact(x)
    row = Fact(fact.elem_type, fact.shape[1:])
    monoid = OneOperator(Operator(op_type))
    prefixes = parallel_prefix(Builder(model.graph), monoid, [x], [row], most, straight)
    model.graph.set_outputs(prefixes)
    ir.verify(model)
    proto = ir.to_proto(model)
    check_model(proto)
    return proto


@pytest.mark.parametrize("op_type", ["Add", "MatMul", "Max"])
@pytest.mark.parametrize("most", [None, 1, 9, 64])
@pytest.mark.parametrize("opset", [9, 11, 17])
def test_all_rows_up_to_each(op_type, most, opset):
    """MatMul is associative, but its operands must not change places."""
    combine = {"Add": np.add, "MatMul": np.matmul, "Max": np.maximum}[op_type]
    model = doubled(op_type, most, opset)
    for count in [c for c in (1, 2, 3, 5, 8, 9, 64) if most is None or c <= most]:
        x = np.random.default_rng(count).integers(-1, 2, (count, 2, 2)).astype(np.float32)
        expected = np.array(list(itertools.accumulate(x, combine)), np.float32)
        for run in (reference.run, run_in_onnxruntime):
            np.testing.assert_array_equal(run(model, {"x": x})[0], expected)


@pytest.mark.parametrize("op_type", ["And", "Or", "Xor"])
@pytest.mark.parametrize("most", [None, 5])
def test_truth_values_are_counted(op_type, most):
    text = FIRST_LEFT.replace("float", "bool")
    model = doubled(op_type, most, text=text)
    assert "Loop" not in op_types(model) and len(op_types(model)) <= 6
    combine = {"And": np.logical_and, "Or": np.logical_or, "Xor": np.logical_xor}[op_type]
    for count in (0, 1, 2, 5):
        x = np.random.default_rng(count).random((count, 2, 2)) < 0.5
        expected = np.array(list(itertools.accumulate(x, combine)), np.bool_)
        for run in (reference.run, run_in_onnxruntime):
            np.testing.assert_array_equal(run(model, {"x": x})[0], expected.reshape(x.shape))


@pytest.mark.parametrize("op_type", ["Max", "Add"])
def test_an_open_number_of_rows_without_a_loop(op_type):
    model = doubled(op_type, None, straight=True)
    types = op_types(model)
    prelude = 3 if op_type == "Add" else 14  # rows of 0; blocks and their numbers
    assert len(types) == 4 * 31 + prelude and "Loop" not in types
    combine = {"Add": np.add, "Max": np.maximum}[op_type]
    for count in (0, 1, 2, 5, 64, 1000):
        x = np.random.default_rng(count).integers(-1, 2, (count, 2, 2)).astype(np.float32)
        expected = np.array(list(itertools.accumulate(x, combine)), np.float32)
        for run in (reference.run, run_in_onnxruntime):
            np.testing.assert_array_equal(run(model, {"x": x})[0], expected.reshape(x.shape))


def test_a_known_number_of_rows_takes_as_many_steps_as_it_has_digits():
    for most, steps in ((1, 0), (2, 1), (3, 2), (8, 3), (9, 4), (1000, 10)):
        types = op_types(doubled("Add", most))
        assert types.count("Add") == steps and "Loop" not in types


def test_an_unknown_number_takes_a_loop_of_so_many_steps():
    types = op_types(doubled("Add", None))
    assert types.count("Loop") == 1 and len(types) < 10


def test_a_loop_over_distances_is_told_from_others():
    """As a model that is read again has it, in which passes have no remark on it."""
    (loop,) = ir.load(doubled("Max", None)).graph.nodes_of("Loop")
    assert joins_rows(loop)
    text = """g (int64 n, bool c, float x) => (float y) { y = Loop (n, c, x) <body = b (int64 i,
        bool d, float a) => (bool d2, float b) { d2 = Identity (d) b = Tanh (a) }> }"""
    other = ir.parse(f'<ir_version: 8, opset_import: ["" : 17]> {text}')
    assert not any(joins_rows(node) for node in other.graph.nodes())


def test_few_nodes_cut_rows_where_slices_have_constant_bounds():
    (loop,) = (node for node in doubled("MatMul", None, 9).graph.node if node.op_type == "Loop")
    assert len(loop.attribute[0].g.node) < 20
