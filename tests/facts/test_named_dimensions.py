import pytest
import straightline as sl
from straightline.facts.named_dimensions import dimension_text, minima_of, with_dimensions
from straightline.ir.errors import BindingError
from tables import table
from texts import HEADER

NAMED = """g (float[T, N] x, float[T] w, float[N, 3] z, seq(float[S]) s) => (float[T, N] y) {
    y = Abs (x) }"""


@table(
    ({}, {}, {}),
    ({}, {"T": 6}, {"x": [6, None], "w": [6]}),
    ({"x": (None, 5)}, {"T": 6}, {"x": [6, 5], "w": [6]}),
    ({"x": (6, None), "z": (2, None)}, {"T": 6}, {"x": [6, None], "w": [6], "z": (2, None)}),
    ({}, {"T": 0, "N": 2}, {"x": [0, 2], "w": [0], "z": [2, None]}),
    ({"x": (1,)}, {"T": 6}, {"x": (1,), "w": [6]}),
    ({}, {"T": ">=6"}, {}),
    ({"x": (7, None)}, {"T": ">=6", "N": 2}, {"x": [7, 2], "z": [2, None]}),
)
def test_named_dimensions_become_shapes(shapes, sizes, found):
    assert with_dimensions(sl.ir.parse(HEADER + NAMED).graph.inputs, shapes, sizes) == found


@table(
    ({}, {"t": 6}, "no input has a dimension named 't'; did you mean 'T'? there are 'T', 'N'"),
    ({}, {"S": 6}, "no input has a dimension named 'S'"),
    ({"w": (5,)}, {"T": 6}, "input 'w': dimension 'T' cannot be both 6 and 5"),
    ({}, 6, 'dims must be a mapping by name, such as {"T": 6}, not 6'),
    ({"w": (5,)}, {"T": ">=6"}, "input 'w': dimension 'T' cannot be 5 and at least 6"),
    ({}, {"S": ">=6"}, "no input has a dimension named 'S'"),
    ({}, {"T": "6"}, "dims: 'T' must be a size, such as 6, or a minimum, such as '>=1', not '6'"),
    ({}, {"T": ">=-1"}, "not '>=-1'"),
    ({}, {"T": -1}, "such as '>=1', not -1"),
    ({}, {"T": True}, "not True"),
    ({}, {"T": 2**63}, "not 9223372036854775808"),
)
def test_dimensions_that_do_not_fit(shapes, sizes, words):
    inputs = sl.ir.parse(HEADER + NAMED).graph.inputs
    with pytest.raises(BindingError) as caught:
        with_dimensions(inputs, shapes, sizes)
    assert words in str(caught.value)


def test_least_sizes_and_their_text():
    dims = {"T": 6, "N": ">=2", "M": ">= 1", "K": ">=0"}
    assert minima_of(dims) == {"N": 2, "M": 1}  # every size is at least 0
    assert [dimension_text(*each) for each in dims.items()][:2] == ["T=6", "N>=2"]
