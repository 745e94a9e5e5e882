import numpy as np
import onnx
from hypothesis import assume, given
from hypothesis import strategies as st
from operator_facts import (
    FLOAT,
    INDICES,
    INT64,
    UINT8,
    VALUE,
    M,
    N,
    assert_agrees,
    assert_says_all,
    between,
    bounds_said,
    cannot_fail,
    computed,
    holding,
    lying,
    make_node,
    may_fail,
    number,
    numbers,
    said,
    shape_said,
    tensor,
)
from straightline.facts.bounds import Known
from straightline.facts.fact import Fact
from straightline.facts.polynomial import Dimension
from straightline.ops.outputs import content_of
from tables import cases, table

SIGNAL = Fact(FLOAT, (N, *map(Dimension.constant, (16, 1))))


@table(
    ("ConstantOfShape", [holding(N, 0, 2)], {}, [N, 0, 2]),
    ("ConstantOfShape", [holding(N - 1, -N, None, -1)], {}, ["?"] * 4),
    ("ConstantOfShape", [INDICES], {}, None),
    ("Range", [number(2), number(N + 5), number(1)], {}, [N + 3]),
    ("Range", [number(0), number(N), number(1)], {}, [N]),
    ("Range", [number(1), number(N), number(1)], {}, None),
    ("Range", [number(0), number(N), number(2)], {}, None),
    ("Range", [number(0), number(7), number(2)], {}, [4]),
    ("Range", [number(7), number(0), number(-3)], {}, [3]),
    ("Range", [number(7), number(0), number(2)], {}, [0]),
    ("Range", [number(7), number(0), number(0)], {}, None),
    ("Range", [number(M), number(N), number(1)], {}, None),
    ("Range", [INDICES, number(N), number(1)], {}, None),
    ("Range", [number(0), INDICES, number(1)], {}, None),
    ("STFT", [SIGNAL, number(4), None, number(8)], {}, [N, 3, 5, 2]),
    ("STFT", [SIGNAL, number(4), holding(*range(8)), None], {"onesided": 0}, [N, 3, 8, 2]),
    ("STFT", [SIGNAL, number(N), None, number(M)], {}, [N, "?", "?", 2]),
)
def test_shapes(op_type, facts, attributes, wanted):
    assert shape_said(op_type, *facts, **attributes) == wanted


@given(st.lists(st.integers(-1, 3), max_size=3), st.sampled_from([np.int64, np.int32, np.bool_]))
def test_constant_of_shape(target, dtype):
    value = onnx.numpy_helper.from_array(np.array([1], dtype))
    if min(target, default=0) >= 0:
        assert_agrees("ConstantOfShape", [np.array(target, np.int64)], value=value)


test_numbers_give_all_that_onnx_computes = cases(
    assert_says_all,
    ("ConstantOfShape", [[2, 1]], {"value": VALUE(np.array([7]))}),
    ("ConstantOfShape", [[2]], {"value": VALUE(np.array([True]))}),
    ("ConstantOfShape", [[2]], {"value": VALUE(np.array([7], np.int32))}),
)


@table(("ConstantOfShape", [[N]], INT64, None))
def test_bounds_from_partial_facts(op_type, operands, elem_type, wanted):
    assert said(op_type, operands, elem_type) == wanted


def test_a_constant_of_a_shape_is_its_element():
    for array, elem_type, wanted in (
        (np.array([7]), INT64, (7, 7)),
        (np.array([200], np.uint8), UINT8, (200, 200)),
        (np.array([1.5], np.float32), FLOAT, None),
    ):
        value = onnx.numpy_helper.from_array(array)
        assert bounds_said("ConstantOfShape", [lying(0, 3)], elem_type=elem_type, value=value) == [
            wanted
        ]
    assert bounds_said("ConstantOfShape", [lying(0, 3)], elem_type=FLOAT) == [None]


@table(
    ("Range", [lying(1, 2), lying(5, 7), lying(1, 3)], (1, 6)),
    ("Range", [lying(1, 2), lying(5, 7), lying(0, 3)], "any"),
    ("Range", [lying(1, 2), lying(5, 7), lying(-1, -1)], "any"),
)
def test_bounds_of_a_result(op_type, inputs, wanted):
    assert bounds_said(op_type, inputs) == [wanted]


def test_new_tensors():
    cannot_fail("ConstantOfShape", numbers([N, 0]))
    may_fail("an axis of size N - 1 may be less than 0", "ConstantOfShape", numbers([N - 1]))
    may_fail("'i0' may not have rank 1", "ConstantOfShape", numbers(3))
    cannot_fail("Range", numbers(0), numbers(N), numbers(-2))
    may_fail("'i2' is zero", "Range", numbers(0), numbers(N), numbers(0))
    may_fail("'i2' is known only", "Range", numbers(0), numbers(N), numbers(M))
    may_fail("'i1' may not have rank 0", "Range", numbers(0), numbers([N]), numbers(1))
    may_fail("'i0' is known only at run time", "Range", between(0, 1), numbers(N), numbers(1))
    two = tensor(2)
    cannot_fail("OneHot", between(-9, 9, N), numbers(1), two)
    cannot_fail("OneHot", between(-9, 9), numbers(1), two)
    cannot_fail("OneHot", between(-9, 9, N), numbers([3]), two, axis=1)
    cannot_fail("OneHot", between(-9, 9, N), numbers(1), two, axis=-2)
    for depth, values, axis, reason in (
        (numbers(0), two, -1, "'i1' is not positive"),
        (numbers([1, 1]), two, -1, "'i1' is not positive"),
        (numbers(1), tensor(3), -1, "'i2' does not hold two elements"),
        (numbers(1), two, 2, "axis 2 does not exist for rank 2"),
        (numbers(1), two, -3, "axis -3 does not exist for rank 2"),
    ):
        may_fail(reason, "OneHot", between(-9, 9, N), depth, values, axis=axis)


def test_operands_without_bounds_give_none():
    for unknown in range(0, 3):
        inputs = [Known(Fact()) if k == unknown else lying(1, 2) for k in range(3)]
        assert bounds_said("Range", inputs) == ["any"]


@given(
    st.lists(st.integers(0, 4), max_size=4),
    st.one_of(st.none(), st.integers(-6, 6)),
    st.one_of(st.none(), st.integers(-6, 6)),
)
def test_shape_and_size(dims, start, end):
    # onnx's reference does not clamp what lies before the first axis.
    assume(all(bound is None or bound >= -len(dims) for bound in (start, end)))
    chosen = {k: v for k, v in (("start", start), ("end", end)) if v is not None}
    given_ = [Fact(onnx.TensorProto.FLOAT, tuple(map(Dimension.constant, dims)))]
    array = np.zeros(dims, np.float32)
    for op_type, attributes in (("Shape", chosen), ("Size", {})):
        content = content_of(make_node(op_type, given_, **attributes), given_, INT64)
        expected = computed(op_type, [array], **attributes)
        np.testing.assert_array_equal([e.value for e in content.reshape(-1)], expected.reshape(-1))
        assert content.shape == expected.shape
