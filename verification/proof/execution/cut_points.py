"""Cut points: values that both models share, between which only the differing nodes are compared.

The values of `value_numbers.py` cut both models into regions. If each node of the rewrite without a
number of its own in the original computes the value of its name there, the models are equal: by
induction in the order of the rewrite, its operands are values of the original (A. Kuehlmann and
F. Krohm, "Equivalence Checking Using Cuts and Heaps", DAC 1997).

    s = Shape (x)  t = Gather (s, i)  y = Reshape (x, t)      y = Reshape (x, k)

Here x is a variable of the sizes that its node in the original has, inferred from those of its
operands without terms. Where more is needed, the models are compared as a whole.
"""

from collections.abc import Iterable, Iterator, Sequence

from ....facts.fact import Fact
from ....ir.dataflow_graph import reach
from ....reference.bodies import label
from ..terms.budget import OpenError
from ..terms.op_semantics import FIRST_PLAIN
from ..terms.term import Term, speaks_of_no_axis
from ..terms.term_manager import Terms
from .compile_graph import ABSENT, Program, Step
from .symbolic_execution import Execution, Value
from .value_numbers import MOST_SHARE, NOTHING, Correspondence, Place


class CutPoints:
    """Regions of two models between the values that they share.

    Args:
        shared: the values of both models.
        programs: the main graphs of both models.
    """

    def __init__(self, terms: Terms, shared: Correspondence, programs: Sequence[Program]) -> None:
        self._terms, self._shared = terms, shared
        self._program, self._rewrite = programs
        pairs = zip(self._program.outputs, self._rewrite.outputs, strict=True)
        self._other_outputs = any(shared.before[one] != shared.after[other] for one, other in pairs)

    @property
    def cover_all(self) -> bool:
        """Test whether all values are shared, and no sizes are declared anew."""
        differing = self._shared.differing or self._shared.constants
        return not (differing or self._other_outputs or self._rewrite.sizes)

    def differences(self, runs: Sequence[Execution]) -> list[tuple[str, Value, Value]]:
        """Values that are assumed to be equal and have two terms, with their names.

        Args:
            runs: executions of both models, which log the nodes that may fail.

        Raises:
            OpenError: many nodes differ, or a value may have other sizes than the rewrite declares.
        """
        shared, steps = self._shared, self._rewrite.steps
        if self._other_outputs:
            raise OpenError("an output is another value of the original")
        region = _Region(self._terms, shared, self._program, runs[0])
        frame: list[Value] = [None] * self._rewrite.size
        pairs: list[tuple[str, Value, Value]] = []
        others = set[int]()
        for at, _ in self._rewrite.constants:
            frame[at] = shared.constants.get(shared.after[at])
            if frame[at] is not None and region.value(shared.after[at]) is not frame[at]:
                others.add(at)
        readers = self._readers(others) if others else set()
        if (len(shared.differing) + len(readers)) * MOST_SHARE > len(steps):
            raise OpenError("most nodes differ")
        for index in sorted(readers.union(shared.differing)):
            region.fill(frame, steps[index].inputs)
            for at, result in outputs_of(runs[1], steps[index], frame):
                if at in shared.assumed or index in readers:
                    frame[at], original = None, region.of(shared.after[at])
                    if original is not result:
                        pairs.append((label(steps[index].node), original, result))
        region.fill(frame, [at for at, *_ in self._rewrite.sizes])
        runs[1].is_partial = True
        runs[1].require_sizes(self._rewrite, frame, self._rewrite.sizes, True)
        return pairs

    def _readers(self, constants: set[int]) -> set[int]:
        """Indices of nodes of the rewrite that read constants other than the original's values.

        Raises:
            OpenError: bodies, outputs or declarations may be of these.
        """
        rewrite = self._rewrite
        declared = {at for at, *_ in rewrite.infos}.union(rewrite.outputs)
        if not constants.isdisjoint(declared) or any(o.bodies for o in rewrite.operations):
            raise OpenError("a constant is not the value of its name")
        steps = enumerate(rewrite.steps)
        return {index for index, step in steps if not constants.isdisjoint(step.inputs)}


