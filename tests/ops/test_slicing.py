import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from operator_facts import (
    ABSENT,
    INDICES,
    INT64,
    SHAPELESS,
    M,
    N,
    arrays,
    assert_agrees,
    assert_says_all,
    between,
    bounds_said,
    cannot_fail,
    fact_of,
    holding,
    lying,
    make_node,
    may_fail,
    numbers,
    said,
    shape_said,
    shaped,
    small,
    tensor,
)
from straightline import ir
from straightline.analysis.shapes.inference import ShapeInference
from straightline.facts.bounds import Known
from straightline.facts.fact import Fact
from straightline.ops.outputs import content_of
from tables import cases, table


@table(
    ("Concat", [shaped(N, 3), shaped(M, 3)], {"axis": 0}, [N + M, 3]),
    ("Concat", [shaped(3, N), shaped(3, 2), shaped(3, M)], {}, [3, N + M + 2]),
    ("Concat", [shaped(N, 3), shaped(M, M)], {"axis": -2}, [N + M, 3]),
    ("Concat", [shaped(2, N), shaped(2, 3)], {"axis": 0}, [4, 3]),
    ("Concat", [shaped(2, N), shaped(2, M)], {"axis": 0}, [4, N]),
    ("Concat", [shaped(N), shaped(0)], {"axis": -1}, [N]),
    ("Concat", [shaped(N, 3), SHAPELESS], {"axis": 0}, None),
    ("Concat", [shaped(N, 3), shaped(3)], {"axis": 0}, None),
    ("Concat", [shaped(N, 3), shaped(M, 3)], {"axis": 2}, None),
    ("Concat", [shaped(N, 3), shaped(M, 3)], {"axis": -3}, None),
    ("Pad", [shaped(N, 3), holding(1, 2, 3, 4)], {}, [N + 4, 9]),
    ("Pad", [shaped(N, 3)], {"pads": [1, 2, 3, 4]}, [N + 4, 9]),
    ("Pad", [shaped(N, 3), holding(1, 2), None, holding(-1)], {}, [N, 6]),
    ("Pad", [shaped(N, 3), holding(1, 2, 3, 4), None, holding(1, 0)], {}, [N + 6, 7]),
    ("Pad", [shaped(N, 3), holding(1, 2), None, INDICES], {}, None),
    ("Pad", [shaped(N, 3), holding(1, 2)], {}, None),
    ("Pad", [shaped(N), holding(1, None)], {}, ["?"]),
    ("Pad", [shaped(N, 3, M), holding(1, 0, None, 1, 1, 0)], {}, [N + 2, 4, "?"]),
    ("Pad", [shaped(N), holding(None, None)], {}, None),
    ("Pad", [shaped(N), INDICES], {}, None),
    ("Pad", [SHAPELESS, holding(1, 2)], {}, None),
)
def test_shapes(op_type, facts, attributes, wanted):
    assert shape_said(op_type, *facts, **attributes) == wanted


FAR = 9223372036854775807


@table(
    (7, 1, 4, 1, 3),
    (7, -3, FAR, 1, 3),
    (7, 0, 7, 2, 4),
    (7, 6, -9, -1, 7),
    (7, 6, -8, -2, 4),
    (7, 6, -7, -1, 6),
    (7, 6, -1, -1, 0),
    (7, 0, -9, 1, 0),
    (7, 4, 2, 1, 0),
    (N, 0, FAR, 1, N),
    (N, 0, (1 << 31) - 1, 1, N),
    (N, 0, (1 << 31) - 2, 1, "?"),
    (N + 3, 1, FAR, 1, N + 2),
    (N + 3, 3, FAR, 1, N),
    (N + 3, 4, FAR, 1, "?"),
    (N + 3, 0, 2, 1, 2),
    (N + 3, 0, -1, 1, N + 2),
    (N + 3, 0, -3, 1, N),
    (N + 3, 0, -4, 1, "?"),
    (N + 3, -2, FAR, 1, 2),
    (N + 3, -2, -1, 1, 1),
    (N + 3, 2, 1, 1, "?"),
    (N + 3, 0, N, 1, N),
    (N + 3, N, FAR, 1, 3),
    (N + 3, 0, M, 1, "?"),
    (N + 3, M, FAR, 1, "?"),
    (5, -9, -99, -1, 1),
    (5, -6, -6, -2, 1),
    (0, -9, -99, -1, 0),
    (N, 0, FAR, 2, "?"),
    (N, 0, FAR, 0, "?"),
    (7, 0, 7, 0, "?"),
    (7, None, 7, 1, "?"),
    (7, 0, None, 1, "?"),
    (7, 0, 7, None, "?"),
)
def test_the_length_of_a_slice(size, start, end, step, wanted):
    bounds = [holding(start), holding(end), holding(1), holding(step)]
    assert shape_said("Slice", shaped(N, size), *bounds) == [N, wanted]


