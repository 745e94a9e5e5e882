import pytest
from hypothesis import given
from hypothesis import strategies as st
from operator_facts import (
    BOOL,
    INT64,
    UNKNOWN,
    M,
    N,
    arrays,
    assert_agrees,
    assert_says_all,
    between,
    bounds_said,
    cannot_fail,
    lying,
    may_fail,
    said,
    tensor,
    why,
)
from tables import cases, table


@given(arrays(1), arrays(1), st.integers(-2, 2))
def test_gather(data, indices, axis):
    assert_agrees("Gather", [*data, *indices], axis=axis)


test_numbers_give_all_that_onnx_computes = cases(
    assert_says_all,
    ("Gather", [[[1, 2], [3, 4]], [[1, -1]]], {"axis": 1}),
    ("Gather", [[[1, 2], [3, 4]], 1], {}),
    ("Gather", [[1, 2, 3], [-3, 2]], {}),
    ("Gather", [[[1, 2, 3], [4, 5, 6]], 2], {"axis": -1}),
)


@table(
    ("Gather", [[N, M, 2], [1, 0]], INT64, [M, N]),
    ("Gather", [[N, M], [None]], INT64, None),
    ("Gather", [[N, M], [2]], INT64, None),
    ("Gather", [[N, M], [-3]], INT64, None),
)
def test_bounds_from_partial_facts(op_type, operands, elem_type, wanted):
    assert said(op_type, operands, elem_type) == wanted


def test_scattered_elements_that_are_combined_have_no_bounds():
    for reduction, wanted in (("none", (0, 2)), ("add", "any")):
        inputs = [lying(0, 1), lying(0, 1), lying(1, 2)]
        assert bounds_said("ScatterElements", inputs, reduction=reduction) == [wanted]


@table(
    ("Scatter", [lying(2, 5), lying(0, 99), lying(-1, 3)], (-1, 5)),
    ("ScatterElements", [lying(2, 5), lying(0, 99), lying(-1, 3)], (-1, 5)),
    ("ScatterND", [lying(2, 5), lying(0, 99), lying(-1, 3)], (-1, 5)),
    ("NonZero", [lying(0, 1, shape=[3, 7])], (0, 6)),
    ("NonZero", [lying(0, 1, shape=[N])], (0, N - 1)),
    ("NonZero", [lying(0, 1)], "any"),
    ("NonZero", [lying(0, 1, shape=[N, M])], "any"),
)
def test_bounds_of_a_result(op_type, inputs, wanted):
    assert bounds_said(op_type, inputs) == [wanted]


def test_positions_in_an_axis():
    cannot_fail("Gather", tensor(3, N + 2), between(-3, 2))
    cannot_fail("Gather", tensor(3, N + 2), between(-2, 1), axis=1)
    cannot_fail("Gather", tensor(3, N), between(-N, N - 1), axis=-1)
    for low, high, axis in ((-4, 2, 0), (-3, 3, 0), (-3, 0, 1), (0, 2, 1)):
        may_fail(
            "'i1' may be out of range", "Gather", tensor(3, N + 2), between(low, high), axis=axis
        )
    lies = "; it is known to lie between 0 and 3"
    may_fail(f"an axis of size 3{lies}", "Gather", tensor(3), between(0, 3))
    assert not why("Gather", tensor(3), between(0, 2**31)).endswith("lie between")
    assert why("Gather", tensor(3), between(0, 2**31)).endswith("of size 3")
    may_fail("not known to be integers", "Gather", tensor(3), tensor(2))


@pytest.mark.parametrize("op_type", ["GatherElements", "ScatterElements", "Scatter"])
def test_indices_beside_the_data(op_type):
    def indices(*shape):
        found = between(0, 2, *shape)
        return (found,) if op_type == "GatherElements" else (found, tensor(*shape))

    data = tensor(3, N + 1)
    cannot_fail(op_type, data, *indices(9, N + 1))
    cannot_fail(op_type, data, *indices(9, N))
    cannot_fail(op_type, data, *indices(9, 1))
    cannot_fail(op_type, tensor(N, 3), *indices(N, 9), axis=1)
    reason = "'i1' may be larger than 'i0' along axis 1"
    may_fail(reason, op_type, data, *indices(9, N + 2))
    may_fail(reason, op_type, data, *indices(9, 2))
    may_fail("'i1' may not have rank 2", op_type, data, *indices(9))
    may_fail("out of range", op_type, tensor(2, 2), *indices(2, 2))
    if op_type != "GatherElements":
        found = between(0, 2, 2, 1)
        may_fail("the shape of 'i2' may not fit: 1 and 2", op_type, data, found, tensor(1, 1))
        may_fail("'i2' may have the wrong rank", op_type, data, found, tensor(2))


def test_tuples_of_indices():
    data = tensor(3, 4, N)
    cannot_fail("GatherND", data, between(0, 2, M, 2))
    cannot_fail("GatherND", data, between(-3, 2, 1))
    may_fail("for an axis of size N", "GatherND", data, between(0, 2, 3))
    may_fail("the last axis of 'i1' may not fit 'i0'", "GatherND", data, between(0, 0, 4))
    may_fail("the last axis of 'i1' may not fit 'i0'", "GatherND", data, between(0, 0, 0))
    may_fail("the last axis of 'i1' may not fit 'i0'", "GatherND", data, between(0, 0, M))
    may_fail("'i1' has no axis", "GatherND", data, between(0, 0))
    may_fail("it has batch axes", "GatherND", data, between(0, 0, 3, 1), batch_dims=1)
    cannot_fail("ScatterND", data, between(0, 2, M, 1), tensor(M, 4, N))
    cannot_fail("ScatterND", data, between(0, 2, M, 2), tensor(M, N))
    may_fail("the shape of 'i2'", "ScatterND", data, between(0, 2, M, 2), tensor(M, 4))
    may_fail("the wrong rank", "ScatterND", data, between(0, 2, M, 2), tensor(M, 4, N))


def test_compress_needs_a_truth_value_for_each_slice():
    cannot_fail("Compress", tensor(N, 4), tensor(N, elem_type=BOOL), axis=0)
    cannot_fail("Compress", tensor(N, 4), tensor(4, elem_type=BOOL), axis=-1)
    cannot_fail("Compress", tensor(N, 4), tensor(N * 4, elem_type=BOOL))
    may_fail("another length than N", "Compress", tensor(N, 4), tensor(M, elem_type=BOOL), axis=0)
    may_fail("another length", "Compress", tensor(N, 4), tensor(N, elem_type=BOOL))
    may_fail("rank 1", "Compress", tensor(N), tensor(N, 1, elem_type=BOOL), axis=0)
    may_fail("rank", "Compress", tensor(N), UNKNOWN, axis=0)
