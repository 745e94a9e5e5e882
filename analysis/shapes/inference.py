"""Types and shapes over the IR, on demand: only what leads to a question is looked at.

This is the one place that knows types: passes, conversion and verification ask it. Nodes are
inferred by `nodes.py`, bodies by `bodies.py`, calls by `calls.py`; here is the way between them.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterator, Sequence

from ...facts.fact import UNKNOWN, Fact, Symbols, constant_fact, is_named, length_of
from ...facts.polynomial import Dimension
from ...facts.types import completed
from ...ir import Function, Graph, Model, Node, Operator, Value, captured_by
from ...ir.copying import without_symbols
from ...limits import allowed, current, limit
from ...ops.versions import VersionOf, version_of_root
from .body_transfer import enter_body, leave_bodies
from .call_transfer import Attributes, CallFacts
from .node_transfer import NodeFacts
from .onnx_inference_cache import Memory, OnnxFacts

_DEEPEST = limit("call_depth")
_TOO_DEEP = f"takes calls deeper in each other than {allowed('call_depth')}; inline them first"
"""Calls that stand deeper in each other are not looked into."""

_TERMS = 16
"""A node that is given sizes of so many terms takes twice as long as one that is given numbers."""

_CALL = 10
"""So many nodes count as much as looking into a call does."""

_BODIED = ("If", "Loop", "Scan", "SequenceMap")


class _Calling:
    """The functions whose calls are looked into, innermost first; bodies around a call count."""

    def __init__(self, function: Function, call: Node, around: _Calling | None) -> None:
        self.function = function
        self.around = around
        self.depth: int = 1 if around is None else around.depth + 1
        holder = None if call.graph is None else call.graph.holder
        while holder is not None and holder.graph is not None:
            self.depth += 1
            holder = holder.graph.holder

    def forbids(self, function: Function) -> bool:
        """Whether a call in it is not looked into: it stands too deep, or in itself."""
        if self.depth >= _DEEPEST:
            return True
        calling: _Calling | None = self
        while calling is not None and calling.function is not function:
            calling = calling.around
        return calling is not None


class ShapeInference:
    """Facts about the values of one model, computed when asked for and then remembered.

    The model must not be changed in a way that changes values while it is in use; replacing a
    value by an equal one is fine.

    Args:
        model: the model.
        version_of: the opset version in which a node is written, where that may be another than
            its model or function imports.
        trusts_bodies: take what bodies declare for granted, too. It need not hold for every trip,
            so nothing that is computed may follow from it.
        memory: what inferences of the same model, or of models made of it, have found out about
            nodes.

    Attributes:
        symbols: the symbols of all facts.
        version_of: the opset version in which a node is written.
        attributes: what the call gives whose function is looked into.
    """

    def __init__(
        self,
        model: Model,
        *,
        version_of: VersionOf = version_of_root,
        trusts_bodies: bool = False,
        memory: Memory | None = None,
    ) -> None:
        self.model = model
        self.symbols = Symbols()
        self.version_of = version_of
        self._trusts_bodies = trusts_bodies
        self._facts: dict[Value, Fact] = {}
        memory = Memory() if memory is None else memory
        asked = OnnxFacts(model, self.symbols, version_of, memory)
        self._nodes = NodeFacts(self.symbols, asked, memory)
        shared = model.settled and version_of is version_of_root and not trusts_bodies
        self._calls = CallFacts(self.symbols, memory.calls if shared else None)
        self.attributes: Attributes = {}
        # The functions whose calls are looked into.
        self._calling: _Calling | None = None

    def fact(self, value: Value) -> Fact:
        """What is known about a value."""
        found = self._facts.get(value)
        if found is None:
            self._require([value])
            found = self._facts[value]
        return found

    def assume(self, value: Value, fact: Fact) -> None:
        """Take a fact for granted: the hypothesis of a body, or what a rewrite just made."""
        self._facts[value] = fact
        self.symbols.remember(fact.shape)
        if fact.shape and value.graph is self.model.graph:  # it is there whatever is fed
            self.symbols.magnitudes.exists(fact.shape)

    def enter(self, value: Value, fact: Fact) -> None:
        """Take a fact about an input of a body for granted.

        The element type, where that is all that is open, is the same on every trip.
        """
        fact = self._completed(value, fact)
        if not fact.elem_type and fact.shape is None and fact.other is None:
            fact = Fact(value.elem_type or 0)
        self.assume(value, self._nodes.shared(fact))

    def known(self) -> Iterator[tuple[Value, Fact]]:
        """All facts computed so far."""
        yield from self._facts.items()

    def trial(self) -> ShapeInference:
        """A copy that knows the same and can be thrown away with what it assumes."""
        other = copy.copy(self)
        other._facts = _Layered(self._facts)
        return other

    def keep(self) -> None:
        """Hand what a trial found over to where it was made, its assumptions having held."""
        assert isinstance(self._facts, _Layered)
        self._facts.below.update(self._facts)

    def inside(self, call: Node, function: Function, inputs: Sequence[Fact]) -> ShapeInference:
        """What is known inside of a function for one call, given facts of the arguments."""
        inner = copy.copy(self)
        inner._facts = {}
        inner.attributes = {**function.defaults, **self._resolved(call.op).attributes}
        inner._calling = _Calling(function, call, self._calling)
        for index, value in enumerate(function.graph.inputs):
            inner.assume(value, inputs[index] if index < len(inputs) else UNKNOWN)
        return inner

    def within(self, body: Graph, inputs: Sequence[Fact]) -> ShapeInference:
        """Infer the facts inside a body from those of its inputs."""
        inner = copy.copy(self)
        inner._facts = {value: self.fact(value) for value in body.captures()}
        for value, fact in zip(body.inputs, inputs, strict=True):
            inner.assume(value, fact)
        return inner

    def infer(self, node: Node, inputs: Sequence[Fact]) -> list[Fact]:
        """What a node without bodies gives out when it is given these facts."""
        function = self.model.functions.get(node.op.function_key) if self.model.functions else None
        if function is None:
            return self._nodes.of(node, inputs, self._resolved(node.op))
        if self._calling is not None and self._calling.forbids(function):
            current().refuse_sizes(node, _TOO_DEEP)
            return [UNKNOWN] * len(node.outputs)

        def infer() -> list[Fact]:
            length = 1 + sum(map(length_of, inputs)) // _TERMS
            if not current().may_infer(_CALL + length * len(function.graph), node):
                return [UNKNOWN] * len(node.outputs)
            inner = self.inside(node, function, inputs)
            return [inner.fact(value) for value in function.graph.outputs]

        return self._calls.of(function, self._resolved(node.op), inputs, infer)

    def _resolved(self, op: Operator) -> Operator:
        """An operator with the attributes that the call around it gives; without those that it
        does not give, whose defaults hold. Unchanged where no call is looked into."""
        if not self._calling or not op.references:
            return op
        return op.for_call(self.attributes)

    def _require(self, values: Sequence[Value]) -> None:
        """Compute facts, what they depend on first; without recursion along the data flow."""
        facts, own = self._facts, dict.__contains__
        below = facts.below if isinstance(facts, _Layered) else _NOTHING
        stack = list(values)
        while stack:
            value = stack[-1]
            if not own(facts, value) and value not in below:
                needed = [
                    v
                    for v in _needs(value)
                    if v is not None and not own(facts, v) and v not in below
                ]
                if needed:
                    stack += needed
                    continue
                self._compute(value)
            stack.pop()

    def _compute(self, value: Value) -> None:
        node = value.producer
        if value.constant is not None:
            self.assume(value, self._nodes.shared(constant_fact(value.constant)))
        elif node is not None:
            self._compute_node(node)
        elif _is_body_input(value):
            enter_body(self, value)
        else:
            self.assume(value, self._nodes.shared(self.symbols.fact(value.type)))

    def _compute_node(self, node: Node) -> None:
        if node.is_op(*_BODIED):
            facts = leave_bodies(self, node)
        else:
            inputs = [UNKNOWN if v is None else self._facts[v] for v in node.inputs]
            facts = self.infer(node, inputs)
        for index, value in enumerate(node.outputs):
            if value is not None:
                known = facts[index] if index < len(facts) else UNKNOWN
                full = self._completed(value, known)
                if node.is_op("Loop") and index >= len(node.inputs) - 2 and known.shape:
                    # a size that only the declaration tells is 0 if there are no trips
                    rank = full.shape is not None and len(full.shape) == len(known.shape)
                    first = full.shape[:1] if full.shape and rank else known.shape[:1]
                    full = dataclasses.replace(full, shape=(*first, *known.shape[1:]))
                self.assume(value, full)

    def _completed(self, value: Value, fact: Fact) -> Fact:
        """Fill in from the declaration what could not be inferred.

        Not inside bodies: what is declared there need not hold for every trip. Symbols that a
        function declares are its own, and stand for other sizes in each call.
        """
        declared = UNKNOWN if value.info is None else self._declared(value)
        if declared is UNKNOWN:
            return fact
        if fact.other is not None:
            full = fact.other if declared.other is None else completed(fact.other, declared.other)
            return dataclasses.replace(fact, other=full)
        if not fact.elem_type and fact.shape is None:
            return dataclasses.replace(declared, count=fact.count)
        if fact.shape is None or declared.shape is None or len(fact.shape) != len(declared.shape):
            shape = declared.shape if fact.shape is None else fact.shape
        else:
            shape = tuple(map(_better, fact.shape, declared.shape))
        return Fact(fact.elem_type or declared.elem_type, shape, fact.content)

    def _declared(self, value: Value) -> Fact:
        info, graph = value.info, value.graph
        if graph is not None and graph.holder is not None and not self._trusts_bodies:
            return UNKNOWN
        if info is None or not info.HasField("type"):
            return UNKNOWN
        return self.symbols.fact((without_symbols(info) if self._calling else info).type)


def _better(ours: Dimension, theirs: Dimension) -> Dimension:
    return theirs if is_named(theirs) and not is_named(ours) else ours


_NOTHING: dict[Value, Fact] = {}


class _Layered(dict[Value, Fact]):
    """Facts on top of others that stay as they are."""

    def __init__(self, below: dict[Value, Fact]) -> None:
        super().__init__()
        self.below = below

    def __missing__(self, value: Value) -> Fact:
        return self.below[value]

    def __contains__(self, value: object) -> bool:
        return dict.__contains__(self, value) or value in self.below


def _is_body_input(value: Value) -> bool:
    graph = value.owner
    return graph is not None and graph.holder is not None and value in graph.inputs


def _needs(value: Value) -> Sequence[Value | None]:
    """What must be known before a value can be computed."""
    if value.constant is not None:
        return ()
    node = value.producer
    if node is None:
        graph = value.owner
        node = None if graph is None else graph.holder
        if node is None:
            return ()
    return (*node.inputs, *captured_by(node)) if node.bodies else node.inputs
