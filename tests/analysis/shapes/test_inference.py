from harness import as_model
from inferred import shapes
from straightline import ir
from straightline.analysis.shapes.inference import ShapeInference


def test_functions_are_looked_at_by_themselves():
    text = """g (float[N,3] x) => (y) { y = local.f (x) }
    <domain: "local", opset_import: ["" : 21]> f (p) => (q) {
        c = Constant <value_floats = [1.0, 2.0]> () d = Neg (c) q = Add (p, d) }"""
    found = shapes(text)
    assert (found["y"], found["d"], found["q"]) == (None, ["2"], None)


def test_declared_sizes_count_only_where_nothing_follows():
    """onnxruntime warns where a result is not of the declared shape, and goes on."""
    text = """g (float[N,3] x, int64[2] t) => (y) <float[K,3] r, float[9,9] u, float[K,4] c> {
        r = Reshape (x, t) u = Relu (x) c = com.example.Custom (x) d = Neg (c) y = Neg (r) }"""
    found = shapes(text)
    assert (found["y"], found["u"], found["d"]) == (["?", "?"], ["N", "3"], ["K", "4"])


def test_a_long_chain_needs_no_deep_recursion():
    nodes = " ".join(f"v{k + 1} = Neg (v{k})" for k in range(3000))
    assert shapes(f"g (float[N] v0) => (float[N] y) {{ {nodes} y = Neg (v3000) }}")["y"] == ["N"]


def test_facts_after_replacements():
    model = ir.parse(
        """<ir_version: 8, opset_import: ["" : 17]> g (float[N, 4] x, int64[2] s) => (float[A, B] y)
        <int64[2] k = {2, 8}> {
            a = Exp (x) b = Reshape (a, s) c = Neg (b) d = Abs (x) y = Add (c, d) }"""
    )
    graph, inference = model.graph, ShapeInference(model)
    a, b, c, d, y = (node.output() for node in graph.nodes())
    before = {value: inference.fact(value) for value in (a, b, c, d, y)}
    (constant,) = graph.initializers
    graph.set_input(b.producer, 1, constant)
    inference.refresh()
    assert inference.fact(a) is before[a] and inference.fact(d) is before[d]
    assert [str(inference.fact(value).shape) for value in (b, c)] == ["(2, 8)"] * 2


def test_open_sizes_of_merged_values_are_one_size():
    model = ir.parse("""<ir_version: 8, opset_import: ["" : 17]> g (float[N] x) => (int64[A, B] y) {
            a = NonZero (x) b = Neg (a) c = NonZero (x) d = Neg (c)
            e = Shape (d) y = Add (b, d) }""")
    graph, inference = model.graph, ShapeInference(model)
    a, b, c, d, e, y = (node.output() for node in graph.nodes())
    shape = inference.fact(a).shape
    assert {inference.fact(value).shape for value in (b, d, y)} != {shape}
    assert inference.fact(e).elements.tolist() != list(shape)
    graph.replace_uses(c, a)
    inference.refresh()
    assert {inference.fact(value).shape for value in (b, d, y)} == {shape}
    assert inference.fact(e).elements.tolist() == list(shape)


def test_facts_inside_bodies_are_inferred_again():
    model = ir.parse("""<ir_version: 8, opset_import: ["" : 17]>
        g (float[N] x, bool p, float[2] w) => (float[M] y) {
        y = If (p) <then_branch = t () => (float[A] q) { q = Exp (x) },
            else_branch = f () => (float[B] r) { r = Neg (x) }> }""")
    graph, inference = model.graph, ShapeInference(model)
    (node,) = graph.nodes()
    assert str(inference.fact(node.output()).shape) == "(N,)"
    for body in node.graphs():
        (inner,) = body.nodes()
        body.set_input(inner, 0, graph.inputs[2])
    inference.refresh()
    assert str(inference.fact(node.output()).shape) == "(2,)"


def test_the_one_integer_of_a_value():
    text = """g (float[N,3] x, bool c) => (y) <int64 k = {4}> {
        s = Shape <start = 0, end = 1> (x) t = Add (s, k) all = Shape (x) y = Neg (x) }"""
    model = ir.load(as_model(text))
    inference, named = ShapeInference(model), {}
    for node in model.graph.nodes():
        named[node.output().name] = inference.number(node.output())
    assert (named["t"] - named["s"]).value == 4 and named["all"] is named["y"] is None
    assert inference.number(None) is None and inference.number(model.graph.inputs[1]) is None
