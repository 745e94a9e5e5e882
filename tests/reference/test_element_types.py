import numpy as np
import pytest
import straightline as sl
from reference_oracle import assert_as_onnxruntime, parse
from sessions import outputs
from straightline import reference
from straightline.reference.element_types import ElementTypes
from straightline.verification.proof import prove
from tables import table

TEXT = """agraph (float[n, 3] x, int64 m) => (y) <int64[2] k = {{2, 5}}, int64[1] a = {{0}},
    int64[2] pads = {{1, 1}}, bool on = {{1}}, int64 zero = {{0}}> {{
  {before}
  y = Loop (m, on) <body = b (int64 i, bool c) => (bool d, s) {{ d = Identity (c) {body} }}> }}"""


@table(
    ("what is captured", "", "s = Neg (x)", (0, 3)),
    ("what is computed around it", "w = ConstantOfShape (k)", "s = Neg (w)", (2, 5)),
    ("captured axes", "", "r = Gather (x, i) s = Unsqueeze (r, a)", (1, 3)),
    ("a captured shape", "", "f = Cast <to = 1> (i) s = Expand (f, k)", (2, 5)),
    ("captured pads", "", "r = Gather (x, i) s = Pad (r, pads)", (5,)),
    ("a Constant around it", "c2 = Constant <value_ints = [4]> ()",
     "f = Cast <to = 1> (i) s = Expand (f, c2)", (4,)),
    ("sizes that run time tells", "z = Shape (x)", "s = Reshape (x, z)", (0, 0)),
    ("a Loop inside", "", """s = Loop (m, on) <body = e (int64 j, bool f) => (bool g, t) {
            g = Identity (f) t = Neg (x) }>""", (0, 0, 3)))  # fmt: skip
def test_without_an_iteration_sizes_are_those_that_inference_finds(case, before, body, shape):
    model = parse(TEXT.format(before=before, body=body))
    feeds = {"x": np.ones((2, 3), np.float32), "m": np.array(0)}
    assert reference.run(model, feeds)[0].shape == (0, *shape)
    assert_as_onnxruntime(model, feeds)


@table(
    ("[u, v]", "[w, z]", "Add (a, k)", (2, 2)),
    ("[4, 7]", "[u, v]", "Expand (x, q)", (4, 7)),
    ("[u, v]", "[4, 7]", "Expand (x, q)", (0, 0)),
    ("[4, 7]", "[4, 2]", "Expand (x, q)", (4, 7)),
    ("[4, u]", "[v, 7]", "Expand (x, q)", (4, 0)),
    ("[4, 7]", "", "Expand (x, q)", (4, 7)),
    ("", "[4, 7]", "Expand (x, q)", ()),
)
def test_an_output_that_a_body_repeats_has_one_type(one, other, node, shape):
    model = parse(f"""agraph (float[B, C] x, int64[2] q, int64 m) => (y, z)
        <bool on = {{1}}, float[2, 1] a = {{0, 0}}, float[2] k = {{1, 1}}> {{ y, z = Loop (m, on)
        <body = b (int64 i, bool c) => (bool c, float{one} s, float{other} s)
        {{ s = {node} }}> }}""")
    feeds = {"x": np.ones((1, 1), np.float32), "q": np.array([4, 7]), "m": np.array(0)}
    assert [each.shape for each in reference.run(model, feeds)] == [(0, *shape)] * 2
    assert_as_onnxruntime(model, feeds)
    for passes in ("straighten", "simplify"):
        after = sl.rewrite(model, passes=passes, verify=False)
        assert [each.shape for each in reference.run(after, feeds)] == [(0, *shape)] * 2


def test_a_copy_of_a_repeated_output_keeps_its_sizes():
    model = parse("""agraph (float[4, N] x, float[M] k, float[L] e) => (s, y, z) { s, y, z = Scan
        <num_scan_inputs = 1, body = b (float[4, n] a, float r) => (float[4, n] v, float[4, n] v,
        float[4, n] v) { v = Add (a, k) }> (x, e) }""")
    feeds = {"x": np.ones((4, 2)), "k": np.ones(1), "e": np.ones(0)}
    feeds = {name: array.astype(np.float32) for name, array in feeds.items()}
    for each in (model, sl.rewrite(model, verify=False)):
        assert [a.shape for a in reference.run(each, feeds)] == [(4, 2), (0, 4, 2), (0, 4, 2)]


