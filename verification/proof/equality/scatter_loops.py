"""Scatters as loops that write one index after the other.

Several updates of an element are joined in the order of their indices, as kernels do. Without a
reduction kernels write in any order, so that each index must be another place.
"""

from typing import NamedTuple

from ....facts.fact import element
from ....facts.polynomial import Dimension, product
from ....facts.types import INTEGER_BITS
from ....ops.axes import ONE
from ..definitions.opening import Definitions
from ..simplify.scatter import replaces, row_written, write_axis, write_offset
from ..terms.free_variables import binding
from ..terms.term import Head, Pair, Term, bare, descendants
from ..terms.term_manager import ZERO
from .induction import Induction
from .places import Iteration, are_distinct, source_of, tuples_of
from .substitution import Substitution, instantiate_iteration

_OPSET = 18
_MOST_INDICES = 256
"""Limit of indices that are written out."""

_SCATTERS = ("ScatterElements", "ScatterND")
_JOINS = {"add": "Add", "mul": "Mul", "max": "Greater", "min": "Less"}
"""By reduction: the operator that joins or compares an element and its update."""


class _Writes(NamedTuple):
    """Indices and updates along an axis, one after the other.

    Attributes:
        name: the scatter.
        axis: the axis along which they follow each other.
    """

    name: str
    indices: Term
    updates: Term
    axis: int


