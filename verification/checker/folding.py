"""Operators on constants, computed by the reference."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import onnx

from ...ir import Array
from ...reference.interpreter.node_kernels import operator_kernel
from .terms import Head, names

MOVING = names("""Concat ConstantOfShape Expand EyeLike Flatten Gather GatherElements GatherND
    Identity NonZero Pad Reshape Shape Size Slice Split Squeeze Tile Transpose Trilu Unsqueeze
    Where""")
_LOGICAL = names("And Equal Greater GreaterOrEqual IsNaN Less LessOrEqual Not Or Xor")
# Arithmetic that IEEE 754 determines to the last bit.
_ROUNDING_ONCE = names("Abs Add Ceil Div Floor Max Min Mul Neg Reciprocal Relu Round Sqrt Sub")
# Operators that are exact on integers.
_WHOLE = names("""Abs Add Clip CumSum Div Max Min Mod Mul Neg Range ReduceMax ReduceMin ReduceProd
    ReduceSum Sign Sub Sum""")
# Operators that round in between: their last bits are an assumption.
_ROUNDING = names("""Cos CumSum Erf Exp Gemm Log MatMul Pow Range ReduceL1 ReduceL2 ReduceMean
    ReduceSum ReduceSumSquare Sigmoid Sin Softmax Tanh""")
MOST_ELEMENTS = 1 << 20


def rounds(head: Head, *, is_whole: bool) -> bool:
    """Test whether the last bits of an operator depend on the runtime."""
    return head.name not in MOVING | _LOGICAL | (_WHOLE if is_whole else _ROUNDING_ONCE) | {"Cast"}


def is_real(head: Head, arrays: Sequence[Array | None], results: Sequence[Array]) -> bool:
    """Test whether outputs are those of real numbers: none is rounded."""
    present = [array for array in arrays if array is not None]
    if head.name in MOVING | _LOGICAL or all(a.dtype.kind in "iub" for a in (*present, *results)):
        return True
    every, operation = [*present, *results], _OF_REALS.get(head.name)
    if not operation or any(each.size > 1 << 12 or not _is_finite(each) for each in every):
        return False
    *operands, result = [np.vectorize(Fraction, [object])(each.astype(object)) for each in every]
    return bool(np.all(operation(*operands) == result))


_OF_REALS: dict[str, Any] = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply}
_OF_REALS |= {"Div": np.true_divide, "Neg": np.negative, "Cast": np.positive}
_OF_REALS |= {"Reciprocal": lambda array: 1 / array}


def fold(head: Head, arrays: Sequence[Array | None]) -> list[Array] | None:
    """Outputs of an operator on constants; None if they are not certain."""
    large = any(array is not None and array.size > MOST_ELEMENTS for array in arrays)
    if large or head.key is not None or not head.version or not _is_settled(head, arrays):
        return None
    results = computed(head, arrays)
    if results is None or departs(head, arrays):  # a test is one of operands that fit
        return None
    return None if head.name in _ROUNDING and not all(map(_is_finite, results)) else results


def computed(head: Head, arrays: Sequence[Array | None]) -> list[Array] | None:
    """Outputs of an operator by the reference; None where it fails."""
    node = node_of(head, arrays)
    try:
        results = operator_kernel(node, {"": head.version})(list(arrays))
    except Exception:  # noqa: BLE001 - whatever onnx raises, the operator is not computed
        return None
    return list(results) if all(isinstance(result, np.ndarray) for result in results) else None


def node_of(head: Head, arrays: Sequence[Array | None]) -> onnx.NodeProto:
    """Node of an operator, with inputs i0, i1, ... and outputs o0, o1, ..."""
    inputs = ["" if array is None else f"i{n}" for n, array in enumerate(arrays)]
    node = onnx.helper.make_node(head.name, inputs, [f"o{n}" for n in range(head.outputs)])
    node.attribute.extend(onnx.AttributeProto.FromString(content) for _, content in head.attributes)
    return node


def _is_finite(array: Array) -> bool:
    return array.dtype.kind != "f" or bool(np.isfinite(array).all())


def _is_settled(head: Head, arrays: Sequence[Array | None]) -> bool:
    """Test whether the specification determines the result."""
    present = [array for array in arrays if array is not None]
    kinds = {array.dtype.kind for array in present}
    if head.name == "Cast":
        return _is_settled_cast(head.integer("to"), present[0])
    if head.name in MOVING | _LOGICAL:
        return True
    if kinds <= set("iub"):
        is_quotient = head.name in ("Div", "Mod")
        return head.name in _WHOLE and not (is_quotient and (present[1] <= 0).any())
    settled = head.name in _ROUNDING | _ROUNDING_ONCE
    return settled and kinds <= set("fiub") and all(map(_is_finite, present))


def _is_settled_cast(to: int, array: Array) -> bool:
    """Test whether a cast is to a float, or to an integer within the range."""
    kind, target = array.dtype.kind, onnx.helper.tensor_dtype_to_np_dtype(to)
    if kind not in "iubf" or to in (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE):
        return kind in "iubf"
    if target.kind not in "iub" or not _is_finite(array):
        return False
    if target.kind == "b" or not array.size:
        return True
    ends = [int(np.trunc(end)) for end in (array.min(), array.max())]
    return bool(np.iinfo(target).min <= ends[0] and ends[1] <= np.iinfo(target).max)


_FAR = (np.iinfo(np.int64).max, np.iinfo(np.int32).max)


def departs(head: Head, arrays: Sequence[Array | None]) -> bool:
    """Test for operands on which onnxruntime may compute another result than is specified."""
    test, present = _TESTS.get(head.name), [array for array in arrays if array is not None]
    return test is not None and bool(present) and test(present)


def _grows(arrays: Sequence[Array], total: np.ufunc, least: int) -> bool:
    """Test for a sum or product that a double or the type does not hold."""
    sizes, info = np.maximum(np.abs(arrays[0].astype(np.float64)), least), arrays[0].dtype
    with np.errstate(over="ignore"):
        most = float(total.reduce(sizes, None))
    # Below 2^53 each integer is exact as a double.
    return info.kind in "iu" and not most < min(2.0**53, float(np.iinfo(info).max))


def _selects(arrays: Sequence[Array]) -> bool:
    """Test for -0.0 in the first value, or in a second one that is broadcast."""
    condition, one, other = arrays
    if _has_negative_zero(one):
        return True
    own = np.broadcast_shapes(condition.shape, other.shape)
    return _has_negative_zero(other) and own != np.broadcast_shapes(own, one.shape)


def _has_negative_zero(array: Array) -> bool:
    return array.dtype.kind == "f" and bool((np.signbit(array) & (array == 0)).any())


_TESTS: dict[str, Callable[[Sequence[Array]], bool]] = {
    "Gather": lambda arrays: arrays[0].dtype.hasobject and arrays[0].ndim > 1,
    "Max": lambda arrays: any(map(_has_negative_zero, arrays)),
    "Min": lambda arrays: any(map(_has_negative_zero, arrays)),
    "NonZero": lambda arrays: not arrays[0].ndim,
    "Range": lambda a: not abs(float(a[1]) - float(a[0])) <= MOST_ELEMENTS * abs(float(a[2])),
    "ReduceProd": lambda arrays: _grows(arrays, np.multiply, 1),
    "ReduceSum": lambda arrays: _grows(arrays, np.add, 0),
    "Slice": lambda a: len(a) > 3 and bool((a[-1] < 0).any() and np.isin(a[2], _FAR).any()),
    "Where": _selects,
}
