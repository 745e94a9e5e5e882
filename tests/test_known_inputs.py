"""The models of docs/problems/known-inputs.md: a sample rate, a Squeeze, an empty batch."""

import numpy as np
import onnx
import pytest
import straightline as sl
from harness import as_model, assert_equal, op_types, run_in_onnxruntime

SAMPLE_RATE = """vad (float[1,N] audio, int64 sr) => (float[1,M] frames) <int64 wide = {16000}> {
   is_wide = Equal (sr, wide)
   frames = If (is_wide) <
      then_branch = keep () => (float[1,A] kept) { kept = Identity (audio) },
      else_branch = twice () => (float[1,B] doubled) { doubled = Concat <axis = 1> (audio, audio) }
   >
}"""

SQUEEZE = """<ir_version: 8, opset_import: ["" : 17]>
exported (float[batch,channels,width] x) => (float[] y) <int64 one = {1}, int64[1] axes = {1}> {
   shape = Shape (x)
   size = Gather <axis = 0> (shape, one)
   single = Equal (size, one)
   y = If (single) <
      then_branch = drop () => (float[] dropped) { dropped = Squeeze (x, axes) },
      else_branch = keep () => (float[] kept) { kept = Identity (x) } > }"""


EMPTY_BATCH = """<ir_version: 8, opset_import: ["" : 17]>
pooled (float[N,3] x) => (float[C] y) <int64 none = {0}> {
   shape = Shape (x)
   rows = Gather (shape, none)
   filled = Greater (rows, none)
   y = If (filled) <
      then_branch = most () => (float[A] a) { a = ReduceMax <axes = [0], keepdims = 0> (x) },
      else_branch = nothing () => (float[3] b) { b = Constant <value_floats = [0.0, 0.0, 0.0]> () }
   >
}"""


@pytest.mark.parametrize(("rate", "left"), [(16000, ["Identity"]), (8000, ["Concat"])])
def test_if_on_a_sample_rate_is_resolved_by_a_value(rate, left):
    model = as_model(SAMPLE_RATE)
    rewritten = sl.rewrite(model, values={"sr": rate}, verify=True, strict=True)
    assert op_types(rewritten) == left
    assert [value.name for value in rewritten.graph.input] == ["audio"]
    audio = np.arange(6, dtype=np.float32).reshape(1, 6)
    expected = sl.reference.run(model, {"audio": audio, "sr": np.array(rate)})
    (got,) = run_in_onnxruntime(rewritten, {"audio": audio})
    assert_equal(got, expected[0])


def test_without_the_value_the_remark_names_the_option():
    result = sl.Pipeline(sl.passes.straighten().passes).run(as_model(SAMPLE_RATE))
    (remark,) = result.kept
    told = "its condition depends on input 'sr'; decide it with --set sr=... (values= in Python)"
    assert remark.reason == told


@pytest.mark.parametrize(("shape", "left"), [((2, 1, 5), ["Squeeze"]), ((2, 3, 5), ["Identity"])])
def test_if_around_a_squeeze_is_resolved_by_a_shape(shape, left):
    model = onnx.parser.parse_model(SQUEEZE)
    rewritten = sl.rewrite(model, shapes={"x": shape}, verify=True, strict=True)
    assert op_types(rewritten) == left
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
    assert op_types(sl.rewrite(model, strict=True, verify=True)) == ["Identity"]


def test_an_if_for_empty_batches_is_resolved_by_a_least_size():
    model = onnx.parser.parse_model(EMPTY_BATCH)
    assert op_types(sl.rewrite(model))[-1] == "If"
    result = sl.transform(model, dims={"N": ">=1"}, verify=True)
    assert op_types(result.model) == ["ReduceMax"]
    assert result.model.graph.input[0] == model.graph.input[0]  # N stays open
    assert result.verdict.proved and result.verdict.reason.endswith("if N >= 1")
    assert result.verdict.proof.assumptions == ("N >= 1",)


