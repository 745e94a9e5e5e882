from conversions import converted


def test_possibly_empty_axes_are_padded_first():
    for sizes, pads in (("2, 3", 0), ("N, 3", 3), ("M, N", 3)):
        found = converted("y = ReduceMin (x, a)", 18, 17, f"float[{sizes}] x, int64[1] a")
        assert sum(line.startswith("Pad ") for line in found) == pads


def test_a_mean_is_a_sum_and_a_count():
    product = "ReduceProd <axes = [0], keepdims = 0> (y_lengths)"
    total = "ReduceSum <keepdims = 1> (x, y_indices)"
    found = converted("y = ReduceMean (x, a)", 18, 17, "float[2, 3] x, int64[1] a")
    assert found[-4:] == [product, total, "Cast <to = 1> (y_count)", "Div (y_total, y_cast)"]
    # The mean of nothing is 0.
    found = converted("y = ReduceMean (x, a)", 18, 17, "float[M, N] x, int64[1] a")
    assert found[-6:] == [
        product,
        "Greater (y_count, 1)",
        "Where (y_Greater, y_count, 1)",
        total,
        "Cast <to = 1> (y_Where)",
        "Div (y_total, y_cast)",
    ]
