import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from operator_facts import (
    INT64,
    UNKNOWN,
    M,
    N,
    assert_agrees,
    assert_says_all,
    bounds_said,
    cannot_fail,
    lying,
    may_fail,
    numbers,
    said,
    small,
    tensor,
)
from tables import cases, table


@given(
    st.sampled_from(["ReduceSum", "ReduceProd"]),
    st.lists(small, max_size=4),
    st.sampled_from([None, [], [0], [-1]]),
    st.sampled_from([0, 1]),
    st.sampled_from([0, 1]),
)
def test_reduce(op_type, data, axes, keepdims, noop):
    operands = [np.array(data, np.int64)]
    if axes is not None:
        operands.append(np.array(axes, np.int64))
    assert_agrees(op_type, operands, keepdims=keepdims, noop_with_empty_axes=noop)


def test_a_reduction_over_no_axes_is_not_followed():
    assert said("ReduceSum", [[1, 2]], noop_with_empty_axes=1) is None
    assert said("ReduceSum", [[1, 2], []], noop_with_empty_axes=1) is None
    assert said("ReduceSum", [[1, 2], [0]], noop_with_empty_axes=1) == [3]


test_numbers_give_all_that_onnx_computes = cases(
    assert_says_all,
    ("ReduceSum", [[1, 2, 4]], {}),
    ("ReduceSum", [[1, 2, 4]], {"keepdims": 0}),
    ("ReduceSum", [[1, 2, 4], [0]], {"noop_with_empty_axes": 1}),
    ("ReduceProd", [[1, 2, 4]], {"keepdims": 0}),
    ("ReduceProd", [[1, 2, 4]], {}),
)


@table(
    ("ReduceSum", [[N, M, 2]], INT64, [N + M + 2]),
    ("ReduceProd", [[N, M, 2]], INT64, [None]),  # of two tensors it may wrap
    ("ReduceSum", [[N, None]], INT64, None),
    ("ReduceSum", [[[1, 2], [3, 4]]], INT64, None),
)
def test_bounds_from_partial_facts(op_type, operands, elem_type, wanted):
    assert said(op_type, operands, elem_type) == wanted


def test_positions_along_an_axis():
    data = lying(0, 1, shape=[3, 7, N])
    for axis, size in ((0, 3), (1, 7), (-1, N), (-3, 3), (2, N)):
        for op_type in ("ArgMax", "ArgMin"):
            assert bounds_said(op_type, [data], axis=axis) == [(0, size - 1)]
        assert bounds_said("TopK", [data], outputs=2, axis=axis) == ["any", (0, size - 1)]
    assert bounds_said("TopK", [data], outputs=2) == ["any", (0, N - 1)]
    for axis in (3, -4):
        assert bounds_said("ArgMax", [data], axis=axis) == ["any"]


@table(
    ("ArgMax", [lying(0, 1, shape=[3, 7])], (0, 2)),
    ("ArgMin", [lying(0, 1, shape=[3, 7])], (0, 2)),
    ("ArgMax", [lying(0, 1)], "any"),
)
def test_bounds_of_a_result(op_type, inputs, wanted):
    assert bounds_said(op_type, inputs) == [wanted]


REDUCTIONS = (
    "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd"
    " ReduceSum ReduceSumSquare"
)


@pytest.mark.parametrize("op_type", REDUCTIONS.split())
def test_reductions(op_type):
    cannot_fail(op_type, UNKNOWN)
    cannot_fail(op_type, tensor(N, 3), numbers([1, 0]))
    cannot_fail(op_type, tensor(N, 3), axes=[-1])
    may_fail("an axis occurs twice", op_type, tensor(N, 3), numbers([1, -1]))
    may_fail("axis 2 does not exist for rank 2", op_type, tensor(N, 3), axes=[2])


@pytest.mark.parametrize("op_type", ["ArgMax", "ArgMin"])
def test_the_place_of_an_extreme(op_type):
    cannot_fail(op_type, tensor(1, N))
    cannot_fail(op_type, tensor(N, N + 1), axis=-1)
    may_fail("axis 1 of size N may be less than 1", op_type, tensor(1, N), axis=1)
    may_fail("axis 0 of size N", op_type, tensor(N, 1))


def test_the_largest_elements():
    cannot_fail("TopK", tensor(N + 2, 5), numbers([2]), axis=0)
    cannot_fail("TopK", tensor(N, 5), numbers([5]))
    may_fail("fewer than k elements: 5", "TopK", tensor(N, 5), numbers([6]))
    may_fail("k of size 0 may be less than 1", "TopK", tensor(N, 5), numbers([0]))
    may_fail("'i1' does not hold one element", "TopK", tensor(N, 5), numbers([1, 1]))
    cannot_fail("TopK", tensor(N, 5), opset=9, k=5)
    may_fail("fewer than k elements: 5", "TopK", tensor(N, 5), opset=9, k=6)
    may_fail("k of size 0", "TopK", tensor(N, 5), opset=9)


def test_running_sums():
    cannot_fail("CumSum", tensor(N, M), numbers(1))
    cannot_fail("CumSum", tensor(N, M), numbers([-2]))
    may_fail("axis 2 does not exist for rank 2", "CumSum", tensor(N, M), numbers(2))
    may_fail("'i1' does not hold one element", "CumSum", tensor(N, M), numbers([0, 1]))
