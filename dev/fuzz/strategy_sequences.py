"""Sequences: new ones, and the operators that use them."""

from dataclasses import replace

from strategy_operators import literal
from strategy_scope import INT64, Scope, Value


def is_tensor(v: Value) -> bool:
    return not v.sequence


def a_sequence(scope: Scope) -> Value:
    """A visible sequence, or a new one, empty or of one tensor."""
    ready = scope.find(lambda v: v.sequence)
    if ready and scope.flip():
        return scope.choose(ready)
    if scope.flip():
        element = scope.choose(scope.find(is_tensor))
        result = replace(element, sequence=True, least=1, literal=None)
        return scope.emit("SequenceConstruct", [element], [replace(result, known=False)])[0]
    type = scope.pick(scope.context.types)
    empty = Value("", type, None, 0, sequence=True, literal=0)
    return scope.emit("SequenceEmpty", [], [empty], dtype=type)[0]


def use_sequence(scope: Scope) -> Value:
    """An operator on a sequence; those that need an element only where one is certain."""
    s = a_sequence(scope)
    kinds = ["length", "insert"] + ["at"] * (2 * bool(s.least))
    if s.least and s.shape is not None and None not in s.shape and len(s.shape) < 4:
        kinds.append("stack")
    kind = scope.pick(kinds)
    if kind == "length":
        return scope.emit("SequenceLength", [s], [Value("", INT64, (), 100)])[0]
    if kind == "insert":
        return insert(scope, s)
    element = replace(s, sequence=False, known=False, least=0)
    if kind == "at":
        index = scope.constant(scope.pick([0, -1]), INT64)
        return scope.emit("SequenceAt", [s, index], [element])[0]
    stacked = replace(element, shape=(None, *(s.shape or ())), known_shape=False)
    return scope.emit("ConcatFromSequence", [s], [stacked], axis=0, new_axis=1)[0]


def insert(scope: Scope, s: Value) -> Value:
    """The sequence with one more tensor, at its end or its start."""
    ready = scope.find(lambda v: is_tensor(v) and v.type == s.type)
    alike = [v for v in ready if v.shape == s.shape and v.fixed]
    element = scope.choose(alike or ready) if ready else literal(scope, s.type)
    shape = s.shape if s.least and element.shape == s.shape else None
    if s.literal == 0:  # certainly empty so far
        shape = element.shape
    bound = max(s.bound, element.bound)
    result = replace(s, shape=shape, bound=bound, least=s.least + 1, literal=None)
    where = [scope.constant(0, INT64)] if scope.flip(3) else []
    return scope.emit("SequenceInsert", [s, element, *where], [result])[0]
