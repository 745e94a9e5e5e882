"""Scatter, ScatterElements and ScatterND: updates of elements and slices.

- 9: Scatter appears.
- 11: its name is ScatterElements; ScatterND appears.
- 13: bfloat16.
- 16: `reduction` adds or multiplies instead of replacing.
- 18: `reduction` = "max" and "min".
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
import onnx

from ...ir import Array, Graph, Value
from ...ops.schema_queries import allowed_types, schema_at, tensor_text
from ..constants import is_small
from ..flat_indices import (
    as_int64,
    depth_of,
    flat_index,
    lengths,
    numbers_of_shape,
    places_of_elements,
)
from ..loops import counted_loop
from ..registry import AdapterResult, NodeDraft, added_values, downgrade, longer_form, upgrade
from ..snippets import length_of, pick, reshape_with_zeros

_JOINING = {"add": "Add", "mul": "Mul", "max": "Greater", "min": "Less"}
"""By reduction: the operator that joins or compares an element and its update.

The specification does not define the maximum of a NaN and a number. As in onnxruntime, it is the
update.
"""

Changed = Callable[[Value, Value, Value], Value]
"""Updates data at distinct indices."""


@upgrade(11, "Scatter")
@downgrade(11, "ScatterElements")
def rename(draft: NodeDraft) -> None:
    """The same operator under another name."""
    draft.op_type = "ScatterElements" if draft.is_upgrade else "Scatter"


@longer_form(16, "ScatterElements")
@longer_form(18, "ScatterElements")
def reduce_elements(draft: NodeDraft) -> AdapterResult:
    """Below opset 18 or 16: read elements, join them with updates, write them back. Indices along
    the axis follow one after the other, since two may have the same target."""
    axis = draft.required_axis(draft.attribute("axis"), "a reduction")
    join = _joining(draft)

    def change(data: Value, indices: Value, updates: Value) -> Value:
        old = draft.emit("GatherElements", [data, indices], "old", axis=axis)
        new = _new(draft, join, old, updates)
        return draft.emit("ScatterElements", [data, indices, new], "changed", axis=axis)

    shape, constant = draft.shape(1), draft.constant(1)
    if shape is not None and len(shape) != draft.rank():
        draft.refuse("its indices have another rank than its data")
    # A single index along the axis meets no other one.
    distinct = shape is not None and shape[axis] in (0, 1)
    # A negative index may be the same place as a positive one.
    if constant is not None and (constant >= 0).all():
        order = np.sort(constant, axis)
        distinct = bool(np.diff(order, axis=axis).all())
    return [_joined(draft, change, distinct, axis)]


@longer_form(16, "ScatterND")
@longer_form(18, "ScatterND")
def reduce_slices(draft: NodeDraft) -> AdapterResult:
    """Below opset 18 or 16: the same with slices, one index tuple after the other."""
    join, depth = _joining(draft), depth_of(draft)

    def change(data: Value, indices: Value, updates: Value) -> Value:
        old = draft.emit("GatherND", [data, indices], "old")
        new = _new(draft, join, old, updates)
        return draft.emit("ScatterND", [data, indices, new], "changed")

    shape, constant = draft.shape(1), draft.constant(1)
    # There is one index tuple at most.
    distinct = shape is not None and None not in shape and math.prod(n or 0 for n in shape) <= depth
    if constant is not None and (constant >= 0).all():
        tuples = constant.reshape(-1, depth)
        distinct = len(np.unique(tuples, axis=0)) == len(tuples)
    # The Loop takes tuples one by one along axis 0.
    if not distinct and len(shape or ()) != 2:
        _in_one_row(draft, depth)
    return [_joined(draft, change, distinct, 0)]


def _joining(draft: NodeDraft) -> str:
    """The operator that joins or compares two elements."""
    join = _JOINING.get(draft.text("reduction"))
    if join is None:
        draft.refuse(f"no opset has a reduction '{draft.text('reduction')}'")
    schema, elem_type = schema_at(join, draft.source), draft.elem_type()
    if elem_type is None or tensor_text(elem_type) not in allowed_types(schema, "T"):
        draft.refuse(f"{join} does not support elements of its type")
    return join


def _new(draft: NodeDraft, join: str, old: Value, updates: Value) -> Value:
    if join in ("Greater", "Less"):
        return pick(draft, join, old, updates)
    return draft.emit(join, [old, updates], "new")


def _joined(draft: NodeDraft, change: Changed, distinct: bool, axis: int) -> Value:
    """All updates at once where their targets are distinct, else one after the other."""
    data, indices, updates = (draft.required(index) for index in range(3))
    if distinct:
        return change(data, indices, updates)

    type_ = draft.types.of(data)
    if type_ is None:
        draft.refuse("a Loop needs the type of its loop-carried state")

    def iterate(_: Graph, number: Value, states: Sequence[Value]) -> list[Value]:
        place = draft.emit("Reshape", [number, draft.ints([1], "one")], "place")
        one, update = (
            draft.emit("Gather", [value, place], "part", axis=axis) for value in (indices, updates)
        )
        return [change(states[0], one, update)]

    trip_count = length_of(draft, draft.emit("Shape", [indices], "shape"), axis)
    return counted_loop(draft, trip_count, [data], [type_], iterate)[0]


def _in_one_row(draft: NodeDraft, depth: int) -> None:
    """Reshape index tuples and updates of the draft to one row."""
    data, indices, updates = (draft.required(index) for index in range(3))
    tuples = draft.emit("Reshape", [indices, draft.ints([-1, depth], "tuples")], "tuples")
    count = length_of(draft, draft.emit("Shape", [tuples], "shape"), 0, rank=1)
    sizes = draft.emit("Concat", [count, lengths(draft, data, depth)], "sizes", axis=0)
    draft.set_input(1, tuples)
    draft.set_input(2, draft.emit("Reshape", [updates, sizes], "row", allowzero=1))


@longer_form(9, "Scatter")
def gather_old_and_new(draft: NodeDraft) -> AdapterResult:
    """Below opset 9: Gather of all elements from data and updates end to end."""
    indices, shape = draft.constant(1), draft.shape()
    if indices is None or shape is None or None in shape:
        return [_old_and_new_at_run_time(draft)]
    dims = [dim or 0 for dim in shape]
    axis = draft.required_axis(draft.attribute("axis"), "the place of an index")
    _check_indices(draft, indices, dims, axis)
    # Each place gets the number of an element: old ones come first, then the updates.
    places = np.arange(math.prod(dims)).reshape(dims)
    updated = places.size + np.arange(indices.size).reshape(indices.shape)
    np.put_along_axis(places[_front(indices.shape, axis)], indices, updated, axis)
    return [draft.emit("Gather", [_end_to_end(draft), draft.const(places, "places")], axis=0)]


def _end_to_end(draft: NodeDraft) -> Value:
    flat = draft.ints([-1], "flat")
    both = [draft.emit("Reshape", [draft.input(index), flat], "elements") for index in (0, 2)]
    return draft.emit("Concat", both, "elements", axis=0)


def _old_and_new_at_run_time(draft: NodeDraft) -> Value:
    """Scatter to run-time places: a Loop changes them, one update after the other."""
    rank = draft.required_rank("Scatter before opset 9")
    shape = draft.emit("Shape", [draft.data], "shape")
    flat = draft.emit("Reshape", [places_of_elements(draft), draft.ints([-1], "all")], "targets")
    dims = draft.shape()
    if dims is None or not is_small(dims):
        numbers = numbers_of_shape(draft, shape, rank)
    else:
        sizes = [dim or 0 for dim in dims]
        numbers = draft.const(np.arange(math.prod(sizes)).reshape(sizes), "numbers")
    size, one = draft.emit("Size", [draft.data], "size"), draft.const(np.array(1), "one")

    def iterate(_: Graph, number: Value, states: Sequence[Value]) -> list[Value]:
        target = draft.emit("Gather", [flat, number], "target", axis=0)
        same = draft.emit("Equal", [numbers, target], "same")
        # Where came with opset 9, so that a product selects.
        hit = draft.emit("Cast", [same], "hit", to=onnx.TensorProto.INT64)
        update = draft.emit("Mul", [hit, draft.emit("Add", [size, number])], "update")
        other = draft.emit("Mul", [states[0], draft.emit("Sub", [one, hit])], "other")
        return [draft.emit("Add", [other, update], "places")]

    type_ = onnx.helper.make_tensor_type_proto(onnx.TensorProto.INT64, [None] * rank)
    trip_count = length_of(draft, draft.emit("Shape", [flat], "shape"), 0)
    places = counted_loop(draft, trip_count, [numbers], [type_], iterate)[0]
    return draft.emit("Gather", [_end_to_end(draft), places], axis=0)


def _check_indices(draft: NodeDraft, indices: Array, dims: Sequence[int], axis: int) -> None:
    """Refuse indices that do not fit the data, or updates that do not fit them."""
    if draft.shape(2) != list(indices.shape):
        draft.refuse("its updates are not known to have the shape of its indices")
    sizes = list(zip(indices.shape, dims, strict=False))
    if indices.ndim != len(dims) or any(n > m for a, (n, m) in enumerate(sizes) if a != axis):
        draft.refuse(f"its indices have the shape {list(indices.shape)}, its data {list(dims)}")
    # The range -n to n - 1 is symmetric around -0.5.
    if not (abs(indices + 0.5) < dims[axis]).all():
        draft.refuse("an index of it is out of range")


def _front(shape: Sequence[int], axis: int) -> tuple[slice, ...]:
    """The part of the data that indices cover: along all other axes they may be shorter."""
    return tuple([slice(None if at == axis else size) for at, size in enumerate(shape)])


@longer_form(11, "ScatterND")
def scatter_rows(draft: NodeDraft) -> AdapterResult:
    """Below opset 11: ScatterElements in a matrix of the merged first and last axes."""
    data, depth, indices = draft.data, depth_of(draft), as_int64(draft, 1)
    flat = flat_index(draft, data, indices, depth)
    table = draft.emit("Flatten", [data], "table", axis=depth)
    new = draft.emit("Flatten", [draft.input(2)], "new", axis=len(draft.shape(1) or ()) - 1)
    column = draft.emit("Reshape", [flat, draft.ints([-1, 1], "column")], "places")
    places = draft.emit("Expand", [column, draft.emit("Shape", [new], "shape")], "places")
    changed = draft.emit("ScatterElements", [table, places, new], "changed", axis=0)
    return [_like_data(draft, changed, data)]


def _like_data(draft: NodeDraft, table: Value, data: Value) -> Value:
    """A matrix reshaped to the data's shape, which may have zeros."""
    shape, own = draft.types.shape(data), draft.emit("Shape", [data], "shape")
    # A 0 copies a size of the table; the first one is 0 there, too.
    if shape is not None and all(shape[1:]):
        return draft.emit("Reshape", [table, own])
    return reshape_with_zeros(draft, table, own)


added_values(18, "ScatterElements", "ScatterND", attribute="reduction", values=[b"max", b"min"])
