"""Bounds of the whole numbers and truth values between states and their next values."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import onnx

from ....analysis.iterations.trip_count import skip_identities
from ....facts.fact import Fact
from ....facts.types import IEEE_FLOATS, INTEGER_BITS
from ....ir import Node, Value
from ..weights import Unfit
from .extents import ELEMENTS, Extent, Extents, hull
from .recurrence import Recurrence
from .semirings import FAR

_TYPES = onnx.TensorProto
_SMALL = 1 << 31
"""The limit of what an iteration adds: as many sums of it as iterations fit 63 bits."""
_MOST_WIDE = (1 << 63) - 1
_ROUNDS = 8
"""The limit of iterations after which a bound that still moves is given up."""

Interval = tuple[int, int]
"""The least and the largest integer; truth values are 0 and 1."""


class Intervals(Extents):
    """Bounds of the values of an iteration.

    Args:
        recurrence: the states: integers, truth values, or floats that iterations make whole.

    Attributes:
        limits: the bounds of each state by its element type.
        wraps: true after a result that its element type may not hold.
        misses: the reads that may be outside of what they read, with the sizes of that.

    Raises:
        Unfit: other states.
    """

    def __init__(self, recurrence: Recurrence) -> None:
        super().__init__(recurrence)
        self._own: dict[Value, Extent] = {}
        for state in recurrence.states:
            elem_type = recurrence.fact(state.initial).elem_type
            # The largest uint64 is beyond int64, in which the results are computed.
            is_whole = elem_type in (*INTEGER_BITS, _TYPES.BOOL) and elem_type != _TYPES.UINT64
            if not is_whole and not self._makes_whole(state.result):
                raise Unfit("it is not an integer")
        self.are_floats = any(
            recurrence.fact(state.initial).elem_type in IEEE_FLOATS for state in recurrence.states
        )
        self.limits = [self._limits(state.initial) for state in recurrence.states]
        self.wraps = False
        self.misses: dict[Node, list[int]] = {}

    def _makes_whole(self, value: Value) -> bool:
        """Test for a float that is certainly whole, and no -0."""
        node = value.producer
        if value.constant is not None:
            array = np.array(np.nan) if value.array is None else value.array
            return bool(np.all((array == np.trunc(array)) & ~((array == 0) & np.signbit(array))))
        if node is None or node.domain or node.op.references:
            initial = [s.initial for s in self._recurrence.states if s.argument is value]
            return any(map(self._makes_whole, initial))
        if node.is_op("Cast"):
            source = node.operand(0)
            elem_type = self._recurrence.fact(source).elem_type
            return elem_type in (*INTEGER_BITS, _TYPES.BOOL) or self._makes_whole(source)
        if not node.is_op("Where", "Add", "Sub", *_SELECTIONS):
            return False
        read = node.inputs[1:] if node.is_op("Where") else node.inputs
        return all(v is not None and self._makes_whole(v) for v in read)

    def begins(self) -> list[Interval] | None:
        """The bounds of the initial values; None if one is no constant, or no integer."""
        initial = [state.initial for state in self._recurrence.states]
        constant = all(value.constant is not None for value in initial) and not self.are_floats
        return [_integral(self.of(value)) for value in initial] if constant else None

    def next(
        self, states: Sequence[Extent], outside: Mapping[Value, Extent] | None = None
    ) -> list[Interval]:
        """The bounds of the next values of states within others.

        Args:
            outside: tighter ones of values that no state changes.

        Raises:
            Unfit: an operator without a rule.
        """
        pairs = zip(self._recurrence.states, states, strict=True)
        own: dict[Value, Extent] = {state.argument: each for state, each in pairs}
        own.update(outside or {})
        self._own, wraps = self.through(self._recurrence.nodes, own)
        self.wraps |= wraps
        for node in self._recurrence.nodes:
            if any(value in self._own for value in node.inputs[1:]):
                self._look(node)
        return [self._bounds(state.result) for state in self._recurrence.states]

    def _look(self, node: Node) -> None:
        """Note a read of elements that may be outside of an axis.

        Raises:
            Unfit: no read along axes of known sizes.
        """
        if not node.is_op(*ELEMENTS):
            return
        data, places = (Fact() if v is None else self._recurrence.fact(v) for v in node.inputs[:2])
        axes = data.dims
        if node.is_op("GatherND") and not node.attribute("batch_dims", 0) and places.shape:
            axes = data.dims[: places.shape[-1].value]
        elif node.is_op("Gather", "GatherElements") and axes:
            axes = (axes[node.attribute("axis", 0)],)
        else:
            axes = ()
        sizes = [dim.value for dim in axes if dim.value]
        if not sizes or len(sizes) < len(axes):
            raise Unfit(f"{node} reads by it")
        first, last = self._own.get(node.operand(1)) or self.of(node.operand(1))
        if not -min(sizes) <= first <= last < min(sizes):
            self.misses[node] = sizes

    def flags(self) -> list[Value]:
        """The truth values that the nodes read and no state changes."""
        own = self._recurrence.inside
        read = dict.fromkeys(v for node in self._recurrence.nodes for v in node.inputs)
        return [v for v in read if v is not None and v not in own and self.of(v) == (0, 1)]

    def _bounds(self, value: Value) -> Interval:
        return _integral(self._own[value] if value in self._own else self.of(value))

    def replaced(self) -> list[Interval] | None:
        """The bounds of a single next value where it is not the value before; None for others."""
        self.next(self.limits)
        (state, *others), values, keeps = self._recurrence.states, list[Interval](), False
        leaves = [state.result]
        while leaves:
            leaf = skip_identities(leaves.pop())
            node = leaf.producer
            # A branch that keeps the state bounds nothing: what it keeps came from an iteration
            # before.
            if leaf is state.argument:
                keeps = True
            elif node in self._recurrence.nodes and node is not None and node.is_op("Where"):
                leaves += [value for value in node.inputs[1:] if value is not None]
            else:
                values.append(self._bounds(leaf))
        return [hull(values)] if keeps and values and not others else None

    def _magnitudes(self, bounding: bool) -> list[float]:
        """The magnitudes of outside values that add to states, or bound them."""
        own = self._recurrence.inside
        nodes = [node for node in self._recurrence.nodes if node.is_op(*_BOUNDING) is bounding]
        read = [v for node in nodes for v in node.inputs if v is not None and v not in own]
        return [max(map(abs, self.of(value))) for value in read]

    def are_sums_small(self) -> bool:
        """Test for sums of small numbers, and no other operators that may wrap."""
        adding = all(node.is_op("Add", "Sub", "Sum", *_BOUNDING) for node in self._recurrence.nodes)
        return adding and sum(self._magnitudes(bounding=False)) <= _SMALL

    def counts(self) -> bool:
        """Test for small numbers whose sums no possible number of iterations makes wrap."""
        ends = [end for state in self._recurrence.states for end in self.of(state.initial)]
        most = max(*map(abs, ends), *self._magnitudes(bounding=True))
        return self.are_sums_small() and most <= _SMALL

    def is_settled(self, fills: bool) -> bool:
        """Test for a state that wraps in no iteration after the first one.

        Sums of steps do not wrap, either, nor these with a bound.

        Args:
            fills: true if bounds that a condition may leave out are at the ends of 64 bits.
        """
        if self.limits[0][1] == _MOST_WIDE and self.counts():
            return True
        if not self.are_sums_small() or max(self._magnitudes(bounding=True), default=0) > FAR:
            return False
        settled = self.settled()
        return settled is not None and (not fills or max(map(abs, settled[0])) <= FAR)

    def obstacle_to_rests(self, modulus: int) -> str:
        """The obstacle to remainders of the states in place of them; empty if none."""
        if modulus * (modulus + 1) > _MOST_WIDE:
            return "products of its remainders may wrap"
        # A power of 2 divides what wrapping adds.
        is_power = modulus & (modulus - 1) == 0
        states = self.settled(wraps=is_power)
        if states is None:
            return "the dividend of its remainder may wrap"
        inside = all(first >= 0 and last < modulus for first, last in states)
        return "" if inside else "it is not always a remainder"

    def settled(self, wraps: bool = False) -> list[Interval] | None:
        """Bounds of the states from the first iteration on, within which no result wraps.

        None if there are none.

        Args:
            wraps: true if results may wrap.
        """
        for states in (self.begins(), self.next(self.limits)):
            if states is None:
                continue
            for attempt in range(_ROUNDS):
                self.wraps = False
                after = self.next(states)
                whole = [hull(pair) for pair in zip(states, after, strict=True)]
                if whole == states:
                    break
                ends = zip(whole, states, self.limits, strict=True)
                wide = [_widened(*each) for each in ends]
                # Widening: a counter would otherwise grow by one in each round, and never settle.
                states = wide if attempt > _ROUNDS // 2 else whole
            if whole == states and (wraps or not self.wraps):
                return states
        return None


def _integral(extent: Extent) -> Interval:
    if not all(map(math.isfinite, extent)):
        raise Unfit("it may be any number")
    return int(extent[0]), int(extent[1])


def _widened(new: Interval, old: Interval, limits: Extent) -> Interval:
    """The interval with each end that moved at the limit of its type."""
    least, most = _integral(limits)
    return (least if new[0] < old[0] else old[0], most if new[1] > old[1] else old[1])


_SELECTIONS = ("Identity", "Min", "Max", "Clip", "Relu", "Abs")
_BOUNDING = (
    *("Identity", "Cast", "Min", "Max", "Clip", "Where", "Relu", "Mod"),
    *("Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Not", "And", "Or", "Xor"),
)
"""The operators whose results are no larger than the operands."""
