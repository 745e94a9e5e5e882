import numpy as np
import pytest
from reference_oracle import assert_as_onnxruntime, parse
from straightline import reference
from straightline.reference import EvaluationError

X = np.arange(3, dtype=np.float32)


@pytest.mark.parametrize("position", [-2, -1, 0, 1, 2])
def test_insert_at_each_position_is_as_in_onnxruntime(position):
    model = parse("""agraph (seq(float[n]) s, float[n] x, int64 p) => (seq(float[n]) t) {
      t = SequenceInsert (s, x, p) }""")
    assert_as_onnxruntime(model, {"s": [X, X + 1], "x": -X, "p": np.array(position)})


def test_insert_into_an_empty_sequence():
    model = parse("""agraph (float[n] x, int64 p) => (seq(float[n]) t) {
      s = SequenceEmpty ()  t = SequenceInsert (s, x, p) }""")
    assert_as_onnxruntime(model, {"x": X, "p": np.array(0)})
    with pytest.raises(EvaluationError, match=r"position 1 is outside -0..0"):
        reference.run(model, {"x": X, "p": np.array(1)})


def test_a_mapped_body_sees_outer_values_and_all_inputs():
    model = parse("""agraph (seq(float[n]) s, float[n] x) => (seq(float[n]) t) {
      k = Neg (x)
      t = SequenceMap (s, s, x) <body = b (float[n] p, float[n] q, float[n] r) => (float[n] o)
        { a = Add (p, q)  c = Mul (r, k)  o = Sub (a, c) }> }""")
    (got,) = reference.run(model, {"s": [X, X + 1], "x": X})
    np.testing.assert_array_equal(got, [2 * X + X * X, 2 * (X + 1) + X * X])
    assert reference.run(model, {"s": [], "x": X}) == [[]]


@pytest.mark.parametrize("value", [X, None])
def test_optionals_are_a_value_or_none(value):
    optional = """agraph (optional(float[n]) o, bool c, float[n] d) => (bool h, float[n] y) {
      h = OptionalHasElement (o)
      y = If (h) <then_branch = t () => (float[n] r) { r = OptionalGetElement (o) },
                  else_branch = e () => (float[n] r) { r = Identity (d) }> }"""
    h, y = reference.run(parse(optional), {"o": value, "c": np.array(True), "d": -X})
    assert h.item() is (value is not None)
    np.testing.assert_array_equal(y, -X if value is None else value)


def test_optional_wraps_and_unwraps():
    model = parse("""agraph (float[n] x) => (float[n] y, bool h, bool g, optional(float[n]) e) {
      o = Optional (x)  h = OptionalHasElement (o)  y = OptionalGetElement (o)
      n = Optional <type = float[n]> ()  e = Identity (n)  g = OptionalHasElement (e) }""")
    y, h, g, e = reference.run(model, {"x": X})
    assert h.item() is True and g.item() is False and e is None
    np.testing.assert_array_equal(y, X)


def test_an_empty_optional_has_no_element():
    model = parse("""agraph (optional(float[n]) o) => (float[n] y) {
      y = OptionalGetElement (o) }""")
    with pytest.raises(EvaluationError, match="OptionalGetElement 'y': the optional is empty"):
        reference.run(model, {"o": None})
