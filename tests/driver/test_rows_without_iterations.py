"""Sizes of rows of a Loop without an iteration, before and after inputs are bound."""

import numpy as np
import onnx
import pytest
import straightline as sl
from harness import as_model, run_in_onnxruntime
from straightline import ir, reference
from straightline.driver.specialize import bind_inputs

HEAD = '<ir_version: 8, opset_import: ["" : 17]> '
ROWS = {
    "captured": ("r = Neg (x)", False),
    "of a state": ("s2 = Neg (s) r = Exp (s)", True),
    "of both": ("s2 = Neg (s) r = Add (x, s)", True),
    "joined": ("r = Concat <axis = 0> (x, x)", False),
    "a plane": ("u = Constant <value_ints = [0]> () r = Unsqueeze (x, u)", False),
}
DECLARED = ("N", "?", None)


def model_of(rows, declared, state="N", head=HEAD, limit="n"):
    body, carries = ROWS[rows]
    size = "?" if rows in ("joined", "of both") else declared
    row = f"float[{size}]" if rows != "a plane" else f"float[1, {size}]"
    given, after = (f", float[{state}] s", f", float[{state}] s2") if carries else ("", "")
    final, out, initial = ("float[F] f, ", "f, ", ", x") if carries else ("", "", "")
    text = f"""g (float[N] x, int64 n) => ({final}float[M, P] z)
        <bool yes = {{1}}, int64 two = {{2}}> {{
        {out}z = Loop ({limit}, yes{initial}) <body = b (int64 i, bool c{given}) =>
            (bool c2{after}, {row} r) {{ c2 = Identity (c) {body} }}> }}"""
    model = as_model(head + text)
    if declared is None:
        body = next(a.g for a in model.graph.node[0].attribute if a.name == "body")
        body.output[-1].type.tensor_type.ClearField("shape")
    if rows == "a plane":
        model.graph.output[-1].type.tensor_type.ClearField("shape")
    return model


X = np.array([1, 2, 3, 4], np.float32)


@pytest.mark.sample(7)
@pytest.mark.parametrize("state", ["N", "?"])
@pytest.mark.parametrize("declared", DECLARED)
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("options", [{"shapes": {"x": [4]}}, {"values": {"x": X}}], ids=str)
def test_sizes_stay(options, rows, declared, state):
    model = model_of(rows, declared, state)
    for passes in ("eliminate-dead-nodes", "straighten"):
        result = sl.rewrite(model, passes=passes, **options)
        for n in (0, 2):
            own = {"n": np.array(n)} | ({"x": X} if "shapes" in options else {})
            for run in (run_in_onnxruntime, reference.run):
                wanted = run(model, {"n": np.array(n), "x": X})
                for one, other in zip(wanted, run(result, own), strict=True):
                    assert one.shape == other.shape, (passes, n, run)
                    np.testing.assert_array_equal(one, other)


def bound(model, values=None, **shapes):
    loaded = ir.load(model)
    bind_inputs(loaded, values or {}, shapes)
    return [node.op_type for node in loaded.graph.nodes()], ir.to_proto(loaded)


def test_rows_are_cut_only_where_a_size_would_appear():
    cut = ["Loop", "Shape", "Gather", "Cast", "Cast", "Gather", "Mul", "Slice"]
    assert bound(model_of("captured", "N"), x=[4])[0] == cut
    assert bound(model_of("of a state", "N"), x=[4])[0] == ["Loop"]
    assert bound(model_of("captured", "4"), x=[4])[0] == ["Loop"]
    assert bound(model_of("captured", "N", limit="two"), x=[4])[0] == ["Loop"]
    assert bound(model_of("captured", "N", head=HEAD.replace("17", "11")), x=[4])[0] == cut
    older = HEAD.replace("17", "9")  # its Slice has constant bounds
    assert bound(model_of("of both", "N", "?", head=older), x=[4])[0] == ["Loop"]


def test_cut_sizes_are_not_declared():
    model = model_of("captured", "N")
    model.graph.output[0].type.tensor_type.shape.dim[1].dim_param = "N"
    (_, size) = bound(model, x=[4])[1].graph.output[0].type.tensor_type.shape.dim
    assert not size.WhichOneof("value")


def test_nested_rows_keep_their_sizes():
    inner = """r = Loop (n, yes) <body = d (int64 j, bool g) => (bool g2, float[N] q) {
        g2 = Identity (g) q = Exp (x) }>"""
    model = model_of("captured", None)
    text = onnx.printer.to_text(model).replace("r = Neg (x)", inner)
    text = text.replace("float[M,P] z", "float[M,P,Q] z")
    model = as_model(text)
    result = sl.rewrite(model, passes="eliminate-dead-nodes", shapes={"x": [4]})
    for n in (0, 2):
        feeds = {"n": np.array(n), "x": X}
        (one,), (other,) = (run_in_onnxruntime(m, feeds) for m in (model, result))
        assert one.shape == other.shape


@pytest.mark.parametrize("opset", [10, 11])
@pytest.mark.parametrize("declared", DECLARED)
def test_older_opsets(opset, declared):
    model = model_of("of both", declared, "?", head=HEAD.replace("17", str(opset)))
    for passes in ("eliminate-dead-nodes", "straighten"):
        result = sl.rewrite(model, passes=passes, shapes={"x": [4]})
        for n in (0, 2):
            feeds = {"n": np.array(n), "x": X}
            for one, other in zip(
                *(run_in_onnxruntime(m, feeds) for m in (model, result)), strict=True
            ):
                assert one.shape == other.shape
                np.testing.assert_array_equal(one, other)


def test_rows_in_functions():
    """A call of the same function with another shape keeps its own sizes."""
    text = """<ir_version: 8, opset_import: ["" : 17, "local" : 1]>
        g (float[N] x, float[M] w, int64 n) => (float[P, Q] z, float[R, S] v)
        { z = local.F (x, n) v = local.F (w, n) }
        <domain: "local", opset_import: ["" : 17]> F (x, n) => (z) {
            yes = Constant <value = bool {1}> ()
            z = Loop (n, yes) <body = b (int64 i, bool c) => (bool c2, r) {
                c2 = Identity (c) r = Neg (x) }> }"""
    model = as_model(text)
    for passes in ("eliminate-dead-nodes", "straighten"):
        result = sl.rewrite(model, passes=passes, shapes={"x": [4]})
        for n in (0, 2):
            feeds = {"n": np.array(n), "x": X, "w": X[:3]}
            for run in (run_in_onnxruntime, reference.run):
                for one, other in zip(run(model, feeds), run(result, feeds), strict=True):
                    assert one.shape == other.shape
                    np.testing.assert_array_equal(one, other)
