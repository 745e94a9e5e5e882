import numpy as np
import pytest
import straightline as sl
from proofs import assert_open, assert_proved, model
from straightline.verification.proof.control_flow.loops import one_of
from straightline.verification.proof.execution.compile_graph import Compiler
from straightline.verification.proof.prove import _Question
from straightline.verification.proof.terms.budget import Budget, OpenError
from tables import table
from term_values import evaluated, terms_of

TEXT = """g (float[2] x, int64 m, bool c) => (float[2] z)
    <int64 three = {3}, int64 none = {0}, int64 minus = {-2}, bool yes = {1}, bool no = {0}> {
    %s }"""
LOOP = """z = Loop (%s, x) <body = b (int64 i, bool k, float[2] s) => (bool k2, float[2] t) {
    %s t = Exp (s) }>"""
STAY = "k2 = Identity (k)"
ONCE = TEXT % "z = Exp (x)"
SAME = TEXT % "z = Identity (x)"
THRICE = TEXT % "a = Exp (x) b = Exp (a) z = Exp (b)"
ENDS = "u = Constant <value_int = %d> () k2 = Less (i, u)"


def loop(given, keep=STAY):
    return TEXT % (LOOP % (given, keep))


@table(
    ("three, yes", STAY, THRICE),
    ("three, ", STAY, THRICE),
    (", yes", ENDS % 2, THRICE),
    (", yes", ENDS % 0, ONCE),
    ("three, yes", ENDS % 0, ONCE),
    ("three, yes", ENDS % 7, THRICE),
    ("none, yes", STAY, SAME),
    ("minus, yes", STAY, SAME),
    ("m, no", STAY, SAME),
    ("three, no", STAY, SAME),
    (", no", STAY, SAME),
    ("none, c", STAY, SAME),
    ("m, yes", ENDS % 0, loop("m, yes", "k2 = Constant <value = bool {0}> ()")),
)
def test_iterations_that_are_known_are_made(given, keep, result):
    assert_proved(loop(given, keep), result)


def test_another_number_of_iterations_is_another_result():
    text = TEXT % LOOP.replace("Neg", "Sin")
    assert_open(text % ("three, yes", STAY), text % ("three, yes", ENDS % 0))
    assert_open(text % ("three, yes", STAY), text % ("none, yes", STAY))
    assert_open(text % (", yes", ENDS % 1), text % (", yes", ENDS % 2))


def test_iterations_that_run_time_tells_are_the_same_iterations():
    for given, keep in [("m, yes", STAY), ("m, c", STAY), ("m, yes", ENDS % 4), (", c", ENDS % 4)]:
        assert_proved(loop(given, keep), loop(given, keep))
    assert_proved(loop("m, yes"), loop("m, "))
    assert_open(loop("m, yes"), loop("m, c"))
    assert_open(loop("m, yes"), loop("three, yes"))
    assert_open(loop("m, yes"), loop("m, yes", ENDS % 4))
    assert_open(loop(", c", ENDS % 4), loop(", c", ENDS % 5))


def test_a_condition_that_is_ignored_by_the_specification_alone_is_left_open():
    reason = "where the missing condition of a Loop is {}"
    heeded, ignored = reason.format("heeded, as in onnxruntime"), reason.format("ignored, as")
    assert_open(loop("three, ", ENDS % 0), THRICE, heeded)
    assert_open(loop("three, ", ENDS % 0), ONCE, ignored)
    assert_open(loop("three, ", ENDS % 0), loop("three, ", ENDS % 1), heeded)
    assert_open(loop("m, ", ENDS % 4), loop("m, ", STAY), heeded)


def test_loops_that_are_equal_in_both_readings_are_equal():
    for given in ("three, ", "m, "):
        assert_proved(loop(given, ENDS % 1), loop(given, f"n = Identity (i) {ENDS % 1}"))
    assert_proved(loop("three, ", ENDS % 7), THRICE)


@table(
    "t = Not (k)",
    "t = If (s) <then_branch = d () => (bool p) { p = Not (k) },"
    " else_branch = e () => (bool q) { q = Identity (s) }>",
)
def test_a_body_that_reads_the_ignored_condition_reads_that_of_the_iteration_before(nodes):
    passing = """g (bool x) => (bool z) <int64 m = {40}> {
        z = Loop (m, , x) <body = b (int64 i, bool k, bool s) => (bool k2, bool t)
            <bool k2 = {%d}> { %s }> }"""
    assert_open(passing % (1, nodes), passing % (0, nodes))
    assert_proved(passing % (1, nodes), passing % (1, f"n = Not (s) {nodes}"))
    assert_proved(passing % (0, "t = Not (s)"), passing % (0, "n = Neg (i) t = Not (s)"))


