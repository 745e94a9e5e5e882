import numpy as np
import pytest
from conversions import assert_becomes, assert_carried_everywhere


def test_axes_of_length_1_are_repeated():
    assert_becomes("""8 to 7, float[M, N] x, int64[2] s: y = Expand (x, s) =>
        shape = Shape (x)
        single = Equal (shape, 1)
        flag = Cast <to = 7> (single)
        more = Sub (s, 1)
        added = Mul (flag, more)
        repeats = Add (added, 1)
        y = Tile (x, repeats)""")


@pytest.mark.sample(3)
@pytest.mark.parametrize("type_", ["float", "int64", "bool"])
@pytest.mark.parametrize(
    ("shape", "wanted"),
    [((1, 3), (2, 3)), ((2, 3), (1, 1)), ((2, 3), (1,)), ((3,), (2, 1, 3)), ((), (2, 2)), ((), ()),
     ((1, 3), (0, 3)), ((0, 1), (1, 4)), ((2, 1), (3, 2, 0))],
)  # fmt: skip
def test_numbers(type_, shape, wanted):
    dtype = np.float32 if type_ == "float" else np.dtype(type_)
    x = np.arange(np.prod(shape, dtype=int)).astype(dtype).reshape(shape)
    known = ", ".join(map(str, shape))
    feeds = {"x": x, "s": np.array(wanted, np.int64)}
    for sizes in (known, ", ".join("ABC"[: len(shape)])):
        held = f"{type_}[{sizes}]" if shape else type_
        signature = f"{held} x, int64[{len(wanted)}] s"
        assert_carried_everywhere("y = Expand (x, s)", 8, (7,), feeds, signature)
