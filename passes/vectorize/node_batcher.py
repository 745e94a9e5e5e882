"""Nodes of a body, computed for all trips of a Loop or Scan at once."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Sequence

from ...analysis.safety.speculation import Speculation
from ...facts.bounds import Known
from ...facts.fact import Fact
from ...ir import Node, Value, normal_domain
from ...ops import rules_of
from ...ops.batching import Batch, Extent, Operand, Ragged, Unbatchable, spread
from ...ops.builder import Builder, RewriteError
from ...ops.outputs import content_of
from ...ops.ragged import padded
from ...ops.randomness import find_random_in
from .batched_inputs import Feeding


class NodeBatcher(abc.ABC):
    """Computes nodes for all trips at once; each must follow what it is made of.

    Args:
        feeding: what the loop is fed with.
        emit: makes the nodes.
        extent: what is known of the trips before run time.
        speculation: tells which nodes may fail; made anew where it is not given.

    Attributes:
        operands: what stands for the values of the body that are given or were computed.
        ragged: what stands for those that have fewer elements on some trips, which only operators
            that can tell may read.
        mask: on which trips the nodes run, a vector of booleans; None where on all.
    """

    mask: Value | None = None

    def __init__(
        self,
        feeding: Feeding,
        emit: Builder,
        extent: Extent,
        speculation: Speculation | None = None,
    ) -> None:
        self.feeding = feeding
        self.emit = emit
        self.extent = extent
        self.inference = feeding.inference
        self.operands: dict[Value, Operand] = {}
        self.ragged: dict[Value, tuple[Operand, Ragged]] = {}
        functions = self.inference.model.functions
        self.speculation = speculation or Speculation(self.inference, functions)

    def operand(self, value: Value) -> Operand:
        """What stands for a value that the body computed, is given or captures.

        Raises:
            Unbatchable: there is no such thing, as where it has fewer elements on some trips.
        """
        if value in self.ragged:
            raise Unbatchable(f"computes '{value.name}', which may be shorter on some trips")
        found = self.operands.get(value)
        return self.operand_around(value) if found is None else found

    @abc.abstractmethod
    def operand_around(self, value: Value) -> Operand:
        """The same for a value that is neither given to these nodes nor computed by them."""

    def known(self, value: Value) -> Known:
        """What is known of a value of the body on one trip, or of one around it."""
        return self.speculation.outside(value)

    def fact(self, value: Value) -> Fact:
        """The same without bounds."""
        return self.inference.fact(value)

    @abc.abstractmethod
    def compute_holder(self, node: Node) -> None:
        """Compute a node that holds graphs, or calls a function of the model.

        Raises:
            Unbatchable: that cannot be.
        """

    def read_rows(self, node: Node) -> Value | None:
        """What a node reads that is there for all trips as it stands; None for all others."""
        return None

    def every(self, value: Value) -> Value:
        """What stands for a value, for all trips: repeated where it is the same on every one."""
        operand = self.operand(value)
        if operand.batched:
            return operand.value
        if operand.fact.shape is None:
            raise Unbatchable(f"gives '{value.name}', whose rank is not known")
        return spread(operand.value, len(operand.fact.shape), self.feeding.trips, self.emit)

    def compute_node(self, node: Node) -> None:
        """Compute a node for all trips.

        Raises:
            Unbatchable: it cannot be; the message ends a sentence that begins with the Loop or
                Scan.
        """
        functions = self.inference.model.functions
        calls = bool(functions) and node.op.function_key in functions
        if (normal_domain(node.domain) and not calls) or node.op.references:
            raise Unbatchable(f"holds {node}, for which there is no batching rule")
        random = find_random_in(node, functions)
        if random is not None:
            raise Unbatchable(f"draws random numbers ({random})")
        if node.bodies or calls:
            self.compute_holder(node)
        else:
            self._compute_plain(node)

    def operands_of(self, node: Node) -> list[Operand | None]:
        """What stands for the inputs of a node."""
        return [None if value is None else self.operand(value) for value in node.inputs]

    def lifted(self, vector: Value, rank: int) -> Value:
        """A vector with an element for each trip, behind which come so many axes of length 1."""
        axes = tuple(range(1, 1 + rank))
        return self.emit.unsqueeze(vector, axes, f"{vector.name}_lifted") if axes else vector

    def _compute_plain(self, node: Node) -> None:
        if any(value in self.ragged for value in node.inputs):
            self._compute_ragged(node)
            return
        operands = self.operands_of(node)
        if not any(operand is not None and operand.batched for operand in operands):
            if self.may_run(node):
                self._keep(node, operands)
                return
            operands = self._spread(node, operands)
        facts = [Fact() if v is None else self.fact(v) for v in node.outputs]
        rows = self.read_rows(node)
        if rows is not None:
            self.operands[node.output()] = Operand(rows, True, facts[0])
            return
        facts[0] = self._followed(node, operands, facts[0])
        self._enter_results(node, self.apply_rule(node, operands, facts))

    def _compute_ragged(self, node: Node) -> None:
        """Compute a node that reads what is shorter on some trips."""
        found = [None if value is None else self.ragged.get(value) for value in node.inputs]
        operands = [
            self.operand(value) if pair is None and value is not None else pair and pair[0]
            for value, pair in zip(node.inputs, found, strict=True)
        ]
        facts = [Fact() if v is None else self.fact(v).without_content() for v in node.outputs]
        ragged = [None if pair is None else pair[1] for pair in found]
        self._enter_results(node, self.apply_rule(node, operands, facts, ragged))

    def apply_rule(
        self,
        node: Node,
        operands: Sequence[Operand | None],
        facts: Sequence[Fact],
        ragged: Sequence[Ragged | None] = (),
    ) -> list[tuple[Operand, Ragged | None]]:
        """Outputs of a node for all iterations, by the batching rule of its operator.

        Args:
            node: the node.
            operands: its inputs; None where one is left out.
            facts: about its outputs on one iteration.
            ragged: of which elements iterations lack some, for each input; empty where of none.

        Raises:
            Unbatchable: there is no rule, or the rule refuses, or its result has neither the axis
                of the iterations nor is said to be the same on all of them.
        """
        given = Batch(node, operands, facts, self.emit, self.feeding.trips, self.extent)
        rules = rules_of(node.op)
        for operand in operands:
            if operand is not None and operand.fact.shape is not None:
                rank = len(operand.fact.shape) + operand.batched
                self.feeding.enter_rank(operand.value, rank)
        try:
            results = rules.batch_ragged(given, ragged) if ragged else rules.batch(given)
        except (Unbatchable, RewriteError) as error:
            raise Unbatchable(f"holds {node}, which {error}") from error
        made = []
        for result, fact in zip(results, facts, strict=False):
            batched, lacking = not given.is_unvarying(result), given.raggedness(result)
            self._require_rank(node, result, batched, fact)
            fact = fact if lacking is None else padded(fact, lacking)
            made.append((Operand(result, batched, fact), lacking))
        return made

    def _enter_results(self, node: Node, made: Sequence[tuple[Operand, Ragged | None]]) -> None:
        """Let the results of a rule stand for the outputs of a node."""
        for value, (operand, ragged) in zip(node.outputs, made, strict=False):
            if operand.batched:
                self.require_room(node, operand.fact)
            if value is None:
                continue
            if ragged is None:
                self.operands[value] = operand
            else:
                self.ragged[value] = operand, ragged

    def _require_rank(self, node: Node, result: Value, batched: bool, fact: Fact) -> None:
        """Check that a result has the axis of the iterations, or is said to have none.

        Raises:
            Unbatchable: its rank is another one than the rule says.
        """
        rank = None if fact.shape is None else len(fact.shape) + batched
        made = self.feeding.ranks.of(result)
        if rank is not None and made is not None and made != rank:
            raise Unbatchable(
                f"holds {node}, whose batching rule gives rank {made}, not {rank}; report this"
            )

    def _followed(self, node: Node, operands: Sequence[Operand | None], fact: Fact) -> Fact:
        """What is known of the first output, elements that follow from the number of the trip
        included."""
        facts = [Fact() if operand is None else operand.fact for operand in operands]
        if fact.content is not None or all(known.content is None for known in facts):
            return fact
        magnitudes = self.inference.symbols.magnitudes
        content = content_of(node, facts, fact.elem_type, magnitudes)
        return dataclasses.replace(fact, content=content)

    def require_room(self, node: Node, fact: Fact) -> None:
        """Check that all trips of what a node gives are not too large.

        Raises:
            Unbatchable: they are.
        """
        self.feeding.require_room(f"holds {node}", fact)

    def may_run(self, node: Node) -> bool:
        """Whether a node that is the same on every trip gives a result where there are none."""
        free = node.is_op("Constant", "Identity")
        return free or self.extent.certain or not self.speculation.survey([node])

    def _keep(self, node: Node, operands: Sequence[Operand | None]) -> None:
        """Take over what is the same on every trip and could not leave the body."""
        inputs = [None if operand is None else operand.value for operand in operands]
        labels = ["unread" if value is None else value.name for value in node.outputs]
        made = self.emit.again(node.op, inputs, labels)
        for value, result in zip(node.outputs, made, strict=True):
            if value is not None:
                self.operands[value] = Operand(result, False, self.fact(value))

    def _spread(self, node: Node, operands: Sequence[Operand | None]) -> list[Operand | None]:
        """Operands of a node that must not run where there are no trips: what could make it fail
        is repeated for each trip, so that there is none of it then."""
        risky = rules_of(node.op).risky_inputs
        found = list(operands)
        for index in risky:
            operand = operands[index] if index < len(operands) else None
            if operand is not None and operand.fact.shape is not None:
                rank = len(operand.fact.shape)
                repeated = spread(operand.value, rank, self.feeding.trips, self.emit)
                found[index] = Operand(repeated, True, operand.fact)
        if not any(operand is not None and operand.batched for operand in found):
            raise Unbatchable(f"holds {node}, which must not run where there are no trips")
        return found