def test_a_condition_that_a_body_reads_holds_by_its_meaning():
    holds, ends = (
        loop("m, ", f"w = And (k, k) u = Constant <value = bool {{{value}}}> () k2 = Or (w, u)")
        for value in (1, 0)
    )
    for text in (holds, ends):
        assert_proved(text, text.replace("Exp (s)", "Exp (s) n = Sin (s)"))
    reads = "u = Constant <value = bool {%d}> () k2 = Identity (u) n = Not (k) "
    text = loop("m, ", reads % 1)
    assert_proved(text, text.replace("Exp (s)", "Exp (s) d = Sin (s)"))
    text = loop("m, ", reads % 0)
    assert_open(
        text, text.replace("Exp (s)", "Exp (s) d = Sin (s)"), "a condition that does not end it"
    )


def test_neither_a_count_nor_a_condition_is_no_end():
    assert_open(loop(", "), loop(", ", f"n = Identity (i) {STAY}"))


def test_no_iterations_give_what_the_body_declares():
    scanned = """g (float[2] x) => (%s z) <int64 n = {0}, bool yes = {1}> {
        z = Loop (n, yes) <body = b (int64 i, bool k) => (bool k2, %s o) {
            k2 = Identity (k) o = Sin (x) }> }"""
    declared = scanned % ("float[0, 2]", "float[2]")
    empty = "g (float[2] x) => (%s z) { z = Constant <value = %s {}> () }"
    assert_proved(declared, empty % ("float[0, 2]", "float[0, 2]"))
    false = scanned % ("float[a, b]", "float[3]")  # onnxruntime leaves out what inference denies
    for size in (2, 3):
        assert_open(false, empty % ("float[a, b]", f"float[0, {size}]"))


def test_no_iterations_take_the_sizes_that_inference_finds():
    """Axes and shapes that the body captures are known to it."""
    text = """g (float[2] x) => (y) <int64 n = {0}, bool yes = {1}, int64[1] a = {0}> { %s }"""
    body = """y = Loop (n, yes) <body = b (int64 i, bool k) => (bool k2, o) {
        k2 = Identity (k) o = Unsqueeze (x, a) }>"""
    empty = "y = Constant <value = float[0, %s] {}> ()"
    assert_proved(text % body, text % (empty % "1, 2"))
    assert_open(text % body, text % (empty % "0, 0"))


def test_no_iterations_of_sizes_that_only_some_runtimes_find_are_open():
    text = """g (float[2] x) => (y) <int64 n = {0}, bool yes = {1}, int64[1] a = {0}> { %s }"""
    body = """y = Loop (n, yes) <body = b (int64 i, bool k) => (bool k2, o) {
        k2 = Identity (k) z = Shape (x) u = Concat <axis = 0> (z, z) f = Cast <to = 1> (i)
        o = Expand (f, u) }>"""
    for sizes in ("0, 0", "2, 2"):
        assert_open(text % body, text % f"y = Constant <value = float[0, {sizes}] {{}}> ()")
    flat = body.replace("y = Loop", "q = Loop") + " m = Neg (a1) y = Reshape (q, m)"
    text = text.replace("a = {0}>", "a = {0}, int64[1] a1 = {1}>")
    assert_proved(text % flat, text % "y = Constant <value = float[0] {}> ()")


def test_scan_outputs_of_iterations_are_stacked_in_their_order():
    text = """g (float[2] x) => (float[2, 2] z)
        <int64 n = {2}, bool yes = {1}, int64[1] a = {0}> { %s }"""
    body = """f, z = Loop (n, yes, x) <body = b (int64 i, bool k, float[2] s)
        => (bool k2, float[2] t, float[2] o) { k2 = Identity (k) t = Sin (s) o = Neg (s) }>"""
    rows = "u = Neg (x) s = Sin (x) v = Neg (s) p = Unsqueeze (u, a) q = Unsqueeze (v, a) "
    assert_proved(text % body, text % (rows + "z = Concat <axis = 0> (p, q)"))
    assert_open(text % body, text % (rows + "z = Concat <axis = 0> (q, p)"))


@pytest.mark.parametrize("m", [-1, 0, 1, 5])
@pytest.mark.parametrize("c", [False, True])
@pytest.mark.parametrize("keep", [STAY, ENDS % 2])
def test_terms_are_worth_what_the_iterations_give(m, c, keep):
    text = loop("m, c", keep).replace("Exp (s)", "Add (s, x)")
    x = np.array([1, -2], np.float32)
    (z,) = evaluated(model(text), {"x": x, "m": np.array(m, np.int64), "c": np.array(c)})
    most = m if keep == STAY else min(m, 3)
    np.testing.assert_array_equal(z, x * (1 + (max(most, 0) if c else 0)))