class ScatterLoops:
    """Rule of comparison for scatters.

    Args:
        induction: rules for the states of recurrences.
        longer_forms: definitions, which record assumptions.
        over_reals: whether floats that are equal over the reals are equal.
    """

    def __init__(self, induction: Induction, longer_forms: Definitions, over_reals: bool) -> None:
        self._terms, self._induction = induction.terms, induction
        self._longer_forms, self._over_reals = longer_forms, over_reals

    def written(self, one: Term, other: Term) -> list[Pair] | None:
        """Scatter, and the state after a loop, or a scatter, that writes the last index."""
        for term, scatter in ((one, other), (other, one)):
            if not scatter.is_op(*_SCATTERS) or not self._is_ordered(scatter):
                continue
            rule = self._pairs if term.head.name == "final" else self._last
            pairs = rule(term, scatter)
            if pairs is not None:
                # A scatter with a reduction may add floats in another order than the loop.
                if scatter.fact.elem_type not in INTEGER_BITS and not replaces(scatter.head):
                    self._longer_forms.assumed.add(scatter.head.name)
                return pairs if term is one else [(b, a) for a, b in pairs]
        return None

    def overwritten(self, one: Term, other: Term) -> list[Pair] | None:
        """State of which each iteration writes the next row, and a term (law: strong induction).

        Rows before the one that is written are those of the term, all others the initial ones.
        """
        if (one.head.name == "final") is (other.head.name == "final"):
            return None
        final, whole = (one, other) if one.head.name == "final" else (other, one)
        (recurrence, *_), number, terms = final.args, final.head.key, self._terms
        bound = None if recurrence is None else binding(recurrence)
        iterations = None if recurrence is None else self._induction.iterations(recurrence)
        shape = whole.fact.shape
        if recurrence is None or bound is None or not shape or iterations is None:
            return None
        state, update = bound.states[number], recurrence.head.parts[number]
        init, at = recurrence.args[2 + number], terms.symbols.named(bound.index)
        if init is None or not init.fact.shape == update.fact.shape == state.fact.shape == shape:
            return None
        first, axis = write_offset(terms, update, at), write_axis(update)
        rest = shape[axis] - iterations - first
        row = row_written(terms, state, update, at + first, axis)
        # Rows beyond the end of the state would make the iteration fail.
        if row is None or rest.less(0) is not False:
            return None
        index = self._induction.symbol(iterations)
        part = self._induction.element(whole, index + first, axis)
        if part is None:
            return None
        own = instantiate_iteration(terms, recurrence, row, index)
        before = instantiate_iteration(terms, recurrence, state, index)
        own = self._with_rows(own, before, (whole, init), index + first, axis)
        own = terms.view(own, part.shape)
        # A state that remains is read at rows which may be those that are written.
        if before in descendants([own]):
            return None
        pairs = [(own, part)]
        for start, size in ((ZERO, Dimension.constant(first)), (shape[axis] - rest, rest)):
            if size != 0:
                ends = (terms.narrow(each, axis, start, size) for each in (init, whole))
                pairs.append((next(ends), next(ends)))
        return pairs if final is one else [(b, a) for a, b in pairs]

    def _with_rows(self, row: Term, state: Term, rows: Pair, place: Dimension, axis: int) -> Term:
        """Term that reads other terms in the place of a state, by position."""
        reads: dict[Term, Term] = {}
        for read in descendants([row]):
            if read.head.name == "narrow" and read.head.key == axis and read.args[0] is state:
                start, size = (element(each.fact) for each in read.operands[1:])
                # Strong induction: rows before the one that is written are those of the result by
                # now, all later ones still the initial ones.
                is_late = (start - place).less(0) is False
                if is_late or (place - start - size).less(0) is False:
                    reads[read] = self._terms.narrow(rows[is_late], axis, start, size)
        return Substitution(self._terms, reads, {}).of(row)

    def _pairs(self, final: Term, scatter: Term) -> list[Pair] | None:
        """Initial states, and states after any iteration; None for other terms."""
        (recurrence, *_), number = final.args, final.head.key
        bound = None if recurrence is None else binding(recurrence)
        iterations = None if recurrence is None else self._induction.iterations(recurrence)
        if recurrence is None or bound is None or iterations is None:
            return None
        init, writes = recurrence.args[2 + number], self._writes(scatter, iterations)
        if init is None or writes is None:
            return None
        index = self._induction.symbol(iterations)
        part = self._part(writes, index, ONE)
        # The specification leaves open which of two writes to one place counts.
        if replaces(scatter.head) and not self._are_distinct(part, Iteration(index, iterations)):
            return None
        before = instantiate_iteration(self._terms, recurrence, bound.states[number], index)
        update = recurrence.head.parts[number]
        after = instantiate_iteration(self._terms, recurrence, update, index)
        step = self._step_like(after, scatter.head, before, part)
        return None if step is None else [(init, scatter.operands[0]), (after, step)]

    def _last(self, last: Term, scatter: Term) -> list[Pair] | None:
        """Scatter of the last index after one of those before it; None for other terms."""
        if not last.is_op(*_SCATTERS) or not replaces(last.head):
            return None
        writes = self._writes(scatter)
        count = None if writes is None else writes.indices.shape[writes.axis].value
        if writes is None or not count or not 1 < count <= _MOST_INDICES:
            return None
        if replaces(scatter.head) and not self._are_distinct(writes):
            return None
        first = self._part(writes, Dimension.constant(0), Dimension.constant(count - 1))
        before = self._terms.rebuild(scatter, (scatter.operands[0], first.indices, first.updates))
        part = self._part(writes, Dimension.constant(count - 1), ONE)
        step = self._step_like(last, scatter.head, before, part)
        return None if step is None else [(last, step)]

    def _is_ordered(self, scatter: Term) -> bool:
        """Test for a scatter that all kernels compute alike, but for the maximum of NaN."""
        # Kernels differ in the maximum of a NaN and a number.
        is_whole = scatter.fact.elem_type in INTEGER_BITS or self._over_reals
        join = _JOINS.get(scatter.head.text("reduction"))
        return replaces(scatter.head) or join in ("Add", "Mul") or (is_whole and join is not None)

    def _are_distinct(self, writes: _Writes, iteration: Iteration | None = None) -> bool:
        """Test whether each index is another place."""
        # Indices of elements may coincide in some rows and not in others.
        if writes.name != "ScatterND":
            return False
        return are_distinct(tuples_of(self._induction.pushdown, writes.indices), iteration)

    def _writes(self, scatter: Term, iterations: Dimension | None = None) -> _Writes | None:
        """Indices and updates of a scatter, one for each iteration of a loop, if any."""
        data, indices, updates = scatter.operands
        shape, places, new = data.fact.shape, indices.fact.shape, updates.fact.shape
        if shape is None or not places or new is None:
            return None
        if scatter.is_op("ScatterElements"):
            axis = scatter.head.attribute("axis", 0) % len(shape)
            fits = iterations is None or places[axis] == iterations
            return _Writes(scatter.head.name, indices, updates, axis) if fits else None
        if iterations is not None and places[0] == iterations:
            return _Writes(scatter.head.name, indices, updates, 0)
        count: Dimension = product(places[:-1])
        if iterations is not None and count != iterations:
            return None
        indices = self._terms.view(indices, (count, places[-1]))
        rows = self._terms.view(updates, (count, *new[len(places) - 1 :]))
        return _Writes(scatter.head.name, indices, rows, 0)

    def _part(self, writes: _Writes, start: Dimension, size: Dimension) -> _Writes:
        """Indices and updates from one on."""
        indices, updates = (
            self._induction.pushdown.of(each, writes.axis, start, size)
            for each in (writes.indices, writes.updates)
        )
        return writes._replace(indices=indices, updates=updates)

    def _step_like(self, after: Term, head: Head, data: Term, part: _Writes) -> Term | None:
        """State after an index is written, in the form in which another term writes it.

        Of one index, a scatter with a reduction joins the element and the update.
        """
        after = bare(after)
        if after.head.name == "final":  # of an inner loop
            return self._scatter(part, data, part.updates, head.text("reduction") or "none")
        if not after.is_op(*_SCATTERS):
            return None
        own = part if after.head.name == part.name else self._other_form(data, part)
        if own is None:
            return None
        own = self._in_shape(own, after)
        if after.head.text("reduction") == head.text("reduction") or replaces(head):
            reduction = head.text("reduction") or "none"
            return self._scatter(own, data, own.updates, reduction)
        return self._joined(_JOINS[head.text("reduction")], data, own)

    def _in_shape(self, part: _Writes, like: Term) -> _Writes:
        """Tuples of ScatterND and their rows in the shapes of those of another."""
        _, indices, updates = like.operands
        shapes = [each.fact.shape for each in (part.indices, indices, part.updates, updates)]
        one, other, rows, others = shapes
        if part.name != "ScatterND" or not one or not other or rows is None or others is None:
            return part
        if (
            one[-1] != other[-1]
            or product(one) != product(other)
            or product(rows) != product(others)
        ):
            return part
        view = self._terms.view
        return part._replace(indices=view(part.indices, other), updates=view(part.updates, others))

    def _joined(self, join: str, data: Term, part: _Writes) -> Term:
        """Scatter that reads elements, joins them with the updates and writes them."""
        gather = part.name.replace("Scatter", "Gather")
        along = {"axis": part.axis} if part.name == "ScatterElements" else {}
        old = self._terms.op(gather, _OPSET, data, part.indices, **along)
        joined = self._terms.op(join, _OPSET, old, part.updates)
        if join in ("Greater", "Less"):
            joined = self._terms.op("Where", _OPSET, joined, old, part.updates)
        return self._scatter(part, data, joined, "none")

    def _scatter(self, part: _Writes, data: Term, updates: Term, reduction: str) -> Term:
        along = {"axis": part.axis} if part.name == "ScatterElements" else {}
        operands = data, part.indices, updates
        return self._terms.op(part.name, _OPSET, *operands, reduction=reduction, **along)

    def _other_form(self, data: Term, part: _Writes) -> _Writes | None:
        """Write of one row, the indices of ScatterElements as one of ScatterND, and conversely."""
        terms, rest = self._terms, data.shape[1:]
        row, indices = (ONE, *rest), part.indices
        if part.axis or part.updates.fact.shape != row:
            return None
        if part.name == "ScatterND":
            if indices.fact.shape != (ONE, ONE):
                return None
            place = terms.view(indices, (ONE,) * len(row))
            spread = terms.op("Expand", _OPSET, place, terms.sizes(row)) if rest else place
            return _Writes("ScatterElements", spread, part.updates, 0)
        place = source_of(indices)
        if indices.fact.shape != row or any(dim.value != 1 for dim in place.shape):
            return None
        return _Writes("ScatterND", terms.view(place, (ONE, ONE)), part.updates, 0)
