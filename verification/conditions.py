"""Conditions that decide an open proof: sizes and values of inputs, each of them tried."""

import dataclasses
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto

from ..facts.named_dimensions import Minima
from ..facts.types import INTEGER_BITS
from ..limits import limit
from ..records import record
from ..reference.signature import dims_of
from .proof.result import Condition, Proof
from .runs.shape_inputs import steering_inputs

STAND_INS = 4, 7
"""Numbers that are tried for sizes and values: other ones may decide as much."""

_MOST_TRIALS = limit("hints")
_MOST_NODES = limit("hint_nodes")
_MOST_ELEMENTS = 8
"""Limit of elements of an input that is set."""

Sizes = Mapping[str, Sequence["int | None"]]
Decide = Callable[[dict[str, Any], Sizes, Minima], Proof]
"""Function that proves two models with further bound inputs, for some or minimum sizes only."""


@record(frozen=True)
class _Subject:
    """Sizes and inputs that get a number.

    Attributes:
        dims: names of dimensions.
        axes: axes of inputs that have no name, as input and axis.
        values: declared types of inputs, by name.
    """

    dims: tuple[str, ...] = ()
    axes: tuple[tuple[str, int], ...] = ()
    values: tuple[tuple[str, onnx.TypeProto], ...] = ()

    def __or__(self, other: "_Subject") -> "_Subject":
        names = [field.name for field in dataclasses.fields(self)]
        return _Subject(*(getattr(self, name) + getattr(other, name) for name in names))

    def shapes(self, declared: Mapping[str, list[Any]], number: int) -> Sizes:
        """Sizes of all inputs that have one of these dimensions."""
        shapes = {
            name: [
                number if dim in self.dims or (name, k) in self.axes else None
                for k, dim in enumerate(dims)
            ]
            for name, dims in declared.items()
        }
        return {name: sizes for name, sizes in shapes.items() if any(sizes)}

    def bound(self, number: int) -> dict[str, Any]:
        """Values of the inputs."""
        return {name: _value(proto, number) for name, proto in self.values}

    def condition(self, declared: Mapping[str, list[Any]], numbers: Sequence[int]) -> Condition:
        """Condition that each of these is one of some numbers."""
        number = numbers[0]
        shapes = _Subject(axes=self.axes).shapes(declared, number)
        plain = {name: np.asarray(value).tolist() for name, value in self.bound(number).items()}
        options = [
            *(("--dim", f"{name}={number}") for name in self.dims),
            *(("--shape", f"{name}={_shape_text(dims)}") for name, dims in shapes.items()),
            *(("--set", f"{name}={json.dumps(value)}") for name, value in plain.items()),
        ]
        others = " or ".join(map(str, numbers))
        texts = [
            *(f"{name} is {others}" for name in self.dims),
            *(f"axis {axis} of input '{name}' is {others}" for name, axis in self.axes),
            *(_value_text(name, proto, numbers) for name, proto in self.values),
        ]
        arguments: dict[str, Any] = {
            "dims": dict.fromkeys(self.dims, number),
            "sample_shapes": shapes,
            "bound": plain,
        }
        arguments = {name: value for name, value in arguments.items() if value}
        return Condition(" and ".join(texts), tuple(w for o in options for w in o), arguments)


