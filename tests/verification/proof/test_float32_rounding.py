"""Integers next to a bound that float32 tells from it."""

import numpy as np
import pytest
from proofs import model
from straightline.verification.proof.float32_rounding import before_rounding, passed, read_passed
from term_values import Values, terms_of

COUNTED = """g (int32 n) => (int64 z) <int64[1] front = {0}> {
    b = Cast <to = 7> (n)
    away = Constant <value = int64[128] {%s}> () near = Add (b, away)
    p = Cast <to = 1> (near) q = Cast <to = 1> (b) less = Less (%s)
    ones = Cast <to = 7> (less) z = ReduceSum <keepdims = 0> (ones, front) }"""
BELOW = ", ".join(str(-n) for n in range(1, 129))
ABOVE = ", ".join(str(n) for n in range(1, 129))


@pytest.mark.parametrize(("away", "order", "rising"), [(BELOW, "p, q", 1), (ABOVE, "q, p", 0)])
def test_what_a_model_counts_is_read(away, order, rising):
    terms, (z,) = terms_of(model(COUNTED % (away, order)))
    n = terms.get(terms.heads.own("input", "n"), ())
    assert read_passed(terms, z) is passed(terms, n, bool(rising))
    assert read_passed(terms, z) is not passed(terms, n, not rising)


@pytest.mark.parametrize(
    ("away", "order"),
    [(BELOW, "q, p"), (ABOVE, "p, q"), (BELOW.replace("-128", "-129"), "p, q")],
)
def test_other_sums_are_not(away, order):
    terms, (z,) = terms_of(model(COUNTED % (away, order)))
    assert read_passed(terms, z) is None


@pytest.mark.parametrize("rising", [True, False])
@pytest.mark.parametrize("n", [5, 2**24, 2**24 + 1, 2**25 + 3, 2**30 + 64, 2**31 - 128, -(2**31)])
def test_the_first_number_that_is_not_passed(n, rising):
    """Counted here one by one, further than 128. Above 2^31 they lie further apart."""
    given = model("g (int32 n) => (int32 z) { z = Identity (n) }")
    terms, (z,) = terms_of(given)
    values = Values(terms, {"n": np.array(n, np.int32)})
    sign = -1 if rising else 1
    near = np.array([n + sign * k for k in range(1000)])
    ends = near.astype(np.float32) * -sign, np.float32(n) * -sign
    first = near[ends[0] >= ends[1]][-1]
    assert n + sign * (128 - values.of(passed(terms, z, rising))) == first


def test_a_bound_that_is_known_is_rounded_at_once():
    terms, _ = terms_of(model("g (int32 n) => (int32 z) { z = Identity (n) }"))
    for number, count in ((2**24 + 1, 127), (2**31, 64), (5, 128), (-(2**31), 0)):
        assert terms.numbers(passed(terms, terms.size(number), True)) == [count]
    whole = terms.constant(np.array([2**31], np.float32))
    assert terms.numbers(before_rounding(terms, whole)) == [2**31]
    for number in (0.5, 2**32, np.nan):
        assert before_rounding(terms, terms.constant(np.array(number, np.float32))) is None


def test_what_is_compared_as_float32():
    text = "g (int32 n, bool c, float f) => (float a, float b, double d) { %s }"
    casts = "a = Cast <to = 1> (n) b = Cast <to = 1> (c) d = Cast <to = 11> (n)"
    terms, (a, b, d) = terms_of(model(text % casts))
    assert before_rounding(terms, a).head.name == "input"
    assert [before_rounding(terms, term) for term in (b, d)] == [None, None]
