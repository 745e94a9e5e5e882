"""States that freeze: once a truth value is set, iterations keep them.

d' = Or (d, h (s, x))                    u' = f (u, x)
s' = Where (d, s, f (s, x))       ->     d' = Or (d, h (u, x))
                                         s  = u [the number of iterations until d is set]

Until then s equals u, and afterwards no iteration needs what f and h compute. So u is a recurrence
of its own, of any other form. The truth value may also be a comparison of s with a loop-invariant
value, s' = Where (Less (s, limit), f (s, x), s), which stays as it is once s does.
"""

from collections.abc import Iterable, Sequence

import onnx

from ....analysis.iterations.trip_count import skip_identities
from ....facts.types import FLOATS
from ....ir import Node, Value
from ....ops import rules_of
from ....ops.batching import Operand
from ....records import record
from ...iteration.dependence_graph import producers
from ...iteration.loop_view import State
from ...iteration.places import kept_by
from ...scans.parallel_prefix import by_count
from ..weights import Unfit
from .recurrence import Recurrence, Replacement

_BOOL, _INT64 = onnx.TensorProto.BOOL, onnx.TensorProto.INT64
_NO_FLAG = "it is not frozen by a truth value"


@record(frozen=True)
class _Flag:
    """The truth value that freezes the states.

    Attributes:
        before, after: its values around an iteration; the same where no state holds it.
        frozen: the truth value that freezes.
        sets: sets it in an iteration, with this truth value.
        state: the state of the recurrence that holds it, if any.
        is_set: true if another state holds it, whose values are known.
    """

    before: Value
    after: Value
    frozen: bool
    sets: Value
    state: State | None = None
    is_set: bool = False


def raise_frozen(recurrence: Recurrence) -> Replacement:
    """Replace states that freeze, and the truth value that freezes them."""
    for flag in _flags(recurrence):
        frozen = [state for state in recurrence.states if state is not flag.state]
        selects = [_select(state, flag) for state in frozen]
        if selects and all(selects):
            return _Freeze(recurrence, flag, frozen, [s for s in selects if s]).emit()
    raise Unfit(_NO_FLAG)


def _flags(recurrence: Recurrence) -> Iterable[_Flag]:
    """Yield the truth values that may freeze the other states."""
    for state in recurrence.iterations.loop_view.states:
        node = skip_identities(state.result).producer
        if recurrence.fact(state.initial).elem_type != _BOOL or node is None:
            continue
        inputs = [value for value in node.inputs if value is not None]
        sets = [value for value in inputs if skip_identities(value) is not state.argument]
        if node.is_op("Or", "And") and len(sets) == 1:
            around, is_own = (state.argument, node.output()), state in recurrence.states
            own = (state, False) if is_own else (None, True)
            yield _Flag(*around, node.is_op("Or"), sets[0], *own)
    node, place = kept_by(recurrence.states[0]) or (None, 0)
    if node is not None and len(recurrence.states) == 1:
        value, is_true = _plain(node.operand(0))
        yield _Flag(value, value, is_true == (place == 1), value)


def _plain(value: Value) -> tuple[Value, bool]:
    """A truth value without Not, and false where it is the opposite."""
    value, is_true = skip_identities(value), True
    while value.producer is not None and value.producer.is_op("Not"):
        value, is_true = skip_identities(value.producer.operand(0)), not is_true
    return value, is_true


def _select(state: State, flag: _Flag) -> tuple[Value, bool] | None:
    """The next value of a live state; true if the flag counts before it."""
    node, place = kept_by(state) or (None, 0)
    value, is_true = (None, True) if node is None else _plain(node.operand(0))
    keeps_where_frozen = is_true == flag.frozen if place == 1 else is_true != flag.frozen
    if node is None or value not in (flag.before, flag.after) or not keeps_where_frozen:
        return None
    return skip_identities(node.operand(3 - place)), value is flag.before


