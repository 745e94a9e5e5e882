"""Value numbering: models of the same nodes are equal before terms are made of them.

A node has the number of any other node with its head and operands of the same numbers. A head is an
operator by its meaning, so that equal numbers are equal values whatever types and shapes the inputs
have. This holds of main graphs without bodies and calls, in which nothing draws random numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

import onnx

from ..terms.op_semantics import schema_of
from ..terms.term import Head, Term, rank_of
from ..terms.term_manager import Terms
from .compile_graph import ABSENT, Operation, Program, Step
from .node_checker import LEFT_OUT, InvalidError, require_valid
from .symbolic_execution import CONSTRUCTS, is_function

Constant = Callable[[onnx.TensorProto | onnx.SparseTensorProto], Term]
"""Function from an initializer to its term."""

Place = tuple[int, int]
"""Number of a node, or of an input or constant, and index of its output."""

NOTHING: Place = (0, 0)
"""Place of an absent input."""


class Side(NamedTuple):
    """Main graph of one model, and its constants."""

    program: Program
    constant: Constant


class ValueNumbers:
    """Numbers of the values of two models.

    Args:
        terms: the terms of the proof.
        inputs: terms of the inputs, by name.
    """

    def __init__(self, terms: Terms, inputs: dict[str, Term]) -> None:
        self._terms = terms
        self._inputs = inputs
        self._numbers: dict[Hashable, int] = {None: 0}
        self._args: list[tuple[Place, ...]] = [()]
        self._operations: dict[int, Operation] = {}
        self._ranks: dict[int, int] = {}

    def sizes_of_outputs(self, before: Side, after: Side) -> list[int] | None:
        """Number of nodes, inputs and constants that each output adds to those before it.

        None if the models are not known to be equal: a node of the rewrite is none of the original,
        a value is of unknown element type, or a node is invalid.
        """
        if not all(self._is_plain(side.program) for side in (before, after)):
            return None
        one, other = self._outputs(before), self._outputs(after, only_known=True)
        if one is None or one != other:
            return None
        if not (self._is_typed(before) and self._is_typed(after)):
            return None
        self._terms.budget.make_terms(len(self._args))
        return self._reached(one)

    def _is_plain(self, program: Program) -> bool:
        """Test whether a graph has functions of tensors only, and no defaults of inputs."""
        defaults = {place for place, _ in program.constants}
        if not defaults.isdisjoint(program.inputs):
            return False
        operations = {step.operation for step in program.steps}
        return all(
            operation.head is not None
            and not operation.bodies
            and operation.op_type not in CONSTRUCTS
            and is_function(operation.head)
            for operation in operations
        )

    def _number(self, key: Hashable, args: tuple[Place, ...] = ()) -> int:
        number = self._numbers.setdefault(key, len(self._numbers))
        if number == len(self._args):
            self._args.append(args)
        return number

    def _leaf(self, term: Term | None) -> Place:
        number = self._number(term)
        rank = rank_of(term)
        if rank is not None:
            self._ranks[number] = rank
        return number, 0

    def _outputs(self, side: Side, *, only_known: bool = False) -> list[Place] | None:
        """Places of the outputs of a graph.

        Args:
            side: the graph.
            only_known: return None at a node that no graph before it has.
        """
        program, frame = side.program, [NOTHING] * side.program.size
        for name, at in zip(program.names, program.inputs, strict=True):
            frame[at] = self._leaf(self._inputs[name])
        for at, message in program.constants:
            frame[at] = self._leaf(side.constant(message))
        self._terms.budget.step(len(program.steps))
        for step in program.steps:
            args = tuple([frame[at] for at in step.inputs])
            while args and args[-1] is NOTHING:
                args = args[:-1]
            if step.operation.op_type == "Constant":  # however a model holds it
                frame[step.outputs[0]] = self._leaf(self._terms.apply(step.head, ())[0])
                continue
            key = step.head, args
            if only_known and not self._is_known(key, step):
                return None
            number = self._number(key, args)
            self._operations.setdefault(number, step.operation)
            for index, at in enumerate(step.outputs):
                if at != ABSENT:
                    frame[at] = number, index
        return [frame[at] for at in program.outputs]

    def _is_known(self, key: tuple[Head, tuple[Place, ...]], step: Step) -> bool:
        """Test whether a graph before has a node that accepts the same operands."""
        number = self._numbers.get(key)
        if number is None:
            return False
        one, other = self._operations[number], step.operation
        if one.version == other.version or not step.head.operand_ranks:
            return True
        schemas = [schema_of(each.op_type, each.version, "") for each in (one, other)]
        if len({schema and schema.since_version for schema in schemas}) == 1:
            return True
        return all(
            position >= len(key[1]) or self._ranks.get(key[1][position][0]) in ranks
            for position, ranks in step.head.operand_ranks.items()
        )

    def _is_typed(self, side: Side) -> bool:
        """Test whether all values have known element types that their nodes accept."""
        program, frame = side.program, [LEFT_OUT, *[0] * (side.program.size - 1)]
        for name, at in zip(program.names, program.inputs, strict=True):
            frame[at] = self._inputs[name].fact.elem_type
        for at, message in program.constants:
            frame[at] = side.constant(message).fact.elem_type
        for step in program.steps:
            outputs = self._elem_types(step, tuple([frame[at] for at in step.inputs]))
            for at, elem_type in zip(step.outputs, outputs, strict=False):
                if at != ABSENT:
                    frame[at] = elem_type
        return 0 not in frame and all(
            frame[at] == elem_type for at, elem_type, _ in program.elem_types
        )

    def _elem_types(self, step: Step, types: tuple[int, ...]) -> Sequence[int]:
        operation, width = step.operation, len(step.outputs)
        if 0 in types:
            return [0] * width
        if types not in operation.valid:
            try:
                require_valid(step.node, operation.version, types)
            except InvalidError:
                return [0] * width
            operation.valid.add(types)
        present = [None if elem_type == LEFT_OUT else elem_type for elem_type in types]
        return self._terms.facts.elem_types(step.head, present, width)

    def _reached(self, outputs: Sequence[Place]) -> list[int]:
        visited, counts = {0}, []
        for number, _ in outputs:
            before, stack = len(visited), [number]
            while stack:
                at = stack.pop()
                if at not in visited:
                    visited.add(at)
                    stack += [arg for arg, _ in self._args[at]]
            counts.append(len(visited) - before)
        return counts
