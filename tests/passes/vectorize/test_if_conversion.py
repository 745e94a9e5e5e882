import numpy as np
from harness import as_model
from loops import op_types
from straightline.limits import Limits, governed
from straightline.passes import Pipeline, VectorizeLoops
from tables import table
from vectorized import FEED, assert_same, assert_vectorizes, loop, numbers, vectorized, why_kept

POSITIVE = "k = Constant <value = float {0}> () m0 = ReduceSum <keepdims = 0> (e)"
POSITIVE += " p = Greater (m0, k) "
FIRST = "o = Constant <value = int64 {0}> () p = Equal (i, o) "


def choice(condition, yes, no, out="float[3]"):
    return f"""{condition} r = If (p) <then_branch = t () => ({out} a) {{ {yes} }},
        else_branch = f () => ({out} b) {{ {no} }}>"""


@table(
    ("by an element", choice(POSITIVE, "a = Mul (e, y)", "h = Neg (e) b = Exp (h)")),
    ("by the number of the iteration", choice(FIRST, "a = Identity (y)", "b = Add (e, y)")),
    ("an element of the iteration before", choice(FIRST, "a = Identity (y)",
     "one = Constant <value = int64 {1}> () j = Sub (i, one) b = Gather (x, j)")),
    ("what was read is worked on", choice(FIRST, "a = Identity (y)",
     "one = Constant <value = int64 {1}> () j = Sub (i, one) g = Gather (x, j) b = Add (g, e)")),
    ("what is given on as it is", choice(POSITIVE, "a = Identity (e)", "b = Identity (y)")),
    ("the same in both", choice(POSITIVE, "a = Identity (y)", "b = Identity (y)")),
    ("a condition of rank 1", choice(
        FIRST + "u = Constant <value_ints = [1]> () q = Reshape (p, u) ",
        "a = Neg (e)",
        "b = Abs (e)",
    ).replace("If (p)", "If (q)")),
    ("booleans", choice(POSITIVE, "a = Less (e, y)", "b = Greater (e, y)", "bool[3]")),
    ("numbers", choice(POSITIVE, "a = Add (i, i)", "b = Neg (i)", "int64")),
    ("constants of its branches", choice(POSITIVE, "a = Add (h, e)", "b = Mul (e, two)")
    .replace("(float[3] a)", "(float[3] a) <float[3] h = {1, 2, 3}>")
    .replace("(float[3] b)", "(float[3] b) <float two = {2}>")),
    ("one inside another", choice(
        FIRST,
        "a = Neg (y)",
        """one = Constant <value = int64 {1}> () j = Sub (i, one) before = Gather (x, j)
        s = ReduceSum <keepdims = 0> (before) t0 = ReduceSum <keepdims = 0> (e) q = Less (s, t0)
        b = If (q) <then_branch = t2 () => (float[3] a2) { a2 = Mul (before, e) },
            else_branch = f2 () => (float[3] b2) { j2 = Sub (j, one) b2 = Gather (x, j2) }>""",
    )))  # fmt: skip
def test_both_branches_are_computed(what, case):
    out = {"booleans": "bool[3] r", "numbers": "int64 r"}.get(what, "float[3] r")
    assert "If" not in set(op_types(assert_vectorizes(loop(case, out)).graph))


def test_a_condition_that_is_the_same_on_every_iteration():
    body = POSITIVE.replace("(e)", "(y)")
    assert_vectorizes(loop(choice(body, "a = Neg (y)", "b = Exp (y)"), "float[3] r"))


@table(
    ("may fail there", choice(
        FIRST,
        "a = Identity (y)",
        "w2 = Constant <value_ints = [3]> () d = Div (w2, i) b = Expand (m0, d)",
    ).replace("o =", "m0 = ReduceSum <keepdims = 0> (e) o =", 1)),
    ("differs in shape", "b0 = Shape (e) " + choice(
        FIRST, "a = Identity (y)", "b = Concat <axis = 0> (y, y)", "float[?]"
    )),
    ("there it stays a loop", choice(
        FIRST,
        "a = Identity (y)",
        """s0 = ReduceSum <keepdims = 0> (y) s3, b = Scan <num_scan_inputs = 1, body =
        l (float s, float u) => (float s2, float v) { v = Add (s, u) s2 = Tanh (v) }> (s0, e)""",
    )))  # fmt: skip
def test_choices_that_stay_inside(reason, case):
    out = "float[?] r" if "shape" in reason else "float[3] r"
    kept = vectorized(loop(case, out)).kept
    assert any(reason in remark.reason for remark in kept), kept


def test_an_axis_that_may_be_empty():
    """What was never read at run time must not be read now: there is no element 0."""
    body = choice(POSITIVE, "a = Identity (e)", "b = Gather (zs, i)")
    text = loop(body, "float[3] r", "float[N, 3] x, float[M, 3] zs, int64 n")
    assert "may fail there" in why_kept(text)


