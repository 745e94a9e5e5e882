import numpy as np
import zeros
from onnx import parser
from simplified import operators
from spelled import model
from straightline import ir
from straightline.passes.utils.zero_signs import (
    _COMPARISONS,
    _FORGETFUL,
    ignored_signs,
    tells_signs,
)
from tables import table

ZERO = "<float z = {0}, float two = {2}, float three = {3}, float one = {1}, float minus = {-1}>"


@table(
    ("y = Exp (t)", True),
    ("y = Neg (t)", True),
    ("y = Div (t, x)", True),
    ("y = Div (x, t)", False),
    ("y = Reciprocal (t)", False),
    ("a = Neg (t) y = Div (x, a)", False),
    ("a = Mul (t, t) y = Div (x, a)", True),
    ("a = Pow (t, two) b = Sqrt (a) y = Div (x, b)", True),
    ("a = Add (t, one) y = Div (x, a)", True),
    ("a = Add (t, z) y = Div (x, a)", False),
    ("a = Mul (t, x) y = Div (x, a)", False),
    ("a = Abs (t) y = Div (x, a)", True),
    ("y = Pow (t, two)", True),
    ("s = Shape (t) c = ConstantOfShape (s) y = Mul (x, c)", True),
    ("a = Pow (t, three) y = Mul (a, x)", True),
    ("a = Pow (t, three) y = Div (x, a)", False),
    ("y = Pow (t, minus)", False),
    ("y = Pow (t, x)", False),
    ("a = Pow (x, t) y = Reciprocal (a)", True),
    ("a = Cast <to = 10> (t) y = Cast <to = 1> (a)", True),
    ("a = Cast <to = 8> (t) y = Cast <to = 1> (a)", False),
)
def test_readers(reader, goes):
    nodes = f"{ZERO} {{ e = Tanh (x) t = Add (e, z) {reader} }}"
    graph = ir.load(model(nodes, 17, "(float[3] x) => (float[3] y)")).graph
    assert (graph.nodes()[1].output() in ignored_signs(graph)) == goes
    left = operators(nodes, "(float[3] x) => (float[3] y)", exactness="values")
    assert (left.count("Add") < nodes.count("= Add")) == goes


@table(
    ("y = Exp (t)", True),
    ("y = Div (t, x)", True),
    ("a = Abs (t) y = Reciprocal (a)", True),
    ("a = Add (t, one) b = Sqrt (a) y = Div (x, b)", True),
    ("y = Pow (t, three)", True),
    ("y = Reciprocal (t)", False),
    ("y = Div (x, t)", False),
    ("y = Pow (t, minus)", False),
    ("y = Pow (x, t)", True),
    ("a = Tanh (t) b = Transpose (a) y = Div (x, b)", False),
    ("a = Mul (t, x) y = Div (x, a)", False),
    ("b = Less (x, one) a = Where (b, t, x) y = Reciprocal (a)", False),
)
def test_factors_stay_apart_from_weights_where_something_divides_by_the_product(reader, goes):
    """0 times -1 is -0.0, but a product with weights times -1 is 0.0."""
    weights = "float[3, 3] w = {0, 1, 2, 3, 4, 5, 6, 7, 8}"
    nodes = f"{ZERO[:-1]}, {weights}> {{ p = MatMul (x, w) t = Mul (p, minus) {reader} }}"
    left = operators(nodes, "(float[3, 3] x) => (float[3, 3] y)", exactness="reals")
    assert left.count("Mul") == nodes.count("= Mul") - goes


def test_zeros_that_a_reader_divides_by_keep_their_signs_over_the_reals():
    nodes = f"{ZERO} {{ e = Tanh (x) t = Add (e, z) y = Reciprocal (t) }}"
    assert "Add" in operators(nodes, "(float[3] x) => (float[3] y)", exactness="reals")


def test_outputs_of_bodies_and_what_they_capture_count():
    graph = ir.parse("""<ir_version: 8, opset_import: ["" : 17]> g (float[3] x, bool c) => (y) {
        t = Neg (x)
        y = If (c) <then_branch = a () => (float[3] r) { r = Neg (t) },
                    else_branch = b () => (float[3] s) { s = Exp (t) }> }""").graph
    _, chosen = graph.nodes()
    assert ignored_signs(graph) == {chosen.output()}
    assert all(ignored_signs(body) == set() for body in chosen.graphs())


def test_operators_forget_the_sign_of_a_zero_bit_for_bit():
    places = {**dict.fromkeys(_FORGETFUL, range(1)), **dict.fromkeys(_COMPARISONS, range(2))}
    for case, (one, other) in zeros.twins(4, 3, {**places, "Pow": range(1, 2)}):
        assert (one is None) == (other is None), case
        for a, b in zip(one or (), other or (), strict=True):
            assert np.asarray(a).tobytes() == np.asarray(b).tobytes(), case


@table(
    ("v = Exp (u)", "Neg", "Neg", False),
    ("v = Reciprocal (a)", "Neg", "Neg", True),  # the state of the next iteration
    ("v = Exp (u)", "Reciprocal", "Neg", True),
    ("v = Neg (t)", "Neg", "Reciprocal", True),
    ("v = Exp (u)", "Exp", "Reciprocal", False),
)
def test_readers_around_a_loop(row, after, of_rows, tells):
    text = """<ir_version: 8, opset_import: ["" : 17]>
    g (float[n] x, float s0, int64 m) => (float s, float[k] rows) {{
        s1, r = Loop (m, , s0)
        <body = b (int64 i, bool c, float a) => (bool d, float u, float v) {{
            d = Identity (c) t = Neg (a) u = Identity (t) {} }}>
        s = {} (s1) rows = {} (r) }}"""
    (loop,) = ir.load(parser.parse_model(text.format(row, after, of_rows))).graph.nodes_of("Loop")
    (negated,) = [n for n in loop.body("body").nodes_of("Neg") if n.output().name == "t"]
    assert tells_signs(negated.output()) == tells


@table(
    ("i = Cast <to = 7> (t) y = Gather (x, i)", False),
    ("v, i = TopK (t, k) y = Gather (x, i)", False),
    ("v, i = TopK (t, k) y = Reciprocal (v)", True),
    ("i = Cast <to = 11> (t) y = Reciprocal (i)", True),
    ("i = Cast <to = 8> (t) y = Identity (i)", True),
)
def test_integers_have_no_signs_of_zeros(reader, tells):
    nodes = f"<int64[1] k = {{1}}> {{ t = Neg (x) {reader} }}"
    graph = ir.load(model(nodes, 17, "(float[3] x) => (y)")).graph
    assert tells_signs(graph.nodes()[0].output()) == tells
