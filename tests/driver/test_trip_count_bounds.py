"""Maxima of Loops that the caller vouches for."""

import numpy as np
import pytest
import straightline as sl
from harness import as_model, assert_equal_outputs, check_model
from straightline import ir
from straightline.driver.assumptions import AssumptionError, Assumptions
from straightline.verification.mismatch import MismatchError
from tables import table

HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'
COUNTED = """g (float[2] x, int64 n) => (float[2] y, float[K,2] rows) {
    y, rows = Loop (n, , x) <body = b (int64 i, bool c, float[2] a)
                                 => (bool d, float[2] r, float[2] e) {
        d = Identity (c)  s = Sin (a)  r = Exp (s)  e = Identity (r) }> }"""
STEERED = """g (float[2] x, MOST float[3] ends, bool start) => (float[2] y)
    <int64 huge = {9223372036854775807}> {
    limit = ReduceMax <keepdims = 0> (ends)
    y = Loop (GIVEN, x) <body = b (int64 i, bool c, float[2] a) => (bool go, float[2] r) {
        r = Add (a, a)  top = ReduceMax <keepdims = 0> (r)  go = Less (top, limit) }> }"""


def steered(given, most=""):
    return STEERED.replace("MOST", most).replace("GIVEN", given)


def operators(model):
    return {node.op_type for node in model.graph.node}


@pytest.mark.parametrize("iterations", [0, 1, 3, 4, -2])
def test_up_to_the_maximum_nothing_changes(iterations):
    flat = sl.rewrite(as_model(COUNTED), "selects", assume_max={"y": 4})
    assert "Loop" not in operators(flat)
    feeds = {"x": np.array([0.5, 2], np.float32), "n": np.array(iterations)}
    assert_equal_outputs(COUNTED, flat, feeds)


@table(("huge, start", ""), (", start", ""), ("n, start", "int64 n,"))
def test_a_loop_that_data_ends(given, most):
    text = steered(given, most)
    flat = sl.rewrite(as_model(text), "selects", assume_max={"y": 5})
    assert "Loop" not in operators(flat)
    for top in (0.0, 4.0, 20.0):
        for start in (True, False):
            for iterations in (0, 2, 5):
                feeds = {
                    "x": np.array([1, 0.5], np.float32),
                    "ends": np.array([0, top, 1], np.float32),
                    "start": np.array(start),
                }
                feeds |= {"n": np.array(iterations)} if most else {}
                assert_equal_outputs(text, flat, feeds)


@pytest.mark.parametrize("shape", ["", "[1]"])
def test_a_maximum_of_any_rank(shape):
    text = COUNTED.replace("int64 n", f"int64{shape} n")
    model = ir.load(as_model(text))
    Assumptions({"y": 3}, {}).assume(model)
    ir.verify(model)
    proto = ir.to_proto(model)
    check_model(proto)
    for iterations in (0, 2, 3):
        n = np.full((1,) * bool(shape), iterations)
        assert_equal_outputs(text, proto, {"x": np.array([1, 2], np.float32), "n": n})


def test_a_smaller_maximum_of_the_model_itself_counts():
    text = COUNTED.replace("int64 n)", "int64 m)").replace(
        "{\n    y", "<int64 n = {2}> {\n    y", 1
    )
    model = ir.load(as_model(text))
    Assumptions({"y": 50}, {}).assume(model)
    (loop,) = model.graph.nodes()
    assert loop.inputs[0].constant.numpy() == 2


def test_an_input_beyond_it_is_found_and_told():
    with pytest.raises(
        MismatchError, match="an input makes Loop 'y' run more than 1 iteration, which was assumed"
    ) as found:
        sl.rewrite(as_model(COUNTED), "selects", assume_max={"y": 1}, verify=True)
    assert "was assumed" in str(found.value) and found.value.culprit == ""


@table(
    (COUNTED, {"z": 3}, "the model has no Loop 'z'; it has 'y'"),
    (COUNTED, {"y": -1}, "Loop 'y': -1 is not a number of iterations"),
    (COUNTED, {"y": True}, "True is not a number of iterations"),
    (COUNTED, {"y": 2**63}, "9223372036854775808 is not a number of iterations"),
    (COUNTED, {"y": 2.0}, "2.0 is not a number of iterations"),
    (HEAD.replace("17", "8") + COUNTED, {"y": 3}, "convert to opset 9 first"),
    (steered("n, ", "int64 n,"), {"y": 3}, "it has no initial condition but its body"),
)
def test_unfit_maxima_are_refused(text, maxima, message):
    with pytest.raises(AssumptionError, match=message):
        Assumptions(maxima, {}).assume(ir.load(as_model(text)))