def test_axes_of_a_slice():
    data = shaped(5, 6, N)
    assert shape_said("Slice", data, holding(1, 2), holding(4, 9)) == [3, 4, N]
    assert shape_said("Slice", data, holding(1, 2), holding(4, 9), holding(-2, 0)) == [3, 3, N]
    assert shape_said("Slice", data, holding(1), holding(4), None, holding(2)) == [2, 6, N]
    assert shape_said("Slice", data, holding(1), holding(4), INDICES) == ["?"] * 3
    assert shape_said("Slice", data, holding(1), holding(4), holding(0), INDICES) == ["?", 6, N]
    assert shape_said("Slice", data, holding(1), holding(4), holding(3)) is None
    assert shape_said("Slice", data, holding(1), holding(4), holding(-4)) is None
    assert shape_said("Slice", data, holding(1), holding(4), holding(None)) is None
    assert shape_said("Slice", data, INDICES, holding(4)) == ["?", 6, N]
    # How many bounds there are tells which axes are cut.
    assert shape_said("Slice", data, shaped(1), shaped(1)) == ["?", 6, N]
    assert shape_said("Slice", data, shaped(1), holding(4), holding(1)) == [5, "?", N]
    assert shape_said("Slice", data, shaped(1), shaped(2)) is None
    assert shape_said("Slice", data, holding(1), INDICES) == ["?", 6, N]
    assert shape_said("Slice", SHAPELESS, holding(1), holding(4)) is None
    assert shape_said("Slice", data, holding(1), holding(4, 5)) is None
    assert shape_said("Slice", data, starts=[1], ends=[4]) == [3, 6, N]
    assert shape_said("Slice", data, starts=[1], ends=[4], axes=[1]) == [5, 3, N]


@given(arrays(3), st.integers(-2, 2))
def test_concat(operands, axis):
    assert_agrees("Concat", operands, axis=axis)


@given(st.lists(small, max_size=5), small, small, st.sampled_from([1, 2, -1, -2, 0]))
def test_slice(data, start, end, step):
    bounds = [np.array([number], np.int64) for number in (start, end, 0, step)]
    assert_agrees("Slice", [np.array(data, np.int64), *bounds])


def test_content_that_is_joined():
    assert said("Concat", [[N], [None, 2]], axis=0) == [N, None, 2]
    assert said("Concat", [[N], None], axis=0) is None


test_numbers_give_all_that_onnx_computes = cases(
    assert_says_all,
    ("Concat", [[[1, 2]], [[3, 4]]], {"axis": 0}),
    ("Concat", [[[1, 2]], [[3, 4]]], {"axis": 1}),
    ("Concat", [[[1, 2]], [[3, 4]]], {"axis": -2}),
    ("Slice", [[1, 2, 3, 4], [1], [3]], {}),
    ("Slice", [[1, 2, 3, 4], [-1], [-9], [0], [-2]], {}),
    ("Slice", [[1, 2, 3, 4], [-1], [-3], [0], [-1]], {}),
    ("Slice", [[1, 2, 3, 4], [3], [-4], [0], [-1]], {}),
    ("Slice", [[[1, 2, 3], [4, 5, 6]], [1], [3], [1]], {}),
    ("Slice", [[[1, 2, 3], [4, 5, 6]], [1, 0], [9, 1]], {}),
    ("Slice", [[[1, 2, 3], [4, 5, 6]], [0, 1], [9, 2], [-1, 0], [2, 1]], {}),
)


@table(
    ("Concat", [[N], [None, 2]], INT64, None),
    ("Slice", [[N, M, 2], [1], [9]], INT64, [M, 2]),
    ("Slice", [[N, M, 2], [None], [9]], INT64, None),
)
def test_bounds_from_partial_facts(op_type, operands, elem_type, wanted):
    assert said(op_type, operands, elem_type) == wanted


def test_every_part_of_a_split_has_the_bounds():
    assert bounds_said("Split", [lying(2, 9)], outputs=3) == [(2, 9)] * 3


