"""States that are none: counters, and what the iteration before made."""

import numpy as np
from harness import assert_equal, run_in_onnxruntime
from loops import op_types
from straightline import reference
from tables import table
from vectorized import untyped, vectorized


@table(
    ("a counter", "int64", "{4}",
     "t = Identity (s) d = Constant <value_int = 3> () s2 = Add (s, d)"),
    ("a counter that counts down", "int64", "{4}",
     "t = Identity (s) d = Constant <value_int = 3> () s2 = Sub (s, d)"),
    ("a vector of counters", "int64[2]", "{4, 5}",
     "t = Identity (s) d = Constant <value_ints = [1, -2]> () s2 = Add (d, s)"),
    ("the number of the iteration before", "int64", "{-1}", "t = Mul (s, s) s2 = Identity (i)"),
    ("what the iteration before made", "int64", "{-1}", "t = Add (s, i) s2 = Mul (i, i)"),
    ("a value that is always replaced", "int64", "{-1}",
     "t = Add (s, i) s2 = Constant <value_int = 8> ()"))  # fmt: skip
def test_states_that_are_none(state, type_, initial, body):
    text = f"""g (int64 n) => ({type_} last, z) <{type_} first = {initial}> {{
        last, z = Loop (n, , first) <body = b (int64 i, bool c, {type_} s)
                => (bool c2, {type_} s2, {type_} t) {{ c2 = Identity (c) {body} }}> }}"""
    before = untyped(text)
    result = vectorized(before)
    assert "Loop" not in set(op_types(result.model.graph)), result.remarks
    for n in (0, 1, 2, 6):
        expected = reference.run(before, {"n": np.array(n)})
        for run in (reference.run, run_in_onnxruntime):
            for one, other in zip(run(result.model, {"n": np.array(n)}), expected, strict=True):
                assert_equal(one, other)


def test_states_that_hand_on_to_each_other():
    text = """g (int64 n) => (int64 p, int64 q, z) <int64 one = {7}, int64 two = {9}> {
        p, q, z = Loop (n, , one, two) <body = b (int64 i, bool c, int64 s, int64 t)
                => (bool c2, int64 s2, int64 t2, int64 r) {
            c2 = Identity (c) s2 = Mul (i, i) t2 = Identity (s) r = Add (s, t) }> }"""
    before = untyped(text)
    result = vectorized(before)
    assert "Loop" not in set(op_types(result.model.graph)), result.remarks
    for n in (0, 1, 2, 6):
        expected = reference.run(before, {"n": np.array(n)})
        for one, other in zip(
            reference.run(result.model, {"n": np.array(n)}), expected, strict=True
        ):
            assert_equal(one, other)
