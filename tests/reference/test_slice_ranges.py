from straightline.reference.slice_ranges import slice_range
from tables import table


@table(
    ((4, 1, 9, 2), [1, 3]),
    ((4, -3, -1, 1), [1, 2]),
    ((4, -9, 2, 1), [0, 1]),
    ((4, 9, -9, -2), [3, 1]),
    ((4, -9, -99, -1), [0]),
    ((0, 0, 9, 1), []),
    ((0, 9, -9, -1), []),
)
def test_a_slice_begins_and_ends_within_the_axis(bounds, expected):
    assert list(slice_range(*bounds)) == expected
