import numpy as np
import pytest
from conversions import assert_carried_everywhere, assert_writes, converted
from tables import cases

test_nodes_of_each_step = cases(
    assert_writes, ("y = Range <stash_type = 1> (k, k, k)", 27, 26, ["Range (k, k, k)"], "float k")
)


def test_halves_are_counted_by_the_function_before_opset_27():
    found = converted("y = Range (k, k, k)", 27, 26, "float16 k")
    assert "Range" not in " ".join(found) and found[-1].startswith("Cast <to = 10>")


RANGES = [
    ("int16", (1, 9, 3)),
    ("int16", (-32000, 32000, 9000)),
    ("int32", (10, -5, -4)),
    ("int64", (0, 2**25 + 3, 2**25 + 1)),  # one too few as floats
    ("int64", (5, 5, 2)),
    ("float", (0, 1, 0.3)),
    ("float", (-1e-9, 23, 1)),  # one too few, as floats round the distance
    ("float", (1e-9, -52, -2)),
    ("double", (0, 1, 1 / 3)),
    ("double", (1, 0, 0.5)),
]


@pytest.mark.sample(5)
@pytest.mark.parametrize(("elem_type", "operands"), RANGES)
def test_numbers_are_counted_exactly(elem_type, operands):
    dtype = {"float": "float32", "double": "float64"}.get(elem_type, elem_type)
    feeds = {name: np.array(v, dtype) for name, v in zip("abc", operands, strict=True)}
    signature = ", ".join(f"{elem_type} {name}" for name in "abc")
    body = "y = Range (a, b, c)"
    assert_carried_everywhere(body, 11, (7, 8, 9, 10, 13), feeds, signature, rtol=1e-6)