def test_a_node_that_the_model_does_not_have():
    loop = parse(TEXT.format(before="", body="s = Neg (x)")).graph.node[0]
    assert ElementTypes(parse("agraph (float x) => (float y) { y = Neg (x) }")).of(loop, 1) is None


def test_a_constant_that_a_body_gives_out_has_its_own_sizes():
    text = """agraph (int64 m) => (float[a, b, c] y) <bool on = {1}> {
        y = Loop (m, on) <body = b (int64 i, bool c) => (bool d, float[u, v] s)
            <float[1, 2] s = {1, 2}> { d = Identity (c) }> }"""
    model = parse(text)
    model.graph.node[0].attribute[0].g.output[1].type.tensor_type.ClearField("shape")
    assert reference.run(model, {"m": np.array(0)})[0].shape == (0, 1, 2)
    assert_as_onnxruntime(model, {"m": np.array(0)})


DECLARED = """g (bool go, float[1, 2] k, float[K, 2] w, int64 m) => (last, y) {{
    last, y = Loop (m, go, k) <body = b (int64 i, bool c, {} a) => (bool d, float[] e, {} s)
        <float[1, 2] ones = {{1, 1}}> {{ d = Identity (c) e = Add (a, ones) s = {} }}> }}"""
FEEDS = {
    "go": np.array(False),
    "k": np.ones((1, 2), np.float32),
    "w": np.ones((1, 2), np.float32),
    "m": np.array(3),
}
SHAPES = ("", "[]", "[1, 2]", "[1]", "[U, V]", "[5, 2]", "[U, 2]", "[U, 3]", "[U]")


def declared(state, output, node):
    """A Loop whose body declares the shapes of its state and of its scan output."""
    model = parse(DECLARED.format(*(f"float{s or '[]'}" for s in (state, output)), node))
    body = model.graph.node[0].attribute[0].g
    for info, shape in ((body.input[2], state), (body.output[2], output), (body.output[1], "[]")):
        if not shape:
            info.type.tensor_type.shape.SetInParent()
    return model


@pytest.mark.sample(3)
@pytest.mark.parametrize("output", SHAPES)
@pytest.mark.parametrize("node", ["Add (a, ones)", "Neg (w)"])
@pytest.mark.parametrize("state", ["[1, 2]", "[]"])
def test_a_wrong_declaration_leaves_sizes_open(state, node, output):
    """A wrong rank leaves none, as in onnxruntime; a rewrite keeps that, or the Loop. In the text
    `float[]` has no shape, and `float` is a scalar."""
    model = declared(state, output, node)
    (_, shape) = (each.shape for each in reference.run(model, FEEDS))
    assert shape == assert_as_onnxruntime(model, FEEDS)[1].shape
    rewrite = sl.rewrite(model, verify=False)
    if output != "[U, 3]":  # which no run with an iteration has
        assert reference.run(rewrite, FEEDS)[1].shape == shape
        assert outputs(rewrite, FEEDS)[1].shape == shape
    assert prove(model, rewrite).status != "refuted"


@pytest.mark.parametrize("state", [None, ()])
@pytest.mark.parametrize("given", [None, ()])
@pytest.mark.parametrize("limit", ["", "most"])
def test_false_declarations_stay_with_a_loop_that_stays(limit, given, state):
    """So do models of runtimes' own tests: scalars are declared in the place of matrices."""
    text = """agraph (bool[1] go, float[1, 2] k) => (float last, float y)
        <int64[1] five = {{5}}, int64[1] most = {{9223372036854775807}}> {{
        last, y = Loop ({}, go, k) <body = b (int64[1] i, bool[] c, float[1, 2] a)
            => (bool[] d, float e, float s) <float[1, 2] ones = {{1, 1}}> {{
            e = Add (a, ones) d = Less (i, five) s = Identity (e) }}> }}"""
    model = parse(text.format(limit), opset=13)
    body = model.graph.node[0].attribute[0].g
    for info, shape in ((body.output[1], state), (body.output[2], given)):
        if shape is None:
            info.type.tensor_type.ClearField("shape")
    rewrite = sl.rewrite(model, verify=False)
    for go in (False, True):
        feeds = {"go": np.array([go]), "k": np.ones((1, 2), np.float32)}
        before, after = outputs(model, feeds), outputs(rewrite, feeds)
        assert [each.shape for each in before] == [each.shape for each in after]
        assert [each.shape for each in reference.run(model, feeds)] == [e.shape for e in before]
    assert sl.prove(model, rewrite).status != "refuted"
