"""Cut points: values that both models share, between which only the differing nodes are compared.

The values of `value_numbers.py` cut both models into regions. If each node of the rewrite without a
number of its own in the original computes the value of its name there, the models are equal: by
induction in the order of the rewrite, its operands are values of the original (A. Kuehlmann and
F. Krohm, "Equivalence Checking Using Cuts and Heaps", DAC 1997).

A cut point is a variable of which nothing is known but its element type. Where more is needed, the
models are compared as a whole.
"""

from collections.abc import Callable, Iterator, Sequence

import onnx

from ....facts.fact import Fact
from ....ir.dataflow_graph import reach
from ....reference.bodies import label
from ..terms.budget import OpenError
from ..terms.term import Term
from ..terms.term_manager import Terms
from .compile_graph import ABSENT, Program, Step
from .symbolic_execution import Execution, Value
from .value_numbers import MOST_SHARE, NOTHING, Correspondence, Place


class CutPoints:
    """Regions of two models between the values that they share.

    Args:
        terms: the terms of the proof.
        shared: the values of both models.
        programs: the main graphs of both models.
    """

    def __init__(self, terms: Terms, shared: Correspondence, programs: Sequence[Program]) -> None:
        self._terms = terms
        self._shared = shared
        self._program, self._rewrite = programs
        graph = self._rewrite.proto
        assert isinstance(graph, onnx.GraphProto)
        pairs = zip(self._program.outputs, self._rewrite.outputs, strict=True)
        self._other_outputs = any(shared.before[one] != shared.after[other] for one, other in pairs)

    @property
    def cover_all(self) -> bool:
        """Test whether the models share all values of the rewrite, and the outputs."""
        return not (self._shared.differing or self._other_outputs)

    def require_equal(self, runs: Sequence[Execution]) -> None:
        """Prove the values equal that are assumed to be.

        Args:
            runs: executions of both models, which log the nodes that may fail.

        Raises:
            OpenError: that is not known.
        """
        shared, steps = self._shared, self._rewrite.steps
        if self._other_outputs:
            raise OpenError("an output is another value of the original")
        if len(shared.differing) * MOST_SHARE > len(steps):
            raise OpenError("most nodes differ")
        region = _Region(shared, self._program, runs[0], self._value)
        frame: list[Value] = [None] * self._rewrite.size
        for index in shared.differing:
            for at in _operands(steps[index]):
                place = shared.after[at]
                if place[0] in shared.common or place[0] in shared.leaves:
                    frame[at] = self._value(place)
            for at, result in outputs_of(runs[1], steps[index], frame):
                assumed = shared.assumed.get(at)
                if assumed is None:
                    frame[at] = result
                elif region.of(assumed) is not result:
                    raise OpenError("the operands of a node may matter")

    def _value(self, place: Place) -> Value:
        """Input or constant, or a variable for what a node computes; nothing if absent."""
        number, index = place
        if place == NOTHING or number in self._shared.leaves:
            return self._shared.leaves.get(number)
        types = self._shared.types[number]
        elem_type = types[index] if index < len(types) else 0
        return self._terms.leaf("input", place, Fact(elem_type))


class _Region:
    """Values of the original between cut points, computed on demand.

    Args:
        shared: the values of both models.
        program: the main graph of the original.
        execution: an execution of the original.
        value: function from a cut point to its term.
    """

    def __init__(
        self,
        shared: Correspondence,
        program: Program,
        execution: Execution,
        value: Callable[[Place], Value],
    ) -> None:
        self._before = shared.before
        self._steps = program.steps
        self._execution = execution
        self._value = value
        self._cuts = {place for place in shared.after if place[0] in shared.common}
        self._leaves = shared.leaves
        self._frame: list[Value] = [None] * program.size
        self._results: dict[Place, Value] = {}
        self._makers: dict[Place, int] = {}
        for index, step in enumerate(self._steps):
            for at in step.outputs:
                # Several nodes may have one value; the first of them computes it.
                self._makers.setdefault(self._before[at], index)

    def of(self, place: Place) -> Value:
        """Value that a node computes from cut points.

        Raises:
            OpenError: that takes many nodes, or nodes with bodies.
        """

        def makers(index: int) -> list[int]:
            places = [self._before[at] for at in _operands(self._steps[index])]
            return [self._makers[each] for each in places if not self._is_cut(each)]

        # Steps are in topological order.
        for index in sorted(reach(makers, [self._makers[place]])):
            self._run(self._steps[index])
        if len(self._results) * MOST_SHARE > len(self._steps):
            raise OpenError("most nodes differ")
        return self._results[place]

    def _is_cut(self, place: Place) -> bool:
        is_leaf = place == NOTHING or place[0] in self._leaves
        return is_leaf or place in self._cuts or place in self._results

    def _run(self, step: Step) -> None:
        if step.bodies or step.operation.function:
            raise OpenError(f"{label(step.node)} has bodies")
        for at in step.inputs:
            place = self._before[at]
            is_cut = place in self._cuts or place[0] in self._leaves
            self._frame[at] = self._value(place) if is_cut else self._results.get(place)
        for at, result in outputs_of(self._execution, step, self._frame):
            self._results[self._before[at]] = result


def _operands(step: Step) -> Iterator[int]:
    """Slots that a node reads, its bodies included."""
    yield from step.inputs
    for body in step.bodies.values():
        yield from [outer for outer, _ in body.captures]


def outputs_of(execution: Execution, step: Step, frame: list[Value]) -> Iterator[tuple[int, Term]]:
    """Slots and values of the outputs of a node."""
    execution.execute((step,), frame)
    for at in step.outputs:
        if at != ABSENT and (result := frame[at]) is not None:
            yield at, result
