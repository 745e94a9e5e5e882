import numpy as np
import onnx
import pytest
import straightline as sl
from harness import run_passes
from sessions import by_reference, outputs
from straightline.passes import CopyOutputs
from straightline.verification.runs.body_outputs import with_copies
from tables import table

X = np.array([1, 2, 3], np.float32)
FEEDS = {"x": X, "s": np.array(5, np.float32), "n": np.array(3)}
SCAN = "t, y = Scan <num_scan_inputs = 1, body = b (float a, float e) => {}> (s, x)"
LOOP = """t, y = Loop (n, go, s) <body = b (int64 i, bool c, float a) => {} {{
    d = Identity (c) f = Cast <to = 1> (i) g = Add (a, f) v = Tanh (g) w = Neg (a) }}>"""
COPIED = [
    (SCAN.format("(float v, float e) { r = Add (a, e) v = Tanh (r) }"), 1),
    (SCAN.format("(float v, float a) { r = Add (a, e) v = Tanh (r) }"), 1),
    (SCAN.format("(float v, float v) { r = Add (a, e) v = Tanh (r) }"), 1),
    (SCAN.format("(float a, float v) { r = Add (a, e) v = Tanh (r) }"), 1),
    (SCAN.format("(float e, float e) {}"), 2),
    (SCAN.format("(float k, float k) <float k = {3.0}> {}"), 1),
    (LOOP.format("(bool d, float v, int64 i)"), 1),
]
STAYS = [
    SCAN.format("(float v, float r) { r = Add (a, e) v = Tanh (r) }"),
    SCAN.format("(float r, float k) <float k = {3.0}> { r = Identity (a) }"),
    LOOP.format("(bool c, float a, float w)"),
    LOOP.format("(bool d, float v, float a)"),
    LOOP.format("(bool d, float v, float v)"),
]


def model(nodes, opset=17):
    kind = "int64" if "int64 i)" in nodes else "float"
    return onnx.parser.parse_model(
        f'<ir_version: 8, opset_import: ["" : {opset}]> g (float s, float[N] x, int64 n)'
        f" => (float t, {kind}[K] y) <bool go = {{1}}> {{ {nodes} }}"
    )


@pytest.mark.parametrize("opset", [11, 17])
@pytest.mark.parametrize(("nodes", "copies"), COPIED)
def test_onnxruntime_returns_what_is_specified(nodes, copies, opset):
    before = model(nodes, opset)
    result = run_passes(before, CopyOutputs())
    (construct,) = result.model.graph.node
    body = next(a.g for a in construct.attribute if a.name == "body")
    old = next(a.g for a in before.graph.node[0].attribute if a.name == "body")
    assert len(body.node) - len(old.node) == copies
    assert sl.prove(before, result.model).proved
    (remark,) = result.remarks
    assert "through an Identity, since onnxruntime does not copy" in str(remark)
    for after in (result.model, sl.rewrite(before)):
        for one, other in zip(outputs(after, FEEDS), by_reference(before, FEEDS), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6)
    assert not run_passes(result.model, CopyOutputs()).changed


@pytest.mark.parametrize("place", range(2))
@table(
    ("(float v, float v) { v = Tanh (s) }", 1),
    ("(float k, float k) <float k = {3.0}> {}", 1),
    ("(float v, float v) <float r = {3.0}> { v = Add (r, s) }", 1),
    ("(float k, float v) <float k = {3.0}> { v = Tanh (s) }", 0),
)
def test_branches_return_a_value_once(branch, copies, place):
    branches = [branch, "(float p, float q) { p = Exp (s) q = Abs (s) }"]
    before = onnx.parser.parse_model(
        f"""<ir_version: 8, opset_import: ["" : 17]> g (float s, bool c) => (float t, float y) {{
        t, y = If (c) <then_branch = a () => {branches[place]},
        else_branch = b () => {branches[1 - place]}> }}"""
    )
    result = run_passes(before, CopyOutputs())
    assert result.changed == bool(copies) == len(result.remarks)
    assert sl.prove(before, result.model).proved
    for after in (result.model, sl.rewrite(before), sl.rewrite(before, opset=10)):
        for feeds in ({"s": FEEDS["s"], "c": np.array(c)} for c in (True, False)):
            for one, other in zip(outputs(after, feeds), by_reference(before, feeds), strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-6)
    assert not run_passes(result.model, CopyOutputs()).changed


@pytest.mark.parametrize("opset", [13, 17])
@pytest.mark.parametrize("kind", ["seq(float[N])", "float[N]", ""])
def test_sequences_of_branches_stay(kind, opset):
    node = "Neg (s)" if kind.startswith("float") else "SequenceConstruct (s)"
    use = "Add (p, q)" if kind.startswith("float") else "SequenceLength (q)"
    branch = f"({kind} v, {kind} v) {{ v = {node} }}"
    before = onnx.parser.parse_model(
        f"""<ir_version: 8, opset_import: ["" : {opset}]> g (float[N] s, bool c) => (y) {{ p, q =
        If (c) <then_branch = a () => {branch}, else_branch = b () => {branch}> y = {use} }}"""
    )
    before = onnx.shape_inference.infer_shapes(before)
    result = run_passes(before, CopyOutputs())
    assert result.changed == (kind == "float[N]")
    sl.rewrite(before, opset=13)
    onnx.checker.check_model(result.model, full_check=True)
    onnx.checker.check_model(with_copies(before), full_check=True)


@pytest.mark.parametrize("nodes", STAYS)
def test_outputs_that_onnxruntime_copies_stay(nodes):
    before = model(nodes)
    for one, other in zip(outputs(before, FEEDS), by_reference(before, FEEDS), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)
    assert not run_passes(before, CopyOutputs()).changed


def test_the_bodies_of_opset_8_and_of_inner_loops():
    text = """<ir_version: 4, opset_import: ["" : 8]> g (float[1, N] x) => (float[1, N] y) {
        y = Scan <num_scan_inputs = 1, body = b (float a) => (float a) {}> (, x) }"""
    before = onnx.parser.parse_model(text)
    after = run_passes(before, CopyOutputs()).model
    np.testing.assert_array_equal(outputs(after, {"x": X[None]})[0], X[None])
    inner = LOOP.format("(bool d, float v, int64 i)").replace("t, y =", "p, q =")
    nodes = f"""t, y = Scan <num_scan_inputs = 1, body = b (float s, float e) => (float u, int64 k)
        {{ {inner} u = Add (p, e) k = ReduceSum <keepdims = 0> (q) }}> (s, x)"""
    before = model(nodes)
    before.graph.output[1].type.tensor_type.elem_type = onnx.TensorProto.INT64
    after = run_passes(before, CopyOutputs()).model
    for one, other in zip(outputs(after, FEEDS), by_reference(before, FEEDS), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)
