"""Strings that iterations extend at their ends, or begin anew.

t = StringConcat (s, e)             s -> before + (c ? "" : s) + after
s' = Where (c, e, t)        ->      rows of after and c, joined in steps of doubling distance

Where no iteration has a part before the string, only those after it are joined.
"""

from collections.abc import Callable, Sequence

import numpy as np
import onnx

from ....facts.fact import Fact
from ....ir import Node, Value
from ....ops.builder import Builder
from ....ops.schema_queries import is_defined
from ....records import record
from ..weights import Unfit
from .coefficients import broadcast
from .recurrence import Recurrence, Replacement
from .reductions import replace_rows

_STRING, _BOOL = onnx.TensorProto.STRING, onnx.TensorProto.BOOL
_OTHER = "it is not a string that iterations extend"


@record(frozen=True)
class _Text:
    """The string before + (reset ? "" : state) + after, of rows of all iterations.

    Attributes:
        before, after: the parts; None for an empty one.
        reset: the condition; None for never.
        is_constant: true if it always holds.
    """

    before: Value | None = None
    after: Value | None = None
    reset: Value | None = None
    is_constant: bool = False


def raise_texts(recurrence: Recurrence) -> Replacement:
    """Replace a string that each iteration extends at its ends, or begins anew."""
    (state, *others), emit, fact = recurrence.states, recurrence.emit, recurrence.state_fact
    is_text = fact.elem_type == _STRING and is_defined("StringConcat", emit.opset)
    if others or not is_text or fact.shape is None:
        raise Unfit(_OTHER)
    recurrence.require_room(fact)
    reader = _Reader(recurrence, fact)
    text = reader.read(state.result)
    first, empty = recurrence.first_row(), reader.empty
    parts = [part for part in (text.before, text.after) if part is not None]
    if not parts:
        raise Unfit(_OTHER)
    rows = [emit.concat([first, parts[0]], 0, "rows")]
    if len(parts) > 1:
        none = emit.add("Expand", [empty, emit.add("Shape", [first], "shape")], "none")
        rows.append(emit.concat([none, parts[1]], 0, "rows"))
    facts = [fact] * len(rows)
    if text.reset is not None:
        yes = emit.constant(np.array(True), "yes")
        true = emit.add("Expand", [yes, emit.add("Shape", [first], "shape")], "first")
        rows.append(emit.concat([true, text.reset], 0, "resets"))
        facts.append(Fact(_BOOL, fact.shape))
    has = text.before is not None, text.after is not None, text.reset is not None
    joined = recurrence.prefixes(_compose(*has), rows, facts)
    every = joined[0]
    if all(has[:2]):
        every = emit.add("StringConcat", joined[:2], state.result.name)
    return replace_rows(recurrence, [every], "StringConcat in steps of doubling distance", True)


def _compose(has_before: bool, has_after: bool, has_reset: bool) -> Callable[..., list[Value]]:
    """The composition of iterations: the later one is around the earlier one, or replaces it."""

    def join(
        emit: Builder, early: Sequence[Value], late: Sequence[Value], distance: Value
    ) -> list[Value]:
        inner = list(early)
        if has_reset:
            empty = emit.constant(np.array("", object), "empty")
            inner = [emit.select(late[-1], empty, each, "kept", _STRING) for each in early[:-1]]
        results = []
        if has_before:
            results.append(emit.add("StringConcat", [late[0], inner[0]], "before"))
        if has_after:
            at = len(results)
            results.append(emit.add("StringConcat", [inner[at], late[at]], "after"))
        if has_reset:
            results.append(emit.add("Or", [early[-1], late[-1]], "resets"))
        return results

    return join


class _Reader:
    """The strings between a state and its next value."""

    def __init__(self, recurrence: Recurrence, fact: Fact) -> None:
        self._recurrence, self._emit, self._shape = recurrence, recurrence.emit, fact.shape or ()
        self._texts = {recurrence.states[0].argument: _Text()}
        self.empty = self._emit.constant(np.array("", object), "empty")
        for node in recurrence.nodes:
            rule = None if node.domain or node.op.references else _RULES.get(node.op_type)
            if rule is None or recurrence.fact(node.output()).shape != fact.shape:
                raise Unfit(f"{node} computes the next value")
            self._texts[node.output()] = rule(self, node)

    def read(self, value: Value) -> _Text:
        """The string that a value is."""
        if value not in self._texts:
            self._texts[value] = _Text(
                after=broadcast(self._recurrence, value, self._shape), is_constant=True
            )
        return self._texts[value]

    def concat(self, node: Node) -> _Text:
        """StringConcat: the state stands in one operand."""
        one, other = (self.read(node.operand(place)) for place in range(2))
        if not (one.is_constant or other.is_constant):
            raise Unfit(f"{node} joins it to itself")
        if other.is_constant:
            return _Text(one.before, self._join(one.after, other.after), one.reset)
        return _Text(self._join(one.after, other.before), other.after, other.reset)

    def choose(self, node: Node) -> _Text:
        """Where: a condition of the iteration chooses each part."""
        flag, (one, other) = node.operand(0), (self.read(node.operand(at)) for at in (1, 2))
        if flag in self._texts or flag.producer in self._recurrence.nodes:
            raise Unfit(f"{node} selects by it")
        flags = broadcast(self._recurrence, flag, self._shape)
        before, after = (
            self._select(flags, *pair)
            for pair in ((one.before, other.before), (one.after, other.after))
        )
        yes, no = (self._emit.constant(np.array(each), "flag") for each in (True, False))
        first, second = (yes if each.is_constant else each.reset or no for each in (one, other))
        if first is second is no:
            return _Text(before, after)
        return _Text(before, after, self._emit.select(flags, first, second, "reset", _BOOL))

    def _join(self, one: Value | None, other: Value | None) -> Value | None:
        if one is None or other is None:
            return one or other
        return self._emit.add("StringConcat", [one, other], "joined")

    def _select(self, flags: Value, one: Value | None, other: Value | None) -> Value | None:
        if one is None and other is None:
            return None
        first, second = one or self.empty, other or self.empty
        return self._emit.select(flags, first, second, "part", _STRING)


_RULES: dict[str, Callable[[_Reader, Node], _Text]] = {
    "Identity": lambda reader, node: reader.read(node.operand(0)),
    "StringConcat": _Reader.concat,
    "Where": _Reader.choose,
}
