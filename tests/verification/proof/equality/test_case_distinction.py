import itertools

import numpy as np
import pytest
from proofs import assert_open, assert_proved, model, over_reals
from sessions import by_reference
from tables import table

FORMULA = "g (bool[n] p, bool[n] q) => (bool[n] y) {{ {} }}"
CHOICE = """g (bool[n, 1] p, bool[n, 1] q, float[n, m] x, float[n, m] w)
    => (float[n, m] y) {{ {} }}"""
FORMULAS = [
    "y = And (p, q)",
    "a = Not (p) b = Not (q) c = Or (a, b) y = Not (c)",
    "a = Or (p, q) b = Xor (p, q) c = Not (b) y = And (a, c)",
    "a = Equal (p, q) y = And (a, p)",
    "y = Or (p, q)",
    "a = Not (p) b = Not (q) c = And (a, b) y = Not (c)",
    "a = Xor (p, q) y = Or (a, p)",
    "y = Xor (p, q)",
    "a = Not (q) y = Equal (p, a)",
    "y = Where (p, q, p)",
    "y = Identity (p)",
    "a = Or (p, q) y = And (a, p)",
]


@pytest.mark.sample(33)
@pytest.mark.parametrize(("one", "other"), itertools.combinations(FORMULAS, 2))
def test_formulas_are_equal_if_their_truth_tables_are(one, other):
    feeds = {"p": np.array([0, 0, 1, 1], bool), "q": np.array([0, 1, 0, 1], bool)}
    (a,), (b,) = (by_reference(model(FORMULA.format(text)), feeds) for text in (one, other))
    claim = assert_proved if np.array_equal(a, b) else assert_open
    claim(FORMULA.format(one), FORMULA.format(other))


@table(
    ("a = Not (p) y = Where (a, x, w)", "y = Where (p, w, x)"),
    ("a = Where (p, x, w) y = Where (p, a, w)", "y = Where (p, x, w)"),
    ("a = Where (q, x, w) y = Where (p, x, a)", "a = Or (p, q) y = Where (a, x, w)"),
    ("a = Where (p, x, w) y = Exp (a)", "a = Exp (x) b = Exp (w) y = Where (p, a, b)"),
    ("a = Where (p, x, w) y = Add (a, x)", "a = Add (x, x) b = Add (w, x) y = Where (p, a, b)"),
)
def test_choices_are_equal_in_each_case(one, other):
    assert_proved(CHOICE.format(one), CHOICE.format(other))
    assert_proved(CHOICE.format(other), CHOICE.format(one))
    assert_open(CHOICE.format(one), CHOICE.format(other.replace("(p", "(q")))


def test_a_choice_keeps_the_shape():
    text = "g (bool[n, 1] p, float[m] x) => (float[] y) {{ {} }}"
    assert_open(text.format("y = Where (p, x, x)"), text.format("y = Identity (x)"))


def test_conditions_that_may_be_equal_are_no_cases():
    """Conditions computed in two ways are compared by themselves."""
    text = "g (float[n] x, float[n] w) => (float[n] y) {{ {} y = Where (c, a, b) }}"
    one = "a = Exp (x) b = Neg (w) c = Greater (x, w)"
    assert_proved(text.format(one), text.format(one.replace("Greater (x, w)", "Less (w, x)")))


def test_a_choice_inside_of_a_branch_of_the_same_choice():
    inside = """g (float[n, 3] x, float[3] z, bool p, bool q) => (float[n, 3] y) {{
        c = Scan <num_scan_inputs = 1, body = b (float[3] e) => (float[3] o) {{
            v = If ({0}) <then_branch = t () => (float[3] k) {{ k = Exp (z) }},
                          else_branch = u () => (float[3] l) {{ l = Neg (z) }}>
            o = If ({1}) <then_branch = t2 () => (float[3] m) {{ m = Add (e, v) }},
                          else_branch = u2 () => (float[3] r) {{ r = {2} (e) }}> }}> (x)
        y = Identity (c) }}"""
    outside = """g (float[n, 3] x, float[3] z, bool p, bool q) => (float[n, 3] y) {{
        y = If (p) <then_branch = t () => (float[n, 3] m) {{ k = {} (z) m = Add (x, k) }},
                    else_branch = u () => (float[n, 3] r) {{ r = Neg (x) }}> }}"""
    before, after = inside.format("p", "p", "Neg"), outside.format("Exp")
    assert_proved(before, after)
    assert_open(before, outside.format("Neg"))
    assert_open(inside.format("q", "p", "Neg"), after)
    assert_open(inside.format("p", "q", "Neg"), after)
    assert_open(inside.format("p", "p", "Abs"), after)


BY_WHERE = "f = Where (even, unit, half) p = Mul (f, s) b = Where (even, e, none) s2 = Add (p, b)"


def test_factors_and_summands_by_one_condition_are_a_choice_over_the_reals():
    branches = """g (float[n, 3] x, float[3] h) => (float[3] y)
        <int64 zero = {{0}}, int64 one = {{1}}, int64 two = {{2}}, float half = {{0.5}},
         bool yes = {{1}}, float unit = {{1}}, float none = {{0}}> {{
        sizes = Shape (x) n = Gather <axis = 0> (sizes, zero)
        y = Loop (n, yes, h) <body = b (int64 i, bool c, float[3] s) => (bool c2, float[3] s2) {{
            c2 = Identity (c) e = Gather <axis = 0> (x, i) m = Mod (i, two) even = Equal (m, zero)
            {} }}> }}"""
    by_if = """s2 = If (even) <then_branch = t () => (float[3] a) { a = Add (s, e) },
                          else_branch = f () => (float[3] k) { k = Mul (half, s) }>"""
    before = model(branches.format(by_if))
    assert over_reals(before, branches.format(BY_WHERE))
    for old, new in [
        ("(even, unit, half)", "(even, half, unit)"),
        ("(even, e, none)", "(even, none, e)"),
        ("(even, e, none)", "(even, e, unit)"),
        ("b = Where (even", "odd = Not (even) b = Where (odd"),
    ]:
        assert old in BY_WHERE
        after = model(branches.format(BY_WHERE.replace(old, new)))
        assert not over_reals(before, after)


def test_branches_that_are_both_the_other_term():
    text = """g (float[n] x, bool c) => (float[n] y) {
        y = If (c) <then_branch = t () => (float[n] u) { q = Exp (x) u = Add (q, x) },
            else_branch = f () => (float[n] v) { r = Exp (x) v = %s }> }"""
    plain = "g (float[n] x, bool c) => (float[n] y) { q = Exp (x) y = Add (q, x) }"
    assert_proved(text % "Add (x, r)", plain)
    assert_proved(plain, text % "Add (x, r)")
    for other in ("Sub (x, r)", "Add (x, x)", "Identity (r)"):
        assert_open(text % other, plain)
        assert_open(plain, text % other)
