import numpy as np
import pytest
from reference_oracle import assert_as_onnxruntime, parse
from straightline import reference
from straightline.reference import EvaluationError

X = np.arange(3, dtype=np.float32)

BRANCHES = """agraph (bool{shape} c, float[3] x) => (float[a] y, float[3] z, float[3] k) {{
  k = Neg (x)
  y, z = If (c) <
    then_branch = t () => (float[3] p, float[3] k) {{ p = Exp (k) }},
    else_branch = e () => (float[1] w, float[3] p)
      <float[1] w = {{7.0}}> {{ p = Sub (k, w) }}> }}"""


@pytest.mark.parametrize("value", [True, False])
@pytest.mark.parametrize("shape", ["", "[1]", "[1, 1]"])
def test_a_branch_may_return_outer_values_and_initializers(shape, value):
    cond = np.full((1,) * shape.count("1"), value)
    y, z, _ = reference.run(parse(BRANCHES.format(shape=shape)), {"c": cond, "x": X})
    expected = (np.exp(-X), -X) if value else (np.array([7.0], np.float32), -X - 7)
    np.testing.assert_allclose(y, expected[0])
    np.testing.assert_allclose(z, expected[1])


@pytest.mark.parametrize("value", [True, False])
def test_nested_branches_that_reuse_names_are_as_in_onnxruntime(value):
    model = parse("""agraph (bool c, float[3] x) => (float[3] y) {
      y = If (c) <
        then_branch = t () => (float[3] r) <float[1] w = {2.0}> {
          n = Not (c)
          r = If (n) <then_branch = tt () => (float[3] s) { s = Neg (x) },
                      else_branch = te () => (float[3] s) { s = Mul (x, w) }> },
        else_branch = e () => (float[3] r) <float[1] w = {5.0}> { r = Mul (x, w) }> }""")
    assert_as_onnxruntime(model, {"c": np.array(value), "x": X})


@pytest.mark.parametrize("count", [0, 2])
def test_the_condition_must_hold_one_element(count):
    with pytest.raises(EvaluationError, match="If 'y': the condition must hold one element"):
        reference.run(parse(BRANCHES.format(shape="[n]")), {"c": np.ones(count, bool), "x": X})


def test_an_undefined_outer_value_is_named():
    model = parse("""agraph (bool c) => (float[3] y) {
      y = If (c) <then_branch = t () => (float[3] r) { r = Neg (ghost) },
                  else_branch = e () => (float[3] r) { r = Exp (ghost) }> }""")
    with pytest.raises(EvaluationError, match="If 'y': the body uses 'ghost'"):
        reference.run(model, {"c": np.array(True)})
