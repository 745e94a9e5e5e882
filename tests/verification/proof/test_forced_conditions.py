from proofs import assert_open, assert_proved
from tables import table

SIGNATURE = "g (float[N, M, 1, 3] x, bool r, bool s) => (y) <int64[1] two = {2}>"
IF = """q = If (r) <then_branch = t () => (float[A, B, C] a) { a = Squeeze (x, two) },
    else_branch = e () => (float[D, E, F, G] b) { b = Identity (x) }> """
THREE, FOUR = "y = Transpose <perm = [1, 0, 2]> ", "y = Transpose <perm = [1, 0, 2, 3]> "
SQUEEZED = "v = Squeeze (x, two) "


def text(nodes):
    return f"{SIGNATURE} {{ {nodes} }}"


IN_A_BRANCH = """y = If (s) <then_branch = o () => (k) {{ {} k = Identity (y) }},
    else_branch = p () => (l) {{ {} }}>"""
IF_L = IF.replace("q =", "l =").replace(" a)", " c)").replace(" a =", " c =")
IF_L = IF_L.replace(" b)", " d)").replace(" b =", " d =")


@table(
    (IN_A_BRANCH.format(IF + THREE + "(q)", "l = Exp (x)"),
     IN_A_BRANCH.format(SQUEEZED + THREE + "(v)", "l = Exp (x)")),
    (IF + THREE + "(q)", SQUEEZED + THREE + "(v)"),
    (IF + FOUR + "(q)", FOUR + "(x)"),
    (IF + "p = Exp (q) " + THREE + "(p)", SQUEEZED + "p = Exp (v) " + THREE + "(p)"),
    (IF.replace("(r)", "(n)").replace("q =", "n = Not (r) q =") + FOUR + "(q)", FOUR + "(x)"),
    (IF + "u = Unsqueeze (q, two) " + FOUR + "(u)",
     SQUEEZED + "u = Unsqueeze (v, two) " + FOUR + "(u)"))  # fmt: skip
def test_the_other_branch_is_the_only_one_where_the_original_runs(before, after):
    assert_proved(text(before), text(after))


def test_a_branch_that_fails_inside_never_runs():
    fails = """y = If (r) <then_branch = t () => (a) {{ a = {} (x) }},
        else_branch = e () => (b) {{ b = {} (x) }}>"""
    before = text(fails.format("Exp", THREE.removeprefix("y = ")))
    assert_proved(before, text("y = Exp (x)"))
    assert_open(before, text(THREE + "(x)"))
    assert_open(text(fails.format("Exp", "Neg")), text("y = Exp (x)"))


@table(
    (IF + "y = Exp (q)", SQUEEZED + "y = Exp (v)"),
    (IF + THREE + "(q)", FOUR + "(x)"),
    (IF + "y = Exp (q)", IF + "p = Exp (q) y = Transpose <perm = [0, 1, 2]> (p)"),
    (IF + f"y = If (s) <then_branch = o () => (k) {{ {THREE.replace('y', 'k')} (q) }},"
     " else_branch = p () => (l) { l = Exp (q) }>", SQUEEZED + THREE + "(v)"),
    (SQUEEZED + THREE + "(v)", IF + THREE + "(q)"),
    (IN_A_BRANCH.format(IF + THREE + "(q)", "l = Exp (x)"),
     IN_A_BRANCH.format(SQUEEZED + THREE + "(v)", "l = Exp (x) ").replace("Exp (x)", "Neg (x)")),
    (IN_A_BRANCH.format(IF + THREE + "(q)", IF_L),
     IN_A_BRANCH.format(SQUEEZED + THREE + "(v)", "l = Squeeze (x, two)")))  # fmt: skip
def test_nothing_is_forced_by_the_rewrite_or_by_what_may_not_run(before, after):
    assert_open(text(before), text(after))
