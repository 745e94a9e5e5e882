"""States that iterations read through a function and write through its inverse.

a = Mul (s, s)                           a' = Add (a, b)      the same of the squares,
c = Add (a, b)                     ->    s' = Sqrt (a')       and roots of all of these
s' = Sqrt (c)

The values between function and inverse are a state of another form. The initial value stays as it
is, since it may be no result of the inverse. A square of a root, and an exponential of a logarithm,
are the value for numbers of at least 0, which the operators in between must keep. Where these make
numbers that the function does not change, as Max (|s|, |e|) does, it is its own inverse.
"""

import math

from ....analysis.iterations.trip_count import skip_identities
from ....facts.types import IEEE_FLOATS
from ....ir import Node, Value
from ....ops.batching import Operand
from ...iteration.loop_view import State
from ..weights import Unfit
from .composed_steps import raise_step
from .extents import Extents, number_of
from .recurrence import Recurrence, Replacement
from .reductions import describe

_POSITIVE = (0.0, math.inf)
_INVERSES = {"Sqrt": "square", "Log": "Exp", "Reciprocal": "Reciprocal"}
_FIXED = ("Abs", "Relu")
"""Functions that change no number of at least 0."""
_OTHER = "it is not read through a function whose inverse makes the next value"


def raise_image(recurrence: Recurrence) -> Replacement:
    """Replace a state by the inverse of the values that a function makes of it."""
    (state, *others), emit, feeding = recurrence.states, recurrence.emit, recurrence.feeding
    fact = recurrence.state_fact
    result, inner = skip_identities(state.result), list(recurrence.nodes)
    readers = [node for node in inner if state.argument in node.inputs]
    functions = {_name(node, state.argument) for node in readers}
    if others or fact.elem_type not in IEEE_FLOATS or len(functions) != 1 or len(readers) > 1:
        raise Unfit(_OTHER)
    (first,), (function,), last = readers, functions, None
    if function not in _FIXED:
        last = result.producer
        inverse = None if last is None else _name(last, last.input(0))
        if last not in inner or inverse not in _INVERSES or function != _INVERSES[inverse]:
            raise Unfit(_OTHER)
        assert last is not None
        inner, result = inner[: inner.index(last)], last.operand(0)
    inner = [node for node in inner if node is not first]
    if function != "Reciprocal" and not _is_positive(recurrence, inner, first.output(), result):
        raise Unfit(f"what {last or 'the next iteration'} reads may be negative")
    before = feeding.same(state.initial).value
    operands = [before if v is state.argument else feeding.same(v).value for v in _read(first)]
    start = Value(f"{state.argument.name}_image")
    image = emit.add(first.op_type, operands, start.name)
    feeding.enter(start, Operand(image, False, fact))
    own = State(start, first.output(), result, None)
    replacement = raise_step(Recurrence((own,), tuple(inner), recurrence.iterations))
    what = replacement.what.removesuffix(describe("", False))
    what = describe(f"{what} and {function if last is None else last.op_type}", False)
    every, rows = replacement.every.get(own), replacement.rows.get(own)
    if rows is not None:
        every = feeding.after(rows)
    if every is not None:
        return Replacement(what, False, {state: _again(recurrence, last, every)})
    total = emit.unsqueeze(_again(recurrence, last, replacement.final[own]), 0, "last")
    ends = emit.concat([recurrence.first_row(), total], 0, "ends")
    some = emit.add("Sign", [feeding.iterations], "some")
    final = emit.squeeze(emit.add("Gather", [ends, some], "last", axis=0), 0, state.result.name)
    return Replacement(what, False, {}, {state: final})


def _read(node: Node) -> list[Value]:
    return [value for value in node.inputs if value is not None]


def _again(recurrence: Recurrence, node: Node | None, value: Value) -> Value:
    """Emit a node of one operand on another one; the value for no node."""
    if node is None:
        return value
    others = [recurrence.feeding.same(v).value for v in _read(node)[1:]]
    return recurrence.emit.add(node.op_type, [value, *others], node.output().name)


def _name(node: Node, value: Value | None) -> str:
    """The function that a node applies to a value."""
    if node.domain or node.op.references or node.inputs[0] is not value:
        return ""
    if node.is_op("Pow"):
        kinds = {2.0: "square", 0.5: "Sqrt", -1.0: "Reciprocal"}
        return kinds.get(number_of(node.operand(1)) or 0.0, "")
    if node.is_op("Mul"):
        return "square" if node.inputs[1] is value else ""
    return node.op_type if len(node.inputs) == 1 else ""


def _is_positive(recurrence: Recurrence, nodes: list[Node], argument: Value, result: Value) -> bool:
    """Test for nodes that make no negative number of numbers of at least 0."""
    own, _ = Extents(recurrence).through(nodes, {argument: _POSITIVE})
    return own.get(result, (-1.0, 0.0))[0] >= 0
