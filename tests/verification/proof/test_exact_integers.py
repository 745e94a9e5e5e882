"""Sums of integers in which nothing overflows."""

import itertools

import pytest
from proofs import model
from straightline.facts.polynomial import Dimension
from straightline.verification.proof.exact_integers import highest, whole
from term_values import terms_of

TEXT = """g (int32 s, int32 n, int64 m, float[N] x) => (int64 y)
    <int64 one = {1}, int64 big = {9223372036854775807}, int32 three = {3}> {
    a = Cast <to = 7> (s) b = Cast <to = 7> (n) h = Shape (x) l = Squeeze (h) %s }"""


def read(nodes):
    terms, (y,) = terms_of(model(TEXT % nodes))
    return terms, whole(terms, y)


def parts(number):
    told, atoms = number.parts()
    return told, {str(term.head.key or term.head.name): factor for term, factor in atoms}


@pytest.mark.parametrize(
    "nodes",
    [
        "d = Sub (a, b) y = Add (d, one)",
        "d = Add (one, a) y = Sub (d, b)",
        "d = Neg (b) e = Add (d, one) y = Add (a, e)",
    ],
)
def test_sums_are_one_in_any_order(nodes):
    _, number = read(nodes)
    assert parts(number) == (Dimension.constant(1), {"s": 1, "n": -1})
    assert (number.low, number.high) == (2 - 2**32, 2**32)


def test_what_may_overflow_is_no_sum():
    for nodes in (
        "y = Add (m, one)",
        "y = Sub (a, m)",
        "d = Add (a, big) y = Sub (d, big)",
        "d = Add (s, n) y = Cast <to = 7> (d)",
        "d = Add (s, three) y = Cast <to = 7> (d)",
    ):
        _, number = read(nodes)
        ((term, factor),) = number.parts()[1]
        assert (term.is_op("Add", "Sub"), factor) == (True, 1)


def test_sizes_are_told():
    terms, number = read("d = Add (a, l) y = Add (d, one)")
    assert parts(number) == (Dimension.symbol("N") + 1, {"s": 1})
    assert number.low == 1 - 2**31
    assert highest(terms, Dimension.symbol("N") - 3) == 2**62 - 3


def test_other_terms_are_themselves():
    _, number = read("d = Mul (a, b) y = Add (d, d)")
    ((term, _),) = number.parts()[1]
    assert term.is_op("Add")  # a product may be as large as its type
    _, number = read("d = Sub (a, a) y = Add (d, one)")
    assert number.parts() == (Dimension.constant(1), [])


def test_long_sums_end():
    names = [f"y{k}" for k in range(100)] + ["y"]
    nodes = "y0 = Add (a, b) " + " ".join(
        f"{new} = Add ({old}, a)" for old, new in itertools.pairwise(names)
    )
    assert read(nodes)[1].parts()[1]
