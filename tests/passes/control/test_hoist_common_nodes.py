import numpy as np
from harness import as_model, assert_equal_outputs, assert_rewrites, op_types, run_passes
from straightline import rewrite, transform
from straightline.passes import HoistCommonNodes
from tables import table

HEAD = '<ir_version: 8, opset_import: ["" : 18]>\n'
FEEDS = [
    {"x": np.array([[1, -2, np.nan]] * rows, np.float32).reshape(rows, 3), "c": np.array(c)}
    for rows in (0, 2)
    for c in (True, False)
]


def choice(one, other, consts=("", "")):
    return f"""{HEAD}g (float[N, 3] x, bool c) => (float[N, 3] y) {{
        y = If (c) <then_branch = t () => (float[N, 3] a) {consts[0]} {{ {one} }},
                    else_branch = e () => (float[N, 3] b) {consts[1]} {{ {other} }}> }}"""


def test_a_common_start():
    after = f"""{HEAD}g (float[N, 3] x, bool c) => (float[N, 3] y) {{
        p = Exp (x)
        y = If (c) <then_branch = t () => (float[N, 3] a) {{ a = Neg (p) }},
                    else_branch = e () => (float[N, 3] b) {{ b = Abs (p) }}> }}"""
    before = choice("p = Exp (x) a = Neg (p)", "q = Exp (x) b = Abs (q)")
    assert_rewrites(HoistCommonNodes(), before, after, FEEDS)


def test_nodes_that_only_one_branch_computes_stay():
    text = choice("p = Exp (x) a = Neg (p)", "q = Log (x) b = Neg (q)")
    assert not run_passes(text, HoistCommonNodes()).changed
    drawn = choice(*(f"{v} = RandomNormalLike (x) {w} = Neg ({v})" for v, w in ("pa", "qb")))
    assert not run_passes(drawn, HoistCommonNodes()).changed
    other = choice("a = Add (x, k)", "b = Add (x, h)", ("<float k = {1}>", "<float h = {2}>"))
    assert not run_passes(other, HoistCommonNodes()).changed


@table(
    ("p = Exp (x) a = Add (p, x)", "q = Exp (x) b = Add (q, x)"),
    ("p = Exp (x) a = Add (p, x)", "q = Exp (x) b = Add (x, q)"),
    ("p = Mul (x, k) a = Neg (p)", "q = Mul (x, h) b = Neg (q)"),
    ("p = Identity (x) a = Neg (p)", "q = Identity (x) b = Neg (q)"),
    ("p = Exp (x) r = Exp (x) a = Add (p, r)", "q = Exp (x) b = Add (q, q)"),
)
def test_equal_branches(one, other):
    """Values have equal names in no branch, operands any order, and constants their values."""
    text = choice(one, other, ("<float k = {2}>", "<float h = {2}>"))
    after = rewrite(as_model(text), "straighten")
    assert "If" not in op_types(after)
    for feed in FEEDS:
        assert_equal_outputs(text, after, feed)


def test_values_read_twice_by_each_of_sixty_nodes():
    """A key of all paths to a node would have 2 ** 60 parts."""
    nodes = ["p0 = Exp (x)", *(f"p{k + 1} = Sub (p{k}, p{k})" for k in range(60))]
    chain, other = " ".join(nodes), " ".join(nodes).replace("p", "q").replace("Exq", "Exp")
    text = choice(f"{chain} a = Neg (p60)", f"{other} b = Abs (q60)")
    after = run_passes(text, HoistCommonNodes(), feeds=FEEDS).model
    assert op_types(after) == ["Exp", *["Sub"] * 60, "If"]


def test_bodies_are_compared():
    inner = """n = Constant <value = int64 {{3}}> () {0} = Loop (n, , x) <body = l{0}
        (int64 i, bool d, float[N, 3] s) => (bool d2, float[N, 3] s2) {{
            d2 = Identity (d) s2 = {1} (s) }}>"""
    same = choice(inner.format("a", "Tanh"), inner.format("b", "Tanh"))
    after = run_passes(same, HoistCommonNodes(), feeds=FEEDS).model
    assert op_types(after) == ["Constant", "Loop", "If"]
    other = choice(inner.format("a", "Tanh"), inner.format("b", "Sin"))
    assert not run_passes(other, HoistCommonNodes()).changed


def test_a_declaration_of_one_branch_is_dropped():
    """Rows are three only where the condition says so."""
    text = choice("p = Exp (x) a = Neg (p)", "q = Exp (x) b = Abs (q)", ("<float[3, 3] p>", ""))
    after = run_passes(text, HoistCommonNodes(), feeds=FEEDS).model
    assert not after.graph.value_info


def test_in_a_loop():
    """Once the branches are one, the rows are computed at once."""
    text = f"""{HEAD}g (float[N, 3] x) => (float[M, 3] y)
            <int64 zero = {{0}}, float[3] s0 = {{0, 0, 0}}, bool yes = {{1}}, float k = {{0}}> {{
        sh = Shape (x) n = Gather (sh, zero)
        s, y = Loop (n, yes, s0) <body = l (int64 i, bool d, float[3] s1)
                => (bool d2, float[3] s2, float[3] r) {{
            d2 = Identity (d) e = Gather (x, i) m = ReduceSum <keepdims = 0> (s1) g = Greater (m, k)
            s2 = If (g) <then_branch = t () => (float[3] a) {{ a = Add (s1, e) }},
                         else_branch = f () => (float[3] b) {{ b = Add (s1, e) }}>
            r = Tanh (s2) }}> }}"""
    after = transform(as_model(text), "accelerate").model
    assert not {"Loop", "If"} & {node.op_type for node in after.graph.node}
    for rows in (0, 1, 4):
        feed = {"x": np.arange(3 * rows, dtype=np.float32).reshape(rows, 3) - 4}
        assert_equal_outputs(text, after, feed)


def test_a_dead_node_of_a_body_that_reads_what_differs():
    """The Loops are equal but for what nothing reads."""
    body = """Loop (three, , x) <body = b%s (int64 i, bool k, float[N, 3] s%s) =>
        (bool l%s, float[N, 3] t%s) { l%s = Identity (k) d%s = Neg (%s) t%s = Exp (s%s) }>"""
    one, other = (
        f"{v} = {op} (x) {out} = {body.replace('(%s)', f'({v})', 1).replace('%s', v)}"
        for v, op, out in (("p", "Sin", "a"), ("q", "Cos", "b"))
    )
    text = choice(one, other, ("<int64 three = {3}>", "<int64 three = {3}>"))
    run_passes(text, HoistCommonNodes(), feeds=FEEDS)
