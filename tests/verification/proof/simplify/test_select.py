from proofs import assert_open, assert_proved

TEXT = "g (bool c, bool d, float[2] x, float[2] y) => (float[2] z) { %s }"
BOTH = """If (c) <then_branch = a () => (float[2] u) {{ {} }},
    else_branch = b () => (float[2] v) {{ {} }}>"""


def choice(one, other):
    return TEXT % ("z = " + BOTH.format(one, other))


def test_a_select_by_a_scalar_equals_an_if():
    assert_proved(choice("u = Identity (x)", "v = Identity (y)"), TEXT % "z = Where (c, x, y)")
    assert_open(choice("u = Identity (x)", "v = Identity (y)"), TEXT % "z = Where (c, y, x)")
    assert_open(choice("u = Identity (x)", "v = Identity (y)"), TEXT % "z = Where (d, x, y)")
    assert_proved(
        choice("u = Identity (x)", "v = Identity (y)"), TEXT % "n = Not (c) z = Where (n, y, x)"
    )


def test_equal_cases_are_no_choice():
    assert_proved(choice("u = Neg (x)", "v = Neg (x)"), TEXT % "z = Neg (x)")
    assert_proved(TEXT % "z = Where (c, x, x)", TEXT % "z = Identity (x)")


def test_the_same_choice_inside_is_decided():
    assert_proved(choice("u = Where (c, x, y)", "v = Identity (y)"), TEXT % "z = Where (c, x, y)")
    assert_open(choice("u = Where (d, x, y)", "v = Identity (y)"), TEXT % "z = Where (c, x, y)")


def test_a_choice_that_stretches_is_none():
    text = "g (bool[2] c, float[1] x, float[2] y) => (float[2] z) { %s }"
    assert_open(text % "z = Where (c, x, x)", text.replace("[2] z", "[a] z") % "z = Identity (x)")
    one = "g (bool[2, 2] c, float[2] x) => (float[a, b] z) { z = %s }"
    assert_open(one % "Where (c, x, x)", one.replace("float[a, b]", "float[a]") % "Identity (x)")


def test_truth_values_are_simplified():
    text = "g (bool[2] x, bool[2] y) => (bool[2] z) <bool t = {1}, bool f = {0}> { %s }"
    assert_proved(text % "z = And (x, t)", text % "z = Identity (x)")
    assert_proved(text % "z = Or (f, x)", text % "z = Identity (x)")
    assert_proved(text % "a = Not (x) z = Not (a)", text % "z = Identity (x)")
    assert_proved(text % "z = Or (x, x)", text % "z = Identity (x)")
    assert_open(text % "z = And (x, f)", text % "z = Identity (x)")
    assert_open(text % "z = And (x, y)", text % "z = Or (x, y)")


def test_a_constant_that_is_stretched_is_not_what_it_was():
    text = "g (bool x) => (bool[a] z) <bool[2] t = {1, 1}> { z = %s }"
    assert_open(text % "And (x, t)", text.replace("[a]", "") % "Identity (x)")
