"""Ranks without sizes: cheap enough to ask for at every node of a large graph.

Most operators keep the rank of what they are given, or change it by as much as a constant or an
attribute says. What the rules here leave open is left to whoever knows shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator
from typing import NamedTuple

from ...ir import Model, Node, Value
from ...ops.elementwise import Elementwise
from ...ops.rules import KeepsShape, rules_of


class _Question(NamedTuple):
    """The rank of a value, or the length of one that has rank 1."""

    value: Value | None
    is_length: bool = False


_Answer = Generator[_Question, int | None, int | None]
"""Asks what it needs to know, one after the other, and gives back the answer; None if open."""

_Rule = Callable[[Node], _Answer]


class Ranks:
    """Ranks of the values of a model, remembered once found.

    Args:
        model: the model; values inside its functions have the ranks of each call, so they are not
            to be asked for.
        beyond: tells the rank of a value about which the rules say nothing; None if it is open.
    """

    def __init__(self, model: Model, beyond: Callable[[Value], int | None]) -> None:
        self._functions = model.functions
        self._beyond = beyond
        self._known: dict[_Question, int | None] = {_Question(None): None}

    def of(self, value: Value) -> int | None:
        """The rank of a tensor; None where it is not known."""
        known, first = self._known, _Question(value)
        if first in known:
            return known[first]
        waiting = [(first, self._answer(first))]
        answer: int | None = None
        while waiting:
            question, rule = waiting[-1]
            try:
                needed = rule.send(answer)
            except StopIteration as done:
                answer = known[question] = done.value
                waiting.pop()
                continue
            answer = known.get(needed)
            if needed not in known:
                waiting.append((needed, self._answer(needed)))
        return known[first]

    def forget(self, value: Value) -> None:
        """Take note that more is known about a value than when it was asked for."""
        self._known.pop(_Question(value), None)

    def _answer(self, question: _Question) -> _Answer:
        value = question.value
        if value is None:
            return None
        if question.is_length:
            return (yield from self._length(value))
        if value.constant is not None:
            return len(value.constant.dims)
        rule = self._rule(value)
        rank = None if rule is None else (yield from rule)
        return self._beyond(value) if rank is None else rank

    def _rule(self, value: Value) -> _Answer | None:
        node = value.producer
        if node is None or node.op.references or self._is_call(node):
            return None
        op = node.op
        known = _RULES.get(op.qualname)
        if known is not None:
            rule, outputs = known
            within = node.outputs if outputs is None else node.outputs[:outputs]
            return rule(node) if value in within else None  # values are equal to themselves only
        rules = rules_of(op)
        if value is not node.outputs[0]:
            return None
        if isinstance(rules, KeepsShape) and not _redefines(rules, KeepsShape):
            return _of_first(node)
        if isinstance(rules, Elementwise) and not _redefines(rules, Elementwise):
            return _of_largest(node)
        return None

    def _is_call(self, node: Node) -> bool:
        return bool(self._functions) and node.op.function_key in self._functions

    def _length(self, value: Value) -> _Answer:
        """The length of a vector, as far as it follows without any sizes."""
        node = value.producer
        if value.constant is not None:
            dims = value.constant.dims
            return dims[0] if len(dims) == 1 else None
        if node is None or node.op.references or self._is_call(node):
            return None
        if node.is_op("Shape") and not node.op.attributes:
            return (yield _Question(node.input(0)))
        if node.is_op("Cast", "Identity"):
            return (yield _Question(node.input(0), is_length=True))
        if node.is_op("Unsqueeze"):
            return 1 if (yield _Question(node.input(0))) == 0 else None
        if node.is_op("Concat"):
            return (yield from _total_length(node))
        return None


def _redefines(rules: object, base: type[KeepsShape] | type[Elementwise]) -> bool:
    """Whether a class says something else of shapes than the family that it is of."""
    return type(rules).shapes is not base.shapes  # type: ignore[attr-defined]


def _total_length(node: Node) -> _Answer:
    total = 0
    for part in dict.fromkeys(node.inputs):
        length = yield _Question(part, is_length=True)
        if length is None:
            return None
        total += length * node.inputs.count(part)
    return total


# How the rank of an output follows --------------------------------------------------------------


def _of_first(node: Node) -> _Answer:
    return (yield _Question(node.input(0)))


def _of_largest(node: Node) -> _Answer:
    largest = 0
    for value in node.inputs:
        rank = yield _Question(value)
        if rank is None:
            return None
        largest = max(largest, rank)
    return largest


def _always(rank: int) -> _Rule:
    def rule(node: Node) -> _Answer:
        yield from ()
        return rank

    return rule


def _more(added: int) -> _Rule:
    def rule(node: Node) -> _Answer:
        rank = yield _Question(node.input(0))
        return None if rank is None else rank + added

    return rule


def _of_shape(position: int) -> _Rule:
    """The rank is the length of an input."""

    def rule(node: Node) -> _Answer:
        return (yield _Question(node.input(position), is_length=True))

    return rule


def _transposed(node: Node) -> _Answer:
    order = node.op.attributes.get("perm")
    return len(order.ints) if order is not None else (yield from _of_first(node))


def _product(node: Node) -> _Answer:
    first = yield _Question(node.input(0))
    second = yield _Question(node.input(1))
    if not first or not second:
        return None
    # A vector loses its only axis in the product.
    return max(first, second, 2) - (first == 1) - (second == 1)


def _gathered(node: Node) -> _Answer:
    data = yield _Question(node.input(0))
    indices = yield _Question(node.input(1))
    return None if data is None or indices is None else data + indices - 1


def _expanded(node: Node) -> _Answer:
    rank = yield _Question(node.input(0))
    length = yield _Question(node.input(1), is_length=True)
    return None if rank is None or length is None else max(rank, length)


def _reshaped(node: Node) -> _Answer:
    # Below opset 5 the shape is an attribute.
    shape = node.op.attributes.get("shape")
    return len(shape.ints) if shape is not None else (yield from _of_shape(1)(node))


def _unsqueezed(node: Node) -> _Answer:
    rank, axes = (yield _Question(node.input(0))), _axes(node)
    return None if rank is None or axes is None else rank + len(axes)


def _squeezed(node: Node) -> _Answer:
    rank, axes = (yield _Question(node.input(0))), _axes(node)
    return None if rank is None or not axes else rank - _different(axes, rank)


def _reduced(node: Node) -> _Answer:
    rank = yield _Question(node.input(0))
    if rank is None or node.attribute("keepdims", 1):
        return rank
    is_given = node.input(1) is not None
    axes = _axes(node)
    if axes is None and is_given:
        return None
    if not axes:
        return rank if node.attribute("noop_with_empty_axes", 0) else 0
    return rank - _different(axes, rank)


def _position_found(node: Node) -> _Answer:
    rank = yield _Question(node.input(0))
    return rank if rank is None or node.attribute("keepdims", 1) else rank - 1


def _axes(node: Node) -> Collection[int] | None:
    """The axes of a node, from its attribute or from input 1; None where they are not known."""
    written = node.op.attributes.get("axes")
    if written is not None:
        return list(written.ints)
    value = node.input(1)
    if value is None or value.constant is None:
        return None
    return [int(axis) for axis in value.constant.numpy().flat]


def _different(axes: Collection[int], rank: int) -> int:
    return len({axis % max(rank, 1) for axis in axes})


_RULES: dict[str, tuple[_Rule, int | None]] = {}
"""By operator: the rule, and for how many of the first outputs it holds; None for all."""


def _enter(rule: _Rule, names: str, outputs: int | None = 1) -> None:
    _RULES.update(dict.fromkeys(names.split(), (rule, outputs)))


_enter(
    _of_first,
    "AveragePool BatchNormalization Concat Conv ConvTranspose CumSum DepthToSpace DequantizeLinear"
    " GatherElements GlobalAveragePool GlobalMaxPool GridSample GroupNormalization Hardmax"
    " InstanceNormalization LRN LayerNormalization LogSoftmax LpNormalization"
    " MeanVarianceNormalization Pad QuantizeLinear RMSNormalization Resize Scatter"
    " ScatterElements ScatterND Slice Softmax SpaceToDepth Tile Trilu Upsample",
)
_enter(_of_first, "Dropout MaxPool Split TopK", None)
_enter(_of_largest, "Where")
_enter(_always(0), "Size")
_enter(_always(1), "Range Shape")
_enter(_always(2), "Flatten Gemm NonMaxSuppression NonZero")
_enter(_always(4), "RoiAlign")
_enter(_more(1), "OneHot")
_enter(_of_shape(0), "ConstantOfShape")
_enter(_transposed, "Transpose")
_enter(_product, "MatMul")
_enter(_gathered, "Gather")
_enter(_expanded, "Expand")
_enter(_reshaped, "Reshape")
_enter(_unsqueezed, "Unsqueeze")
_enter(_squeezed, "Squeeze")
_enter(_position_found, "ArgMax ArgMin")
_enter(
    _reduced,
    "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd"
    " ReduceSum ReduceSumSquare",
)