@table(
    ("Concat", [lying(2, 5), lying(-1, 3), lying(0, 9)], (-1, 9)),
    ("Concat", [lying(2, 5), Known(Fact())], "any"),
)
def test_bounds_of_a_result(op_type, inputs, wanted):
    assert bounds_said(op_type, inputs) == [wanted]


def test_joined_tensors():
    cannot_fail("Concat", tensor(N, 2, 4), tensor(N, 3, 4), axis=1)
    cannot_fail("Concat", tensor(N, 2), tensor(N, 3), tensor(N, M), axis=-1)
    reason = "sizes along axis 0 may not fit: M and N"
    may_fail(reason, "Concat", tensor(N, 2), tensor(M, 2), axis=1)
    may_fail("sizes along axis 1", "Concat", tensor(N, 2), tensor(N, 2), tensor(N, 3), axis=0)
    may_fail("'i1' may not have rank 2", "Concat", tensor(N, 2), tensor(N), axis=0)
    may_fail("axis 2 does not exist", "Concat", tensor(N, 2), tensor(N, 2), axis=2)


def test_parts_of_a_tensor():
    cannot_fail("Split", tensor(6, N), outputs=3)
    cannot_fail("Split", tensor(6, N * 2), outputs=2, axis=1)
    cannot_fail("Split", tensor(6, N), numbers([1, 5]), outputs=2)
    cannot_fail("Split", tensor(6, N), numbers([0, 6]), outputs=2)
    cannot_fail("Split", tensor(6, N), outputs=2, split=[2, 4])
    may_fail("6 may not divide by 4", "Split", tensor(6, N), outputs=4)
    may_fail("N may not divide by 2", "Split", tensor(6, N), outputs=2, axis=-1)
    may_fail(
        "the sum of its sizes may not fit: 6 and 5", "Split", tensor(6), numbers([1, 4]), outputs=2
    )
    reason = "its sizes do not fit its outputs"
    may_fail(reason, "Split", tensor(6), numbers([1, 5]), outputs=3)
    may_fail(reason, "Split", tensor(6), numbers([-1, 7]), outputs=2)
    may_fail("axis 1 does not exist", "Split", tensor(6), outputs=2, axis=1)


def test_bounds_of_a_slice_fit_its_axes():
    one, two = between(-9, 9, 1), between(-9, 9, 2)
    cannot_fail("Slice", tensor(N, 3), two, two)
    cannot_fail("Slice", tensor(N, 3), one, one, numbers([-1]), numbers([-2]))
    cannot_fail("Slice", tensor(N, 3), two, two, numbers([1, 0]), numbers([1, 2]))
    cannot_fail("Slice", tensor(N, 3), one, one, ABSENT, numbers([1]))
    for more, reason in (
        ((one, two), "its bounds differ in number"),
        ((two, two, numbers([0])), "its axes do not fit its bounds"),
        ((two, two, numbers([0, -2])), "an axis occurs twice"),
        ((one, one, numbers([2])), "axis 2 does not exist for rank 2"),
        ((one, one, numbers([0]), numbers([0])), "its steps do not fit its bounds"),
        ((one, one, numbers([0]), numbers([1, 1])), "its steps do not fit its bounds"),
        ((one, one, numbers([0]), one), "known only at run time"),
        ((between(0, 1, N), one), "the length of 'i1' is not known"),
        ((between(0, 1, 3), between(0, 1, 3)), "axis 2 does not exist for rank 2"),
    ):
        may_fail(reason, "Slice", tensor(N, 3), *more)


def test_bounds_of_a_slice_before_opset_10():
    cannot_fail("Slice", tensor(N, 3), opset=9, starts=[0, 1], ends=[1, 2])
    cannot_fail("Slice", tensor(N, 3), opset=9, starts=[0], ends=[1], axes=[-1])
    may_fail("its bounds differ", "Slice", tensor(N, 3), opset=9, starts=[0], ends=[1, 2])
    may_fail(
        "its axes do not fit", "Slice", tensor(N, 3), opset=9, starts=[0], ends=[1], axes=[0, 1]
    )


