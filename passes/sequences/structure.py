"""What is decided about sequences and optionals before run time: which values they hold."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import onnx

from ...analysis.constants.provenance import origins
from ...analysis.shapes.inference import ShapeInference
from ...analysis.trips.trip_count import whole_number
from ...facts.reason import Message
from ...ir import Node, Value

_POSITION_UNKNOWN = Message("position-unknown", "its position depends on {cause}")
_UNKNOWN_FROM = Message("structure-unknown", "its {structure} comes from {node}: {cause}")

LazyValue = Callable[[], Value]
"""Gives one element of a sequence; it may make nodes when it is first asked."""


class KnownSequence:
    """A sequence whose elements are known, in order.

    One that came from another by a single edit remembers the edit: a list that a loop built has
    thousands of versions, and to copy each would take quadratic space.

    Args:
        flat: the elements, for a sequence that is not an edit of another.
    """

    __slots__ = ("_asked_before", "_at", "_base", "_element", "_flat", "count")

    def __init__(self, flat: tuple[LazyValue, ...] = ()) -> None:
        self.count = len(flat)
        self._flat: tuple[LazyValue, ...] | None = flat
        self._base = self
        self._at = 0
        self._element: LazyValue | None = None
        self._asked_before = False

    def inserted(self, at: int, element: LazyValue) -> KnownSequence:
        """With one more element, before the one at a position."""
        return self._edited(1, at, element)

    def erased(self, at: int) -> KnownSequence:
        """Without the element at a position."""
        return self._edited(-1, at, None)

    def _edited(self, more: int, at: int, element: LazyValue | None) -> KnownSequence:
        edited = KnownSequence()
        edited.count = self.count + more
        edited._flat, edited._base, edited._at, edited._element = None, self, at, element
        return edited

    def element(self, index: int) -> LazyValue:
        """One element.

        Of most versions of a list at most one element is asked for: it is found by going back over
        the edits, and nothing is written down. Who asks a second time may ask for all, so that
        question puts all of them in order.
        """
        if self._asked_before:
            return self.all()[index]
        self._asked_before = True
        return self._behind_edits(index)

    def _behind_edits(self, index: int) -> LazyValue:
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
class Held:
    """An optional that holds a value, or, with None, nothing."""

    value: Value | None


Structure = KnownSequence | Held


class Undecided(Exception):
    """Why the structure of a sequence or optional is not known; never leaves its pass.

    Attributes:
        reason: the sentence.
        inherited: the reason lies with another node, which the text names.
    """

    def __init__(self, reason: str, inherited: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.inherited = inherited


class Structures:
    """The sequences and optionals of a model whose structure is known.

    Args:
        inference: tells types.

    Attributes:
        known: the structure of values.
        reasons: why a node's result is not known.
    """

    def __init__(self, inference: ShapeInference) -> None:
        self.inference = inference
        self.known: dict[Value, Structure] = {}
        self.reasons: dict[Node, Undecided] = {}

    def sequence(self, value: Value | None) -> KnownSequence:
        """The elements of a sequence.

        Raises:
            Undecided: they are not known.
        """
        structure = None if value is None else self.known.get(value)
        if isinstance(structure, KnownSequence):
            return structure
        raise self._unknown(value, "sequence")

    def optional(self, value: Value) -> Held:
        """What an optional holds.

        Raises:
            Undecided: that is not known.
        """
        structure = self.known.get(value)
        if isinstance(structure, Held):
            return structure
        raise self._unknown(value, "optional")

    def kinds(self, value: Value) -> frozenset[str]:
        """What a value may be: of "tensor", "seq" and "optional" those that are possible."""
        structure = self.known.get(value)
        if structure is not None:
            return frozenset({"seq" if isinstance(structure, KnownSequence) else "optional"})
        type_ = value.type or self.inference.fact(value).type_proto()
        kind = type_.WhichOneof("value") if type_ is not None else None
        if kind is not None:
            return frozenset({_KINDS.get(kind, kind)})
        return _kinds_by_operator(value)

    def _unknown(self, value: Value | None, kind: str) -> Undecided:
        """Why nothing is known about a value."""
        if value is None:
            return Undecided(f"its {kind} is absent, so it fails at run time")
        node = value.producer
        if node is None:
            return Undecided(f"its {kind} is {_source(value)}, known only at run time")
        reason = self.reasons.get(node)
        if reason is None:
            return Undecided(f"its {kind} comes from {node}, which stays")
        if reason.inherited:
            return reason
        return Undecided(
            _UNKNOWN_FROM(reason.reason, structure=kind, node=str(node)), inherited=True
        )


def _source(value: Value) -> str:
    """What a value is that no node computes."""
    graph = value.owner
    if graph is not None and graph.holder is not None:
        return f"'{value.name}' of the body of {graph.holder}"
    root = graph.root if graph is not None else None
    return f"input '{value.name}'" + (f" of {root}" if getattr(root, "name", "") else "")


_KINDS = {"tensor_type": "tensor", "sequence_type": "seq", "optional_type": "optional"}
_ALL_KINDS = frozenset(_KINDS.values())


def _kinds_by_operator(value: Value) -> frozenset[str]:
    """What the specification of its operator lets an undeclared value be."""
    node = value.producer
    if node is None or node.graph is None:
        return _ALL_KINDS
    domain = "" if node.domain == "ai.onnx" else node.domain
    version = node.graph.root.opset(domain)
    if not version or not onnx.defs.has(node.op_type, domain):
        return _ALL_KINDS
    try:
        schema = onnx.defs.get_schema(node.op_type, version, domain)
    except onnx.defs.SchemaError:
        return _ALL_KINDS
    index = min(node.outputs.index(value), len(schema.outputs) - 1)
    return frozenset(text.partition("(")[0] for text in schema.outputs[index].types)


def plain(value: Value) -> LazyValue:
    """An element that is there already."""
    return lambda: value


def position(value: Value | None, low: int, high: int, default: int) -> int:
    """A decided position in a sequence, counted from the front.

    Args:
        value: the input that gives it; negative positions count from the back.
        low, high: the range that the operator allows, both ends included; -low is the length.
        default: the position where the input is absent.

    Raises:
        Undecided: it is not constant, or outside the range.
    """
    if value is None:
        index = default
    elif value.constant is None:
        raise Undecided(_POSITION_UNKNOWN(origins(value)))
    elif value.constant.size != 1:
        raise Undecided(f"its position has {value.constant.size} elements; it must be one")
    else:
        number = whole_number(value)
        if number is None:
            raise Undecided(f"its position '{value.name}' is no integer")
        index = number
    if not low <= index <= high:
        raise Undecided(
            f"position {index} is outside a sequence of {-low}, so it fails at run time"
        )
    return index - low if index < 0 else index
