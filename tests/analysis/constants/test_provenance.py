from harness import as_model
from straightline import ir
from straightline.analysis.constants.provenance import Provenance, is_setting, origins
from tables import table

HEAD = '<ir_version: 8, opset_import: ["" : 17, "local" : 1, "com.microsoft" : 1]>\n'


@table(
    ("v = Neg (n)", "input 'n'; decide it with --set n=..."),
    ("v = Add (n, m)", "input 'n', input 'm'; decide it with --set n=... --set m=..."),
    ("v = Shape (x)", "the shape of input 'x'; decide it with --shape x=..."),
    ("a = Neg (x) t = Size (a) v = Add (t, n)", "the shape of input 'x', input 'n'"),
    ("r = RandomUniformLike (x) v = Neg (r)", "the random operator RandomUniformLike 'r'"),
    ("r = RandomUniformLike (x) v = Shape (r)", "the shape of input 'x'"),
    ("v = SequenceLength (s)", "input 's', which is not a tensor"),
    ("v = Neg (w)",
     "'w', an initializer that callers may override; decide it with --freeze-initializers"),
    ("v = com.microsoft.Strange (n)", "the operator com.microsoft::Strange 'v'"),
    ("v = ArgMax (x)", "input 'x'; decided by data"),
    ("a = Cast <to = 7> (x) v = Add (a, n)", "input 'x', input 'n'; decided by data"),
    ("v = com.microsoft.Strange (k)", "the operator com.microsoft::Strange 'v'"),
    ("v = com.microsoft.Strange ()", "the operator com.microsoft::Strange 'v'"))  # fmt: skip
def test_sources(nodes, said):
    text = f"""g (int64 n, int64 m, float[N] x, seq(float[K]) s, int64 w) => (int64 y)
               <int64 w = {{1}}, int64 k = {{1}}> {{ {nodes} y = Identity (v) }}"""
    assert origins(ir.load(as_model(text)).graph.outputs[0]).startswith(said)


def test_many_sources_are_not_all_named():
    inputs = ", ".join(f"int64 i{k}" for k in range(6))
    text = f"g ({inputs}) => (int64 y) {{ y = Sum ({', '.join(f'i{k}' for k in range(6))}) }}"
    said = origins(ir.load(as_model(text)).graph.outputs[0])
    assert "input 'i0', input 'i1', input 'i2' and 3 more" in said


def test_through_bodies_and_functions():
    text = """g (float[2] x, int64 n, bool q) => (float[2] y) {
        y = Loop (n, , x) <body = b (int64 i, bool c, float[2] a) => (bool c2, float[2] r) {
            c2 = Not (q) r = Neg (a) }> }"""
    (loop,) = ir.load(as_model(text)).graph.nodes()
    body = loop.body("body")
    assert origins(body.outputs[0]).startswith("input 'q'")
    assert origins(body.inputs[2]).startswith("input 'x'")
    assert origins(body.inputs[0]).startswith("input 'n'")


def test_parameters_of_functions():
    text = """g (float[2] x) => (float[2] y) { y = local.f (x) }
    <domain: "local", opset_import: ["" : 17]> f (p) => (q) { q = Neg (p) }"""
    (function,) = ir.load(as_model(text)).functions.values()
    assert origins(function.graph.outputs[0]) == "parameter 'p' of function 'local::f'"


def test_constants_on_the_way_name_nothing():
    model = ir.load(
        as_model(
            '<ir_version: 8, opset_import: ["" : 17]> g (int64 n, int64 m) => (int64 y)'
            " <int64 two = {2}> { a = Add (two, n) y = Sum (two, a, two, m) }"
        )
    )
    (output,) = model.graph.outputs
    told = "input 'n', input 'm'; decide it with --set n=... --set m=... (values= in Python)"
    assert origins(output) == told


@table(
    ("v = Range (zero, n, one)", "input 'n'; decide it with --set n=..."),
    ("v = ConstantOfShape (two)", "input 'two'; decide it with --set two=..."),
    ("v = Expand (fixed, two)", "input 'two'; decide it with --set two=..."),
    ("v = Reshape (fixed, two)", "input 'two'; decide it with --set two=..."),
    ("m = Unsqueeze (n, flat) v = Tile (fixed, m)", "input 'n'; decide it with --set n=..."),
    ("v = OneHot (fixed, n, fixed)", "input 'n'; decide it with --set n=..."),
    ("m = Unsqueeze (n, flat) v, w = TopK (fixed, m)", "input 'n'; decide it with --set n="),
    ("m = Unsqueeze (n, flat) v = Slice (fixed, m, m)", "input 'n'; decide it with --set n="),
    ("v = Pad (fixed, two)", "input 'two'; decide it with --set two=..."),
    ("v = Neg (x)", "the shape of input 'x'; decide it with --shape x=..."),
    ("v = Add (x, fixed)", "the shape of input 'x'; decide it with --shape x=..."),
    ("v = NonZero (x)", "input 'x'; decided by data"),
    ("c = Cast <to = 9> (x) v = Compress (other, c)", "the shape of input 'other', input 'x';"),
    ("v, w, u, t = Unique (x)", "input 'x'; decided by data"),
    ("s = Shape (x) o = ConstantOfShape (s) v = NonZero (o)",
     "the shape of input 'x'; decide it with --shape x=..."),
    ("v = Loop (n, , x) <body = b (int64 i, bool c, float[N] a)"
     " => (bool c2, float[N] r, float[1] f) { c2 = Identity (c) r = Neg (a)"
     " f = Constant <value = float[1] {1}> () }>",
     "the shape of input 'x'; decide it with --shape x=..."),
    ("w, v = Loop (n, , x) <body = b (int64 i, bool c, float[N] a)"
     " => (bool c2, float[N] r, float[1] f) { c2 = Identity (c) r = Neg (a)"
     " f = Constant <value = float[1] {1}> () }>",
     "input 'n'; decide it with --set n=..."))  # fmt: skip
