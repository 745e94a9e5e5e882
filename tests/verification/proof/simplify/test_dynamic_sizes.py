import numpy as np
import pytest
from proofs import assert_open, assert_proved, model
from sessions import outputs
from straightline.facts.polynomial import Dimension
from straightline.reference import run
from tables import table
from term_values import evaluated, terms_of

NUMBERS = """g (int64 n, float[1] x) => (float[k, 1] z) <bool yes = {1}> {
    z = Loop (n, yes) <body = b (int64 i, bool d) => (bool d2, float[1] o) {
        d2 = Identity (d) o = Identity (x) }> }"""
EXPANDED = """g (int64 n, float[1] x) => (float[k, 1] z)
    <int64 zero = {0}, int64[1] front = {0}, int64[1] one = {1}> {
    %s v = Unsqueeze (m, front) s = Concat <axis = 0> (v, one) z = Expand (x, s) }"""
MOST = ["m = Max (n, zero)", "m = Max (zero, n)", "c = Less (n, zero) m = Where (c, zero, n)"]


@pytest.mark.parametrize("count", MOST)
def test_a_number_that_is_not_negative_is_the_iterations_of_a_loop(count):
    assert_proved(NUMBERS, EXPANDED % count)


@table(
    "m = Identity (n)",
    "m = Min (n, zero)",
    "a = Neg (n) m = Max (a, zero)",
    "u = Constant <value_int = 1> () m = Max (n, u)",
    "c = Less (n, zero) m = Where (c, n, zero)",
    "a = Neg (n) c = Less (a, zero) m = Where (c, zero, n)",
    "u = Constant <value_int = 1> () c = Less (n, u) m = Where (c, u, n)",
)
def test_other_numbers_are_not(count):
    assert_open(NUMBERS, EXPANDED % count)


RANGE = """g (int64 n, bool c) => (int64[k] z)
    <int64 zero = {0}, int64 one = {1}, int64 two = {2}, bool yes = {1}> { %s }"""
NUMBERED = """z = Loop (n, yes) <body = b (int64 i, bool d) => (bool d2, int64 o) {
    d2 = Identity (d) o = Identity (i) }>"""


def test_a_range_has_so_many_numbers_as_a_loop_makes_iterations():
    assert_proved(RANGE % NUMBERED, RANGE % "z = Range (zero, n, one)")
    assert_open(RANGE % NUMBERED, RANGE % "z = Range (one, n, one)")
    assert_open(RANGE % NUMBERED, RANGE % "z = Range (zero, n, two)")
    assert_open(RANGE % NUMBERED, RANGE % "m = Add (n, one) z = Range (zero, m, one)")


def test_a_number_by_a_condition_is_the_iterations_of_a_loop_that_is_given_both():
    text = """g (bool c, float[n] x) => (int64[k] z) <int64 zero = {0}, int64 one = {1}> {
        s = Shape (x) n = Squeeze (s) %s }"""
    loop = text % NUMBERED.replace("yes", "c")
    assert_proved(loop, text % "m = Where (c, n, zero) z = Range (zero, m, one)")
    assert_open(loop, text % "m = Where (c, zero, n) z = Range (zero, m, one)")
    assert_open(loop, text % "z = Range (zero, n, one)")


@pytest.mark.parametrize("count", MOST)
@pytest.mark.parametrize("n", [-3, 0, 4])
def test_numbers_are_what_runs_give(count, n):
    text = "g (int64 n) => (int64 m, int64[k] z) <int64 zero = {0}, int64 one = {1}> { %s %s }"
    most, numbers = evaluated(
        model(text % (count, "z = Range (zero, n, one)")), {"n": np.array(n, np.int64)}
    )
    assert most.tolist() == max(n, 0)
    assert numbers.tolist() == list(range(n))


def test_a_size_is_its_own_number_of_iterations():
    text = "g (float[n] x) => (int64 m) <int64 zero = {0}> { s = Shape (x) q = Squeeze (s) %s }"
    terms, (most,) = terms_of(model(text % "m = Max (q, zero)"))
    assert most is terms.size(Dimension.symbol("n"))
    terms, (shorter,) = terms_of(
        model(text % "u = Constant <value_int = 1> () d = Sub (q, u) m = Max (d, zero)")
    )
    assert shorter.fact.content.item() != Dimension.symbol("n") - 1
    assert shorter.fact.content.item().less(0) is False


@pytest.mark.parametrize("other", ["t = Add (m, one)", "t = Identity (m)"])
def test_a_minimum_that_is_at_least_one_is_no_sum(other):
    minimum = """g (float[S] x) => (int64[k] z)
        <int64[1] c = {32}, int64[1] one = {1}, int64 zero = {0}, int64 step = {1},
         int64[1] front = {0}> {
        s = Shape (x) m = Min (s, c) %s e = Squeeze (t, front) z = Range (zero, e, step) }"""
    assert_open(minimum % "t = Max (m, one)", minimum % other)
    assert_proved(minimum % "t = Max (m, one)", minimum % "t = Max (one, m)")


QUOTIENT = """g (float[N] x, int64[1] a) => (int64[1] z)
    <int64[1] zero = {0}, int64[1] one = {1}, int64[1] two = {2}, int64[1] six = {6},
     int64[1] minus = {-2}, int64[1] none = {0}> {
    n = Shape (x) less = Sub (n, one) m = Sub (n, two) more = Add (n, one)
    b = Max (a, zero) large = Mul (n, six) d = Div (%s) z = %s }"""


@pytest.mark.parametrize("operands", ["n, two", "less, two", "more, two", "n, six", "m, six"])
def test_a_quotient_of_a_size_is_a_size(operands):
    texts = [QUOTIENT % (operands, nodes) for nodes in ("Max (d, zero)", "Identity (d)")]
    assert_proved(*texts)
    assert_open(texts[0], QUOTIENT % (operands, "Max (d, one)"))
    for size in range(4):
        feeds = {"x": np.zeros(size, np.float32), "a": np.zeros(1, np.int64)}
        for runtime in (run, outputs):
            one, other = (runtime(model(text), feeds)[0].tolist() for text in texts)
            assert one == other


@pytest.mark.parametrize("operands", ["m, two", "n, minus", "a, two", "n, a", "two, n"])
def test_other_quotients_may_be_negative(operands):
    assert_open(QUOTIENT % (operands, "Max (d, zero)"), QUOTIENT % (operands, "Identity (d)"))


def test_quotients_by_other_numbers_differ():
    assert_open(QUOTIENT % ("n, two", "Identity (d)"), QUOTIENT % ("n, six", "Identity (d)"))
    assert_open(QUOTIENT % ("n, two", "Identity (d)"), QUOTIENT % ("less, two", "Identity (d)"))
