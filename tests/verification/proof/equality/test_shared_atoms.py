"""Functions of atoms that are equal, but not the same."""

import pytest
from proofs import model
from straightline.verification.proof import prove

TEXT = """g (float[N, 4] x, float[N, 4] y, bool[N, 4] c) => (float[N, 4] z)
    <float one = {1}, float two = {2}, float[1, 4] ones = {1, 1, 1, 1}> {
    %s }"""
# What no formula tells, deep inside of both: a choice that is written in two ways.
BEFORE = "n = Not (c) a = Where (n, y, x) b = Exp (a)"
AFTER = "a = Where (c, x, y) b = Exp (a)"
FORMS = [
    "z = Div (a, b)",
    "r = Reciprocal (b) z = Mul (a, r)",
    "r = Reciprocal (b) z = Mul (r, a)",
    "r = Div (one, b) z = Mul (a, r)",
]


def proof(one, other):
    return prove(model(TEXT % one), model(TEXT % other), equality="reals")


@pytest.mark.parametrize("before", FORMS)
@pytest.mark.parametrize("after", FORMS)
def test_forms_of_one_quotient(before, after):
    assert proof(f"{BEFORE} {before}", f"{AFTER} {after}").proved


@pytest.mark.sample(8)
@pytest.mark.parametrize(
    "after",
    [
        "z = Div (b, a)",
        "r = Div (two, b) z = Mul (a, r)",
        "r = Reciprocal (a) z = Mul (a, r)",
        "z = Mul (a, b)",
    ],
)
@pytest.mark.parametrize("before", FORMS)
def test_another_quotient(before, after):
    assert not proof(f"{BEFORE} {before}", f"{AFTER} {after}").proved


SUMS = ["s = Add (a, b) z = Add (s, x)", "z = Sum (a, b, x)", "s = Add (b, x) z = Add (a, s)"]


@pytest.mark.parametrize("before", SUMS)
@pytest.mark.parametrize("after", [*SUMS, "s = Add (x, a) z = Add (s, b)"])
def test_forms_of_one_sum(before, after):
    assert proof(f"{BEFORE} {before}", f"{AFTER} {after}").proved


@pytest.mark.parametrize(
    "after", ["z = Sum (a, b, b)", "z = Sum (a, b)", "z = Sum (a, b, x, x)", "z = Sum (a, b, y)"]
)
@pytest.mark.parametrize("before", SUMS)
def test_another_sum(before, after):
    assert not proof(f"{BEFORE} {before}", f"{AFTER} {after}").proved


GELU = """d = Div (%s, root) e = Erf (d) f = Add (e, one) h = Mul (half, f) z = Mul (%s, h)"""


def test_a_longer_form_of_another_atom():
    constants = "<float one = {1}, float half = {0.5}, float root = {1.4142135}>"
    text = TEXT.replace(
        "<float one = {1}, float two = {2}, float[1, 4] ones = {1, 1, 1, 1}>", constants
    )
    for other, proved in (("z = Gelu (b)", True), ("z = Gelu (a)", False)):
        one = f"{BEFORE} {GELU % ('b', 'b')}"
        result = prove(
            model(text % one, 20), model(text % f"{AFTER} {other}", 20), equality="reals"
        )
        assert result.proved is proved


def test_bits_need_the_same_operators():
    pair = [TEXT % text for text in (f"{BEFORE} {FORMS[0]}", f"{AFTER} {FORMS[1]}")]
    assert not prove(model(pair[0]), model(pair[1])).proved
