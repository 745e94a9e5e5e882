"""The two models of docs/known-inputs.md: an If on a sample rate, and one around a Squeeze."""

import numpy as np
import onnx.parser
import pytest
import straightline as sl
from harness import assert_equal, run_in_onnxruntime

SAMPLE_RATE = """
<ir_version: 8, opset_import: ["" : 17]>
vad (float[1,N] audio, int64 sr) => (float[1,M] frames) <int64 wide = {16000}> {
   is_wide = Equal (sr, wide)
   frames = If (is_wide) <
      then_branch = keep () => (float[1,A] kept) { kept = Identity (audio) },
      else_branch = twice () => (float[1,B] doubled) { doubled = Concat <axis = 1> (audio, audio) }
   >
}"""

SQUEEZE = """
<ir_version: 8, opset_import: ["" : 17]>
exported (float[batch,channels,width] x) => (float[] y) <int64 one = {1}, int64[1] axes = {1}> {
   shape = Shape (x)
   size = Gather <axis = 0> (shape, one)
   single = Equal (size, one)
   y = If (single) <
      then_branch = drop () => (float[] dropped) { dropped = Squeeze (x, axes) },
      else_branch = keep () => (float[] kept) { kept = Identity (x) }
   >
}"""


def operators(model):
    return [node.op_type for node in model.graph.node]


@pytest.mark.parametrize(("rate", "left"), [(16000, ["Identity"]), (8000, ["Concat"])])
def test_if_on_a_sample_rate_is_resolved_by_a_value(rate, left):
    model = onnx.parser.parse_model(SAMPLE_RATE)
    rewritten = sl.rewrite(model, values={"sr": rate}, verify=True, strict=True)
    assert operators(rewritten) == left
    assert [value.name for value in rewritten.graph.input] == ["audio"]
    audio = np.arange(6, dtype=np.float32).reshape(1, 6)
    expected = sl.reference.run(model, {"audio": audio, "sr": np.array(rate)})
    (got,) = run_in_onnxruntime(rewritten, {"audio": audio})
    assert_equal(got, expected[0])


def test_without_the_value_the_remark_names_the_option():
    result = sl.Pipeline(sl.passes.straighten().passes).run(onnx.parser.parse_model(SAMPLE_RATE))
    (remark,) = result.kept
    told = "its condition depends on input 'sr'; decide it with --set sr=... (values= in Python)"
    assert remark.reason == told


@pytest.mark.parametrize(("shape", "left"), [((2, 1, 5), ["Squeeze"]), ((2, 3, 5), ["Identity"])])
def test_if_around_a_squeeze_is_resolved_by_a_shape(shape, left):
    model = onnx.parser.parse_model(SQUEEZE)
    rewritten = sl.rewrite(model, shapes={"x": shape}, verify=True, strict=True)
    assert operators(rewritten) == left
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    (got,) = run_in_onnxruntime(rewritten, {"x": x})
    assert_equal(got, sl.reference.run(model, {"x": x})[0])


def test_without_the_shape_the_remark_names_the_option():
    result = sl.Pipeline(sl.passes.straighten().passes).run(onnx.parser.parse_model(SQUEEZE))
    (remark,) = result.kept
    assert "depends on the shape of input 'x'; decide it with --shape x=..." in remark.reason


def test_a_dimension_that_is_certainly_not_one_needs_no_option():
    text = SQUEEZE.replace("Shape (x)", "Shape (longer)").replace(
        "{\n   shape", "{\n   longer = Concat <axis = 1> (x, x, x)\n   shape"
    )
    model = onnx.parser.parse_model(text)
    assert operators(sl.rewrite(model, strict=True, verify=True)) == ["Identity"]
