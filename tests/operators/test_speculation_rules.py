"""When a node cannot fail, rule by rule: what is just enough, and what is just too little."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from straightline import ir
from straightline.facts.bounds import Bounds, Known, known
from straightline.facts.dimension import Dimension
from straightline.facts.fact import Fact, as_content
from straightline.facts.premises import Premises, Unproven
from straightline.operators import described

N, M = Dimension.symbol("N"), Dimension.symbol("M")
FLOAT, INT64, INT32 = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64, onnx.TensorProto.INT32
UINT8, BOOL, STRING = onnx.TensorProto.UINT8, onnx.TensorProto.BOOL, onnx.TensorProto.STRING


def dim(size):
    return size if isinstance(size, Dimension) else Dimension.constant(size)


def tensor(*shape, elem_type=FLOAT):
    """A tensor of known shape."""
    return known(Fact(elem_type, tuple(map(dim, shape))))


def numbers(values, elem_type=INT64):
    """Integers that are all known, sizes among them."""
    plain = np.array(values, object)
    content = as_content(np.zeros(plain.shape, np.int64))
    for place, value in np.ndenumerate(plain):
        content[place] = None if value is None else dim(value)
    return known(Fact(elem_type, tuple(map(dim, plain.shape)), content))


def between(low, high, *shape, elem_type=INT64):
    """Integers of a known shape between two numbers."""
    return Known(Fact(elem_type, tuple(map(dim, shape))), Bounds(dim(low), dim(high)))


UNKNOWN = known(Fact(FLOAT))
ABSENT = None


def why(op_type, *inputs, opset=17, outputs=1, **attributes):
    """Why a node may fail; None where it cannot."""
    model = ir.Model(onnx.ModelProto(ir_version=8))
    values = [
        None if one is None else model.graph.add_input(f"i{k}") for k, one in enumerate(inputs)
    ]
    op = ir.Operator.make(op_type, **attributes)
    node = model.graph.add_node(op, values, [f"o{k}" for k in range(outputs)])
    read = [Known(Fact()) if one is None else one for one in inputs]
    try:
        described()[op_type].prove_safe(Premises(node, read, opset))
    except Unproven as unproven:
        return str(unproven)
    return None


def cannot_fail(op_type, *inputs, **how):
    assert why(op_type, *inputs, **how) is None


def may_fail(reason, op_type, *inputs, **how):
    found = why(op_type, *inputs, **how)
    assert found is not None and reason in found, found


# Arithmetic -------------------------------------------------------------------------------------

BROADCAST = (
    "Add And BitwiseAnd BitwiseOr BitwiseXor Equal Greater GreaterOrEqual Less LessOrEqual Max Mean"
    " Min Mul Or Sub Sum Xor PRelu Div Mod Pow"
)


@pytest.mark.parametrize("op_type", BROADCAST.split())
def test_shapes_that_broadcast(op_type):
    cannot_fail(op_type, tensor(2, N, 3), tensor(N, 1))
    cannot_fail(op_type, tensor(2, N, 3), tensor())
    reason = "the slope may not fit" if op_type == "PRelu" else "sizes that must broadcast"
    may_fail(reason, op_type, tensor(2, N, 3), tensor(N, 2))
    may_fail(reason, op_type, tensor(2, N, 3), tensor(M, 3))
    if op_type != "PRelu":
        cannot_fail(op_type, tensor(1, 3), tensor(2, 1))
        cannot_fail(op_type, UNKNOWN, tensor(1, 1))
        may_fail("the shape of an operand is not known", op_type, UNKNOWN, tensor(1, 2))
        may_fail("the shape of an operand is not known", op_type, UNKNOWN, UNKNOWN)


def test_any_number_of_operands_broadcast():
    cannot_fail("Sum", tensor(2, 3), tensor(3), tensor(1))
    may_fail("sizes that must broadcast", "Sum", tensor(1, 1), tensor(2), tensor(3))
    cannot_fail("Where", tensor(2, 1), tensor(3), tensor(2, 3))
    may_fail("sizes that must broadcast", "Where", tensor(2, 1), tensor(3), tensor(3, 3))


def test_a_slope_is_stretched_and_never_stretches():
    cannot_fail("PRelu", tensor(2, 3), tensor(3))
    may_fail("the slope may not fit", "PRelu", tensor(2, 1), tensor(3))
    may_fail("the slope has too many axes", "PRelu", tensor(3), tensor(1, 3))
    may_fail("the rank of 'i0' is not known", "PRelu", UNKNOWN, tensor(1))


@pytest.mark.parametrize("op_type", ["Div", "Mod"])
def test_integers_are_divided_by_what_is_neither_zero_nor_less_by_one(op_type):
    some = between(-9, 9)
    cannot_fail(op_type, some, between(1, 5))
    cannot_fail(op_type, some, between(-5, -1))
    may_fail("'i1' may be zero", op_type, some, between(0, 5))
    may_fail("'i1' may be zero", op_type, some, between(-5, 0))
    cannot_fail(op_type, some, numbers([3, -1, -2]))
    may_fail("'i1' may be zero", op_type, some, numbers([3, 0]))
    may_fail("'i1' may be zero", op_type, some, numbers([3, None]))
    cannot_fail(op_type, some, numbers([N + 1]))
    may_fail("'i1' may be zero", op_type, some, numbers([N]))
    for elem_type, least in ((INT64, -(2**63)), (INT32, -(2**31))):
        smallest = between(least, 0, elem_type=elem_type)
        divisor = between(-1, -1, elem_type=elem_type)
        reason = "'i1' may be -1 where 'i0' is the smallest integer"
        may_fail(reason, op_type, smallest, divisor)
        cannot_fail(op_type, between(least + 1, 0, elem_type=elem_type), divisor)
        cannot_fail(op_type, smallest, between(-5, -2, elem_type=elem_type))
    cannot_fail(op_type, tensor(2), tensor(2))


def test_powers_of_integers():
    some = between(-9, 9)
    cannot_fail("Pow", some, between(0, 5))
    may_fail("'i1' may be negative", "Pow", some, between(-1, 5))
    cannot_fail("Pow", tensor(2), between(-1, 5, 2))
    cannot_fail("Pow", some, tensor())


@pytest.mark.parametrize(("elem_type", "bits"), [(UINT8, 8), (onnx.TensorProto.UINT32, 32)])
def test_shifts_by_fewer_bits_than_there_are(elem_type, bits):
    data = tensor(2, elem_type=elem_type)
    cannot_fail("BitShift", data, between(0, bits - 1, 2, elem_type=elem_type))
    by = between(0, bits, 2, elem_type=elem_type)
    may_fail(f"'i1' may be {bits} or more", "BitShift", data, by)
    may_fail("sizes that must broadcast", "BitShift", data, between(0, 1, 3, elem_type=elem_type))


def test_casts_and_clips():
    cannot_fail("Cast", tensor(2))
    may_fail("a string may not spell a number", "Cast", tensor(2, elem_type=STRING))
    may_fail("the element type of 'i0' is not known", "Cast", Known(Fact()))
    cannot_fail("Clip", UNKNOWN)
    cannot_fail("Clip", UNKNOWN, tensor(), tensor())
    cannot_fail("Clip", UNKNOWN, ABSENT, tensor())
    may_fail("'i1' may not have rank 0", "Clip", UNKNOWN, tensor(1), tensor())
    may_fail("'i2' may not have rank 0", "Clip", UNKNOWN, ABSENT, tensor(1))


# Moving elements --------------------------------------------------------------------------------


def test_axes_in_another_order():
    cannot_fail("Transpose", UNKNOWN)
    cannot_fail("Transpose", tensor(2, 3, N), perm=[2, 0, 1])
    for perm in ([0, 1], [0, 1, 1], [1, 2, 3]):
        may_fail("perm does not fit rank 3", "Transpose", tensor(2, 3, N), perm=perm)


def test_axes_to_flatten_at():
    for axis in (-2, 0, 1, 2):
        cannot_fail("Flatten", tensor(2, 3), axis=axis)
    for axis in (-3, 3):
        may_fail(f"axis {axis} does not exist for rank 2", "Flatten", tensor(2, 3), axis=axis)
    may_fail("axis 1 does not exist for rank 0", "Flatten", tensor())


def test_new_shapes_of_as_many_elements():
    cannot_fail("Reshape", tensor(2, 6), numbers([3, 4]))
    cannot_fail("Reshape", tensor(2, 6), numbers([-1, 4]))
    cannot_fail("Reshape", tensor(N, 6), numbers([0, 2, 3]))
    cannot_fail("Reshape", tensor(N + 1, 1), numbers([N + 1, -1]))
    cannot_fail("Reshape", tensor(N + 1, 6), numbers([(N + 1) * 6]))
    cannot_fail("Reshape", tensor(N, 6), numbers([-1, 2]))
    for shape, target, reason in (
        ((2, 6), [3, 5], "the number of elements may not fit: 12 and 15"),
        ((2, 6), [5, -1], "the new shape may not divide the elements"),
        ((N, 5), [-1, 2], "the new shape may not divide the elements"),
        ((2, 6), [-1, -1], "may hold -1 twice"),
        ((2, 6), [2, 6, 0], "'i1' copies an axis that is not there"),
        ((N, 6), [6, N], "an axis of the new shape of size N may be less than 1"),
        ((N, 6), [0, -1], "the axis of -1, of size N may be less than 1"),
        ((2, 6), [-2, -6], "an axis of the new shape of size -2 may be less than 1"),
    ):
        may_fail(reason, "Reshape", tensor(*shape), numbers(target))
    may_fail("'i1' may not have rank 1", "Reshape", tensor(2), numbers([[2]]))
    may_fail("the rank of 'i0' is not known", "Reshape", UNKNOWN, numbers([2]))


def test_zeros_of_a_new_shape_that_are_sizes():
    cannot_fail("Reshape", tensor(0, 6), numbers([3, 0]), allowzero=1)
    cannot_fail("Reshape", tensor(6, N), numbers([N, 6]), allowzero=1)
    may_fail("number of elements", "Reshape", tensor(2, 6), numbers([0, 6]), allowzero=1)


def test_shapes_that_are_stretched():
    cannot_fail("Expand", tensor(1, N), numbers([3, N]))
    cannot_fail("Expand", tensor(2, 3), numbers([1]))
    cannot_fail("Expand", tensor(), numbers([0]))
    may_fail("sizes that must broadcast", "Expand", tensor(2), numbers([3]))
    may_fail("an axis of the new shape of size -1", "Expand", tensor(1), numbers([-1]))
    may_fail("of size N - 1 may be less than 0", "Expand", tensor(1), numbers([N - 1]))
    may_fail("'i1' may not have rank 1", "Expand", tensor(1), numbers([[1]]))


def test_repeated_tensors():
    cannot_fail("Tile", tensor(N, 3), numbers([0, 2]))
    may_fail("'i1' may not fit the rank", "Tile", tensor(N, 3), numbers([2]))
    may_fail("'i1' holds a negative number", "Tile", tensor(N, 3), numbers([2, -1]))


def test_axes_of_one_that_go_and_come():
    cannot_fail("Squeeze", UNKNOWN)
    cannot_fail("Squeeze", tensor(N, 1), numbers([1]))
    cannot_fail("Squeeze", tensor(1, N, 1), numbers([-1, 0]))
    may_fail("a squeezed axis may not fit: N and 1", "Squeeze", tensor(N, 1), numbers([0, 1]))
    may_fail("axis 2 does not exist for rank 2", "Squeeze", tensor(N, 1), numbers([2]))
    cannot_fail("Unsqueeze", tensor(N), numbers([0, 2]))
    cannot_fail("Unsqueeze", tensor(N), numbers([-1, 0]))
    may_fail("an axis stands twice in its axes", "Unsqueeze", tensor(N), numbers([0, -3]))
    may_fail("axis 3 does not exist for rank 3", "Unsqueeze", tensor(N), numbers([0, 3]))
    may_fail("its axes are absent", "Unsqueeze", tensor(N))
    may_fail("known only at run time", "Unsqueeze", tensor(N), between(0, 1, 1))


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
        ((two, two, numbers([0, -2])), "its axes do not fit its bounds"),
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
    for more, how, reason in (
        ((numbers([0, 1, 2, -1]),), {}, "it cuts off elements"),
        ((), {"pads": [-1, 0, 0, 0]}, "it cuts off elements"),
        ((numbers([0, 1]),), {}, "its pads do not fit the rank"),
        ((numbers([0, 1]), ABSENT, numbers([0])), {}, "it names axes"),
        ((numbers([0, 1, 2, 0]), tensor(2)), {}, "'i2' may not hold exactly one element"),
        ((numbers([0, 1, 2, 0]),), {"mode": "edge"}, "its mode restricts sizes"),
    ):
        may_fail(reason, "Pad", tensor(N, 3), *more, **how)


def test_triangles_and_running_sums():
    cannot_fail("Trilu", tensor(N, M))
    cannot_fail("Trilu", tensor(2, N, M), tensor(1, elem_type=INT64))
    may_fail("'i0' has fewer than two axes", "Trilu", tensor(N))
    may_fail("'i1' may not hold exactly one element", "Trilu", tensor(N, M), tensor(2))
    cannot_fail("CumSum", tensor(N, M), numbers(1))
    cannot_fail("CumSum", tensor(N, M), numbers([-2]))
    may_fail("axis 2 does not exist for rank 2", "CumSum", tensor(N, M), numbers(2))
    may_fail("'i1' does not hold one element", "CumSum", tensor(N, M), numbers([0, 1]))


# Making tensors ---------------------------------------------------------------------------------


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


# Indexing ---------------------------------------------------------------------------------------


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
        may_fail("'i2' may have another rank", op_type, data, found, tensor(2))


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
    may_fail("another rank", "ScatterND", data, between(0, 2, M, 2), tensor(M, 4, N))


# Reductions, products and layers ------------------------------------------------------------------

REDUCTIONS = (
    "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd"
    " ReduceSum ReduceSumSquare"
)


@pytest.mark.parametrize("op_type", REDUCTIONS.split())
def test_reductions(op_type):
    cannot_fail(op_type, UNKNOWN)
    cannot_fail(op_type, tensor(N, 3), numbers([1, 0]))
    cannot_fail(op_type, tensor(N, 3), axes=[-1])
    may_fail("an axis stands twice", op_type, tensor(N, 3), numbers([1, -1]))
    may_fail("axis 2 does not exist for rank 2", op_type, tensor(N, 3), axes=[2])


@pytest.mark.parametrize("op_type", ["ArgMax", "ArgMin"])
def test_the_place_of_an_extreme(op_type):
    cannot_fail(op_type, tensor(1, N))
    cannot_fail(op_type, tensor(N, N + 1), axis=-1)
    may_fail("axis 1 of size N may be less than 1", op_type, tensor(1, N), axis=1)
    may_fail("axis 0 of size N", op_type, tensor(N, 1))


@pytest.mark.parametrize("op_type", ["Softmax", "LogSoftmax", "Hardmax"])
def test_normalised_axes(op_type):
    cannot_fail(op_type, tensor(N, 1))
    cannot_fail(op_type, tensor(1, N), axis=0)
    may_fail("axis 0 of size N", op_type, tensor(N, 1), axis=0)
    cannot_fail(op_type, tensor(N, 1, 1), opset=12)
    may_fail("axis 1 of size N", op_type, tensor(1, 1, N), opset=12)
    cannot_fail(op_type, tensor(N, N, 1), opset=12, axis=2)
    may_fail("axis 0 of size N", op_type, tensor(1, N, 1), opset=12, axis=0)


def test_the_largest_elements():
    cannot_fail("TopK", tensor(N + 2, 5), numbers([2]), axis=0)
    cannot_fail("TopK", tensor(N, 5), numbers([5]))
    may_fail("fewer than k elements: 5", "TopK", tensor(N, 5), numbers([6]))
    may_fail("k of size 0 may be less than 1", "TopK", tensor(N, 5), numbers([0]))
    may_fail("'i1' does not hold one element", "TopK", tensor(N, 5), numbers([1, 1]))
    cannot_fail("TopK", tensor(N, 5), opset=9, k=5)
    may_fail("fewer than k elements: 5", "TopK", tensor(N, 5), opset=9, k=6)
    may_fail("k of size 0", "TopK", tensor(N, 5), opset=9)


def test_products():
    cannot_fail("MatMul", tensor(N, 3), tensor(3, 4))
    cannot_fail("MatMul", tensor(3), tensor(3))
    cannot_fail("MatMul", tensor(2, N, 3), tensor(1, 3, 4))
    cannot_fail("MatMul", tensor(2, N, 3), tensor(3))
    for one, other, reason in (
        ((N, 3), (4, 3), "the inner sizes may not fit: 3 and 4"),
        ((3,), (4, 3), "the inner sizes may not fit: 3 and 4"),
        ((N, 3), (4,), "the inner sizes may not fit: 3 and 4"),
        ((2, N, 3), (3, 3, 4), "sizes that must broadcast may not fit: 2 and 3"),
        ((), (3,), "an operand is a scalar"),
        ((3,), (), "an operand is a scalar"),
    ):
        may_fail(reason, "MatMul", tensor(*one), tensor(*other))
    cannot_fail("Gemm", tensor(N, 3), tensor(3, 4), tensor(4))
    cannot_fail("Gemm", tensor(N, 3), tensor(3, 4), tensor(N, 1))
    cannot_fail("Gemm", tensor(3, N), tensor(3, 4), tensor(N, 4), transA=1)
    cannot_fail("Gemm", tensor(N, 3), tensor(4, 3), tensor(4), transB=1)
    may_fail("the inner sizes", "Gemm", tensor(N, 3), tensor(4, 3))
    may_fail("the inner sizes", "Gemm", tensor(N, 3), tensor(3, 4), transA=1)
    may_fail("the bias may not fit: 3 and 4", "Gemm", tensor(N, 3), tensor(3, 4), tensor(3))
    may_fail("the bias may not fit: 4 and N", "Gemm", tensor(N, 3), tensor(3, 4), tensor(4, 1))
    may_fail("'i0' may not have rank 2", "Gemm", tensor(2, N, 3), tensor(3, 4))


def test_convolutions():
    image, kernel = tensor(N, 4, 8, 8), tensor(6, 4, 3, 3)
    cannot_fail("Conv", image, kernel)
    cannot_fail("Conv", image, kernel, tensor(6))
    cannot_fail("Conv", image, kernel, kernel_shape=[3, 3])
    cannot_fail("Conv", image, tensor(6, 2, 3, 3), group=2)
    cannot_fail("Conv", image, tensor(6, 4, 8, 8))
    cannot_fail("Conv", image, tensor(6, 4, 10, 9), pads=[1, 0, 1, 1])
    cannot_fail("Conv", image, tensor(6, 4, 4, 3), dilations=[2, 3])
    for weight, more, how, reason in (
        ((6, 3, 3, 3), (), {}, "the channels may not fit: 4 and 3"),
        ((6, 4, 3, 3), (), {"group": 2}, "the channels may not fit: 4 and 8"),
        ((5, 2, 3, 3), (), {"group": 2}, "the groups may not divide the channels"),
        ((6, 4, 3, 3), (tensor(5),), {}, "the bias may not fit: 5 and 6"),
        ((6, 4, 3, 3), (), {"kernel_shape": [3, 2]}, "the kernel may not fit: 3 and 2"),
        ((6, 4, 9, 3), (), {}, "the kernel may not fit 8 elements"),
        ((6, 4, 3, 9), (), {"pads": [1, 0, 1, 0]}, "the kernel may not fit 8 elements"),
        ((6, 4, 5, 3), (), {"dilations": [2, 1]}, "the kernel may not fit 8 elements"),
        ((6, 4, 0, 3), (), {}, "the kernel of size 0 may be less than 1"),
        ((6, 4, 3), (), {}, "'i0' may not have rank 3"),
    ):
        may_fail(reason, "Conv", image, tensor(*weight), *more, **how)
    may_fail("the weight has too few axes", "Conv", tensor(N, 4), tensor(6, 4))
    cannot_fail("Conv", tensor(N, 4, 8), tensor(6, 4, 3))


@pytest.mark.parametrize("op_type", ["MaxPool", "AveragePool"])
def test_pools(op_type):
    cannot_fail(op_type, tensor(N, M, 8), kernel_shape=[8])
    cannot_fail(op_type, tensor(N, M, 8), kernel_shape=[9], pads=[0, 1])
    cannot_fail(op_type, tensor(N, M, N + 2), kernel_shape=[2])
    may_fail("the kernel may not fit 8 elements", op_type, tensor(N, M, 8), kernel_shape=[9])
    reason = "axis 2 of size N may be less than 1"
    may_fail(reason, op_type, tensor(N, M, N), kernel_shape=[1], pads=[1, 1])
    may_fail("'i0' may not have rank 4", op_type, tensor(N, M, 8), kernel_shape=[1, 1])


@pytest.mark.parametrize("op_type", ["GlobalAveragePool", "GlobalMaxPool"])
def test_pools_over_everything(op_type):
    cannot_fail(op_type, tensor(N, M, 1, 8))
    may_fail("axis 3 of size N may be less than 1", op_type, tensor(N, M, 1, N))
    may_fail("axis 2 of size N may be less than 1", op_type, tensor(N, M, N, 1))


def test_normalisations():
    statistics = [tensor(4)] * 4
    cannot_fail("BatchNormalization", tensor(N, 4, M), *statistics)
    may_fail("it trains", "BatchNormalization", tensor(N, 4), *statistics, training_mode=1)
    may_fail("the rank is below two", "BatchNormalization", tensor(4), *statistics)
    for wrong in range(4):
        given = [tensor(3) if k == wrong else tensor(4) for k in range(4)]
        reason = f"the shape of 'i{wrong + 1}' may not fit: 3 and 4"
        may_fail(reason, "BatchNormalization", tensor(N, 4), *given)
    cannot_fail("LayerNormalization", tensor(N, 3, 4), tensor(4), tensor(4))
    cannot_fail("LayerNormalization", tensor(N, 3, 4), tensor(3, 4), axis=1)
    may_fail("the shape of 'i1'", "LayerNormalization", tensor(N, 3, 4), tensor(3))
    may_fail("the shape of 'i2'", "LayerNormalization", tensor(N, 3, 4), tensor(4), tensor(3))
    may_fail("another rank", "LayerNormalization", tensor(N, 3, 4), tensor(3, 4))


@pytest.mark.parametrize("op_type", ["QuantizeLinear", "DequantizeLinear"])
def test_quantised_by_one_scale(op_type):
    cannot_fail(op_type, UNKNOWN, tensor())
    cannot_fail(op_type, UNKNOWN, tensor(), tensor())
    may_fail("'i1' may not have rank 0", op_type, UNKNOWN, tensor(1))
    may_fail("'i2' may not have rank 0", op_type, UNKNOWN, tensor(), tensor(1))


def test_what_is_listed_and_no_more():
    """A name written wrong would only make fewer nodes provable, which nothing else notices."""
    names = {schema.name for schema in onnx.defs.get_all_schemas() if not schema.domain}
    assert names >= {name for name in described() if "::" not in name}
