"""Builder of nodes: folds a node whose inputs are known, and checks that its opset has it."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx

from ..facts.magnitudes import LAST_OF_64_BITS
from ..facts.types import INTEGER_BITS
from ..ir import Array, Error, Fold, Graph, Node, Operator, Tensor, Value, attribute_message
from ..limits import allowed, limit
from ..records import record
from .departures import loses_sign, other_numbers
from .operand_view import Application, ShapeOf, ValueOperand, may_hold_negative_zero
from .schema_queries import (
    MIN_OF_INTEGERS,
    NEGATIVE_AXES,
    ElementTypes,
    formal_inputs,
    is_defined,
    later_inputs,
    schema_at,
    takes,
    takes_all,
)

_CHOICES = {"Max": "Greater", "Min": "Less"}
"""The comparison by which an operator chooses; it takes integers from opset 12 on."""
_STEPS = 10
"""The first opset whose Slice has steps."""
_T = onnx.TensorProto
WIDER: dict[int, int] = {
    _T.INT16: _T.INT32,
    _T.UINT16: _T.INT32,
    _T.UINT64: _T.INT64,
    _T.BFLOAT16: _T.FLOAT,
}
"""Element types for which onnxruntime 1.23 to 1.32 has no Where, with those that hold them: Casts
there and back change no number (those of uint64 keep its bits)."""


class RewriteError(Error):
    """Failure of a pass to write what it was asked for."""


@record
class Room:
    """A bound on the nodes of a scratch graph and of the bodies in it.

    Attributes:
        capacity: the number of nodes that may still be added.
    """

    capacity: int

    def admit(self, nodes: int) -> None:
        """Make room for what comes of more nodes of a body."""
        self.capacity += limit("scratch_nodes") * nodes

    def take(self) -> None:
        """Count a node.

        Raises:
            RewriteError: there is no room for it.
        """
        self.capacity -= 1
        if self.capacity < 0:
            raise RewriteError(
                f"would emit more nodes for each node of its body than {allowed('scratch_nodes')}"
            )


class Builder:
    """Builder of nodes of the default domain in one graph, at its opset.

    A pass asks before it changes anything whether what it is about to say can be said (see
    `ops.schema_queries`); what cannot raises a RewriteError here, rather than be written.

    Args:
        graph: where the nodes go.
        fold: computes nodes whose inputs are all known.
        opset: the version to write for; the graph's own unless it is about to change.
        room: counts the nodes; None where the caller has counted them.
        replaces: nodes of the model for which the new ones stand: where onnxruntime departs from
            the specification in one of those, it may in these.

    Attributes:
        keeps_signs: asked where onnxruntime may lose the sign of a zero; false if no reader makes
            more than the sign of a zero of it.
        shape_of: the inferred shapes of values, where the caller infers them.
    """

    def __init__(
        self,
        graph: Graph,
        fold: Fold | None = None,
        opset: int | None = None,
        room: Room | None = None,
        replaces: Sequence[Node] = (),
    ) -> None:
        self.graph = graph
        self.replaces = replaces
        self.room = room
        self.opset = graph.root.opset() if opset is None else opset
        self._fold = fold
        self._types = ElementTypes()
        self._axes: dict[tuple[int, ...], Value] = {}
        self._once: dict[tuple[object, ...], Value] = {}
        self._yes: Value | None = None
        self.keeps_signs: Callable[[], bool] = lambda: True
        self.shape_of: ShapeOf = lambda value: None

    def constant(self, array: Array, label: str) -> Value:
        """A constant."""
        return self.graph.add_initializer(label, Tensor(array=array))

    def integer(self, number: int, label: str) -> Value:
        """A constant scalar of int64."""
        return self.constant(np.array(number, np.int64), label)

    def number(self, number: Any, elem_type: int, label: str) -> Value:
        """A constant of an element type."""
        dtype = onnx.helper.tensor_dtype_to_np_dtype(elem_type)
        return self.constant(np.array(number, dtype), label)

    def add(
        self, op_type: str, inputs: Sequence[Value | None], label: str, **attributes: Any
    ) -> Value:
        """A node with one output; a Where becomes a `select`, a Gather copies rows of strings."""
        if op_type == "Where" and formal_inputs(op_type, self.opset):
            condition, one, other = inputs
            assert condition is not None and one is not None and other is not None
            return self.select(condition, one, other, label)
        if op_type == "Gather":
            data, places = inputs
            assert data is not None and places is not None
            if self._types.of(data) == _T.STRING:
                return self._gather_texts(data, places, attributes.get("axis", 0), label)
        return self.apply(Operator.make(op_type, **attributes), inputs, label)

    def _gather_texts(self, data: Value, places: Value, axis: int, label: str) -> Value:
        """Emit a Gather of strings: by tuples of indices, or along the last axis.

        Of a row, onnxruntime's Gather copies the first string alone (`ops.departures`).
        """
        rank, count = (self._rank(value) for value in (data, places))
        is_row = rank is None or axis % rank < rank - 1
        if is_row and axis == 0 and is_defined("GatherND", self.opset):
            if self._types.of(places) != _T.INT64:  # GatherND takes no others
                places = self.add("Cast", [places], f"{label}_places", to=_T.INT64)
            tuples = self.unsqueeze(places, -1, f"{label}_places")
            return self.add("GatherND", [data, tuples], label)
        op = Operator.make("Gather", axis=axis)
        if not is_row or rank is None or count is None:
            return self.apply(op, [data, places], label)
        axis, last = axis % rank, rank - 1
        others = [each for each in range(rank) if each != axis]
        moved = self.transpose(data, [*others, axis], f"{label}_rows")
        picked = self.apply(Operator.make("Gather", axis=last), [moved, places], f"{label}_rows")
        back = [*range(axis), *range(last, last + count), *range(axis, last)]
        return self.transpose(picked, back, label)

    def _rank(self, value: Value) -> int | None:
        shape = ValueOperand(value, self._types, self.shape_of).shape
        return None if shape is None else len(shape)

    def select(
        self,
        condition: Value,
        one: Value,
        other: Value,
        label: str,
        elem_type: int = 0,
        whole: bool = False,
    ) -> Value:
        """`one` where a condition holds, else `other`.

        onnxruntime's Where makes 0.0 of a -0.0 of its first value (`ops.departures`), never of a
        second value of the shape of the result. So a value that may hold -0.0 is the second one. If
        both may, and a reader divides by the result, say, the greater of two selects with -inf
        keeps both signs.

        Args:
            condition: truth values.
            one, other: tensors of one type.
            label: for the result.
            elem_type: their type, if known; else it is inferred.
            whole: true if both have the shape of the result.
        """
        elem_type = elem_type or self._types.of(one) or self._types.of(other) or 0
        if elem_type == onnx.TensorProto.BOOL:
            # Where supports booleans, but onnxruntime has no kernel for them.
            yes = self.add("And", [condition, one], f"{label}_taken")
            no = self.add("Not", [condition], f"{label}_not")
            return self.add("Or", [yes, self.add("And", [no, other], f"{label}_else")], label)
        if elem_type in WIDER:
            wide = WIDER[elem_type]
            first, second = (
                self.add("Cast", [value], f"{label}_wide", to=wide) for value in (one, other)
            )
            value = self.select(condition, first, second, f"{label}_wide", wide, whole)
            return self.add("Cast", [value], label, to=elem_type)
        # Integers have no -0.
        if elem_type in INTEGER_BITS or not self.loses_sign(condition, one, other, whole):
            return self._where(condition, one, other, label)
        keeps = self.keeps_signs()
        # The opposite of a condition of one element costs nothing, that of a mask does.
        if (keeps or whole) and not self.loses_sign(condition, other, one, whole):
            return self._where(self._opposite(condition), other, one, label)
        if not keeps:
            return self._where(condition, one, other, label)
        if not elem_type:
            raise RewriteError(f"needs a Where of {one}, whose element type is unknown")
        least = self.number(-np.inf, elem_type, "least")
        opposite = self._opposite(condition)
        first = self._where(opposite, least, one, f"{label}_taken")
        second = self._where(condition, least, other, f"{label}_else")
        return self.add("Max", [first, second], label)

    def _where(self, condition: Value, one: Value, other: Value, label: str) -> Value:
        return self.apply(Operator.make("Where"), [condition, one, other], label)

    def loses_sign(
        self, condition: Value, first: Value, second: Value, whole: bool = False
    ) -> bool:
        """Test for a Where that onnxruntime may give other signs of zeros."""
        parts = condition, first, second
        operands = [ValueOperand(value, self._types, self.shape_of) for value in parts]
        if whole:
            return may_hold_negative_zero(operands[1])
        return loses_sign(Application("Where", lambda name, default=None: default, operands))

    def _opposite(self, condition: Value) -> Value:
        """Emit the opposite of a condition, not by Not: onnxruntime swaps the values of its
        Where."""
        if self._yes is None or self._yes.graph is not self.graph:
            self._yes = self.constant(np.array(True), "yes")
        return self.once("Xor", [condition, self._yes], f"{condition.name}_not")

    def once(self, op_type: str, inputs: Sequence[Value], label: str, **attributes: Any) -> Value:
        """The same, made once for the same inputs and attributes."""
        key = op_type, *inputs, *sorted(attributes.items())
        value = self._once.get(key)
        # A value that was removed since has no graph.
        if value is None or value.graph is not self.graph:
            value = self._once[key] = self.add(op_type, inputs, label, **attributes)
        return value

    def apply(
        self, op: Operator, inputs: Sequence[Value | None], label: str, name: str = ""
    ) -> Value:
        """The output of a new node, or its value where that can be folded."""
        return self.several(op, inputs, [label], name)[0]

    def several(
        self, op: Operator, inputs: Sequence[Value | None], labels: Sequence[str], name: str = ""
    ) -> list[Value]:
        """Outputs of a new node, one for each label, or their values where it folds."""
        if op.op_type in _CHOICES and self.opset < MIN_OF_INTEGERS:
            types = [value and self._types.of(value) for value in inputs]
            if not INTEGER_BITS.keys().isdisjoint(types):
                return [self._chosen(op.op_type, inputs, labels[0])]
        if op.op_type == "Slice" and self.opset < _STEPS:
            inputs = self._with_bounds(inputs, labels[0])
        op, inputs = self._in_opset(op, inputs)
        outputs = self.add_unchecked(op, inputs, labels, name)
        node = outputs[0].producer
        if node is not None:
            self._require_types(op, inputs)
            self._require_agreement(node)
        return outputs

    def add_unchecked(
        self, op: Operator, inputs: Sequence[Value | None], labels: Sequence[str], name: str = ""
    ) -> list[Value]:
        """Outputs of a new node, without a check of its types.

        It is for an operator of the model whose inputs keep their element types.
        """
        if self.room is not None:
            self.room.take()
        node = self.graph.add_node(op, inputs, labels, name)
        if self._fold is not None and all(v is None or v.constant is not None for v in inputs):
            tensors = self._fold(node, [None if v is None else v.constant for v in inputs])
            if tensors is not None:
                self.graph.remove(node)
                folded = zip(labels, tensors, strict=True)
                return [self.graph.add_initializer(label, tensor) for label, tensor in folded]
        return [node.output(index) for index in range(len(labels))]

    def _chosen(self, kind: str, operands: Sequence[Value | None], label: str) -> Value:
        """The greatest or the least of integers, by comparisons."""
        result, *others = [value for value in operands if value is not None]
        for value in others:
            test = self.add(_CHOICES[kind], [result, value], f"{label}_test")
            result = self._where(test, result, value, label)
        return result

    def _with_bounds(self, inputs: Sequence[Value | None], label: str) -> Sequence[Value | None]:
        """The operands of a Slice of constant bounds; others are cut before it."""
        if all(bound is None or bound.constant is not None for bound in inputs[1:]):
            return inputs
        value, start, end, axes = [*inputs, None][:4]
        if len(inputs) > 4 or axes is None or axes.constant is None:
            raise RewriteError(f"needs a Slice that opset {self.opset} does not have")
        assert value is not None and start is not None and end is not None
        for index, axis in enumerate(axes.constant.numpy().tolist()):
            size = self.size(value, axis, label)
            numbers = self.numbers(self.squeeze(size, 0, label), label)
            first, last = (self._place(bound, index, size, label) for bound in (start, end))
            early, before = (self.add("Less", [numbers, each], label) for each in (first, last))
            inside = self.add("And", [self.add("Not", [early], label), before], label)
            value = self.add("Compress", [value, inside], label, axis=axis)
        none, whole = self.vector((0,), "k"), self.vector((LAST_OF_64_BITS,), "k")
        return [value, none, whole, none]

    def _place(self, bounds: Value, index: int, size: Value, label: str) -> Value:
        """A bound of a Slice, counted from the first element."""
        bound = self.add("Gather", [bounds, self.vector((index,), "k")], label)
        from_end = self.add("Less", [bound, self.vector((0,), "k")], label)
        return self.add("Where", [from_end, self.add("Add", [bound, size], label), bound], label)

    def _in_opset(
        self, op: Operator, inputs: Sequence[Value | None]
    ) -> tuple[Operator, Sequence[Value | None]]:
        """An operator with the constant operands that are attributes in its opset as such.

        Raises:
            RewriteError: an operand that the opset lacks, or that is not constant.
        """
        formal = formal_inputs(op.op_type, self.opset) or 0
        names = later_inputs(op.op_type, self.opset) if 0 < formal < len(inputs) else ()
        if not names:
            return op, inputs
        lists, schema = [], schema_at(op.op_type, self.opset)
        assert schema is not None
        for name, value in zip(names, inputs[formal:], strict=False):
            if value is None:
                continue
            if value.constant is None or name not in schema.attributes:
                raise RewriteError(
                    f"needs {op} by {name} of run time, which opset {self.opset} does not have;"
                    " convert to an opset that has it, or leave out the pass"
                )
            lists.append(attribute_message(name, value.constant.numpy().tolist()))
        return op.with_attributes([*op.attributes.values(), *lists]), inputs[:formal]

    def _require_types(self, op: Operator, inputs: Sequence[Value | None]) -> None:
        if takes_all(op.op_type, self.opset):
            return
        formal = formal_inputs(op.op_type, self.opset)
        if formal is None:
            raise RewriteError(
                f"needs {op}, which opset {self.opset} does not have; convert to an opset that has"
                " it, or leave out the pass"
            )
        # Of inputs without a position of their own, as Concat has them, all are of one type.
        for position, value in enumerate(inputs[:formal]):
            elem_type = None if value is None else self._types.of(value)
            if elem_type and not takes(op.op_type, position, elem_type, self.opset):
                name = onnx.TensorProto.DataType.Name(elem_type).lower()
                raise RewriteError(
                    f"needs {op} of {value}, whose type {name} it does not support in opset"
                    f" {self.opset}; convert to an opset in which it does, or leave out the pass"
                )

    def _require_agreement(self, node: Node) -> None:
        """Refuse a node of which onnxruntime computes other numbers than the specification has."""
        row = other_numbers(node, self._types)
        if row is None or any(other_numbers(old, self._types) for old in self.replaces):
            return
        # An operator of the model itself is moved, not brought in.
        others = self.graph.nodes_of(node.op_type)
        if not any(other.op is node.op and other is not node for other in others):
            raise RewriteError(f"needs {node.op}, of which onnxruntime departs: {row.runtime}")

    def _require_axes(self, op_type: str, axes: Sequence[int]) -> None:
        if self.opset < NEGATIVE_AXES and any(axis < 0 for axis in axes):
            raise RewriteError(
                f"needs {op_type} with axes {list(axes)}, which opset {self.opset} does not"
                f" support; convert to opset {NEGATIVE_AXES} first, or leave out the pass"
            )

    def unsqueeze(self, value: Value, axes: int | tuple[int, ...], label: str) -> Value:
        """`value` with axes of length 1 inserted; itself for none (an input from opset 13 on)."""
        return self._along("Unsqueeze", value, axes, label)

    def lift(self, value: Value, count: int, label: str) -> Value:
        """`value` with a number of axes of length 1 after the first one."""
        return self.unsqueeze(value, tuple(range(1, 1 + count)), label)

    def squeeze(self, value: Value, axes: int | tuple[int, ...], label: str) -> Value:
        """`value` without axes of length 1; itself for none (an input from opset 13 on)."""
        return self._along("Squeeze", value, axes, label)

    def _along(self, op_type: str, value: Value, axes: int | tuple[int, ...], label: str) -> Value:
        axes = (axes,) if isinstance(axes, int) else axes
        if not axes:
            return value
        self._require_axes(op_type, axes)
        if self.opset < 13:
            return self.add(op_type, [value], label, axes=list(axes))
        return self.apply(_PLAIN[op_type], [value, self.vector(axes, "axes")], label)

    def vector(self, numbers: tuple[int, ...], label: str) -> Value:
        """A constant vector of int64, made once for the same numbers."""
        if numbers not in self._axes:
            self._axes[numbers] = self.constant(np.array(numbers, np.int64), label)
        return self._axes[numbers]

    def scalar(self, value: Value, label: str) -> Value:
        """A tensor of one element, in whatever rank, as a scalar."""
        return self.add("Reshape", [value, self.vector((), "scalar")], label)

    def transpose(self, value: Value, perm: Sequence[int], label: str) -> Value:
        """`value` with its axes in another order; itself where the order stays."""
        if list(perm) == list(range(len(perm))):
            return value
        return self.add("Transpose", [value], label, perm=list(perm))

    def concat(self, values: Sequence[Value], axis: int, label: str) -> Value:
        """Values joined along an axis; itself where there is but one."""
        if len(values) == 1:
            return values[0]
        self._require_axes("Concat", (axis,))
        return self.add("Concat", values, label, axis=axis)

    def stack(self, values: Sequence[Value], axis: int, label: str) -> Value:
        """Values stacked along a new axis."""
        rows = [self.unsqueeze(value, axis, f"{value.name}_row") for value in values]
        return self.concat(rows, axis, label)

    def new_shape(
        self, first: Value, rest: Value, numbers: Sequence[int] | None, label: str
    ) -> Value:
        """The new shape of a Reshape: a computed size, then the others.

        A Where instead of a Concat with constants that hold 0, which copies a size: onnxruntime
        reads a Concat with one computed size as -1, which fails where the copied size is 0.

        Args:
            first, rest: the computed size, and the others.
            numbers: the others, if they are constants.
        """
        if numbers is None or 0 not in numbers or min(numbers) < 0:
            return self.once("Concat", [first, rest], label, axis=0)
        is_first = self.constant(np.arange(1 + len(numbers)) == 0, "is_first")
        sizes = self.vector((0, *numbers), "sizes")
        return self.once("Where", [is_first, first, sizes], label)

    def split(
        self, value: Value, sizes: Sequence[int], axis: int, labels: Sequence[str]
    ) -> list[Value]:
        """Split `value` along an axis into parts of these sizes, one label each.

        The sizes are an input from opset 13 on.
        """
        self._require_axes("Split", (axis,))
        if self.opset < 13:
            op = Operator.make("Split", axis=axis, split=list(sizes))
            return self.several(op, [value], labels)
        return self.split_by(value, self.vector(tuple(sizes), "sizes"), axis, labels)

    def split_by(self, value: Value, sizes: Value, axis: int, labels: Sequence[str]) -> list[Value]:
        """Split `value` along an axis by an int64 vector of sizes; from opset 13 on."""
        return self.several(Operator.make("Split", axis=axis), [value, sizes], labels)

    def reduce(
        self,
        op_type: str,
        value: Value,
        axes: tuple[int, ...],
        label: str,
        keepdims: int = 0,
        small: bool = False,
    ) -> Value:
        """Reduce `value` along axes.

        They are an input of ReduceSum from opset 13 on, of the others from 18 on.

        Args:
            value: the operand.
            keepdims: 1 to keep axes of length 1.
            small: true for counts, or sizes of one tensor, which doubles hold.
        """
        inputs: list[Value | None] = [value]
        options: dict[str, Any] = {"axes": list(axes), "keepdims": keepdims}
        if (formal_inputs(op_type, self.opset) or 0) >= 2:
            inputs.append(self.vector(axes, "axes"))
            del options["axes"]
        op = Operator.make(op_type, **options)
        if not small:
            return self.apply(op, inputs, label)
        (result,) = self.add_unchecked(op, inputs, [label])
        self._require_types(op, inputs)
        return result

    def running_sum(
        self, value: Value, label: str, axis: int = 0, reverse: int = 0, exclusive: int = 0
    ) -> Value:
        """The sums of the elements along an axis up to each one.

        All attributes are written: onnx2torch 1.5 takes an absent `reverse` for 1.
        """
        at = self.integer(axis, "axis")
        return self.add("CumSum", [value, at], label, exclusive=exclusive, reverse=reverse)

    def cut(
        self, value: Value, start: int | Value, end: int | Value, axis: int, label: str
    ) -> Value:
        """The elements of an axis between numbers, or vectors of one, from opset 10 on."""
        ends = [start, end, axis]
        bounds = [self.vector((at,), "k") if isinstance(at, int) else at for at in ends]
        return self.add("Slice", [value, *bounds], label)

    def clamp(self, value: Value, least: Value, most: Value, label: str) -> Value:
        """A value between two others, of which the upper one counts where they cross."""
        return self.add("Min", [self.add("Max", [value, least], label), most], label)

    def place(self, bound: Value, size: Value, label: str) -> Value:
        """A bound of a Slice, as the place from the first element on."""
        zero = self.vector((0,), "k")
        negative = self.add("Less", [bound, zero], label)
        place = self.add("Where", [negative, self.add("Add", [bound, size], label), bound], label)
        return self.clamp(place, zero, size, label)

    def reverse(self, value: Value, label: str) -> Value:
        """A value with its first axis reversed."""
        if self.opset < _STEPS:
            size = self.size(value, 0, label)
            places = self.add(
                "Sub", [size, self.numbers(self.squeeze(size, 0, label), label)], label
            )
            places = self.add("Sub", [places, self.vector((1,), "k")], label)
            return self.add("Gather", [value, places], label)
        # -1 would be the last element; only a number far below is before the first.
        bounds = [self.vector((n,), "bound") for n in (-1, np.iinfo(np.int64).min, 0, -1)]
        return self.add("Slice", [value, *bounds], label)

    def numbers(self, end: Value, label: str, zero: Value | None = None) -> Value:
        """The numbers from 0 to below a scalar of at least 0; below opset 11, places of ones."""
        if is_defined("Range", self.opset):
            zero = zero or self.integer(0, "k")
            return self.add("Range", [zero, end, self.integer(1, "k")], label)
        one = onnx.helper.make_tensor("value", onnx.TensorProto.INT64, [1], [1])
        ones = self.add("ConstantOfShape", [self.unsqueeze(end, 0, label)], label, value=one)
        return self.squeeze(self.add("NonZero", [ones], label), 0, label)

    def reshape(self, value: Value, sizes: Sequence[int], label: str) -> Value:
        """A value reshaped to constant sizes."""
        return self.add("Reshape", [value, self.vector(tuple(sizes), "sizes")], label)

    def size(self, value: Value, axis: int, label: str) -> Value:
        """The size of an axis, int64 of shape [1]."""
        shape = self.add("Shape", [value], "shape")
        return self.add("Gather", [shape, self.vector((axis,), "k")], label)

    def slice(self, value: Value, start: int, end: int, label: str) -> Value:
        """Elements `start` to before `end` of axis 0."""
        bounds = [self.vector((bound,), "bound") for bound in (start, end)]
        return self.add("Slice", [value, *bounds], label)


_PLAIN = {name: Operator(name) for name in ("Unsqueeze", "Squeeze")}