class _Freeze:
    """The values of states that freeze, from those of states that do not.

    Args:
        recurrence: the states, and the nodes between them.
        flag: the truth value that freezes them.
        frozen: the states that it freezes.
        selects: for each, its next value while it is not frozen, and true if the flag counts before
            the iteration.
    """

    def __init__(
        self,
        recurrence: Recurrence,
        flag: _Flag,
        frozen: Sequence[State],
        selects: Sequence[tuple[Value, bool]],
    ) -> None:
        self._recurrence, self._flag = recurrence, flag
        self._iterations, self._emit = recurrence.iterations, recurrence.emit
        self._states, self._selects = frozen, selects
        # The same states, as if nothing froze them.
        pairs = zip(frozen, selects, strict=True)
        self._free = [state._replace(result=value) for state, (value, _) in pairs]
        ends = [value for one in (*self._free, *frozen) for value in (one.argument, one.result)]
        ends += [skip_identities(state.result) for state in frozen]
        self._sets = producers(recurrence.nodes, [flag.sets], ends)

    def emit(self) -> Replacement:
        """Emit the values of all states."""
        self._require_flag()
        raised = self._raise_free()
        rows = [self._all_rows(state, raised) for state in self._free]
        flags, before = self._flags(rows)
        every, final = dict[State, Value](), dict[State, Value]()
        own = self._flag.state
        if own is not None:
            is_set = flags if self._flag.frozen else self._emit.add("Not", [flags], "live")
            every[own] = self._recurrence.feeding.after(is_set)
            final[own] = self._recurrence.feeding.final(is_set, own.result.name)
        for state, (_, is_before), free in zip(self._states, self._selects, rows, strict=True):
            is_whole = is_before or self._flag.is_set
            stops = before if is_whole else self._recurrence.feeding.after(flags)
            live = self._emit.add("Not", [stops], "live")
            live = self._emit.add("Cast", [live], "live", to=_INT64)
            every[state] = self._read(state, free, self._emit.running_sum(live, "places"))
            total = self._emit.reduce("ReduceSum", live, (0,), "total", keepdims=1)
            last = self._read(state, free, total)
            final[state] = self._emit.squeeze(last, 0, state.result.name)
        what = " and ".join(one.what for one in raised)
        return Replacement(
            f"{what} until a first hit", all(one.exact for one in raised), every, final
        )

    def _require_total(self, nodes: Sequence[Node]) -> None:
        """Require nodes that compute something of any state.

        Raises:
            Unfit: a node that may fail where the state is frozen.
        """
        own = self._recurrence.fact(self._flag.before).shape
        is_whole = own is not None and all(dim == 1 for dim in own)
        for node in nodes:
            # Elements that freeze apart may not read each other.
            if not is_whole and not rules_of(node.op).elementwise and not node.is_op("Identity"):
                raise Unfit(f"{_NO_FLAG}: {node} joins elements that it freezes apart")
            first = node.input(0)
            kind = 0 if first is None else self._recurrence.fact(first).elem_type
            rules = rules_of(node.op)
            is_safe = not rules.risky_inputs or (rules.elementwise and kind in FLOATS)
            if node.bodies or not is_safe or self._iterations.speculation.survey([node]):
                raise Unfit(f"{_NO_FLAG}: {node} may fail after that")

    def _raise_free(self) -> list[Replacement]:
        """Replace the states as if nothing froze them."""
        raised = list[Replacement]()
        for state in self._free:
            nodes = producers(self._recurrence.nodes, [state.result], [state.argument])
            read = {value for node in nodes for value in node.inputs} | {state.result}
            others = [
                s.argument for s in self._recurrence.states if s.argument is not state.argument
            ]
            if not read.isdisjoint(others):
                raise Unfit(f"{_NO_FLAG}: its states depend on each other")
            if state.argument not in read:
                raise Unfit(_NO_FLAG)  # a stored value, of which the others tell more
            self._require_total(nodes)
            raised.append(self._raise(Recurrence((state,), tuple(nodes), self._iterations)))
        return raised

    def _raise(self, free: Recurrence) -> Replacement:
        for raiser in self._iterations.raisers:
            if raiser is not raise_frozen:
                try:
                    return raiser(free)
                except Unfit as reason:
                    why = reason
        raise Unfit(f"{_NO_FLAG}: {why}")

    def _all_rows(self, state: State, raised: Sequence[Replacement]) -> Value:
        """All values of a state that does not freeze, the initial one first."""
        for one in raised:
            if state in one.rows:
                return one.rows[state]
            if state in one.every:
                return self._recurrence.feeding.from_first(state, one.every[state])
        raise Unfit(f"{_NO_FLAG}: only its last value is known")

    def _flags(self, rows: Sequence[Value]) -> tuple[Value, Value]:
        """Emit the flags before each iteration and after the last, then without the last."""
        feeding, emit, flag = self._recurrence.feeding, self._emit, self._flag
        if flag.is_set:
            is_before = self._selects[0][1]
            value = self._iterations.every(flag.before if is_before else flag.after)
            stops = value if flag.frozen else emit.add("Not", [value], "stops")
            return stops, stops
        operands = dict[Value, Operand]()
        for state, free, row in zip(self._states, self._free, rows, strict=True):
            fact = self._recurrence.fact(state.initial).without_content()
            operands[state.argument] = Operand(feeding.before(row), True, fact)
            after = Operand(feeding.after(row), True, fact)
            operands[free.result] = operands[skip_identities(state.result)] = after
        (hit,) = self._iterations.replay(self._sets, operands, [flag.sets])
        hits = feeding.every(hit, "hits")
        hits = hits if flag.frozen else emit.add("Not", [hits], "hits")
        if flag.state is None:
            stops = by_count(emit, "Or", hits)
            return stops, stops
        first = feeding.first_row(flag.state)
        first = first if flag.frozen else emit.add("Not", [first], "hits")
        flags = by_count(emit, "Or", emit.concat([first, hits], 0, "hits"))
        return flags, feeding.before(flags)

    def _require_flag(self) -> None:
        """Require a truth value that stays set, for whole states or each element.

        Raises:
            Unfit: another truth value.
        """
        flag, nodes = self._flag, self._sets
        self._require_total(nodes)
        computed = {value for node in nodes for value in node.outputs}
        read = {v for node in nodes for v in node.inputs if v is not None}
        read = {flag.sets, *read} - computed - {state.argument for state in self._states}
        is_own = flag.state is not None and flag.state.argument in read
        is_open = flag.state is None and not flag.is_set and any(map(self._iterations.varies, read))
        shape = self._recurrence.fact(flag.before).shape
        shapes = [self._recurrence.fact(state.initial).shape for state in self._states]
        is_whole = shape is not None and all(dim == 1 for dim in shape)
        if is_own or is_open or None in shapes or not (is_whole or {shape} == set(shapes)):
            raise Unfit(_NO_FLAG)

    def _read(self, state: State, free: Value, places: Value) -> Value:
        """Emit the values of a free state at the numbers of live iterations."""
        emit, own = self._emit, self._recurrence.fact(self._flag.before).dims
        if own and own == self._recurrence.fact(state.initial).shape:
            return emit.add("GatherElements", [free, places], state.result.name, axis=0)
        places = emit.squeeze(places, tuple(range(1, 1 + len(own))), "places")
        return emit.add("Gather", [free, places], state.result.name, axis=0)
