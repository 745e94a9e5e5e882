import numpy as np
import onnx
import pytest
import straightline as sl
from harness import as_model, assert_equal_outputs, assert_rewrites, run_passes
from straightline.passes import MergeConstants
from tables import table

FEED = {"x": np.array([1, -2], np.float32)}


def test_equal_constants_are_one():
    assert_rewrites(
        MergeConstants(),
        """g (float[2] x) => (float[2] z)
            <float[2] k = {1, 2}, float[2] l = {1, 2}, float m = {1}> {
            y = Add (x, k) z = Mul (y, l) }""",
        """g (float[2] x) => (float[2] z) <float[2] k = {1, 2}> {
            y = Add (x, k) z = Mul (y, k) }""",
        [FEED],
    )


@table(
    ("another value", "float[2] k = {1, 2}, float[2] l = {2, 1}", "y = Add (x, k) z = Mul (y, l)"),
    ("the other zero", "float k = {0}, float l = {-0.0}", "y = Div (x, k) z = Div (y, l)"),
    ("another shape", "float[1] k = {1}, float l = {1}", "y = Add (x, k) z = Mul (y, l)"),
    ("another type", "int64 k = {0}, float l = {0}", "y = CumSum (x, k) z = Mul (y, l)"),
)
def test_others_stay(what, constants, nodes):
    text = f"g (float[2] x) => (float[2] z) <{constants}> {{ {nodes} }}"
    assert not run_passes(text, MergeConstants()).changed


def test_defaults_of_inputs_stay():
    text = """g (float[2] x, float[2] k, float[2] l) => (float[2] z)
        <float[2] k = {1, 2}, float[2] l = {1, 2}> { y = Add (x, k) z = Mul (y, l) }"""
    assert not run_passes(text, MergeConstants()).changed


def test_in_a_body():
    text = """g (float[2] x, int64 n) => (float[2] z) <bool yes = {1}> {
        z = Loop (n, yes, x) <body = b (int64 i, bool c, float[2] a) => (bool c2, float[2] r)
            <float[2] k = {1, 2}, float[2] l = {1, 2}> {
            c2 = Identity (c) e = Mul (a, k) r = Add (e, l) }> }"""
    body = run_passes(text, MergeConstants()).model.graph.node[0].attribute[0].g
    assert [value.name for value in body.initializer] == ["k"]


def test_large_ones_are_compared_by_their_bytes():
    ones, others = np.ones((50, 50), np.float32), np.ones((50, 50), np.float32)
    others[49, 49] = np.nan
    head = as_model("g (float[50, 50] x) => (float[50, 50] y) { y = Sum (x, a, b, c, d) }")
    for name, array in {"a": ones, "b": others, "c": ones.copy(), "d": others.copy()}.items():
        head.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    result = run_passes(head, MergeConstants())
    assert list(result.model.graph.node[0].input) == ["x", "a", "b", "a", "b"]


def test_constant_nodes_are_initializers():
    assert_rewrites(
        MergeConstants(),
        """g (float[2] x, bool p) => (float[2] y, float w) <float[2] k = {1, 2}> {
            l = Constant <value = float[2] {1, 2}> () w = Constant <value_float = 3.0> ()
            z = Mul (x, l)
            y = If (p) <then_branch = t () => (float[2] q) {
                m = Constant <value_floats = [4.0, 5.0]> () q = Add (z, m) },
                else_branch = f () => (float[2] r) { r = Sub (z, k) }> }""",
        """g (float[2] x, bool p) => (float[2] y, float w) <float[2] k = {1, 2}> {
            w = Constant <value_float = 3.0> ()
            z = Mul (x, k)
            y = If (p) <then_branch = t () => (float[2] q) <float[2] m = {4, 5}> { q = Add (z, m) },
                else_branch = f () => (float[2] r) { r = Sub (z, k) }> }""",
        [{**FEED, "p": np.array(True)}],
    )


def test_constant_nodes_of_functions_and_old_files_stay():
    body = "(x) => (y) { k = Constant <value_float = 3.0> () y = Add (x, k) }"
    text = f"""<ir_version: 8, opset_import: ["" : 17, "own" : 1]>
        g (float[2] x) => (float[2] y) {{ y = own.f (x) }}
        <domain: "own", opset_import: ["" : 17]> f {body}"""
    assert not run_passes(text, MergeConstants()).changed
    old = """<ir_version: 3, opset_import: ["" : 9]> g (float[2] x) => (float[2] y) {
        k = Constant <value = float {3.0}> () y = Add (x, k) }"""
    assert not run_passes(old, MergeConstants()).changed


@pytest.mark.parametrize("count", [4, 3000])
def test_constants_in_files(tmp_path, count):
    """Two of one content; two that differ at their ends, two at their starts."""
    names = [f"k{place}" for place in range(6)]
    arrays = [np.zeros(count, np.float32) for _ in names]
    arrays[2][-1] = arrays[3][-1] = 1
    arrays[4][0], arrays[5][0] = 1, 2
    text = "y = Sum (x, " + ", ".join(names) + ")"
    model = as_model(f" g (float[{count}] x) => (float[{count}] y) {{ {text} }}")
    model.graph.initializer.extend(map(onnx.numpy_helper.from_array, arrays, names))
    path = tmp_path / "model.onnx"
    onnx.save(model, path, save_as_external_data=True, location="data", size_threshold=0)
    sl.transform(path, "merge-constants", verify=False).save(tmp_path / "after.onnx")
    after = onnx.load(tmp_path / "after.onnx")
    assert list(after.graph.node[0].input) == ["x", "k0", "k0", "k2", "k2", "k4", "k5"]
    assert [tensor.name for tensor in after.graph.initializer] == ["k0", "k2", "k4", "k5"]
    assert_equal_outputs(onnx.load(path), after, {"x": np.ones(count, np.float32)})
