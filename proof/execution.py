"""Running a model on terms, by the reference semantics of each construct."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import onnx

from ..ir import Tensor, normal_domain
from ..operators import OperatorRules, rules_of
from ..reference.bodies import label
from ..reference.element_types import ElementTypes
from .algebra import Terms
from .budget import OpenError
from .constructs import CONSTRUCTS
from .exact import is_exact
from .heads import Head
from .meanings import is_known
from .programs import ABSENT, Operation, Program, Step
from .terms import Args, Term
from .validity import LEFT_OUT, require_valid

Value = Term | None
Frame = list[Value]


class Execution:
    """One model, run on terms.

    Args:
        terms: where terms are made; shared by the models that are compared.
        folder: where external data lies.
        element_types: what shape inference finds of scan outputs; None where it is not asked.

    Attributes:
        level: how many loops that run time decides are around the place that is run.
        trip: the trips of those loops: what is drawn at random differs from trip to trip.
        assumed: what is certain of truth values where the branch of an If is run.
        drawn: how many operators were met of which nothing is known, or that draw.
        folded: what was folded of which the bits depend on the kernel.
    """

    def __init__(
        self,
        terms: Terms,
        side: str,
        folder: Any = None,
        element_types: ElementTypes | None = None,
    ) -> None:
        self.terms = terms
        self.element_types = element_types
        self.side = side
        self.folder = folder
        self.level = 0
        self.trip: tuple[Term, ...] = ()
        self.assumed: dict[Term, bool] = {}
        self.drawn = 0
        self.folded: set[tuple[Head, Args]] = set()
        self._calls: dict[Hashable, list[Value]] = {}
        self._constants: dict[int, Term] = {}

    def run(
        self, program: Program, inputs: Sequence[Value], frame: Frame | None = None
    ) -> list[Value]:
        """The outputs of a graph.

        Args:
            program: the graph.
            inputs: its inputs.
            frame: the frame around it, which it captures from.
        """
        return self.bound(program, frame)(inputs)

    def bound(
        self, program: Program, around: Frame | None
    ) -> Callable[[Sequence[Value]], list[Value]]:
        """A graph with what it captures and its constants, ready to be run many times."""
        fixed: Frame = [None] * program.size
        for outer, own in program.captures:
            assert around is not None
            fixed[own] = around[outer]
        for place, tensor in program.constants:
            fixed[place] = self.constant(tensor)

        def call(inputs: Sequence[Value]) -> list[Value]:
            frame = fixed.copy()
            for place, value in zip(program.inputs, inputs, strict=True):
                frame[place] = value
            return self._run(program, frame)

        return call

    def constant(self, message: onnx.TensorProto | onnx.SparseTensorProto) -> Term:
        """An initializer."""
        key = id(message)
        if key not in self._constants:
            self._constants[key] = self.terms.constant(Tensor(message, base_dir=self.folder))
        return self._constants[key]

    def _run(self, program: Program, frame: Frame) -> list[Value]:
        terms, place = self.terms, frame.__getitem__
        terms.budget.step(len(program.steps))
        for step in program.steps:
            operation, outputs = step.operation, step.outputs
            args = tuple(map(place, step.inputs))
            facts = operation.outcomes.get(tuple([arg and arg.fact for arg in args]))
            if facts is None:
                results = self.step(step, args, frame)
            else:
                results = operation.made.get(args, ())
                if len(results) < len(outputs):
                    results = terms.standing(step.head, args, facts)
                if len(outputs) == 1 and outputs[0] != ABSENT:  # as nearly all have it
                    frame[outputs[0]] = results[0]
                    continue
            for number, at in enumerate(outputs):
                result = results[number] if number < len(results) else None
                if result is None and at != ABSENT:
                    raise OpenError(f"{label(step.node)} gives no output {number}")
                frame[at] = result
            frame[ABSENT] = None
        return [frame[at] for at in program.outputs]

    def step(self, step: Step, args: tuple[Value, ...], frame: Frame) -> Sequence[Value]:
        """The outputs of a node."""
        operation = step.operation
        if operation.function is not None:
            return self._call(operation.function, args, operation.width)
        types = tuple([LEFT_OUT if arg is None else arg.fact.elem_type for arg in args])
        if types not in operation.valid:
            require_valid(step, types)
            operation.valid.add(types)
        if operation.is_plain:
            return self._plain(operation, args)
        construct = CONSTRUCTS.get(operation.op_type)
        if construct is not None:
            return construct(self, step, args, frame)
        if operation.bodies:
            raise OpenError(f"{label(step.node)} is not known to the proof")
        if self._draws(step, args):
            return self._drawn(step, args)
        operation.is_plain = not (step.head.draws or step.head.unknown)
        return self._plain(operation, args)

    def _plain(self, operation: Operation, args: tuple[Value, ...]) -> Sequence[Value]:
        """A function of its inputs; where their facts tell all, the next one is not asked about."""
        assert operation.head is not None
        results = self.terms.apply(operation.head, args, operation.width)
        if not self.terms.rounded.isdisjoint(results) and not is_exact(
            operation.head.name, (*args, *results)
        ):
            self.folded.add((operation.head, args))
        facts = self.terms.settled(operation.head, args, operation.width)
        if operation.is_plain and facts:
            operation.outcomes[tuple([arg and arg.fact for arg in args])] = facts
        return results

    def _draws(self, step: Step, args: tuple[Value, ...]) -> bool:
        """Whether nothing is known of an operator, or it draws random numbers."""
        head = step.head
        assert head.op is not None
        if head.draws is None:
            rules = rules_of(head.op)
            version = head.imports.get(normal_domain(head.op.domain), 0)
            head.unknown = not is_known(head.op, version)
            head.draws = rules.defines(OperatorRules.draws_random_numbers)
        return head.unknown or (head.draws and self.terms.draws(head, args, step.operation.width))

    def _drawn(self, step: Step, args: tuple[Value, ...]) -> Sequence[Value]:
        """An operator that may give another result each time: a term of its own for each run."""
        head = step.head
        self.drawn += 1
        own = self.terms.heads.own("drawn", (self.side, self.drawn, head))
        facts = self.terms.facts_of(head, args, step.operation.width)
        return self.terms.raw(own, (*args, *self.trip), facts)

    def _call(self, program: Program, args: tuple[Value, ...], width: int) -> list[Value]:
        """A call of a function: the same arguments give the same results, unless it draws."""
        key = program, args, tuple(self.assumed.items())
        known = self._calls.get(key)
        if known is None:
            before = self.drawn
            missing = [None] * (len(program.inputs) - len(args))
            known = self.run(program, [*args, *missing])
            if self.drawn == before:
                self._calls[key] = known
        return known
