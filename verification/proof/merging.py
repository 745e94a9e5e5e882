"""Values that two models share over the reals, merged while the rewrite runs.

A value of the rewrite and the value of its name in the original are compared as functions of the
values before them that both models have (A. Kuehlmann and F. Krohm, "Equivalence Checking Using
Cuts and Heaps", DAC 1997). If they are equal, later nodes of the rewrite read the term of the
original, so that the models are compared only where they differ. Outputs that remain different
are compared as a whole.
"""

from typing import Any

from ...definitions import is_foreign
from .equality.equality import Comparison
from .equality.slice_pushdown import SlicePushdown
from .execution.compile_graph import Program, Step
from .execution.cut_points import outputs_of
from .execution.symbolic_execution import Execution, Frame, Value
from .reals import rounded
from .reals.real_terms import FLOATS, RealTerms
from .terms.term import Term, descendants

_MOST_MISSES = 256
"""Limit of values in a row that differ from those of their names: later ones depend on these."""


class RecordedExecution(Execution):
    """Execution that keeps the values of the main graph."""

    _program: Program | None = None
    _frame: Frame

    def _run(self, program: Program, frame: Frame) -> list[Value]:
        if self._program is None:
            self._program, self._frame = program, frame
            return self._run_main(program, frame)
        return super()._run(program, frame)

    def _run_main(self, program: Program, frame: Frame) -> list[Value]:
        return super()._run(program, frame)

    def values(self) -> dict[str, Value]:
        """Values of the nodes of the main graph, by name."""
        assert self._program is not None
        return {
            name: self._frame[at]
            for step in self._program.steps
            for at, name in zip(step.outputs, step.node.output, strict=True)
        }

    def constants(self) -> frozenset[Term]:
        """Constants that values of the main graph hold."""
        tensor = self.terms.tensor
        return frozenset([each for each in descendants(self._frame) if tensor(each) is not None])


class MergingExecution(RecordedExecution):
    """Execution of the rewrite, whose values become those of the original.

    Args:
        original: the execution of the original, which has run.
    """

    def __init__(self, *args: Any, original: RecordedExecution) -> None:
        super().__init__(*args)
        self._original = original
        self._cuts: set[Term] = set()
        self._pushdown = SlicePushdown(self.terms)
        self._pushdown.whole = self._cuts
        # Normal forms of the comparison look beyond cuts, which a few values need.
        settled = SlicePushdown(self.terms).settled
        self._reals = [RealTerms(self.terms, settle) for settle in (self._settled, settled)]
        self._uncut: list[list[Term]] = [[] for _ in self._reals]
        self._assumptions: set[str] = set()
        self._misses = 0

    @property
    def rounded_constants(self) -> set[str]:
        """Assumptions about constants of the rewrite that count as exact functions of others."""
        return rounded.assumptions(reals.rounded for reals in self._reals) | self._assumptions

    def _run_main(self, program: Program, frame: Frame) -> list[Value]:
        values = self._original.values()
        shared = set(values.values())
        self.terms.budget.step(len(program.steps))
        for step in program.steps:
            names = dict(zip(step.outputs, step.node.output, strict=True))
            for at, value in outputs_of(self, step, frame):
                original = values.get(names[at])
                is_shared = value in shared
                if original is not None and (
                    self._is_equal(original, value)
                    or (_is_raised(step) and self._equal_by_rules(original, value))
                ):
                    value, is_shared = original, True
                elif not is_shared and value is not None and value.head.name == "narrow":
                    # A part of a product that the rewrite merged is one of the original's.
                    part = self._settled(value)
                    value, is_shared = (part, True) if part in shared else (value, False)
                if is_shared:
                    self._cut(value)
                frame[at] = value
        return [frame[at] for at in program.outputs]

    def _cut(self, value: Term) -> None:
        if value not in self._cuts:
            self._cuts.add(value)
            for uncut in self._uncut:
                uncut.append(value)

    def _settled(self, term: Term) -> Term:
        """Term with its slice pushed down as far as to cuts."""
        is_part = term.head.name in ("narrow", "view") or term.fact.elem_type not in FLOATS
        return self._pushdown.settled(term) if is_part else term

    def _is_equal(self, one: Term, other: Term) -> bool:
        if one is other:
            return True
        kinds = one.fact.elem_type, other.fact.elem_type
        if kinds[0] != kinds[1] or kinds[0] not in FLOATS or self._misses == _MOST_MISSES:
            return False
        for reals, uncut in zip(self._reals, self._uncut, strict=True):
            # Atoms are made for a comparison that reads them: most values have one term.
            for value in uncut:
                reals.cut(value)
            uncut.clear()
            if reals.equal(one, other):
                self._misses = 0
                return True
        self._misses += 1
        return False

    def _equal_by_rules(self, one: Term, other: Term) -> bool:
        """Compare two terms by all rules, and assume what these assume."""
        comparison = Comparison(self.terms, over_reals=True)
        comparison.row_by_row.cuts = self._cuts
        try:
            if one.fact.shape != other.fact.shape or not comparison.holds(one, other):
                return False
            if comparison.positive:
                return False  # it holds for loops with an iteration only
            self._assumptions |= comparison.rounded_constants | comparison.assumptions
            self._assumptions |= comparison.definitions
            self._misses = 0
            return True
        finally:
            self.terms.comparing = False
            comparison.release()


def _is_raised(step: Step) -> bool:
    """Test for an operator of a runtime, which stands for nodes that moved and computed."""
    head = step.operation.head  # None for a function call
    return head is not None and head.op is not None and is_foreign(head.op)
