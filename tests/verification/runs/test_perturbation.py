import numpy as np
import onnx
import straightline as sl
from harness import as_model, op_types, run_in_onnxruntime
from straightline.verification.runs.perturbation import nudge
from tables import table

TEXT = """g (float[1000] x) => (float[1000] y) <int64 n = {1000}, bool t = {1}, float z = {0}> {
  s, y = Loop (n, t, z) <body = b (int64 i, bool c, float a) => (bool d, float q, float r) {
    d = Identity (c) e = Gather <axis = 0> (x, i) f = OPERATOR (e) q = Add (a, f) r = Identity (q)
  }> }"""
SUM = as_model(TEXT.replace("OPERATOR", "Sin"))


def test_results_move_a_little_in_each_iteration():
    x = np.random.default_rng(0).normal(size=1000).astype(np.float32)
    (before,) = run_in_onnxruntime(SUM, {"x": x})
    runs = [run_in_onnxruntime(nudge(SUM, seed), {"x": x})[0] for seed in (0, 1)]
    for found in runs:
        moved = np.abs(found - before)
        assert 0 < moved.max() < 1e-2
        assert moved[:10].max() < 1e-5
    assert (runs[0] != runs[1]).any()
    assert as_model(TEXT.replace("OPERATOR", "Sin")) == SUM


def test_copies_are_not_perturbed():
    text = '<ir_version: 8, opset_import: ["" : 17]> g (float[2] x) => (float[2] y) { y = Neg (x) }'
    assert op_types(nudge(onnx.parser.parse_model(text), 0)) == ["Neg"]


def test_old_models_are_left():
    text = '<ir_version: 3, opset_import: ["" : 6]> g (float[2] x) => (float[2] y) { y = Exp (x) }'
    assert nudge(onnx.parser.parse_model(text), 0) is None


def test_long_sums_may_be_off_by_what_rounding_makes():
    rewrite = sl.rewrite(SUM, "vectorize-loops")
    assert rewrite.graph.node[0].op_type == "Sin"
    assert sl.verify(SUM, rewrite, prove=False).equal
    wrong = onnx.ModelProto.FromString(rewrite.SerializeToString())
    (loop,) = [node for node in wrong.graph.node if node.op_type == "Loop"]
    for node in loop.attribute[0].g.node:
        if node.op_type == "Add":
            node.op_type = "Sub"
    assert sl.verify(SUM, wrong, prove=False).status == "different"
    other = as_model(TEXT.replace("OPERATOR", "Tanh"))
    assert sl.verify(SUM, other, prove=False).status == "different"


def test_operands_that_a_body_captures_move():
    text = """g (float[n] x, bool c) => (float y)
        { y = If (c) <then_branch = t () => (float a) { a = ReduceSum <keepdims = 0> (x) },
        else_branch = e () => (float b) { b = ReduceMax <keepdims = 0> (x) }> }"""
    feeds = {"x": np.array([1e8, 1, -1e8], np.float32), "c": np.array(True)}
    (found,) = run_in_onnxruntime(nudge(as_model(text), 0), feeds)
    assert abs(found - 1) > 2


def test_other_types_are_perturbed_by_their_unit():
    text = """g (double[1, 4] x) => (double[1, 4] y)
        <double[4] s = {1, 1, 1, 1}> { y = LayerNormalization <stash_type = TYPE> (x, s) }"""
    x = np.array([[1.0, 2, 4, 8]])
    for stash, least in ((1, 1e-9), (11, 0)):
        model = as_model(text.replace("TYPE", str(stash)))
        before, after = (run_in_onnxruntime(m, {"x": x})[0] for m in (model, nudge(model, 0)))
        assert least < np.abs(after - before).max() < max(100 * least, 1e-14)


MOST = np.finfo(np.float32).max


@table(
    ("matmul", "float[1, 4] x, float[4, 1] w", "y = MatMul (x, w)"),
    ("gemm", "float[1, 4] x, float[4, 1] w", "y = Gemm <alpha = -1.0> (x, w)"),
    ("sum", "float[1, 4] x, float[4, 1] w", "p = MatMul (x, w) y = ReduceSum (p)"),
    (
        "body",
        "float[1, 4] x, float[4, 1] w",
        "c = Constant <value = bool {1}> () y = If (c) <then_branch = t () => (float[1, 1] a)"
        " { a = MatMul (x, w) }, else_branch = e () => (float[1, 1] b) { b = MatMul (x, w) }>",
    ),
)
def test_sums_that_may_overflow_are_any_special_value(name, inputs, nodes):
    text = f'<ir_version: 8, opset_import: ["" : 17]> g ({inputs}) => (float[1, 1] y) {{ {nodes} }}'
    model = onnx.parser.parse_model(text)

    def runs(row):
        feeds = {"x": np.array([row], np.float32), "w": np.ones((4, 1), np.float32)}
        return [run_in_onnxruntime(nudge(model, seed), feeds)[0].item() for seed in (2, 3)]

    assert np.array_equal(runs([MOST, MOST, -MOST, -np.inf]), [np.nan, np.inf], equal_nan=True)
    assert np.isinf(runs([1, 2, 3, -np.inf])).all()
    assert np.isnan(runs([1, np.nan, 3, MOST])).all()
    assert np.isfinite(runs([MOST, 1, 2, 3])).any()


def test_rows_that_are_multiplied_together_are_equal_on_special_values():
    text = """g (float[64, 8] x, float[8, 8] w)
        => (float[64, 8] y) <int64 n = {64}, bool yes = {1}> {
      y = Loop (n, yes) <body = row (int64 i, bool c) => (bool d, float[8] r) {
        d = Identity (c) e = Gather <axis = 0> (x, i) m = MatMul (e, w) r = Relu (m) }> }"""
    loop = as_model(text)
    rewrite = sl.rewrite(loop, verify=False)
    assert op_types(rewrite) == ["MatMul", "Relu"]
    for seed in range(3):
        assert sl.verify(loop, rewrite, prove=False, samples=3, seed=seed)
    rewrite.graph.node[1].op_type = "Abs"
    assert sl.verify(loop, rewrite, prove=False, samples=3).status == "different"
