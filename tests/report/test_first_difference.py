import numpy as np
import pytest
import straightline as sl
from straightline.report.first_difference import FirstDifference, first_difference
from straightline.report.model_data import describe
from straightline.report.origins import origins

HEAD = '<ir_version: 10, opset_import: ["" : 21]>\n'
LOOP = (
    HEAD
    + """g (float[2] x) => (float[2] y) {
    n = Constant <value_int = 3> ()
    [steps] y = Loop (n, , x) <
        body = b (int64 i, bool c, float[2] a) => (bool d, float[2] e) {
            d = Identity (c)
            t = Exp (a)
            e = Neg (t) } > }"""
)
NESTED = (
    HEAD
    + """g (float[2] x) => (float[2] y, float[2, 2] s) {
    n = Constant <value_int = 2> ()
    y, s = Loop (n, , x) <
        body = b (int64 i, bool c, float[2] a) => (bool d, float[2] e, float[2] p) {
            d = Identity (c)
            e = Loop (n, , a) <
                body = b2 (int64 j, bool c2, float[2] a2) => (bool d2, float[2] e2) {
                    d2 = Identity (c2)
                    q = Sin (a2)
                    e2 = Exp (q) } >
            p = Neg (e) } > }"""
)
FEEDS = {"x": np.array([0.5, 1.0], np.float32)}


def broken(text, output, operator):
    """The rewrite of a model with another operator for one output."""
    proto = sl.ir.to_proto(sl.ir.load(sl.rewrite(sl.ir.parse(text))))
    (node,) = [node for node in proto.graph.node if output in node.output]
    node.op_type = operator
    return sl.ir.load(proto)


def found_in(before, after, feeds=FEEDS, runtime="reference"):
    before = sl.ir.parse(before)
    data = describe(before), describe(after)
    return first_difference((before, after), data, origins(*data), feeds, runtime)


@pytest.mark.parametrize("runtime", ["reference", "onnxruntime"])
def test_a_wrong_iteration_is_found_inside_the_loop_of_the_original(runtime):
    pytest.importorskip(runtime if runtime != "reference" else "numpy")
    found = found_in(LOOP, broken(LOOP, "t_1", "Abs"), runtime=runtime)
    assert (found.name, found.iteration, found.before) == ("t_1", (1,), (1, 1))
    assert found.first.startswith("values at [0]: 0.19") and " became 1.64" in found.first
    assert found.largest.startswith("2 of 2 elements differ, by at most ")
    assert found.values[0].startswith("float32[2] [0.19") and found.runtime == runtime
    assert found.feeds == ("x = float32[2] [0.5, 1.0]",) and found.compared == 2


def test_iterations_of_nested_loops_are_outer_before_inner():
    found = found_in(NESTED, broken(NESTED, "q_0_1", "Cos"))
    assert (found.name, found.iteration) == ("q_0_1", (1, 0))


def test_equal_models_have_none():
    model = sl.ir.parse(LOOP)
    assert found_in(LOOP, sl.ir.load(sl.rewrite(model))).startswith("all 6 values that correspond")


def test_models_without_common_names_have_none():
    other = sl.ir.parse(HEAD + "g (float[2] x) => (float[2] z) { z = Abs (x) }")
    assert "has the name" in found_in(
        HEAD + "g (float[2] x) => (float[2] w) { w = Exp (x) }", other
    )


def test_a_loop_whose_values_do_not_stack_leaves_the_main_graph():
    text = LOOP.replace("t = Exp (a)", "t = Exp (a) k = Range (zero, i, one) r = Neg (k)").replace(
        "n = Constant",
        "zero = Constant <value_int = 0> () one = Constant <value_int = 1> () n = Constant",
    )
    found = found_in(text, sl.ir.parse(text.replace("Neg (t)", "Abs (t)")))
    assert isinstance(found, FirstDifference) and (found.name, found.iteration) == ("y", ())


def test_an_input_that_the_runtime_refuses_is_told():
    after = broken(LOOP, "t_1", "Abs")
    assert found_in(LOOP, after, {}).startswith("the values of nodes are not known: reference ")