def test_a_least_size_is_named_or_the_rewrite_is_refuted():
    model = onnx.parser.parse_model(EMPTY_BATCH)
    rewritten = sl.rewrite(model, dims={"N": ">=1"})
    assert sl.prove(model, rewritten).status == "refuted"
    assert sl.prove(model, rewritten, dims={"N": ">=1"}).claim == "equal for every input, if N >= 1"
    assert sl.prove(model, model, dims={"N": ">=1"}).claim == "equal for every input"
    assert sl.verify(model, rewritten, prove=False).status == "different"
    verdict = sl.verify(model, rewritten, prove=False, dims={"N": ">=1"})
    assert verdict.equal and len(verdict.outputs) == 1
    empty = {"x": np.zeros((0, 3), np.float32)}
    with pytest.raises(sl.Error, match="input 'x' has 0 for N, but N is assumed to be at least 1"):
        sl.verify(model, rewritten, prove=False, feeds=empty, dims={"N": ">=1"})


def test_a_least_size_does_not_outlive_the_rewrite():
    model = sl.load(onnx.parser.parse_model(EMPTY_BATCH))
    kept = sl.rewrite(model, "infer-shapes", dims={"N": ">=1"})
    assert [node.op_type for node in sl.rewrite(kept).graph.nodes()][-1] == "If"


def test_a_smaller_least_size_decides_nothing():
    text = EMPTY_BATCH.replace("{0}", "{3}").replace("Gather (shape, none)", "Size (x)")
    model = onnx.parser.parse_model(text)
    assert op_types(sl.rewrite(model, dims={"N": ">=1"}))[-1] == "If"
    assert op_types(sl.rewrite(model, dims={"N": ">=2"}, verify=True)) == ["ReduceMax"]


def test_guards_of_a_cell_for_batches_of_nothing_are_gone_with_least_sizes():
    guarded_cell = """steps (float[B,T,3] x, float[3,4] w, float[4,4] u) => (float[T,B,4] y)
       <int64 zero = {0}, int64 one = {1}, int64 most = {9223372036854775807}, float nothing = {0},
        int64[1] width = {4}> {
       rows = Transpose <perm = [1, 0, 2]> (x)
       sizes = Shape (rows)
       steps = Gather (sizes, zero)
       longest = Max (one, steps)
       least = Min (steps, longest)
       batch = Shape <start = 1, end = 2> (rows)
       shape = Concat <axis = 0> (batch, width)
       initial = Expand (nothing, shape)
       some = Less (zero, steps)
       i, h, y = Loop (most, some, zero, initial) <
          body = b (int64 n, bool c, int64 j, float[B,4] h)
             => (bool d, int64 k, float[B,4] r, float[B,4] s) {
          e = Gather (rows, j)
          a = MatMul (e, w) b = MatMul (h, u) f = Add (a, b) r = Tanh (f) s = Identity (r)
          k = Add (j, one) g = Less (k, steps) l = Less (k, least) d = And (g, l) }> }"""
    model = as_model(guarded_cell)
    whole = sl.rewrite(model, "accelerate", optimize_for="run", verify=True)
    least = sl.rewrite(
        model, "accelerate", dims={"B": ">=1", "T": ">=1"}, optimize_for="run", verify=True
    )
    assert len(whole.graph.node) > 2 * len(least.graph.node)
    assert "RNN" in op_types(least) and {"Pad", "Where", "Range"}.isdisjoint(op_types(least))
    feeds = {"x": (2, 5, 3), "w": (3, 4), "u": (4, 4)}
    rng = np.random.default_rng(0)
    drawn = {name: rng.standard_normal(shape).astype(np.float32) for name, shape in feeds.items()}
    (got,) = run_in_onnxruntime(least, drawn)
    np.testing.assert_allclose(got, sl.reference.run(model, drawn)[0], rtol=1e-5, atol=1e-6)