def test_branches_that_are_never_taken():
    """An index that lies outside in the branch that is not taken does no harm."""
    body = choice(
        "big = Constant <value = int64 {100}> () p = Less (i, big) ",
        "a = Identity (e)",
        "b = Gather (m, i)",
    )
    text = loop(body, "float[3] r", "float[N, 3] x, float[2, 3] m, int64 n")
    assert_vectorizes(text, {"x": numbers(5, 3), "m": numbers(2, 3)})


@table(
    ("one", "r = local.scaled (e, y)"),
    ("with an attribute", "r = local.scaled <factor = 3.0> (e, y)"),
    ("of what is the same on every iteration", "q = local.scaled (y, y) r = Add (e, q)"),
    ("of numbers", "q = ReduceSum <keepdims = 0> (e) h = local.scaled (q, q) r = Add (h, y)"),
    ("in a branch", choice(POSITIVE, "a = local.scaled (e, y)", "b = Neg (e)")),
    ("of a call", "q = local.twice (e) r = Neg (q)"),
    ("with axes that are a node", "r = local.centered (e)"),
    ("in a body inside", """r = Scan <num_scan_inputs = 1, body = l (float s) => (float t) {
        t = local.scaled (s, s) }> (e)"""))  # fmt: skip
def test_a_call_in_a_body(what, case):
    function = """
    <domain: "local", opset_import: ["" : 17]> scaled <factor: float = 2.0> (a, b) => (c) {
        f = Constant <value_float: float = @factor> () d = Mul (a, f) c = Add (d, b) }
    """
    twice = """
    <domain: "local", opset_import: ["" : 17, "local" : 1]> twice (a) => (c) {
        b = local.scaled (a, a) c = local.scaled <factor = 5.0> (b, a) }
    <domain: "local", opset_import: ["" : 17]> centered (a) => (c) {
        k = Constant <value_ints = [-1]> () s = ReduceSum (a, k) c = Sub (a, s) }
    """
    text = loop(case, "float[3] r", state="") + function + twice
    before = as_model(text.replace("=> (z) ", "=> (float[?, 3] z) ", 1))
    result = vectorized(before)
    assert not {"Loop", "Scan"} & set(op_types(result.model.graph)), result.remarks
    for n in (0, 1, 5):
        assert_same(before, result.model, {**FEED, "n": np.array(n)})


def test_a_choice_beside_a_recurrence():
    text = """g (float[N, 3] x, float[3] h0, int64 n) => (float[3] h, float[M, 3] z)
            <bool yes = {1}, int64 zero = {0}> {
        h, z = Loop (n, yes, h0) <body = b (int64 i, bool c, float[3] s)
                => (bool c2, float[3] t, float[3] r) {
            c2 = Identity (c) e = Gather (x, i) p = Equal (i, zero) v = If (p) <
                then_branch = t1 () => (float[3] a) { a = Exp (e) },
                else_branch = f1 () => (float[3] b) { b = Neg (e) }>
            w = Mul (v, s) t = Tanh (w) q = ReduceSum <keepdims = 0> (t) o = Less (q, q)
            r = If (o) <then_branch = t2 () => (float[3] a2) { a2 = Exp (t) },
                else_branch = f2 () => (float[3] b2) { b2 = Neg (t) }> }> }"""
    before = as_model(text)
    result = vectorized(before)
    assert "If" not in set(op_types(result.model.graph)), result.remarks
    for n in (0, 1, 5):
        feed = {"x": numbers(5, 3), "h0": numbers(3), "n": np.array(n)}
        assert_same(before, result.model, feed)


def calling(height, between):
    """A Scan whose body calls a function that calls another one, and so on."""
    head = '<domain: "local", opset_import: ["" : 17, "local" : 1]> '
    functions = [head + "f0 (a) => (c) { c = Exp (a) }"] + [
        head + f"f{i} (a) => (c) {{ {between.format(f'local.f{i - 1}')} }}"
        for i in range(1, height)
    ]
    scan = f"""y = Scan <num_scan_inputs = 1, body = b (float e) => (float r) {{
        r = local.f{height - 1} (e) }}> (x)"""
    text = f"g (float[N] x) => (float[N] y) {{ {scan} }}\n" + "\n".join(functions)
    return as_model(text)


@table(
    (300, "c = {} (a)", "it is nested deeper in calls than call_depth=60 allows"),
    (
        50,
        "b = {0} (a) c = {0} (b)",
        "computing it for all iterations needs more steps than max_work allows",
    ),
)
def test_calls_that_stand_for_too_many_nodes_stay(height, between, told):
    with governed(Limits(max_work=100_000_000)):
        result = Pipeline([VectorizeLoops()]).run(calling(height, between))
    assert [node.op_type for node in result.model.graph.node] == ["Scan"]
    assert told in result.kept[0].reason