def test_sources_of_sizes(nodes, said):
    """Only what a size is made of is named: elements of one operand, the sizes of another one."""
    sized = """g (float[N] x, float[4] fixed, int64 n, int64[2] two, float[M] other) => (int64 y)
        <int64 zero = {0}, int64 one = {1}, int64[1] flat = {-1}, float filled = {1.0}> {
            %s  sizes = Shape (v)  y = ReduceSum <keepdims = 0> (sizes) }"""
    assert origins(ir.load(as_model(sized % nodes)).graph.outputs[0]).startswith(said)


def test_every_option_is_named_that_is_needed():
    inputs = ", ".join(f"int64 i{k}" for k in range(6))
    text = f"g ({inputs}) => (int64 y) {{ y = Sum ({', '.join(f'i{k}' for k in range(6))}) }}"
    said = origins(ir.load(as_model(text)).graph.outputs[0])
    assert all(f"--set i{k}=..." in said for k in range(6))


@table(
    ("float", True),
    ("float[1, 1]", True),
    ("float[2]", False),
    ("float[N]", False),
    ("int64[4]", True),
    ("int64[17]", False),
    ("int64[2, 2]", False),
    ("bool[2]", True),
    ("int64[]", True),
    ("float[]", False),
)
def test_settings_and_data(declared, setting):
    text = f"g ({declared} n) => ({declared} y) {{ y = Identity (n) }}"
    assert is_setting(ir.load(as_model(text)).graph.inputs[0]) == setting


@table(
    ("r", "input 'x'; decided by data"),
    ("s", "the shape of input 'x', input 'n'; decide it with --shape x=... --set n=..."),
    ("t", "input 'm'; decide it with --set m=..."),
)
def test_over_a_call_only_what_the_output_comes_of_is_told(output, said):
    called = """
    <domain: "local", opset_import: ["" : 17, "local" : 1]> f (a, b, c) => (r, s, t) {
        k, e, t = local.h (a, b, c)
        r = Neg (a)
        s = Add (k, b) }
    <domain: "local", opset_import: ["" : 17]> h (a, b, c) => (s, e, t) {
        n = Exp (a)
        s = Size (n)
        e = Add (a, c)
        l = Constant <value_ints = [2]> ()
        t = Expand (c, l) }"""
    text = f"""g (float[N] x, int64 n, int64 m) => (y) {{
        r, s, t = local.f (x, n, m) y = Identity ({output})
    }}{called}"""
    assert origins(ir.load(as_model(text)).graph.outputs[0]).startswith(said)


def test_functions_that_call_others_twice_are_walked_once():
    text = "g (float[N] x, int64 n) => (y) { r, y = local.f59 (x, n) }"
    local = '<domain: "local", opset_import: ["" : 17, "local" : 1]>'
    text += f"{local} f0 (x, n) => (r, m) {{ r = Neg (x) m = Neg (n) }}"
    for i in range(1, 60):
        calls = f"a, k = local.f{i - 1} (x, n) r, m = local.f{i - 1} (a, k)"
        text += f"{local} f{i} (x, n) => (r, m) {{ {calls} }}"
    graph = ir.load(as_model(text)).graph
    assert origins(graph.outputs[0]) == "input 'n'; decide it with --set n=... (values= in Python)"


def test_questions_about_a_chain_share_one_walk(monkeypatch):
    """Each of 200 Ifs depends on all before it."""
    nodes, before, steps = "", "x", []
    for k in range(200):
        nodes += (
            f"m{k} = ReduceMax <keepdims = 0> ({before}) c{k} = Cast <to = 9> (m{k})"
            f" v{k} = If (c{k}) <then_branch = t () => (a{k}) {{ a{k} = Neg ({before}) }},"
            f" else_branch = e () => (b{k}) {{ b{k} = Add ({before}, z) }}>"
        )
        before = f"v{k}"
    text = f"g (float[2] x, float[2] z) => (float[2] y) {{ {nodes} y = Abs ({before}) }}"
    graph, step = ir.load(as_model(text)).graph, Provenance._step
    monkeypatch.setattr(Provenance, "_step", lambda self, q: steps.append(q) or step(self, q))
    shared = Provenance()
    sources = [origins(node.input(0), provenance=shared) for node in graph.nodes_of("If")]
    assert len(steps) <= 10 * 200
    assert sources == [origins(node.input(0)) for node in graph.nodes_of("If")]
    assert sources[-1].startswith("input 'x', input 'z'")


def test_values_that_depend_on_each_other_have_the_same_sources():
    text = """g (float[2] x, float[2] z, int64 n) => (float[2] y, float[2] w) {
        y, w = Loop (n, , x, z) <body = b (int64 i, bool c, float[2] p, float[2] q) =>
            (bool d, float[2] r, float[2] s) { d = Identity (c) r = Neg (q) s = Abs (p) }> }"""
    loop = ir.load(as_model(text)).graph.nodes()[0]
    body, shared = loop.body("body"), Provenance()
    values = [*body.inputs[2:], *body.outputs[1:], *loop.outputs]
    sources = [{origin.what for origin in shared.of(value)} for value in values]
    assert all({"input 'x'", "input 'z'"} <= each for each in sources)
    assert sources == [{origin.what for origin in Provenance().of(value)} for value in values]
