import numpy as np
import onnx
from operator_facts import BOOL, FLOAT, INT32, INT64, UINT8, M, N, dim, pair
from straightline.facts.bounds import (
    Bounds,
    Known,
    alike,
    greater,
    greatest,
    join,
    known,
    least,
    lesser,
    negated,
    same_content,
)
from straightline.facts.fact import Fact, as_content
from tables import table


@table(
    (INT64, (0, N), (0, N)),
    (INT64, (0, N * (1 << 16)), (0, N * (1 << 16))),
    (INT64, (0, N * (1 << 17)), "any"),
    (INT64, (-N * (1 << 17), 0), "any"),
    (INT64, (0, N * N), "any"),
    (INT32, (0, N), (-(2**31), 2**31 - 1)),
    (INT32, (0, 2**31 - 1), (0, 2**31 - 1)),
    (INT32, (0, 2**31), (-(2**31), 2**31 - 1)),
    (INT32, (-(2**31), 0), (-(2**31), 0)),
    (INT32, (-(2**31) - 1, 0), (-(2**31), 2**31 - 1)),
    (UINT8, (0, 256), (0, 255)),
    (FLOAT, (0, 1), None),
    (BOOL, (0, 1), None),
    (onnx.TensorProto.STRING, (0, 1), None),
    (0, (0, 1), None),
)
def test_bounds_that_the_type_cannot_hold_are_broken_by_overflow(elem_type, bounds, wanted):
    found = known(Fact(elem_type), Bounds(*map(dim, bounds)))
    assert pair(found.bounds) == wanted


def content(*elements):
    made = as_content(np.zeros(len(elements), np.int64))
    made[:] = [None if e is None else dim(e) for e in elements]
    return made


def test_content_gives_the_tightest_bounds():
    for elements, wanted in (
        ((3, -1, 7), (-1, 7)),
        ((N, N + 2), (N, N + 2)),
        ((N, None), (0, 99)),
        ((N, M), (0, 99)),
        ((), (0, 99)),
    ):
        found = known(Fact(INT64, None, content(*elements)), Bounds(dim(0), dim(99)))
        assert pair(found.bounds) == wanted, elements


def test_the_least_and_the_greatest():
    assert least([dim(3), dim(1), dim(2)]) == 1
    assert greatest([dim(3), dim(1), dim(2)]) == 3
    assert least([N + 1, N]) == N and greatest([N, N + 1]) == N + 1
    assert least([N, N]) == N
    assert least([N + 2, M + 1]) == 1, "neither is known to be the smaller, but both are above"
    assert least([M + 1, N + 2]) == 1
    assert greatest([2 - N, 1 - M]) == 2
    assert greatest([N, M]) is None
    assert least([-N, -M]) is None
    assert least([-N, M]) == -N
    assert least([-N, 5 - M, dim(0)]) is None


def test_a_join_of_bounds():
    one, other = Bounds(dim(0), dim(5)), Bounds(dim(-2), N)
    assert join(one, Bounds(dim(-2), dim(3))) == Bounds(dim(-2), dim(5))
    assert join(one, other) is None
    assert join(one, None) is None and join(None, one) is None


def test_whether_just_as_much_is_known():
    fact = Fact(INT64, (N,), content(1, N))
    one = Known(fact, Bounds(dim(0), dim(5)))
    assert alike(one, one)
    assert alike(one, Known(Fact(INT64, (N,), content(1, N)), Bounds(dim(0), dim(5))))
    for other in (
        Known(Fact(INT32, (N,), content(1, N)), one.bounds),
        Known(Fact(INT64, (M,), content(1, N)), one.bounds),
        Known(Fact(INT64, (N,), content(1, M)), one.bounds),
        Known(Fact(INT64, (N,), content(1)), one.bounds),
        Known(Fact(INT64, (N,)), one.bounds),
        Known(fact, Bounds(dim(0), dim(6))),
        Known(fact),
    ):
        assert not alike(one, other) and not alike(other, one)
    unknown = Known(Fact(INT64, (N,), content(1, None)))
    assert not alike(unknown, Known(Fact(INT64, (N,), content(1, None))))
    assert alike(Known(Fact(FLOAT)), Known(Fact(FLOAT)))


def test_the_lesser_and_the_greater_of_two():
    one, other = Bounds(dim(0), N), Bounds(dim(-2), dim(5))
    assert lesser(one, other) == Bounds(dim(-2), N), "either upper bound holds"
    assert lesser(other, Bounds(dim(1), dim(3))) == Bounds(dim(-2), dim(3))
    assert greater(one, other) is None, "which is the greater is not known, so neither holds"
    assert greater(other, Bounds(dim(1), dim(3))) == Bounds(dim(1), dim(5))
    assert greater(Bounds(N, N), Bounds(dim(0), N + 1)) == Bounds(N, N + 1)
    for either in (lesser, greater):
        assert either(one, None) is None and either(None, one) is None
    assert negated(one) == Bounds(-N, dim(0)) and negated(None) is None


def test_content_that_is_the_same():
    def fact(*elements):
        return Fact(INT64, None, content(*elements))

    assert same_content(fact(N, 2), fact(N, 2)) and same_content(Fact(INT64), Fact(FLOAT))
    for other in (fact(N, 3), fact(N), fact(N, None), Fact(INT64)):
        assert not same_content(fact(N, 2), other) and not same_content(other, fact(N, 2))
    assert not same_content(fact(None), fact(None))
