"""Types and shapes over the IR, on demand: only what leads to a question is looked at.

Single operators are inferred by onnx (`onnx.shape_inference.infer_node_outputs`), with symbols for
sizes passed through as dim_params; the rules of `operators` stand in where symbols must be added,
multiplied or compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import onnx
import onnx.defs
import onnx.shape_inference

from ...facts.fact import UNKNOWN, Fact, Symbols, constant_fact, is_named
from ...ir import (
    Function,
    Model,
    Node,
    OnnxError,
    Tensor,
    Value,
    ask_onnx,
    captured_by,
    normal_domain,
)
from ...ir.copying import without_symbols
from ...operators.outputs import content_of, shapes_of, with_counts
from .bodies import enter_body, leave_bodies
from .calls import CallFacts

_MAX_INPUT_BYTES = 1 << 16
"""Constants up to this size are shown to onnx's inference, which may read shapes from them."""

_BODIED = ("If", "Loop", "Scan")


class ShapeInference:
    """Facts about the values of one model, computed when asked for and then remembered.

    The model must not be changed in a way that changes values while it is in use; replacing a
    value by an equal one is fine.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.symbols = Symbols()
        self._facts: dict[Value, Fact] = {}
        # What onnx finds for one operator and one kind of inputs, it need not find again for each
        # copy of a body.
        self._inferred: dict[_Asked, list[onnx.TypeProto | None]] = {}
        self._calling: frozenset[Function] = frozenset()
        self._calls = CallFacts(self.symbols)

    def fact(self, value: Value) -> Fact:
        """What is known about a value."""
        if value not in self._facts:
            self._require([value])
        return self._facts[value]

    def assume(self, value: Value, fact: Fact) -> None:
        """Take a fact for granted: the hypothesis of a body, or what a rewrite just made."""
        self._facts[value] = fact
        self.symbols.remember(fact.shape)

    def known(self) -> Iterator[tuple[Value, Fact]]:
        """All facts computed so far."""
        yield from self._facts.items()

    def trial(self) -> ShapeInference:
        """A copy that knows the same and can be thrown away with what it assumes."""
        other = ShapeInference(self.model)
        other.symbols = self.symbols
        other._facts = _Layered(self._facts)
        other._inferred = self._inferred
        other._calling = self._calling
        other._calls = self._calls
        return other

    def adopt(self, trial: ShapeInference) -> None:
        """Take over what a trial found, its assumptions having turned out to hold."""
        self._facts.update(trial._facts)

    def _require(self, values: Sequence[Value]) -> None:
        """Compute facts, what they depend on first; without recursion along the data flow."""
        stack = [(value, False) for value in values]
        while stack:
            value, ready = stack.pop()
            if value in self._facts:
                continue
            needed = [] if ready else [v for v in _needs(value) if v not in self._facts]
            if needed:
                stack.append((value, True))
                stack += [(v, False) for v in needed]
            else:
                self._compute(value)

    def _compute(self, value: Value) -> None:
        node = value.producer
        if value.constant is not None:
            self.assume(value, constant_fact(value.constant))
        elif node is not None:
            self._compute_node(node)
        elif _is_body_input(value):
            enter_body(self, value)
        else:
            self.assume(value, self.symbols.fact(value.type))

    def _compute_node(self, node: Node) -> None:
        if node.is_op(*_BODIED):
            facts = leave_bodies(self, node)
        else:
            inputs = [UNKNOWN if v is None else self._facts[v] for v in node.inputs]
            facts = self.infer(node, inputs)
        for index, value in enumerate(node.outputs):
            if value is not None:
                self.assume(
                    value, self._completed(value, facts[index] if index < len(facts) else UNKNOWN)
                )

    def _completed(self, value: Value, fact: Fact) -> Fact:
        """Fill in from the declaration what could not be inferred.

        Not inside bodies: what is declared there need not hold for every trip. Symbols that a
        function declares are its own, and stand for other sizes in each call.
        """
        if fact.other is not None or value.type is None or value.graph.holder is not None:  # type: ignore[union-attr]
            return fact
        declared = self._declared(value)
        if not fact.elem_type and fact.shape is None:
            return declared
        if fact.shape is None or declared.shape is None or len(fact.shape) != len(declared.shape):
            return Fact(
                fact.elem_type or declared.elem_type, fact.shape or declared.shape, fact.content
            )
        dims = tuple(
            theirs if is_named(theirs) and not is_named(ours) else ours
            for ours, theirs in zip(fact.shape, declared.shape, strict=True)
        )
        return Fact(fact.elem_type or declared.elem_type, dims, fact.content)

    def _declared(self, value: Value) -> Fact:
        if self._calling and value.info is not None:
            return self.symbols.fact(without_symbols(value.info).type)
        return self.symbols.fact(value.type)

    def infer(self, node: Node, inputs: Sequence[Fact]) -> list[Fact]:
        """What a node without bodies gives out when it is given these facts."""
        function = self.model.functions.get(node.op.function_key) if self.model.functions else None
        if function is not None:
            return self._infer_call(node, function, inputs)
        onnx_facts = self._infer_by_onnx(node, inputs)
        if normal_domain(node.domain) or node.op.references or not onnx_facts:
            return onnx_facts
        return with_counts(node, inputs, self._infer_tensors(node, inputs, onnx_facts))

    def _infer_tensors(
        self, node: Node, inputs: Sequence[Fact], onnx_facts: Sequence[Fact]
    ) -> list[Fact]:
        """What onnx infers, with the sizes and elements that it gives up on."""
        shapes = shapes_of(node, inputs, self.symbols)
        content = content_of(node, inputs, onnx_facts[0].elem_type)
        facts = []
        for index, fact in enumerate(onnx_facts):
            shape = shapes[index] if shapes is not None and index < len(shapes) else None
            known = content if index == 0 else None
            facts.append(Fact(fact.elem_type, shape or fact.shape, known, fact.other))
        return facts

    def _infer_call(self, node: Node, function: Function, inputs: Sequence[Fact]) -> list[Fact]:
        """What a call of a model function gives out: its body, inferred for these arguments."""
        if function in self._calling:
            return [UNKNOWN] * len(node.outputs)

        def infer() -> list[Fact]:
            inner = ShapeInference(self.model)
            inner.symbols = self.symbols
            inner._calls = self._calls
            inner._inferred = self._inferred
            inner._calling = self._calling | {function}
            body = function.graph
            for index, value in enumerate(body.inputs):
                inner.assume(value, inputs[index] if index < len(inputs) else UNKNOWN)
            return [inner.fact(value) for value in body.outputs]

        return self._calls.of(function, node, inputs, infer)

    def _infer_by_onnx(self, node: Node, inputs: Sequence[Fact]) -> list[Fact]:
        unknown = [UNKNOWN] * len(node.outputs)
        typed = all(
            f.elem_type or f.other or not v for f, v in zip(inputs, node.inputs, strict=True)
        )
        if not typed or node.bodies or node.op.references:
            return unknown
        if any(fact.other is not None for fact in inputs):
            found = self._ask_onnx(node, inputs)
        else:
            asked = _asked(node, inputs)
            if asked not in self._inferred:
                self._inferred[asked] = self._ask_onnx(node, inputs)
            found = self._inferred[asked]
        if not found:
            return unknown
        return [UNKNOWN if t is None else self.symbols.fact(t, inferred=True) for t in found]

    def _ask_onnx(self, node: Node, inputs: Sequence[Fact]) -> list[onnx.TypeProto | None]:
        """The types of a node's outputs; empty for an operator that nobody knows, or a node that
        does not fit its operator."""
        root = node.graph.root  # type: ignore[union-attr]
        types = [fact.type_proto() for fact in inputs]
        proto = node.op.node_proto()
        proto.input.extend("" if v is None else f"i{i}" for i, v in enumerate(node.inputs))
        proto.output.extend("" if v is None else f"o{i}" for i, v in enumerate(node.outputs))
        given = {f"i{i}": type_ for i, type_ in enumerate(types) if type_ is not None}
        try:
            schema = onnx.defs.get_schema(
                node.op_type, root.opset(node.domain), normal_domain(node.domain)
            )
            inferred = ask_onnx(
                node,
                onnx.shape_inference.infer_node_outputs,
                schema,
                proto,
                given,
                _small_constants(node),
                opset_imports=[onnx.helper.make_opsetid(*i) for i in root.opset_imports.items()],
                ir_version=self.model.ir_version,
            )
        except (OnnxError, onnx.defs.SchemaError):
            return []
        return [inferred.get(name) for name in proto.output]


_Asked = tuple[Any, ...]


def _asked(node: Node, inputs: Sequence[Fact]) -> _Asked:
    """All that onnx's inference of a node depends on."""
    assert node.graph is not None
    given = [
        None if v is None else (fact.elem_type, fact.shape, v.constant)
        for v, fact in zip(node.inputs, inputs, strict=True)
    ]
    return (node.op, node.graph.root, tuple([v is None for v in node.outputs]), *given)


