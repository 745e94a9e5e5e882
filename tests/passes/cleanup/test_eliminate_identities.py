import numpy as np
from harness import assert_rewrites, op_types, run_passes
from straightline.passes import EliminateIdentities
from tables import table

HEAD = '<ir_version: 8, opset_import: ["" : 17, "ai.onnx.preview.training" : 1]>\n'
X = {"x": np.array([1, -2], np.float32)}


def test_readers_read_the_source():
    assert_rewrites(
        EliminateIdentities(),
        HEAD + "g (float[2] x) => (float[2] y) { a = Relu (x) b = Identity (a) y = Add (b, b) }",
        HEAD + "g (float[2] x) => (float[2] y) { a = Relu (x) y = Add (a, a) }",
        [X],
    )


def test_a_chain_collapses():
    assert_rewrites(
        EliminateIdentities(),
        HEAD
        + """g (float[2] x) => (float[2] y) {
            a = Identity (x) b = Identity (a) c = Neg (b) d = Identity (c) y = Identity (d) }""",
        HEAD + "g (float[2] x) => (float[2] y) { y = Neg (x) }",
        [X],
    )


@table(
    ("float[2] y", "y = Identity (x)", 1),
    ("float[2] y", "y = Identity (w)", 1),
    ("float[2] y, float[2] z", "a = Neg (x) y = Identity (a) z = Identity (a)", 1),
    ("float[2] a, float[2] y", "a = Neg (x) y = Identity (a)", 1),
)
def test_names_of_inputs_and_outputs_stay(outputs, nodes, left):
    text = f"{HEAD}g (float[2] x) => ({outputs}) <float[2] w = {{1, 2}}> {{ {nodes} }}"
    assert op_types(run_passes(text, EliminateIdentities()).model).count("Identity") == left


def test_inside_bodies():
    text = """g (float[2] x, int64 n) => (float[2] y) {
        z = Identity (x)
        y = Loop (n, , x) <body = b (int64 i, bool c, float[2] a) => (bool c2, float[2] r) {
            c2 = Identity (c) d = Identity (z) r = Add (a, d) }> }"""
    (loop,) = run_passes(HEAD + text, EliminateIdentities()).model.graph.node
    assert [n.op_type for n in loop.attribute[0].g.node] == ["Identity", "Add"]
    assert list(loop.attribute[0].g.node[1].input) == ["a", "x"]


def test_values_of_a_gradient_stay():
    text = """g (float[2] x) => (float[2] y, float[2] d) {
        a = Identity (x) y = Mul (a, a)
        d = ai.onnx.preview.training.Gradient <xs = ["a"], y = "y"> (a) }"""
    assert not run_passes(HEAD + text, EliminateIdentities()).changed
