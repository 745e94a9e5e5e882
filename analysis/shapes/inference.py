"""Type and shape inference on demand: it visits only values that a query depends on.

Passes, conversion and verification all use it. `node_transfer.py`, `body_transfer.py` and
`call_transfer.py` have the transfer functions; this file walks between them.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Hashable, Iterator, Mapping, Sequence

from ...definitions import Expansion, Unfit, expansion_of, is_foreign
from ...definitions.signatures import signature_of
from ...facts.fact import UNKNOWN, Fact, Symbols, constant_fact, element, length_of
from ...facts.polynomial import Dimension
from ...facts.types import completed
from ...ir import Array, Function, Graph, Model, Node, Operator, Value, captured_by, normal_domain
from ...ir.copying import without_symbols
from ...limits import allowed, current, limit
from ...ops.schema_queries import VersionOf, version_of_root
from .body_transfer import enter_body, leave_bodies
from .call_transfer import Attributes, CallFacts
from .node_transfer import NodeFacts
from .onnx_inference_cache import Memory, OnnxFacts

_DEEPEST = limit("call_depth")
_TOO_DEEP = f"nests calls deeper than {allowed('call_depth')}; inline them first"
"""The remark for calls beyond the limit of nesting."""

_TERMS = 16
"""The number of terms in input sizes that doubles the cost of a node."""

_CALL = 10
"""The cost of analysing a call, in nodes."""

_BODIED = frozenset(("If", "Loop", "Scan", "SequenceMap"))


class _Calling:
    """The stack of analysed calls, innermost first; bodies around a call count."""

    def __init__(self, function: Function, call: Node, around: _Calling | None) -> None:
        self.function = function
        self.around = around
        self.depth: int = 1 if around is None else around.depth + 1
        holder = None if call.graph is None else call.graph.holder
        while holder is not None and holder.graph is not None:
            self.depth += 1
            holder = holder.graph.holder

    def forbids(self, function: Function) -> bool:
        """Test whether a call is too deep or recursive."""
        if self.depth >= _DEEPEST:
            return True
        calling: _Calling | None = self
        while calling is not None and calling.function is not function:
            calling = calling.around
        return calling is not None


class ShapeInference:
    """Facts about the values of one model, computed on demand and cached.

    While it is in use, values of the model must not change, except for replacements by equal ones.

    Args:
        version_of: returns the opset version of a node, where that may differ from its imports.
        trusts_bodies: trust declarations in bodies, too. They may not hold in every iteration, so
            no computation may depend on them.
        memory: results of inferences of the same model, or of models derived from it.
        symbols: the symbols of other inferences, for facts that share them.

    Attributes:
        version_of: the opset version in which a node is written.
        attributes: the attributes of the analysed call.
    """

    def __init__(
        self,
        model: Model,
        *,
        version_of: VersionOf = version_of_root,
        trusts_bodies: bool = False,
        memory: Memory | None = None,
        symbols: Symbols | None = None,
    ) -> None:
        self.model = model
        self.symbols = Symbols(model.minima) if symbols is None else symbols
        self.version_of = version_of
        self._trusts_bodies = trusts_bodies
        self._facts: dict[Value, Fact] = {}
        self._read: dict[Node, Sequence[Value | None]] = {}
        # Facts of values of the main graph, whose sizes are recorded.
        self._existing: set[Fact] = set()
        memory = Memory() if memory is None else memory
        onnx_facts = OnnxFacts(model, self.symbols, version_of, memory)
        self._nodes = NodeFacts(self.symbols, onnx_facts, memory)
        self._tally = memory.tally
        # Other inferences may share calls of functions that stay, if all read them the same way.
        shared = model.settled and version_of is version_of_root and not trusts_bodies
        self._calls = CallFacts(self.symbols, memory.calls if shared else None)
        self._foreign: dict[Hashable, list[Fact]] = {}
        self.attributes: Attributes = {}
        # The analysed calls.
        self._calling: _Calling | None = None

    def fact(self, value: Value) -> Fact:
        """The facts about a value."""
        fact = self._facts.get(value)
        if fact is None:
            self._require([value])
            fact = self._facts[value]
        return fact

    def number(self, value: Value | None) -> Dimension | None:
        """The one integer of a value, with symbols for sizes; None for others."""
        number = None if value is None else element(self.fact(value))
        return number if isinstance(number, Dimension) else None

    def assume(self, value: Value, fact: Fact) -> None:
        """Assume a fact: the hypothesis of a body, or the result of a rewrite."""
        if self._facts.get(value) is fact:
            return
        self._facts[value] = fact
        shape = fact.shape
        if not shape or fact in self._existing:
            return
        self.symbols.remember(shape)
        if value.graph is self.model.graph:  # it exists for any feeds
            self.symbols.magnitudes.exists(shape)
            self._existing.add(fact)

    def forget(self, value: Value) -> None:
        """Drop the fact of a value, whose producer was rewritten."""
        self._facts.pop(value, None)

    def enter(self, value: Value, fact: Fact) -> None:
        """Assume a fact about an input of a body.

        An open element type is that of the declaration, the same in every iteration.
        """
        fact = self._complete(value, fact)
        # A hypothesis about the shape must not come from the declaration: runtimes do not check
        # declared sizes of bodies.
        if not fact.elem_type and fact.shape is None and fact.other is None:
            fact = Fact(value.elem_type or 0)
        self.assume(value, self._nodes.shared(fact))

    def known(self) -> Iterator[tuple[Value, Fact]]:
        """All facts computed so far."""
        yield from self._facts.items()

    def refresh(self) -> None:
        """Update the facts after replacements by equal values.

        Facts stay where a node reads what it read, and where new ones tell no more. Open sizes
        become those of the values that are read now, so that equal sizes have one symbol.
        """
        improved: set[Value] = set()
        read = self._read.get
        # Functions, too: their values have facts of their own.
        for root in self.model.roots():
            for node in root.graph.nodes():
                inputs, before = node.inputs, read(node)
                # Facts inside of a body depend on all its iterations, so one changed value may
                # change any of them.
                if node.bodies:
                    for body in node.graphs():
                        self.forget_inside(body)
                elif before is inputs and not improved:
                    continue
                if improved.isdisjoint(inputs) and (
                    before is inputs or self._tells_nothing(node, before)
                ):
                    continue
                self._refresh(node, improved)

    def _tells_nothing(self, node: Node, before: Sequence[Value | None] | None) -> bool:
        """Test that a node reads other values of the same facts, and record them."""
        inputs, facts = node.inputs, self._facts
        if before is None or len(before) != len(inputs):
            return False
        for old, new in zip(before, inputs, strict=True):
            if old is new:
                continue
            if old is None or new is None or old.constant is not new.constant:
                return False
            fact = facts.get(old)
            if fact is None or facts.get(new) is not fact:
                return False
        self._read[node] = inputs
        return True

    def _refresh(self, node: Node, improved: set[Value]) -> None:
        """Infer the outputs of a node again."""
        facts, count = self._facts, self.symbols.made
        before = {v: facts.pop(v) for v in node.outputs if v is not None and v in facts}
        self._require(list(before))
        # A new symbol tells less than the old one, which other facts share.
        is_new = self.symbols.made > count  # then no symbol replaces another one
        for value, fact in before.items():
            now = facts[value]
            keeps = is_new or now is fact or now.has_sizes_of(fact) or fact.tells_more(now)
            if now.tells_more(fact) or not keeps:
                improved.add(value)
            else:
                facts[value] = fact

    def forget_inside(self, body: Graph) -> None:
        """Drop the facts of a body, which hold for the iterations of a loop together."""
        for graph in body.walk():
            for node in graph.unordered_nodes():
                self._read.pop(node, None)
                for value in node.outputs:
                    self._facts.pop(value, None)  # type: ignore[arg-type]
            for value in graph.inputs:
                self._facts.pop(value, None)

    def trial(self) -> ShapeInference:
        """A copy for assumptions that may be discarded."""
        other = copy.copy(self)
        # No copy: a trial reads many facts and writes few.
        other._facts = _Layered(self._facts)
        return other

    def keep(self) -> None:
        """Merge the facts of a trial into its original, after its assumptions have held."""
        assert isinstance(self._facts, _Layered)
        self._facts.below.update(self._facts)

    def inside(self, call: Node, function: Function, inputs: Sequence[Fact]) -> ShapeInference:
        """Facts inside a function for one call."""
        inner = copy.copy(self)
        # Values of a function belong to all its calls, and facts to one.
        inner._facts = {}
        inner.attributes = {**function.defaults, **self._resolve(call.op).attributes}
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

    def supposing(self, node: Node, facts: Mapping[Value, Fact]) -> list[Fact]:
        """Infer the outputs of a node from facts that may not hold of its inputs."""
        if node.op.qualname not in _BODIED:
            inputs = [None if v is None else facts.get(v) or self.fact(v) for v in node.inputs]
            return self.infer(node, [UNKNOWN if fact is None else fact for fact in inputs])
        inner = copy.copy(self)
        read = (v for v in (*node.inputs, *captured_by(node)) if v is not None)
        inner._facts = {value: facts.get(value) or self.fact(value) for value in read}
        return leave_bodies(inner, node)

    def infer(self, node: Node, inputs: Sequence[Fact]) -> list[Fact]:
        """Infer the outputs of a node without bodies from facts of its inputs."""
        if not is_foreign(node.op) or self._calling is not None or node.graph is None:
            return self._infer(node, inputs)
        key = self._nodes.kind(node), node.graph.root.opset(), *inputs
        facts = self._foreign.get(key)
        if facts is None:
            count = self.symbols.made
            facts = [self._nodes.shared(fact) for fact in self._infer(node, inputs)]
            # A new size differs in each node, and so may elements that no fact holds.
            if self.symbols.made == count and self._decides(node, inputs):
                self._foreign[key] = facts
        return facts

    def _infer(self, node: Node, inputs: Sequence[Fact]) -> list[Fact]:
        op, function = node.op, self.callee(node, inputs)
        if op.op_type == "Constant" and (tensor := node.output().constant) is not None:
            return [self._nodes.shared(constant_fact(tensor))]
        if function is None:
            return self._nodes.of(node, inputs, self._resolve(op) if self._calling else op)
        # ONNX forbids recursive functions, but a file may hold one, and inference must end.
        if self._calling is not None and self._calling.forbids(function):
            current().refuse_sizes(node, _TOO_DEEP)
            return [UNKNOWN] * len(node.outputs)

        def infer() -> list[Fact]:
            length = 1 + sum(map(length_of, inputs)) // _TERMS
            # Functions that call others twice each are inferred exponentially often: 30 levels are
            # 2^30 calls.
            if not current().may_infer(_CALL + length * len(function.graph), node):
                return [UNKNOWN] * len(node.outputs)
            inner = self.inside(node, function, inputs)
            return [inner.fact(value) for value in function.graph.outputs]

        return self._calls.of(function, self._resolve(node.op), inputs, infer)

    def definition(
        self,
        node: Node,
        inputs: Sequence[Fact],
        outputs: Sequence[object | None] | None = None,
        by_facts: bool = False,
    ) -> Expansion | None:
        """The graph that an operator outside of ONNX stands for; None where it has no definition.

        Args:
            outputs: its outputs, None for an absent one; by default its own.
            by_facts: let no elements of constants decide it but those that facts hold.

        Raises:
            Unfit: no definition covers the node.
        """

        def constant(index: int) -> Array | None:
            if by_facts and inputs[index].content is None:
                return None
            value = node.input(index)
            tensor = None if value is None else value.constant
            return tensor.numpy() if tensor is not None and tensor.is_readable else None

        results = node.outputs if outputs is None else outputs
        signature = signature_of(self._resolve(node.op), node.inputs, inputs, results, constant)
        return expansion_of(signature, self._versions(node))

    def _versions(self, node: Node) -> Mapping[str, int]:
        """The versions of all domains for a node, which may be ahead of its graph."""
        if node.graph is None:
            return {}
        imports = node.graph.root.opset_imports
        if normal_domain(node.op.domain):
            return imports
        return {**imports, "": self.version_of(node)}

    def callee(self, node: Node, inputs: Sequence[Fact] | None = None) -> Function | None:
        """The function that a node calls or, outside of ONNX, stands for; None for other nodes."""
        op, functions = node.op, self.model.functions
        function = functions.get(op.function_key) if functions else None
        if function is not None or not is_foreign(op):
            return function
        if inputs is None:
            inputs = [UNKNOWN if value is None else self.fact(value) for value in node.inputs]
        # Weights decide how a graph computes, but neither type nor shape of what it computes.
        for by_facts in (True, False):
            try:
                expansion = self.definition(node, inputs, by_facts=by_facts)
            except Unfit:
                continue
            return None if expansion is None else expansion.function
        return None

    def _decides(self, node: Node, inputs: Sequence[Fact]) -> bool:
        """Test for a definition that depends on facts alone."""
        try:
            has = self.definition(node, inputs, by_facts=True) is not None
        except Unfit:
            return False
        return has and node.op.function_key not in self.model.functions

    def _resolve(self, op: Operator) -> Operator:
        """The operator with references resolved to attributes of the analysed call. Attributes that
        the call lacks are omitted."""
        if not self._calling or not op.references:
            return op
        return op.for_call(self.attributes)

    def _require(self, values: Sequence[Value]) -> None:
        """Compute facts in order of dependence, without recursion along the data flow."""
        facts = self._facts
        stack = list(values)
        while stack:
            value = stack[-1]
            if value not in facts:
                needed = [v for v in _needs(value) if v is not None and v not in facts]
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
        self._tally.nodes += 1
        read = node.inputs
        if node.op.qualname in _BODIED:
            facts = leave_bodies(self, node)
        else:
            table = self._facts
            facts = self.infer(node, [UNKNOWN if v is None else table[v] for v in read])
            self._read[node] = read
        for index, value in enumerate(node.outputs):
            if value is not None:
                inferred = facts[index] if index < len(facts) else UNKNOWN
                full = inferred if value.info is None else self._complete(value, inferred)
                self.assume(value, full)

    def _complete(self, value: Value, fact: Fact) -> Fact:
        """Complete a fact from the declaration: its element type, else what it says of the sizes.

        Sizes count only where nothing follows (an operator without a schema): runtimes do not
        hold to them. Not inside bodies, where declarations may not hold in every iteration.
        Symbols in declarations of a function mean other sizes in each call.
        """
        # What inference knows wins over a declaration, which may be stale: exporters leave
        # value_info of other batch sizes.
        if fact.elem_type and fact.other is None:
            return fact
        declared = UNKNOWN if value.info is None else self._declaration(value)
        if declared is UNKNOWN:
            return fact
        if fact.other is not None:
            full = fact.other if declared.other is None else completed(fact.other, declared.other)
            return dataclasses.replace(fact, other=full)
        if not fact.elem_type and fact.shape is None:
            return dataclasses.replace(declared, count=fact.count)
        return dataclasses.replace(fact, elem_type=declared.elem_type)

    def _declaration(self, value: Value) -> Fact:
        info, graph = value.info, value.graph
        if graph is not None and graph.holder is not None and not self._trusts_bodies:
            return UNKNOWN
        if info is None or not info.HasField("type"):
            return UNKNOWN
        return self.symbols.fact((without_symbols(info) if self._calling else info).type)


class _Layered(dict[Value, Fact]):
    """Facts on top of others that stay unchanged."""

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
    """The values whose facts the inference of a value needs."""
    if value.constant is not None:
        return ()
    node = value.producer
    if node is None:
        graph = value.owner
        node = None if graph is None else graph.holder
        if node is None:
            return ()
    return (*node.inputs, *captured_by(node)) if node.bodies else node.inputs
