"""Comparisons of sizes at the edge of what is certain."""

from straightline.facts.dimension import Dimension

N, M = Dimension.symbol("N"), Dimension.symbol("M")
ZERO = Dimension.constant(0)


def test_equality_that_holds_for_some_sizes_only():
    assert N.equals(0) is None and ZERO.equals(N) is None
    assert (ZERO - N).equals(0) is None
    assert (N * 2).equals(M * 2) is None
    assert (N * 2).equals(M * 4) is None
    assert (N * 2).equals(4) is None


def test_equality_that_holds_for_none():
    assert (N + 1).equals(0) is False
    assert (ZERO - N).equals(1) is False
    assert (N * 2).equals(M * 2 + 1) is False
    assert (N * 6).equals(M * 4 + 3) is False


def test_order_at_the_edge():
    assert N.less(0) is False and (ZERO - N).less(1) is True
    assert N.less(1) is None and (ZERO - N).less(0) is None
    assert N.less(N + 1) is True and N.less(N) is False


def test_text():
    assert str(ZERO) == "0" and str(N - 1) == "N - 1" and str(1 - N) == "-N + 1"
    assert str(N * M * 2 - N * 3 + 4) == "2*M*N - 3*N + 4"
