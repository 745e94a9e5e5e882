import numpy as np
import pytest
from proofs import assert_open, assert_proved, model
from term_values import evaluated, terms_of

TEXT = """g (bool c, bool d, float[2] x, float[2] y) => (float[2] z)
    <bool yes = {1}, bool no = {0}> { %s }"""
X, Y = TEXT % "z = Identity (x)", TEXT % "z = Identity (y)"


def choice(condition, one, other, name="z"):
    """An If; what it does where the condition holds, and where not. The results are u and v."""
    return f"""{name} = If ({condition}) <
        then_branch = a{name} () => (float[2] u{name}) {{ {one} }},
        else_branch = b{name} () => (float[2] v{name}) {{ {other} }}>"""


PLAIN = "uz = Identity (x)", "vz = Identity (y)"


@pytest.mark.parametrize(("condition", "taken", "left"), [("yes", X, Y), ("no", Y, X)])
def test_a_constant_condition_takes_one_branch(condition, taken, left):
    assert_proved(TEXT % choice(condition, *PLAIN), taken)
    assert_open(TEXT % choice(condition, *PLAIN), left)


def test_a_condition_may_have_one_element():
    one = TEXT.replace("bool c,", "bool[1] c,")
    assert_proved(one % choice("c", *PLAIN), one % ("q = Squeeze (c) " + choice("q", *PLAIN)))
    constant = TEXT.replace("bool yes", "bool[1] yes")
    assert_proved(constant % choice("yes", *PLAIN), X)
    assert_open(constant % choice("yes", *PLAIN), Y)


def test_equal_branches_are_one():
    both = choice("c", "uz = Add (x, y)", "t = Identity (x) vz = Add (t, y)")
    assert_proved(TEXT % both, TEXT % "z = Add (x, y)")
    assert_open(TEXT % both, TEXT % "z = Add (x, x)")
    assert_open(TEXT % choice("c", "uz = Add (x, y)", "vz = Add (x, x)"), TEXT % "z = Add (x, y)")


def test_branches_are_swapped_with_their_condition():
    swapped = "n = Not (c) " + choice("n", "uz = Identity (y)", "vz = Identity (x)")
    twice = "n = Not (c) m = Not (n) " + choice("m", *PLAIN)
    assert_proved(TEXT % choice("c", *PLAIN), TEXT % swapped)
    assert_proved(TEXT % choice("c", *PLAIN), TEXT % twice)
    assert_open(TEXT % choice("c", *PLAIN), TEXT % ("n = Not (c) " + choice("n", *PLAIN)))
    assert_open(TEXT % choice("c", *PLAIN), TEXT % choice("d", *PLAIN))


def test_inside_a_branch_its_condition_is_certain():
    inner = choice("c", "ui = Identity (x)", "vi = Neg (x)", "i")
    outer = choice("c", inner + " uz = Identity (i)", inner + " vz = Identity (i)")
    assert_proved(TEXT % outer, TEXT % choice("c", "uz = Identity (x)", "vz = Neg (x)"))
    negated = "n = Not (c) " + choice("n", "ui = Neg (x)", "vi = Identity (x)", "i")
    outer = choice("c", negated + " uz = Identity (i)", "vz = Identity (y)")
    assert_proved(TEXT % outer, TEXT % choice("c", *PLAIN))
    other = choice("d", "ui = Identity (x)", "vi = Neg (x)", "i") + " uz = Identity (i)"
    assert_open(TEXT % choice("c", other, "vz = Identity (y)"), TEXT % choice("c", *PLAIN))


def test_behind_an_if_its_condition_is_open_again():
    first = choice("c", "ui = Neg (x)", "vi = Neg (y)", "i")
    two = first + choice("c", "uz = Identity (i)", "vz = Identity (x)")
    assert_proved(TEXT % two, TEXT % choice("c", "uz = Neg (x)", "vz = Identity (x)"))
    assert_open(TEXT % two, TEXT % "z = Neg (x)")


@pytest.mark.parametrize("c", [False, True])
def test_the_choice_is_worth_what_runs_give(c):
    text = TEXT % ("n = Not (c) " + choice("n", "uz = Neg (x)", "vz = Add (x, y)"))
    x, y = np.array([1, 2], np.float32), np.array([3, 5], np.float32)
    feeds = {"c": np.array(c), "d": np.array(True), "x": x, "y": y}
    (z,) = evaluated(model(text), feeds)
    np.testing.assert_array_equal(z, x + y if c else -x)


def test_a_branch_that_is_not_taken_is_not_run():
    """What the proof cannot run is no hindrance there."""
    unknown = "r = local.Unknown (y) vz = Identity (r)"
    assert_proved(TEXT % choice("yes", "uz = Neg (x)", unknown), TEXT % "z = Neg (x)")
    _, (z,) = terms_of(model(TEXT % choice("yes", "uz = Neg (x)", unknown)))
    assert z.is_op("Neg")
