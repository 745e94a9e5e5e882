"""Axes that are chosen at run time: what is written for them."""

from conversions import converted


def test_what_may_be_empty_is_padded_first():
    for sizes, pads in (("2, 3", 0), ("N, 3", 3), ("M, N", 3)):
        found = converted("y = ReduceMin (x, a)", 18, 17, f"float[{sizes}] x, int64[1] a")
        assert sum(line.startswith("Pad ") for line in found) == pads


def test_a_mean_is_a_sum_and_a_count():
    found = converted("y = ReduceMean (x, a)", 18, 17, "float[M, N] x, int64[1] a")
    assert found[-4:] == [
        "ReduceProd <axes = [0], keepdims = 0> (y_lengths)",
        "ReduceSum <keepdims = 1> (x, y_indices)",
        "Cast <to = 1> (y_count)",
        "Div (y_total, y_cast)",
    ]