def _small_constants(node: Node) -> dict[str, onnx.TensorProto]:
    constants = {}
    for index, value in enumerate(node.inputs):
        tensor = value.constant if value is not None else None
        if tensor is None or tensor.is_sparse or not tensor.is_readable:
            continue
        if tensor.size * 8 <= _MAX_INPUT_BYTES:
            message = (
                Tensor(array=tensor.numpy()).message() if tensor.is_external else tensor.message()
            )
            assert isinstance(message, onnx.TensorProto)
            constants[f"i{index}"] = message
    return constants


class _Layered(dict[Value, Fact]):
    """Facts on top of others that stay as they are."""

    def __init__(self, below: dict[Value, Fact]) -> None:
        super().__init__()
        self.below = below

    def __missing__(self, value: Value) -> Fact:
        return self.below[value]

    def __contains__(self, value: object) -> bool:
        return super().__contains__(value) or value in self.below


def _is_body_input(value: Value) -> bool:
    graph = value.owner
    return graph is not None and graph.holder is not None


def _needs(value: Value) -> list[Value]:
    """What must be known before a value can be computed."""
    node = value.producer
    if value.constant is not None:
        return []
    if node is not None:
        return [v for v in (*node.inputs, *captured_by(node)) if v is not None]
    graph = value.owner
    if graph is None or graph.holder is None:
        return []
    holder = graph.holder
    return [v for v in (*holder.inputs, *captured_by(holder)) if v is not None]