class _Region:
    """Values of the original, computed on demand: variables where the rewrite has them, too."""

    def __init__(
        self, terms: Terms, shared: Correspondence, program: Program, execution: Execution
    ) -> None:
        self._terms, self._shared, self._before = terms, shared, shared.before
        self._steps, self._execution = program.steps, execution
        # A constant in the place of a value is proved before the values that depend on it.
        self._cuts = set(shared.after) - shared.constants.keys()
        self._frame: list[Value] = [None] * program.size
        self._values: dict[Place, Value] = {NOTHING: None}
        self._makers: dict[Place, int] = {}
        self._count = 0
        for index, step in enumerate(self._steps):
            for at in step.outputs:
                # Several nodes may have one value; the first of them computes it.
                self._makers.setdefault(self._before[at], index)

    def fill(self, frame: list[Value], slots: Iterable[int]) -> None:
        """Fill slots of the rewrite that are empty."""
        for at in slots:
            if frame[at] is None:
                frame[at] = self.value(self._shared.after[at])

    def of(self, place: Place) -> Term:
        """Value that a node computes from cut points.

        Raises:
            OpenError: that takes many nodes, or a node with bodies.
        """
        step = self._steps[self._makers[place]]
        if step.bodies or step.operation.function:
            raise OpenError(f"{label(step.node)} has bodies")
        results = self._run(step)
        for each, result in results.items():
            if each not in self._values:
                self._values[each] = self._terms.variable(result.fact)
        return results[place]

    def value(self, place: Place) -> Value:
        """Input or constant, or what a node computes."""
        number = place[0]
        if number in self._shared.leaves:
            return self._shared.leaves[number]
        if place not in self._values:
            # Steps are in topological order.
            for index in sorted(reach(self._waiting, [self._makers[place]])):
                self._compute(self._steps[index])
        return self._values[place]

    def _waiting(self, index: int) -> list[int]:
        """Nodes that compute the operands of a node and have not run."""
        places = [self._before[at] for at in self._steps[index].inputs]
        values, leaves = self._values, self._shared.leaves
        return [self._makers[p] for p in places if p not in values and p[0] not in leaves]

    def _compute(self, step: Step) -> None:
        """Run a node that the rewrite lacks; infer facts of the outputs of any other one."""
        operation, places = step.operation, [self._before[at] for at in step.outputs]
        is_plain = not (operation.bodies or operation.function)
        if is_plain and not self._cuts.issuperset(places):
            for place, result in self._run(step).items():
                if place in self._cuts:
                    result = self._terms.variable(result.fact)
                self._values[place] = result
            return
        facts: Sequence[Fact] = ()
        if is_plain and operation.version >= FIRST_PLAIN:
            args = tuple([self.value(self._before[at]) for at in step.inputs])
            while args and args[-1] is None:
                args = args[:-1]
            if not (step.head.axes_of_first and speaks_of_no_axis(step.head, args)):
                facts = self._terms.facts_of(step.head, args, operation.width)
        for index, place in enumerate(places):
            if place not in self._values:
                types = self._shared.types[place[0]]
                unknown = Fact(types[place[1]] if place[1] < len(types) else 0)
                fact = facts[index] if facts else self._terms.facts.one(unknown)
                self._values[place] = self._terms.variable(fact)

    def _run(self, step: Step) -> dict[Place, Term]:
        """Values that a node computes.

        Raises:
            OpenError: many nodes have run.
        """
        self._count += 1
        if self._count * MOST_SHARE > len(self._steps):
            raise OpenError("most nodes differ")
        for at in step.inputs:
            self._frame[at] = self.value(self._before[at])
        results = outputs_of(self._execution, step, self._frame)
        return {self._before[at]: result for at, result in results}


def outputs_of(execution: Execution, step: Step, frame: list[Value]) -> Iterator[tuple[int, Term]]:
    """Slots and values of the outputs of a node."""
    execution.execute((step,), frame)
    for at in step.outputs:
        if at != ABSENT and (result := frame[at]) is not None:
            yield at, result
