"""Kernels of single nodes, in numpy alone where an operator has one obvious result.

onnx.reference takes 0.08 s to import, as long as a small rewrite. It judges all that a kernel here
does not expect, errors included.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx

from ...ir.kinds import takes
from ...ir.places import normal_domain
from ..bodies import Array
from ..slice_ranges import slice_range

Kernel = Callable[[Sequence[Array | None]], list[Any]]

_FIRST = 13
"""Opset from which the axes of all operators below are inputs."""

_NUMBERS = "fiub"
"""Kinds of types that numpy has itself."""


class _Unexpected(Exception):
    """An operand or attribute that onnx.reference has to judge."""


@takes(node=onnx.NodeProto, opset_imports=Mapping)
def operator_kernel(node: onnx.NodeProto, opset_imports: Mapping[str, int]) -> Kernel:
    """Make a function that evaluates ``node`` on constants; build once, call many times.

    The function takes one array for each input (None for an absent one) and returns one array
    for each output. ``opset_imports`` are those of the graph or function that holds the node.
    Both raise EvaluationError: this one if the operator has no reference implementation or
    needs more than its inputs, the function it makes if the operator fails on its inputs.
    """
    opsets = {normal_domain(domain): version for domain, version in opset_imports.items()}
    plain = None if normal_domain(node.domain) else _PLAIN.get(node.op_type)
    refers = any(a.ref_attr_name or not a.type for a in node.attribute)
    if plain is None or opsets.get("", 0) < _FIRST or refers or len(node.output) != 1:
        return _kernel_of_onnx(node, opsets)
    attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
    others: list[Kernel] = []

    def kernel(inputs: Sequence[Array | None]) -> list[Any]:
        try:
            _expect(all(isinstance(a, np.ndarray) and a.dtype.kind in _NUMBERS for a in inputs))
            with np.errstate(all="ignore"):
                return [np.asarray(plain(*inputs, **attributes))]
        except (_Unexpected, TypeError, ValueError, IndexError):
            if not others:
                others.append(_kernel_of_onnx(node, opsets))
            return others[0](inputs)

    return kernel


def _kernel_of_onnx(node: onnx.NodeProto, opsets: Mapping[str, int]) -> Kernel:
    from .evaluator import kernel_of_onnx  # brings onnx's kernels

    return kernel_of_onnx(node, opsets)


def _expect(condition: bool) -> None:
    if not condition:
        raise _Unexpected


def _integers(array: Array) -> list[int]:
    _expect(array.ndim == 1 and array.dtype == np.int64)
    numbers: list[int] = array.tolist()
    return numbers


def _constant(*, value: onnx.TensorProto) -> Array:
    _expect(not value.external_data)
    array = onnx.numpy_helper.to_array(value)
    _expect(array.dtype.kind in _NUMBERS)
    return array


def _constant_of_shape(shape: Array, *, value: onnx.TensorProto | None = None) -> Array:
    element = np.zeros(1, np.float32) if value is None else _constant(value=value)
    _expect(element.size == 1)
    return np.full(_integers(shape), element.reshape(()))


def _expand(data: Array, shape: Array) -> Array:
    sizes = _integers(shape)
    return np.broadcast_to(data, np.broadcast_shapes(data.shape, tuple(sizes))).copy()


def _reshape(data: Array, shape: Array, *, allowzero: int = 0) -> Array:
    sizes = _integers(shape)
    _expect(0 not in sizes)  # so that `allowzero` means nothing
    return data.reshape(sizes)


def _slice(data: Array, starts: Array, ends: Array, *axes_and_steps: Array) -> Array:
    first, last, *others = map(_integers, (starts, ends, *axes_and_steps))
    axes = others[0] if others else range(len(first))
    steps = others[1] if len(others) == 2 else [1] * len(first)
    for start, end, axis, step in zip(first, last, axes, steps, strict=True):
        data = np.take(data, slice_range(data.shape[axis], start, end, step), axis)
    return data


def _shape(data: Array, *, start: int = 0, end: int | None = None) -> Array:
    return np.array(data.shape[start:end], np.int64)


def _where(condition: Array, x: Array, y: Array) -> Array:
    _expect(condition.dtype == bool and x.dtype == y.dtype)
    return np.where(condition, x, y)


def _concat(*parts: Array, axis: int) -> Array:
    _expect(len({part.dtype for part in parts}) == 1)
    return np.concatenate(parts, axis)


def _cast(data: Array, *, to: int, saturate: int = 1) -> Array:
    element = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(to))
    _expect(data.dtype.kind in "biu" and element.kind in _NUMBERS)
    return data.astype(element)


def _divide(x: Array, y: Array) -> Array:
    if x.dtype.kind == "f":
        return np.divide(x, y)
    _expect(bool((x >= 0).all() and (y > 0).all()))  # so that no sign rounds it
    return np.floor_divide(x, y)


def _mod(x: Array, y: Array, *, fmod: int = 0) -> Array:
    _expect(fmod == 1 or (fmod == 0 and x.dtype.kind != "f"))
    _expect(x.dtype.kind == "f" or bool(y.all()))
    return np.fmod(x, y) if fmod else np.mod(x, y)


def _gather_elements(data: Array, indices: Array, *, axis: int = 0) -> Array:
    _expect(data.ndim == indices.ndim)
    places: list[Array] = list(np.indices(indices.shape, sparse=True))
    places[axis] = indices
    return data[tuple(places)]


def _each(function: Callable[..., Any], kinds: str) -> Callable[..., Any]:
    """Apply a function of numpy to operands of one type, of some kinds."""

    def apply(*operands: Array, **attributes: Any) -> Any:
        _expect(operands[0].dtype.kind in kinds)
        _expect(all(operand.dtype == operands[0].dtype for operand in operands))
        return function(*operands, **attributes)

    return apply


_PLAIN: Mapping[str, Callable[..., Any]] = {
    "Add": _each(np.add, "fiu"),
    "And": _each(np.logical_and, "b"),
    "Cast": _cast,
    "Concat": _concat,
    "Constant": _constant,
    "ConstantOfShape": _constant_of_shape,
    "Div": _each(_divide, "fiu"),
    "Equal": _each(np.equal, _NUMBERS),
    "Exp": _each(np.exp, "f"),
    "Expand": _expand,
    "Gather": lambda data, indices, *, axis=0: np.take(data, indices, axis),
    "GatherElements": _gather_elements,
    "Greater": _each(np.greater, "fiu"),
    "GreaterOrEqual": _each(np.greater_equal, "fiu"),
    "Less": _each(np.less, "fiu"),
    "LessOrEqual": _each(np.less_equal, "fiu"),
    "Mod": _each(_mod, "fiu"),
    "Mul": _each(np.multiply, "fiu"),
    "Neg": _each(np.negative, "fi"),
    "Not": _each(np.logical_not, "b"),
    "Or": _each(np.logical_or, "b"),
    "Reshape": _reshape,
    "Shape": _shape,
    "Slice": _slice,
    "Squeeze": lambda data, axes: np.squeeze(data, tuple(_integers(axes))),
    "Sub": _each(np.subtract, "fiu"),
    "Transpose": lambda data, *, perm: data.transpose(perm),
    "Unsqueeze": lambda data, axes: np.expand_dims(data, tuple(_integers(axes))),
    "Where": _where,
}