def sufficient(
    before: onnx.ModelProto,
    after: onnx.ModelProto,
    decide: Decide,
    bound: Mapping[str, Any],
    sizes: Sizes,
) -> tuple[Condition, ...]:
    """Conditions under which two models are proved to be equal: sizes and values of inputs.

    Args:
        decide: proves both under a condition.
        bound: inputs that have a value.
        sizes: sizes that are fixed.
    """
    nodes = 2 * (len(before.graph.node) + len(after.graph.node))
    budget = min(_MOST_TRIALS, _MOST_NODES // max(nodes, 1))
    declared = declared_shapes(before, bound, sizes)
    singles = list(_subjects(before, after, declared, bound))
    conditions = []
    trials = iter(range(budget))

    def attempt(subject: _Subject) -> bool:
        """Try numbers for a subject; the second one only if the first one decides."""
        numbers: list[int] = []
        for number in STAND_INS:
            if not decide(subject.bound(number), subject.shapes(declared, number), {}).proved:
                break
            numbers.append(number)
        conditions.extend([subject.condition(declared, numbers)] if numbers else [])
        return bool(numbers)

    names = [name for subject in singles for name in subject.dims]
    if names and budget and decide({}, {}, dict.fromkeys(names, 1)).proved:
        return (_filled(names, decide, trials),)
    for subject, _ in zip(singles, trials, strict=False):
        attempt(subject)
    if conditions:
        return tuple(conditions)
    sizes_only = [subject for subject in singles if not subject.values]
    groups = [sizes_only] if len(sizes_only) == len(singles) else [sizes_only, singles]
    for group in groups:
        if len(group) > 1 and next(trials, None) is not None and attempt(_joined(group)):
            break
    return tuple(conditions)


def _filled(names: Sequence[str], decide: Decide, trials: Iterator[int]) -> Condition:
    """Condition that dimensions are not 0: one of them if that decides, else all."""
    alone = zip(names, trials, strict=False) if len(names) > 1 else ()
    least = next((name for name, _ in alone if decide({}, {}, {name: 1}).proved), None)
    needed = names if least is None else [least]
    options = tuple(word for name in needed for word in ("--dim", f"{name}>=1"))
    text = " and ".join(f"{name} >= 1" for name in needed)
    return Condition(text, options, {"dims": dict.fromkeys(needed, ">=1")})


def _joined(subjects: Sequence[_Subject]) -> _Subject:
    result = _Subject()
    for subject in subjects:
        result |= subject
    return result


def declared_shapes(
    model: onnx.ModelProto, bound: Mapping[str, Any], sizes: Sizes
) -> dict[str, list[Any]]:
    """Dimensions of the tensors among the inputs; a size that is fixed is a number."""
    shapes: dict[str, list[Any]] = {}
    for info in model.graph.input:
        dims = dims_of(info.type.tensor_type) if info.type.HasField("tensor_type") else None
        if dims is not None and info.name not in bound:
            fixed = sizes.get(info.name) or [None] * len(dims)
            shapes[info.name] = [d if n is None else n for d, n in zip(dims, fixed, strict=True)]
    return shapes


def _subjects(
    before: onnx.ModelProto,
    after: onnx.ModelProto,
    declared: Mapping[str, list[Any]],
    bound: Mapping[str, Any],
) -> Iterator[_Subject]:
    """Yield sizes, then conditions and integers that decide sizes, trip counts or positions."""
    dims = [dim for shape in declared.values() for dim in shape if isinstance(dim, str)]
    yield from (_Subject(dims=(name,)) for name in dict.fromkeys(dims))
    for name, shape in declared.items():
        yield from (_Subject(axes=((name, k),)) for k, dim in enumerate(shape) if dim is None)
    steering = (steering_inputs(before) | steering_inputs(after)) - set(bound)
    for info in before.graph.input:
        tensor = info.type.tensor_type
        dims_of_input = declared.get(info.name)
        is_steering = tensor.elem_type in INTEGER_BITS and info.name in steering
        is_static = dims_of_input is not None and all(isinstance(d, int) for d in dims_of_input)
        is_few = is_static and math.prod(dims_of_input or ()) <= _MOST_ELEMENTS
        if is_few and (is_steering or tensor.elem_type == TensorProto.BOOL):
            yield _Subject(values=((info.name, info.type),))


def _value(proto: onnx.TypeProto, number: int) -> Any:
    """Value of an input of static shape; a condition is true for the first number only."""
    tensor = proto.tensor_type
    is_true = number == STAND_INS[0]
    element = is_true if tensor.elem_type == TensorProto.BOOL else number
    dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
    return np.full([dim.dim_value for dim in tensor.shape.dim], element, dtype)


def _value_text(name: str, proto: onnx.TypeProto, numbers: Sequence[int]) -> str:
    values = [json.dumps(_value(proto, number).tolist()) for number in numbers]
    return f"input '{name}' is {' or '.join(values)}"


def _shape_text(dims: Sequence[int | None]) -> str:
    return ",".join("?" if dim is None else str(dim) for dim in dims)
