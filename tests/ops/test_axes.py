import itertools

import numpy as np
from straightline.facts.fact import Symbols
from straightline.facts.polynomial import Dimension
from straightline.ops.axes import broadcast_shape, may_equal, positions, reduced, stretched
from tables import table

N, M = Dimension.symbol("N"), Dimension.symbol("M")


def dims(*sizes):
    return tuple(Dimension.constant(s) if isinstance(s, int) else s for s in sizes)


def test_positions():
    assert positions([0, -1], 3) == {0, 2}
    assert positions([], 0) == set()
    assert positions([3], 3) is positions([-4], 3) is positions([0], 0) is None


def test_reduced():
    assert reduced(dims(N, 3, M), {0, 2}, True) == (1, 3, 1)
    assert reduced(dims(N, 3, M), {0, 2}, False) == (3,)


def test_may_equal():
    assert may_equal(N, M) and may_equal(N, *dims(3)) and may_equal(*dims(3, 3))
    assert not may_equal(*dims(3, 1))


@table((N, 1, N), (1, N, N), (N, N, N), (N, 3, 3), (3, N, 3), (N + 2, M, N + 2), (0, N, 0))
def test_stretched(a, b, wanted):
    assert stretched(*dims(a, b), Symbols()) == wanted


def test_two_symbols_may_be_one_and_something():
    size = stretched(N, M, Symbols())
    assert size not in (N, M)
    assert size != stretched(N, M, Symbols()) or str(size).startswith("?")


def test_numbers_broadcast_as_in_numpy():
    shapes = [s for rank in range(3) for s in itertools.product((0, 1, 2, 3), repeat=rank)]
    for one, other in itertools.product(shapes, repeat=2):
        try:
            wanted = np.broadcast_shapes(one, other)
        except ValueError:
            wanted = None
        assert broadcast_shape([dims(*one), dims(*other)], Symbols()) == wanted, (one, other)


def test_one_value_alone():
    assert broadcast_shape([dims(N, 2)], Symbols()) == (N, 2)