def test_a_body_is_given_what_it_declares():
    """A number of one element where it declares so, else a scalar."""
    text = LOOP.replace("int64 i", "int64[1] i") % ("three, yes", STAY)
    terms, _ = terms_of(model(TEXT % text))
    body = Compiler(terms.heads, model(TEXT % text)).main.steps[0].bodies["body"]
    assert [one_of(body, 0), one_of(body, 1)] == [(1,), ()]
    counted = """g (int64[1] x) => (int64[1] z) <int64 n = {3}, bool yes = {1}> {
        z = Loop (n, yes, x) <body = b (int64[1] i, bool k, int64[1] s) => (bool k2, int64[1] t) {
        k2 = Identity (k) t = Identity (i) }> }"""
    last = "g (int64[1] x) => (int64[1] z) { z = Constant <value_ints = [%d]> () }"
    assert_proved(counted, last % 2)
    assert_open(counted, last % 3)


@table("b = Concat <axis = 0> (a, a)", "b = Identity (a)", ids=["doubles", "stays"])
def test_products_of_many_iterations_are_counted(body):
    """Text that doubles has as many parts, and an iteration without nodes takes its time too."""
    text = f"""g (float[n] x) => (float[k] z) <int64 most = {{1900000}}, bool yes = {{1}}> {{
        z = Loop (most, yes, x) <body = b (int64 i, bool k, float[p] a) => (bool k2, float[q] b) {{
        k2 = Identity (k) {body} }}> w = Neg (z) }}"""
    given = model(text)
    with pytest.raises(OpenError):
        terms_of(given, Budget(steps=20_000))


def test_a_loop_that_ends_by_itself_after_some_time_is_run():
    before = """g (float[n] x) => (float[n] y) <int64 zero = {0}, int64 one = {1}, bool yes = {1},
        int64 most = {100}> { k = Loop (, yes, zero) <body = b (int64 i, bool c, int64 s)
        => (bool d, int64 t) { t = Add (s, one) u = Mul (t, t) d = Less (u, most) }>
        f = Cast <to = 1> (k) y = Add (x, f) }"""
    after = "g (float[n] x) => (float[n] y) <float ten = {10}> { y = Add (x, ten) }"
    many = before.replace("{100}", "{90000}"), after.replace("{10}", "{300}")
    assert_proved(before, after)
    assert_proved(*many)
    assert_open(many[0], after)


def test_a_loop_as_long_as_its_unrolled_rewrite_runs_by_its_definition_at_once(monkeypatch):
    """Its length counts in nodes, however many steps each of them takes."""
    monkeypatch.setattr(_Question, "_by_definition", lambda self, first: first)
    before = model("""g (float[2] x) => (float[2] z) <bool yes = {1}, int64 last = {29}> {
        z = Loop (, yes, x) <body = b (int64 i, bool k, float[2] s) => (bool go, float[2] t) {
        go = Less (i, last) a = Exp (s) c = Neg (a) d = Sin (c) e = Add (d, s) t = Abs (e) }> }""")
    after = sl.rewrite(before, "unroll-loops", verify=False)
    assert len(after.graph.node) == 150
    assert sl.prove(before, after).proved


@table(
    ("a sequence", "q = SequenceEmpty <dtype = 9> () c2 = Identity (q)", "is seq(tensor(bool))"),
    ("a number", "q = Cast <to = 1> (c) c2 = Identity (q)", ""),
    ("of any size", "c2 = Identity (many)", ""),
)
@pytest.mark.parametrize("iterations", ["one", "n"])
def test_a_condition_of_a_body_holds_one_element(what, condition, reason, iterations):
    """Without it the loop fails, also after its last iteration and where nothing reads it."""
    text = """g (float[3] x, int64 n, bool[k] many) => (float[3] y)
        <bool yes = {{1}}, int64 one = {{1}}> {{ y = Neg (x)
        z = Loop ({most}, yes, x) <body = b (int64 i, bool c, float[3] a) => (bool c2, float[3] e)
            {{ {condition} e = Abs (a) }}> }}"""
    before, after = (
        text.format(most=iterations, condition=c) for c in ("c2 = Identity (c)", condition)
    )
    assert_open(before, after, reason)
    if what == "of any size":
        assert_proved(after, after)
