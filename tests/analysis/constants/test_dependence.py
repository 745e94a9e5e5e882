import pytest
from harness import as_model
from straightline import ir
from straightline.analysis.constants.dependence import CallReads, Query, carried_sources, comes_from
from tables import table

TEXT = """g (float[N] x, int64[2] two, int64 n, bool q) => (float[] y) {
    a = Reshape (x, two)
    s = Shape (x)
    l, r = Loop (n, q, x) <body = b (int64 i, bool c, float[N] v) => (bool d, float[N] w, float[] e)
    {
        d = Not (c) w = Neg (v) e = ReduceSum (v) }>
    y = If (q) <then_branch = t () => (float[] o) { o = Neg (x) },
                else_branch = f () => (float[] p) { p = Abs (x) }> }"""


@pytest.fixture(scope="module")
def values():
    model = ir.load(as_model(TEXT))
    found = {v.name: v for node in model.graph.nodes() for v in node.outputs}
    (loop,) = [node for node in model.graph.nodes() if node.is_op("Loop")]
    return {**found, **{v.name: v for v in loop.body("body").inputs}}


@table(
    ("a", False, ["x", "two"]),
    ("a", True, ["sizes of x", "two"]),
    ("s", False, ["sizes of x"]),
    ("l", True, ["sizes of x", "sizes of w"]),
    ("l", False, ["n", "q", "d", "x", "w"]),
    ("r", True, ["n", "q", "d", "sizes of e"]),
    ("y", True, ["q", "sizes of o", "sizes of p"]),
)
def test_one_step(name, sizes, wanted, values):
    found = comes_from(Query(values[name], sizes))
    assert [f"{'sizes of ' * asked.sizes}{asked.value.name}" for asked in found] == wanted


@pytest.mark.parametrize(("name", "wanted"), [("i", ["n"]), ("c", ["q", "d"]), ("v", ["x", "w"])])
def test_sources_of_a_body_value(values, name, wanted):
    assert [value.name for value in carried_sources(values[name])] == wanted


def test_arguments_behind_each_output_of_a_call():
    text = """g (float[N] x, float[N] z, int64 n) => (r) { r, s, t = local.f (x, n, z) }
    <domain: "local", opset_import: ["" : 17]> f (a, b, c) => (r, s, t) {
        r = Add (a, c)
        l = Shape (r)
        s = Add (l, b)
        t = Loop (b, , a) <body = o (int64 i, bool k, p) => (bool q, u) {
            q = Identity (k) u = Sub (p, c) }> }"""
    head = '<ir_version: 8, opset_import: ["" : 17]>\n'
    model = ir.load(as_model(head.replace("17]", '17, "local" : 1]') + text))
    reads = CallReads(model.functions)
    (call,) = model.graph.nodes()
    assert reads.calls(call)
    found = {v.name: reads.of(Query(v, False)) for v in call.outputs}
    told = {k: [f"{'sizes of ' * a.sizes}{a.value.name}" for a in v] for k, v in found.items()}
    assert told == {"r": ["x", "z"], "s": ["sizes of x", "n", "sizes of z"], "t": ["x", "n", "z"]}
    sizes = reads.of(Query(call.outputs[0], True))
    assert [asked for asked in sizes if not asked.sizes] == []
