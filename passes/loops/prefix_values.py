"""Values of a body that are prefixes of a longer one, computed whole and masked.

k = Concat (cache, row)         ->   ks: all rows, of which an iteration has the first `end`
s = MatMul (q, Transpose (k))        s = MatMul (q, Transpose (ks))
p = Softmax (s)                      p = Softmax (Where (places < end, s, -inf))

Elements beyond the prefix have no meaning. An operator that works position by position keeps them;
one that joins the elements of the axis masks them. Any other one reads a Slice.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
import onnx

from ...analysis.shapes.inference import ShapeInference
from ...facts.attribute_or_input import listed_numbers
from ...facts.fact import Fact, Shape, element, integers
from ...facts.polynomial import Dimension, product
from ...ir import Array, Node, Value
from ...ir.lazy import lazy_property
from ...ops import rules_of
from ...ops.builder import Builder
from ...ops.reductions import NEUTRAL
from ...ops.slice_view import read_slice
from ..iteration.affine_reads import Index
from ..iteration.loop_view import LoopView
from ..iteration.splice import drop_dead_nodes
from ..utils.zero_signs import readers_of
from .growing_states import AllRows, GrowingState, reads

_MASKED = (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE)
"""The element types with the running sums that keep an infinity or NaN to its own iterations."""
_FAILING = ("Div", "Mod", "BitShift")
"""Operators that may fail on integers beyond the prefix."""
_MANY = 2
"""The least known size of data that a Slice cuts, so that it does not broadcast beyond it."""


@dataclasses.dataclass(frozen=True, eq=False)
class Length:
    """The length of prefixes in an iteration.

    Attributes:
        of: all rows, around the loop.
        end: the number of rows in the prefix, int64 of shape [1].
        first, step: the number in the first iteration, and by which it grows.
    """

    of: AllRows
    end: Value
    first: Dimension
    step: int

    @property
    def is_positive(self) -> bool:
        """Test for a prefix that is never empty."""
        return self.first.less(1) is False


@dataclasses.dataclass(frozen=True, eq=False)
class Prefix:
    """A value that is the start of a longer one.

    Attributes:
        whole: the longer value.
        axis: the axis of the prefix, not negative.
        length: the length of the prefix.
        varies: true if the longer value differs between iterations.
        is_filled: true if the elements beyond the prefix are zeros.
        is_own: true if the body still computes the value itself.
    """

    whole: Value
    axis: int
    length: Length
    varies: bool
    is_filled: bool = False
    is_own: bool = False


class PrefixBody:
    """A body whose growing states become prefixes.

    Args:
        loop_view: the Loop.
        inference: the facts of the model's values, before the change.
        growing: the states, with all their rows.
        indices: the induction variables of the body.
    """

    def __init__(
        self,
        loop_view: LoopView,
        inference: ShapeInference,
        growing: Sequence[tuple[GrowingState, AllRows]],
        indices: dict[Value, Index],
    ) -> None:
        self.body = loop_view.body
        self.emit = Builder(self.body)
        self._inference = inference
        self._indices = indices
        self._iteration = loop_view.iteration
        self._prefixes: dict[Value, Prefix] = {}
        self._cut: dict[Value, Value] = {}
        self._replaced: dict[Value, Value] = {}
        self._lengths: dict[tuple[Dimension, int], Length] = {}
        self._sizes: dict[Dimension, Length] = {}
        self._present: dict[tuple[Length, int], Value] = {}
        self._varying = self.body.dependents([*self.body.inputs])
        for each, rows in growing:
            self._enter(each, rows)

    def read_rows(self, rows: Mapping[Value, Value]) -> None:
        """Read values that the body computes from the rows of all iterations."""
        for value, all_of_it in rows.items():
            number = self.emit.squeeze(self._number, 0, "number")
            self._replaced[value] = self.emit.add("Gather", [all_of_it, number], value.name, axis=0)

    def rewrite(self) -> None:
        """Compute what reads prefixes from all rows."""
        for node in self.body.nodes():
            self._visit(node)
        for value in self.body.outputs:
            self._slice(value)
        for value, cut in self._cut.items():
            self.body.replace_uses(value, cut)
        for value, result in self._replaced.items():
            self.body.replace_uses(value, result)
        drop_dead_nodes(self.body)

    # Lengths -------------------------------------------------------------------------------------

    @lazy_property
    def _number(self) -> Value:
        """The iteration number, of shape [1]."""
        assert self._iteration is not None
        if len(self._iteration.shape or ()) == 1:
            return self._iteration
        return self.emit.unsqueeze(self._iteration, 0, "number")

    def _enter(self, each: GrowingState, rows: AllRows) -> None:
        """Enter a state and its next value."""
        state, step = each.state, each.step
        for value, first in ((state.argument, each.start), (each.node.output(), each.start + step)):
            length = self._length(rows, each, first)
            self._prefixes[value] = Prefix(rows.rows, each.axis, length, False)
            shape = self._inference.fact(value).shape
            if shape is not None and shape[each.axis].value is None:
                self._sizes[shape[each.axis]] = length

    def _length(self, rows: AllRows, each: GrowingState, first: Dimension) -> Length:
        key = first, each.step
        if key not in self._lengths:
            emit, number, step = self.emit, self._number, each.step
            if step != 1:
                number = emit.add("Mul", [number, emit.vector((step,), "step")], "number")
            if first.value is not None:
                more = emit.vector((first.value,), "first")
                end = emit.add("Add", [number, more], "end") if first.value else number
            else:
                end = emit.add("Add", [number, rows.start], "end")
                ahead = (first - each.start).value
                if ahead:
                    end = emit.add("Add", [end, emit.vector((ahead,), "first")], "end")
            self._lengths[key] = Length(rows, end, first, step)
        return self._lengths[key]

    def _length_of(self, value: Value | None) -> Length | None:
        """The length that a value of one element holds; None for another one."""
        if value is None:
            return None
        index = self._indices.get(value)
        if index is not None:
            return self._lengths.get((index.start, index.step))
        size = element(self._inference.fact(value))
        return self._sizes.get(size) if isinstance(size, Dimension) else None

    def _present_at(self, prefix: Prefix, rank: int) -> Value:
        """The mask of the elements of a prefix, which broadcasts to the whole value."""
        behind, length = rank - 1 - prefix.axis, prefix.length
        if (length, behind) not in self._present:
            if behind:
                mask = self._present_at(dataclasses.replace(prefix, axis=rank - 1), rank)
                axes = tuple(range(1, 1 + behind))
                mask = self.emit.unsqueeze(mask, axes, "present")
            else:
                mask = self.emit.add("Less", [length.of.places, length.end], "present")
            self._present[length, behind] = mask
        return self._present[length, behind]

    def _filled(self, prefix: Prefix, value: Value | None, number: float) -> Value:
        """The whole value with a number beyond the prefix."""
        assert value is not None
        fact = self._fact(value)
        fill = self._constant(np.array(number, _dtype(fact)))
        mask = self._present_at(prefix, len(fact.shape or ()))
        return self.emit.add("Where", [mask, prefix.whole, fill], "masked")

    def _constant(self, array: Array) -> Value:
        return self.emit.constant(array, "fill")

    # Nodes ---------------------------------------------------------------------------------------

    def _fact(self, value: Value) -> Fact:
        return self._inference.fact(value)

    def _visit(self, node: Node) -> None:
        """Compute a node whole, or let it read Slices."""
        prefixes = [None if v is None else self._prefixes.get(v) for v in node.inputs]
        if any(value in self._prefixes for value in node.outputs):
            return
        own = [each for each in prefixes if each is not None]
        with readers_of(self.emit, node.outputs):
            if own and self._compute(node, prefixes):
                return
        if not own and node.is_op("Slice", "Range"):
            self._enter_cut(node)
        for value in reads(node):
            self._slice(value)

    def _slice(self, value: Value) -> None:
        prefix = self._prefixes.get(value)
        if prefix is None or prefix.is_own or value in self._cut:
            return
        bounds = [self.emit.vector((0,), "start"), prefix.length.end]
        axes = self.emit.vector((prefix.axis,), "axes")
        inputs = [prefix.whole, bounds[0], bounds[1], axes]
        self._cut[value] = self.emit.add("Slice", inputs, value.name)

    def _compute(self, node: Node, prefixes: Sequence[Prefix | None]) -> bool:
        """Compute a node from whole values; false where no rule serves."""
        facts = [Fact() if v is None else self._fact(v) for v in node.inputs]
        outputs = [self._fact(v) for v in node.outputs if v is not None]
        if any(fact.shape is None or not fact.elem_type for fact in outputs) or node.bodies:
            return False
        if any(
            v is not None and fact.shape is None for v, fact in zip(node.inputs, facts, strict=True)
        ):
            return False
        if self._along_axis(node, prefixes, facts):
            return True
        rule = _RULES.get(node.op_type) if not node.domain and not node.op.references else None
        return rule is not None and getattr(self, rule)(node, prefixes, facts)

    def _keep(
        self,
        node: Node,
        results: Sequence[Value],
        like: Prefix,
        axes: Sequence[int],
        inputs: Sequence[Prefix | None],
    ) -> None:
        """Enter results as prefixes."""
        varies = any(each.varies for each in inputs if each is not None)
        varies |= any(
            self._varies(value)
            for value, each in zip(node.inputs, inputs, strict=False)
            if each is None and value is not None
        )
        is_own = all(each.is_own for each in inputs if each is not None)
        for value, result, axis in zip(node.outputs, results, axes, strict=True):
            if value is not None:
                self._prefixes[value] = Prefix(result, axis, like.length, varies, False, is_own)

    def _varies(self, value: Value) -> bool:
        return value in self._varying or value.producer in self._varying

    # Position by position ------------------------------------------------------------------------

    def _along_axis(
        self, node: Node, prefixes: Sequence[Prefix | None], facts: Sequence[Fact]
    ) -> bool:
        """Compute a node that works position by position along the axis of its prefixes."""
        length = _common_length(prefixes)
        shape = self._fact(node.output()).shape if node.outputs[0] is not None else None
        if length is None or shape is None:
            return False
        if node.is_op(*_FAILING) and facts[0].elem_type not in (*_MASKED, onnx.TensorProto.FLOAT16):
            return False
        rules = rules_of(node.op)
        for axis in range(len(shape)):
            mapping = rules.axis_map(node, facts, axis)
            if mapping is None or any(isinstance(key, int) for key in mapping.changed or ()):
                continue
            places = [*mapping.inputs, *[None] * (len(prefixes) - len(mapping.inputs))]
            if len(node.outputs) > 1 and not mapping.all_outputs:
                continue
            if all(map(self._goes_along, node.inputs, prefixes, places, facts)):
                inputs = [
                    value if prefix is None else prefix.whole
                    for value, prefix in zip(node.inputs, prefixes, strict=True)
                ]
                labels = [v.name if v is not None else "unread" for v in node.outputs]
                results = self.emit.add_unchecked(node.op, inputs, labels)
                like = next(each for each in prefixes if each is not None)
                self._keep(node, results, like, [axis] * len(results), prefixes)
                return True
        return False

    def _goes_along(
        self, value: Value | None, prefix: Prefix | None, place: int | None, fact: Fact
    ) -> bool:
        """Test for a prefix along an axis, or the same elements at each position."""
        if value is None:
            return True
        if prefix is not None:
            return place == prefix.axis
        return place is None or (fact.shape is not None and fact.shape[place] == 1)

    # Slices and numbers --------------------------------------------------------------------------

    def _enter_cut(self, node: Node) -> None:
        """Enter a Slice or a Range as long as a prefix; the body keeps the node."""
        length = self._length_of(node.input(2) if node.is_op("Slice") else node.input(1))
        if length is None or node.op.references:
            return
        facts = [Fact() if v is None else self._fact(v) for v in node.inputs]
        if node.is_op("Range"):
            bounds = [None if (n := integers(facts[at])) is None else n.item() for at in (0, 2)]
            if bounds == [0, 1] and facts[0].elem_type == onnx.TensorProto.INT64:
                own = Prefix(length.of.places, 0, length, False, is_own=True)
                self._prefixes[node.output()] = own
        else:
            self._enter_slice(node, facts, length)

    def _enter_slice(self, node: Node, facts: Sequence[Fact], length: Length) -> None:
        view, shape = read_slice(node, self._fact), facts[0].shape
        if view is None or not shape or view.start != 0:
            return
        data, axis = view.source, view.axis
        if (shape[axis].value or 0) < _MANY:
            return
        emit, ends = self.emit, [self.emit.vector((0,), "start"), length.of.total]
        inputs = [data, *ends, emit.vector((axis,), "axes")]
        whole = emit.add("Slice", inputs, node.output().name)
        own = Prefix(whole, axis, length, self._varies(data), is_own=True)
        self._prefixes[node.output()] = own

    # Operators -----------------------------------------------------------------------------------

    def softmax(self, node: Node, prefixes: Sequence[Prefix | None], facts: Sequence[Fact]) -> bool:
        """Compute a Softmax along the prefix: beyond it there are zeros."""
        prefix, rank = prefixes[0], len(facts[0].dims)
        axis = node.attribute("axis", 1 if self.emit.opset < 13 else -1) % rank
        is_last = axis == rank - 1
        if prefix is None or prefix.axis != axis or (self.emit.opset < 13 and not is_last):
            return False
        masked = self._filled(prefix, node.inputs[0], -np.inf)
        (result,) = self.emit.add_unchecked(node.op, [masked], [node.output().name])
        filled = prefix.length.is_positive
        own = prefix.is_own
        self._prefixes[node.output()] = Prefix(result, axis, prefix.length, True, filled, own)
        return True

    def product(self, node: Node, prefixes: Sequence[Prefix | None], facts: Sequence[Fact]) -> bool:
        """Compute a MatMul whose inner axis is that of two prefixes."""
        length = _common_length(prefixes)
        if length is None or None in prefixes or facts[0].elem_type not in _MASKED:
            return False
        (one, other), ranks = prefixes, [len(fact.dims) for fact in facts]
        assert one is not None and other is not None
        if one.axis != ranks[0] - 1 or other.axis != max(ranks[1] - 2, 0):
            return False
        lhs = one.whole if one.is_filled else self._filled(one, node.inputs[0], 0.0)
        lost = None
        if other.is_filled:
            rhs = other.whole
        elif other.varies or not _is_weight(node.input(0)):
            rhs = self._filled(other, node.inputs[1], 0.0)
        else:
            rhs, lost = self._finite_part(other, facts[1])
            if ranks[0] == 1 or ranks[1] == 1:
                lost = self.emit.squeeze(lost, other.axis, "lost")
        (result,) = self.emit.add_unchecked(node.op, [lhs, rhs], [node.output().name])
        if lost is not None:
            result = self.emit.add("Add", [result, lost], node.output().name)
        self._finish(node, result, prefixes)
        return True

    def _finish(self, node: Node, result: Value, prefixes: Sequence[Prefix | None]) -> None:
        """Let readers of a node read a result, unless the body keeps the node."""
        if not all(each.is_own for each in prefixes if each is not None):
            self._replaced[node.output()] = result

    def _finite_part(self, prefix: Prefix, fact: Fact) -> tuple[Value, Value]:
        """The finite elements of a loop-invariant value, and the sum of the prefix's others.

        An infinity or NaN of a later iteration times zero would be NaN. Times a weight, which is
        positive, it stays what it is.
        """
        emit, whole, dtype = self.emit, prefix.whole, _dtype(fact)
        zero, infinity = (self._constant(np.array(n, dtype)) for n in (0, np.inf))
        finite = emit.add("Less", [emit.add("Abs", [whole], "size"), infinity], "finite")
        rhs = emit.add("Where", [finite, whole, zero], "numbers")
        others = emit.add("Where", [finite, zero, whole], "others")
        at = emit.constant(np.array(prefix.axis, np.int64), "axis")
        sums = emit.add("CumSum", [others, at], "sums")
        pads = [int(index == prefix.axis) for index in range(2 * len(fact.dims))]
        sums = emit.add("Pad", [sums, emit.vector(tuple(pads), "pads")], "sums")
        lost = emit.add("Gather", [sums, prefix.length.end], "lost", axis=prefix.axis)
        return rhs, lost

    def reduction(
        self, node: Node, prefixes: Sequence[Prefix | None], facts: Sequence[Fact]
    ) -> bool:
        """Compute a reduction of the prefix, with neutral elements beyond it.

        A Slice of what is the same in each iteration has a better form: running sums.
        """
        prefix, rank = prefixes[0], len(facts[0].dims)
        if prefix is None or not prefix.varies or facts[0].elem_type not in _MASKED:
            return False
        axes = listed_numbers(node, facts, "axes", 1)
        if axes is None and node.input(1) is not None:
            return False
        if not axes and node.attribute("noop_with_empty_axes", 0):
            return False
        places = {axis % rank for axis in axes or range(rank)}
        if prefix.axis not in places:
            return False
        is_mean = node.is_op("ReduceMean")
        masked = self._filled(prefix, node.inputs[0], -0.0 if is_mean else NEUTRAL[node.op_type])
        keepdims = node.attribute("keepdims", 1)
        if not is_mean:
            (result,) = self.emit.add_unchecked(
                node.op, [masked, *node.inputs[1:]], [node.output().name]
            )
            self._finish(node, result, prefixes)
            return True
        others = product([d for at, d in enumerate(facts[0].dims) if at in places - {prefix.axis}])
        if not others.value:
            return False
        total = self.emit.reduce("ReduceSum", masked, tuple(sorted(places)), "sum", keepdims)
        count = self.emit.add(
            "Mul", [prefix.length.end, self.emit.vector((others.value,), "k")], "count"
        )
        count = self.emit.add("Cast", [count], "count", to=facts[0].elem_type)
        dtype = onnx.helper.tensor_dtype_to_np_dtype(facts[0].elem_type)
        one = self.emit.constant(np.array(1, dtype), "one")
        count = self.emit.add("Max", [count, one], "count")  # the mean of nothing is 0
        if not self._fact(node.output()).shape:
            count = self.emit.squeeze(count, 0, "count")
        self._finish(node, self.emit.add("Div", [total, count], node.output().name), prefixes)
        return True

    def shape(self, node: Node, prefixes: Sequence[Prefix | None], facts: Sequence[Fact]) -> bool:
        """Compute the Shape of a prefix."""
        (prefix,), rank = prefixes, len(facts[0].dims)
        if prefix is None or node.attribute("start", 0) or node.attribute("end") is not None:
            return False
        sizes = self.emit.add("Shape", [prefix.whole], "sizes")
        parts = [prefix.length.end]
        if prefix.axis:
            parts.insert(0, self.emit.slice(sizes, 0, prefix.axis, "before"))
        if prefix.axis + 1 < rank:
            parts.append(self.emit.slice(sizes, prefix.axis + 1, rank, "behind"))
        self._finish(node, self.emit.concat(parts, 0, node.output().name), prefixes)
        return True

    def reshape(self, node: Node, prefixes: Sequence[Prefix | None], facts: Sequence[Fact]) -> bool:
        """Compute a Reshape, Squeeze or Unsqueeze of the axes around that of the prefix."""
        prefix, new = prefixes[0], self._fact(node.output()).dims
        if prefix is None or any(prefixes[1:]):
            return False
        old, axis = facts[0].dims, prefix.axis
        for place in range(len(new)):
            sides = [(old[:axis], new[:place]), (old[axis + 1 :], new[place + 1 :])]
            if new[place] != old[axis] or not all(product(a) == product(b) for a, b in sides):
                continue
            if node.is_op("Reshape"):
                return self._resize(node, prefix, new, place, -1)
            inputs = [prefix.whole, *node.inputs[1:]]
            results = self.emit.add_unchecked(node.op, inputs, [node.output().name])
            self._keep(node, results, prefix, [place], [prefix])
            return True
        return False

    def expand(self, node: Node, prefixes: Sequence[Prefix | None], facts: Sequence[Fact]) -> bool:
        """Compute an Expand along other axes than that of the prefix."""
        prefix, new = prefixes[0], self._fact(node.output()).dims
        if prefix is None or any(prefixes[1:]):
            return False
        place = prefix.axis + len(new) - len(facts[0].dims)
        if new[place] != facts[0].dims[prefix.axis]:
            return False
        return self._resize(node, prefix, new, place, 1)

    def _resize(self, node: Node, prefix: Prefix, new: Shape, place: int, own: int) -> bool:
        """Emit a Reshape or Expand to known sizes."""
        sizes = [own if at == place else dim.value for at, dim in enumerate(new)]
        if not all(sizes):
            return False
        target = self.emit.vector(tuple([size or 0 for size in sizes]), "sizes")
        (result,) = self.emit.add_unchecked(node.op, [prefix.whole, target], [node.output().name])
        self._keep(node, [result], prefix, [place], [prefix])
        return True


_REDUCTIONS = [*NEUTRAL, "ReduceMean"]
_RULES = {
    "Softmax": "softmax",
    "MatMul": "product",
    "Shape": "shape",
    **dict.fromkeys(("Reshape", "Squeeze", "Unsqueeze"), "reshape"),
    "Expand": "expand",
    **dict.fromkeys(_REDUCTIONS, "reduction"),
}
"""The rules of operators that do not work position by position, by their methods."""


def _common_length(prefixes: Sequence[Prefix | None]) -> Length | None:
    """The length of all prefixes; None for different ones."""
    lengths = {each.length for each in prefixes if each is not None}
    return lengths.pop() if len(lengths) == 1 else None


_WEIGHTS = ("Softmax", "Exp", "Sigmoid")
_SAME = ("Identity", "Cast", "Reshape", "Squeeze", "Transpose", "Unsqueeze", "ReduceSum")


def _is_weight(value: Value | None) -> bool:
    """Test for numbers that are positive, but for underflow."""
    node = None if value is None else value.producer
    if node is None or node.is_op(*_WEIGHTS):
        return node is not None
    if node.is_op("Div"):
        return all(map(_is_weight, node.inputs))
    return node.is_op(*_SAME) and _is_weight(node.inputs[0])


def _dtype(fact: Fact) -> np.dtype:
    return onnx.helper.tensor_dtype_to_np_dtype(fact.elem_type)
