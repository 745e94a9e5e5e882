import itertools

import numpy as np
import onnx
from proofs import model
from straightline.facts.magnitudes import MOST_ELEMENTS
from straightline.facts.polynomial import Dimension
from straightline.verification.proof.arithmetic.exact_integers import (
    highest,
    is_one_integer,
    linear_sum,
    range_of,
    unwrap,
)
from tables import table
from term_values import terms_of

T = onnx.TensorProto
TEXT = "g (int32[1, 1] n, int64[2] v, float f) => (int64[1] a, int32 b, float c, int64[2] d) { %s }"


def test_ranges_of_types():
    assert range_of(T.INT32) == (-(2**31), 2**31 - 1)
    assert range_of(T.INT64) == (np.iinfo(np.int64).min, np.iinfo(np.int64).max)
    assert range_of(T.UINT8) == (0, 255)


def test_axes_and_wider_types_are_left_out():
    terms, (a, b, c, d) = terms_of(
        model(
            TEXT % "u = Cast <to = 7> (n) a = Squeeze (u) "
            " x = Cast <to = 6> (f) b = Identity (x) c = Identity (f) d = Identity (v)"
        )
    )
    assert unwrap(terms, a).head.name == "view"
    assert unwrap(terms, a).args[0].head.name == "input"
    assert unwrap(terms, a).fact.elem_type == T.INT32
    assert unwrap(terms, b).is_op("Cast")  # of a float
    assert [is_one_integer(term) for term in (a, b, c, d, None)] == [
        True,
        True,
        False,
        False,
        False,
    ]


def read(nodes):
    sums = """g (int32 s, int32 n, int64 m, float[N] x) => (int64 y)
        <int64 one = {1}, int64 big = {9223372036854775807}, int32 three = {3}> {
        a = Cast <to = 7> (s) b = Cast <to = 7> (n) h = Shape (x) l = Squeeze (h) %s }"""
    terms, (y,) = terms_of(model(sums % nodes))
    return terms, linear_sum(terms, y)


def parts(number):
    told, atoms = number.parts()
    return told, {str(term.head.key or term.head.name): factor for term, factor in atoms}


@table(
    "d = Sub (a, b) y = Add (d, one)",
    "d = Add (one, a) y = Sub (d, b)",
    "d = Neg (b) e = Add (d, one) y = Add (a, e)",
)
def test_sums_are_one_in_any_order(nodes):
    _, number = read(nodes)
    assert parts(number) == (Dimension.constant(1), {"s": 1, "n": -1})
    assert (number.low, number.high) == (2 - 2**32, 2**32)


def test_overflowing_sums_are_open():
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
    assert highest(terms, Dimension.symbol("N") - 3) == MOST_ELEMENTS - 3


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


@table(
    ("a = Add (s, four) q = Div (a, four)", 1, None),
    ("q = Div (s, four)", 0, None),
    ("q = Div (three, more)", 0, 0),
    ("q = Div (m, four)", None, None),
    ("q = Div (s, m)", None, None),
)
def test_the_range_of_a_quotient(quotient, low, high):
    text = """g (float[N] x, int64 m) => (int64 q) <int64 four = {4}, int64 three = {3}> {
        u = Shape (x) s = Squeeze (u) more = Add (s, four) %s }"""
    terms, (q,) = terms_of(model(text % quotient))
    total = linear_sum(terms, q)
    least, greatest = range_of(T.INT64)
    assert total.low == (least if low is None else low)
    assert total.high == high if high is not None else total.high <= greatest
