"""The structure of sequences and optionals: the values that they hold."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import onnx

from ...analysis.constants.provenance import origins
from ...analysis.iterations.trip_count import whole_number
from ...analysis.shapes.inference import ShapeInference
from ...facts.obstacle import Obstacle
from ...facts.reason import Message
from ...ir import Node, Value, normal_domain
from ...ops.schemas import types_of

_POSITION_UNKNOWN = Message("position-unknown", "its position depends on {cause}")
_UNKNOWN_FROM = Message("structure-unknown", "its {structure} comes from {node}: {cause}")

LazyValue = Callable[[], Value]
"""An element of a sequence; the first call may emit nodes."""

_ABSENT = Message("structure-absent", "its {structure} is absent, so it fails at run time")
_AT_RUN_TIME = Message(
    "structure-at-run-time", "its {structure} is {source}, known only at run time"
)
_FROM_NODE = Message("structure-of-node", "its {structure} comes from {node}, which stays")
_POSITION_SIZE = Message(
    "position-not-scalar", "its position has {elements} elements; it must be one"
)
_POSITION_TYPE = Message("position-not-integer", "its position '{value}' is not an integer")
_POSITION_OUTSIDE = Message(
    "position-outside",
    "position {position} is outside a sequence of {length}, so it fails at run time",
)


class KnownSequence:
    """A sequence whose elements are known, in order.

    A sequence that differs from another by one edit stores the edit: a list that a loop builds has
    thousands of versions, and copies of each would need quadratic space.

    Args:
        flat: the elements, for a sequence that is not an edit of another.
    """

    __slots__ = ("_at", "_base", "_element", "_flat", "_queried", "count")

    def __init__(self, flat: tuple[LazyValue, ...] = ()) -> None:
        self.count = len(flat)
        self._flat: tuple[LazyValue, ...] | None = flat
        self._base = self
        self._at = 0
        self._element: LazyValue | None = None
        self._queried = False

    def insert(self, at: int, element: LazyValue) -> KnownSequence:
        """A new sequence with one more element, before a position."""
        return self._edit(1, at, element)

    def erase(self, at: int) -> KnownSequence:
        """A new sequence without the element at a position."""
        return self._edit(-1, at, None)

    def _edit(self, more: int, at: int, element: LazyValue | None) -> KnownSequence:
        edited = KnownSequence()
        edited.count = self.count + more
        edited._flat, edited._base, edited._at, edited._element = None, self, at, element
        return edited

    def element(self, index: int) -> LazyValue:
        """One element.

        Most versions of a list are read at most once: a walk back over the edits finds the element,
            and caches nothing. The second read may precede reads of all elements, so it flattens
            the list.
        """
        if self._queried:
            return self.all()[index]
        self._queried = True
        version = self
        while version._flat is None:
            if version._element is None:
                index += index >= version._at
            elif index == version._at:
                return version._element
            else:
                index -= index > version._at
            version = version._base
        return version._flat[index]

    def all(self) -> tuple[LazyValue, ...]:
        """All elements."""
        edits = []
        version = self
        while version._flat is None:
            edits.append(version)
            version = version._base
        elements = list(version._flat)
        for edit in reversed(edits):
            if edit._element is None:
                del elements[edit._at]
            else:
                elements.insert(edit._at, edit._element)
        self._flat = tuple(elements)
        return self._flat


@dataclasses.dataclass(frozen=True)
class OptionalContent:
    """An optional that holds a value, or, with None, nothing."""

    value: Value | None


Structure = KnownSequence | OptionalContent


class Structures:
    """The sequences and optionals of a model whose structure is known.

    Attributes:
        contents: the structure of values.
        reasons: the obstacle of each node with an unknown result.
    """

    def __init__(self, inference: ShapeInference) -> None:
        self.inference = inference
        self.contents: dict[Value, Structure] = {}
        self.reasons: dict[Node, Obstacle] = {}

    def sequence(self, value: Value | None) -> KnownSequence:
        """The elements of a sequence.

        Raises:
            Obstacle: the elements are unknown.
        """
        structure = None if value is None else self.contents.get(value)
        if isinstance(structure, KnownSequence):
            return structure
        raise self._obstacle(value, "sequence")

    def optional(self, value: Value) -> OptionalContent:
        """The content of an optional.

        Raises:
            Obstacle: the content is unknown.
        """
        structure = self.contents.get(value)
        if isinstance(structure, OptionalContent):
            return structure
        raise self._obstacle(value, "optional")

    def kinds(self, value: Value) -> frozenset[str]:
        """The possible kinds of a value, out of "tensor", "seq" and "optional"."""
        structure = self.contents.get(value)
        if structure is not None:
            return frozenset({"seq" if isinstance(structure, KnownSequence) else "optional"})
        type_ = value.type or self.inference.fact(value).type_proto()
        kind = type_.WhichOneof("value") if type_ is not None else None
        if kind is not None:
            return frozenset({_KINDS.get(kind, kind)})
        return _kinds_by_operator(value)

    def _obstacle(self, value: Value | None, kind: str) -> Obstacle:
        """The reason why a value's structure is unknown."""
        if value is None:
            return Obstacle(_ABSENT(structure=kind))
        node = value.producer
        if node is None:
            return Obstacle(_AT_RUN_TIME(structure=kind, source=_source(value)))
        reason = self.reasons.get(node)
        if reason is None:
            return Obstacle(_FROM_NODE(structure=kind, node=str(node)))
        if reason.node is not None:
            return reason
        return Obstacle(_UNKNOWN_FROM(reason.reason, structure=kind, node=str(node)), node)


def _source(value: Value) -> str:
    """The description of a value without a producer."""
    graph = value.owner
    if graph is not None and graph.holder is not None:
        return f"'{value.name}' of the body of {graph.holder}"
    root = graph.root if graph is not None else None
    return f"input '{value.name}'" + (f" of {root}" if getattr(root, "name", "") else "")


_KINDS = {"tensor_type": "tensor", "sequence_type": "seq", "optional_type": "optional"}
_ALL_KINDS = frozenset(_KINDS.values())


def _kinds_by_operator(value: Value) -> frozenset[str]:
    """The kinds that the operator's specification allows for an undeclared value."""
    node = value.producer
    if node is None or node.graph is None:
        return _ALL_KINDS
    domain = normal_domain(node.domain)
    try:
        version = node.graph.root.opset(domain) or 0
        schema = onnx.defs.get_schema(node.op_type, version, domain)
    except onnx.defs.SchemaError:
        return _ALL_KINDS
    index = min(node.outputs.index(value), len(schema.outputs) - 1)
    return frozenset(text.partition("(")[0] for text in types_of(schema, schema.outputs[index]))


def plain(value: Value) -> LazyValue:
    """An element that exists already."""
    return lambda: value


def position(value: Value | None, low: int, high: int, default: int) -> int:
    """A decided position in a sequence, counted from the front.

    Args:
        value: the input that holds it; negative positions count from the back.
        low, high: the range that the operator allows, both ends included; -low is the length.
        default: the position where the input is absent.

    Raises:
        Obstacle: it is not constant, or outside the range.
    """
    if value is None:
        index = default
    elif value.constant is None:
        raise Obstacle(_POSITION_UNKNOWN(origins(value)))
    elif value.constant.size != 1:
        raise Obstacle(_POSITION_SIZE(elements=value.constant.size))
    else:
        number = whole_number(value)
        if number is None:
            raise Obstacle(_POSITION_TYPE(value=value.name))
        index = number
    if not low <= index <= high:
        raise Obstacle(_POSITION_OUTSIDE(position=index, length=-low))
    return index - low if index < 0 else index
