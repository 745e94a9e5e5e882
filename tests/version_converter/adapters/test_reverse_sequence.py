"""ReverseSequence: below opset 10 elements are gathered backwards."""

import numpy as np
import pytest
from conversions import assert_becomes, assert_carried, assert_refuses


def test_places_are_written_down():
    assert_becomes(
        "n = Constant <value_ints = [1, 3]> ()"
        " y = ReverseSequence <batch_axis = 0, time_axis = 1> (x, n)",
        12,
        9,
        """
        rows = Reshape (x, [-1])
        y = Gather <axis = 0> (rows, [[0, 1, 2], [5, 4, 3]])
        """,
    )


@pytest.mark.parametrize(("batch", "time"), [(0, 1), (1, 0)])
@pytest.mark.parametrize("rest", ["", ", 2", ", C"])
def test_numbers(batch, time, rest):
    shape = (4, 3, 2) if rest else (4, 3)
    lengths = [1, 3, 2, 3] if batch == 0 else [4, 1, 3]
    body = f"n = Constant <value_ints = {lengths}> ()"
    body += f" y = ReverseSequence <batch_axis = {batch}, time_axis = {time}> (x, n)"
    x = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
    assert_carried(body, 12, (9, 8), {"x": x}, f"int32[4, 3{rest}] x")


def test_what_is_not_known_is_asked_for():
    reverse = "y = ReverseSequence (x, n)"
    assert_refuses(reverse, 10, 9, "the lengths of it is computed", "float[2, 2] x, int64[2] n")
    body = f"n = Constant <value = int64[2] {{1, 2}}> () {reverse}"
    assert_refuses(body, 10, 9, "the lengths of the first two axes", "float[N, 2] x")
