"""Reductions: the axes are said in one way."""

import pytest
from proofs import assert_open, assert_proved, model
from straightline.verification.proof.simplify.registry import RULES
from term_values import terms_of

INPUT = "g (float[2, 3, 4] x) => (float[a, b, c] z) <int64[%d] s = {%s}> { z = %s (x, s) }"
NONE = "g (float[2, 3, 4] x) => (float[a, b, c] z) { z = %s (x) }"
NAMED = "g (float[2, 3, 4] x) => (float[a, b, c] z) { z = %s <axes = [%s]> (x) }"
REDUCTIONS = sorted(name for name, rule in RULES.items() if rule is RULES["ReduceSum"])


def axes(op_type, *numbers):
    return INPUT % (len(numbers), ", ".join(map(str, numbers)), op_type)


@pytest.mark.parametrize("op_type", REDUCTIONS)
def test_axes_are_counted_from_either_end_in_any_order(op_type):
    assert_proved(axes(op_type, -1, 0), axes(op_type, 0, 2))
    assert_proved(NONE % op_type, axes(op_type, 0, -2, 2))
    assert_open(axes(op_type, -1), axes(op_type, 1))
    assert_open(NONE % op_type, axes(op_type, 0, 1))


@pytest.mark.parametrize("op_type", REDUCTIONS)
def test_axes_were_attributes(op_type):
    assert_proved(NAMED % (op_type, "2, -3"), NAMED % (op_type, "0, 2"), opset=11)
    assert_proved(NONE % op_type, NAMED % (op_type, "0, 1, 2"), opset=11)
    assert_open(NAMED % (op_type, "-1"), NAMED % (op_type, "0"), opset=11)


@pytest.mark.parametrize("op_type", REDUCTIONS)
def test_a_number_alone_has_no_axes(op_type):
    text = f"g (float x) => (float z) {{ %s z = {op_type} <keepdims = 0> (%s) }}"
    assert_proved(text % ("", "x"), text % ("y = Identity (x)", "y"))
    assert_open(text % ("", "x"), text % ("y = Neg (x)", "y"))


def test_axes_of_a_sum_are_inputs_before_those_of_others():
    assert_proved(NONE % "ReduceSum", axes("ReduceSum", 0, 1, 2), opset=13)
    assert_proved(NONE % "ReduceMax", NAMED % ("ReduceMax", "0, 1, 2"), opset=13)


def test_no_axes_may_be_none():
    text = "g (float[2, 3] x) => (float[a, b] z) { %s }"
    none = "z = ReduceSum <noop_with_empty_axes = %d> (x)"
    both = "s = Constant <value_ints = [0, 1]> () z = ReduceSum (x, s)"
    assert_proved(text % none % 0, text % both)
    assert_open(text % none % 1, text % both)


def test_axes_that_run_time_tells_stay():
    text = "g (float[2, 3] x, int64[1] s) => (float[a, b] z) { z = ReduceMax (x, %s) }"
    assert_proved(text % "s", text % "s")
    negative = text.replace("{", "{ t = Neg (s)")
    assert_open(text % "s", negative % "t")


def test_all_say_their_axes_from_the_front():
    for text, opset, said in [
        (axes("ReduceSum", -1, 0), 18, [0, 2]),
        (NAMED % ("ReduceSum", "-2"), 11, [1]),
        (NONE % "ReduceMax", 18, [0, 1, 2]),
    ]:
        _, (reduced,) = terms_of(model(text, opset))
        assert reduced.head.attribute("axes") == said


def test_an_unknown_rank_is_left_alone():
    text = "g (float[2, 3] x, int64[r] s) => (float z) { y = Reshape (x, s) %s }"
    one = "z = ReduceSum <keepdims = 0> (y)"
    other = "t = Constant <value_ints = [0, 1]> () z = ReduceSum <keepdims = 0> (y, t)"
    assert_proved(text % one, text % one)
    assert_open(text % one, text % other)


@pytest.mark.parametrize("op_type", ["ReduceMax", "ReduceSum"])
def test_axes_that_are_not_there_are_no_others(op_type):
    assert_open(NAMED % (op_type, "5"), NAMED % (op_type, "2"), opset=11)
    assert_open(axes(op_type, -4), axes(op_type, 2))
    scalar = f"g (float x) => (float z) {{ z = {op_type} <axes = [0]> (x) }}"
    assert_open(scalar, "g (float x) => (float z) { z = Identity (x) }", opset=11)