def test_padded_tensors():
    cannot_fail("Pad", tensor(N, 3), numbers([0, 1, 2, 0]))
    cannot_fail("Pad", tensor(N, 3), numbers([0, 1, 2, 0]), tensor())
    cannot_fail("Pad", tensor(N, 3), numbers([0, 1, 2, 0]), tensor(1))
    cannot_fail("Pad", tensor(N, 3), pads=[0, 1, 2, 0])
    cannot_fail("Pad", tensor(N, 3), pads=[0, 1, 2, 0], mode="constant")
    cannot_fail("Pad", tensor(N, 3), numbers([0, 1]), ABSENT, numbers([-1]))
    cannot_fail("Pad", tensor(N, 3), numbers([0, 1, 0, 2]), mode="edge")
    for more, how, reason in (
        ((numbers([0, 1, 2, -1]),), {}, "it cuts off elements"),
        ((), {"pads": [-1, 0, 0, 0]}, "it cuts off elements"),
        ((numbers([0, 1]),), {}, "its pads do not fit the rank"),
        ((numbers([0, 1]), ABSENT, numbers([2])), {}, "axis 2 does not exist"),
        ((numbers([0, 1, 2, 0]), ABSENT, numbers([1, -1])), {}, "an axis occurs twice"),
        ((numbers([0, 1, 2, 0]), tensor(2)), {}, "'i2' may not hold exactly one element"),
        ((numbers([0, 1, 2, 0]),), {"mode": "wrap"}, "its mode restricts sizes"),
        ((numbers([0, 1, 2, 0]),), {"mode": "edge"}, "axis 0 of size N may be less than 1"),
    ):
        may_fail(reason, "Pad", tensor(N, 3), *more, **how)


def test_cropped_tensors():
    cannot_fail("CenterCropPad", tensor(N, 3), numbers([2, 5]))
    cannot_fail("CenterCropPad", tensor(N, 3), numbers([5]), axes=[-1])
    may_fail("'i1' may not fit the axes", "CenterCropPad", tensor(N, 3), numbers([5]))
    may_fail("'i1' may not fit", "CenterCropPad", tensor(N, 3), numbers([5, 5]), axes=[1, -1])
    may_fail("is not positive", "CenterCropPad", tensor(N, 3), numbers([0]), axes=[0])


def test_triangles():
    cannot_fail("Trilu", tensor(N, M))
    cannot_fail("Trilu", tensor(2, N, M), tensor(1, elem_type=INT64))
    may_fail("'i0' has fewer than two axes", "Trilu", tensor(N))
    may_fail("'i1' may not hold exactly one element", "Trilu", tensor(N, M), tensor(2))


def test_a_slice_whose_axes_are_left_out():
    node = make_node("Slice", [shaped(4), holding(3), holding(-9), None, holding(-2)])
    data = fact_of([1, 2, 3, 4])
    reads = [data, holding(3), holding(-9), Fact(), holding(-2)]
    assert content_of(node, reads, INT64).tolist() == [4, 2]
    reads[4] = INDICES
    assert content_of(node, reads, INT64) is None


def test_operands_of_older_versions_are_attributes():
    assert said("Slice", [[N, M, 2]], starts=[1], ends=[3]) == [M, 2]
    assert said("Slice", [[[N, M, 2]]], starts=[1], ends=[3], axes=[1]) == [[M, 2]]
    assert said("Slice", [[N, M, 2]]) is None


def test_the_first_elements_up_to_a_size_are_its_minimum_with_their_number():
    """As exporters slice positions: what they are added to has no more of them."""
    head = "g (float[B, S, 2] x, float[1, 8, 2] p, float[1, 1, 2] q) => (float[A, C, 2] y)"
    text = """
        <ir_version: 8, opset_import: ["" : 18]>
        {} <int64[1] zero = {{0}}, int64[1] one = {{1}}> {{
            s = Shape <start = 1, end = 2> (x)
            first = Slice ({}, {}, s, one)
            y = Add (x, first)
        }}
    """
    for rows, start, size in (("p", "zero", "S"), ("q", "zero", None), ("p", "one", None)):
        model = ir.parse(text.format(head, rows, start))
        shape = ShapeInference(model).fact(model.graph.outputs[0]).shape
        assert (str(shape[1]) == "S") is (size == "S")


@pytest.mark.parametrize(("start", "size"), [("minus_n", "N"), ("minus_two", None)])
def test_as_many_of_the_last_elements_as_there_are_is_all(start, size):
    model = ir.parse(f"""<ir_version: 8, opset_import: ["" : 18]> g (float[N] x) => (float[A] y)
        <int64[1] minus_two = {{-2}}, int64[1] end = {{2147483647}}> {{
            n = Shape (x)
            minus_n = Neg (n)
            y = Slice (x, {start}, end) }}""")
    shape = ShapeInference(model).fact(model.graph.outputs[0]).shape
    assert (str(shape[0]) == "N") is (size == "N")
