import numpy as np
import onnx
import pytest
import straightline as sl
from harness import assert_rewrites, run_passes
from straightline.passes import EliminateDeadNodes, OmitZeroStates

HEAD = '<ir_version: 8, opset_import: ["" : 14]>\n'
PASSES = (OmitZeroStates(), EliminateDeadNodes())
RNG = np.random.default_rng(0)
FEED = {
    "x": RNG.standard_normal((3, 2, 3)).astype(np.float32),
    "w": RNG.standard_normal((1, 8, 3)).astype(np.float32),
    "r": RNG.standard_normal((1, 8, 2)).astype(np.float32),
}
SIGNATURE = "g (float[T, B, 3] x, float[1, 8, 3] w, float[1, 8, 2] r) => (float[T, 1, B, 2] y)"
CONSTANTS = """<int64[1] two = {2}, int64[1] one = {1}, int64[1] first = {0}, int64 zero = {0},
    float[1, 1, 2] none = {%s}> {
    s = Shape (x) n = Gather (s, one) """
FORMS = {
    "filled": "d = Concat <axis = 0> (one, n, two) z = ConstantOfShape (d)",
    "expanded": "d = Concat <axis = 0> (one, n, two) z = Expand (none, d)",
    "cut": "d = Concat <axis = 0> (two, n, two) t = ConstantOfShape (d)"
    " z, u = Split <axis = 0> (t)",
    "sliced": "d = Concat <axis = 0> (two, n, two) t = ConstantOfShape (d)"
    " z = Slice (t, one, two, first)",
    "added axis": "d = Concat <axis = 0> (n, two) t = ConstantOfShape (d) z = Unsqueeze (t, first)",
}
LAYER = " y, h, c = LSTM <hidden_size = 2> (x, w, r%s) }"


@pytest.mark.parametrize("form", FORMS)
def test_zeros_are_omitted(form):
    before = HEAD + SIGNATURE + CONSTANTS % "0, 0" + FORMS[form] + LAYER % ", , , z, z"
    after = HEAD + SIGNATURE + " {" + LAYER % ""
    assert_rewrites(PASSES, before, after, [FEED])
    proof = sl.prove(*map(onnx.parser.parse_model, (before, after)))
    assert (proof.status, proof.equality) == ("proved", "bits")


def test_one_of_the_states():
    text = SIGNATURE.replace(") =>", ", float[1, B, 2] k) =>") + CONSTANTS % "0, 0"
    text += FORMS["expanded"]
    feeds = FEED | {"k": np.ones((1, 2, 2), np.float32)}
    after = SIGNATURE.replace(") =>", ", float[1, B, 2] k) =>") + " {" + LAYER % ", , , , k"
    assert_rewrites(PASSES, HEAD + text + LAYER % ", , , z, k", HEAD + after, [feeds])


@pytest.mark.parametrize("numbers", ["0, 1", "0, -0.0"])
def test_other_states_stay(numbers):
    before = HEAD + SIGNATURE + CONSTANTS % numbers + FORMS["expanded"] + LAYER % ", , , z, z"
    after = HEAD + SIGNATURE + " {" + LAYER % ""
    model = onnx.parser.parse_model(before)
    assert not run_passes(model, OmitZeroStates()).changed
    assert not sl.prove(model, onnx.parser.parse_model(after)).proved


def test_a_state_that_a_caller_may_override():
    text = SIGNATURE.replace(") =>", ", float[1, 2, 2] z) =>") + "<float[1, 2, 2] z = {0, 0, 0, 0}>"
    model = onnx.parser.parse_model(HEAD + text + " {" + LAYER % ", , , z")
    assert not run_passes(model, OmitZeroStates()).changed
