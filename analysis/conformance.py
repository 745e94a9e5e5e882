"""Conformance of nodes to the schemas of their opsets: attributes, operands, element types."""

import functools
from collections.abc import Hashable, Iterator

from ..ir import Model, Node, Operator, normal_domain
from ..ir.checker.schemas import form_of
from ..ops import rules_of
from ..ops.schema_queries import (
    ElementTypes,
    each_formal,
    formals,
    operators,
    schema_at,
    tensor_text,
    type_fault,
    version_of_root,
)

_MOST_REMEMBERED = 10_000
"""The size of the cache of faults."""

ElemTypes = tuple[int | None, ...]
"""Element types of operands: 0 where unknown, None where absent."""
AttributeKinds = tuple[tuple[str, int], ...]
"""The names of attributes, each with its kind."""


class Conformance:
    """Faults of nodes against the schemas of their opsets.

    Nodes of one operator, one form and the same element types are checked once. Operators without a
    schema, and calls of the model's own functions, conform.
    """

    def __init__(self, model: Model) -> None:
        self._functions = model.functions
        self._types = ElementTypes()
        self._kinds: dict[tuple[Operator, int], AttributeKinds] = {}
        self._faults: dict[Hashable, str | None] = {}
        self._ranked: dict[Operator, bool] = {}

    def fault(self, node: Node) -> str | None:
        """The first fault of a node as a predicate of its name; None where it conforms."""
        op, count = node.op, len(node.inputs)
        if op not in self._ranked:
            self._ranked[op] = bool(rules_of(op).operand_ranks)
        types = self._types.of_each((*node.inputs, *node.outputs))
        form = op, version_of_root(node), count, types
        if form not in self._faults:
            self._faults[form] = self._fault(*form)
        fault = self._faults[form]
        # Constants are the node's own, and no part of the form that is cached.
        return rank_fault(node) if fault is None and self._ranked[op] else fault

    def _fault(self, op: Operator, version: int, count: int, types: ElemTypes) -> str | None:
        if normal_domain(op.domain) or (self._functions and op.function_key in self._functions):
            return None
        return self.of_form(op, version, types[:count], types[count:])

    def form_fault(self, node: Node) -> str | None:
        """The first fault of a node for any element types; None where there is none."""
        inputs, outputs = (
            tuple([None if value is None else 0 for value in values])
            for values in (node.inputs, node.outputs)
        )
        return self.of_form(node.op, version_of_root(node), inputs, outputs)

    def of_form(
        self, op: Operator, version: int, inputs: ElemTypes, outputs: ElemTypes
    ) -> str | None:
        """The first fault of a node with this operator and these element types."""
        key = (op, version)
        # Many nodes share an operator, whose attributes are listed once.
        if key not in self._kinds:
            self._kinds[key] = tuple([(name, m.type) for name, m in op.attributes.items()])
        return node_fault(op.op_type, version, self._kinds[key], inputs, outputs)


def rank_fault(node: Node) -> str | None:
    """The first fault in the ranks of a node's constant operands; None where there is none."""
    inputs = node.inputs
    for position, ranks in rules_of(node.op).operand_ranks.items():
        operand = inputs[position] if position < len(inputs) else None
        constant = None if operand is None else operand.constant
        if constant is not None and len(constant.dims) not in ranks:
            return f"reads a constant of rank {len(constant.dims)} as operand {position}"
    return None


@functools.lru_cache(_MOST_REMEMBERED)
def node_fault(
    op_type: str, version: int, kinds: AttributeKinds, inputs: ElemTypes, outputs: ElemTypes
) -> str | None:
    """The first fault of a node of an operator of the default domain; None where it conforms."""
    return next(_faults(op_type, version, kinds, inputs, outputs), None)


def _faults(
    op_type: str, version: int, kinds: AttributeKinds, inputs: ElemTypes, outputs: ElemTypes
) -> Iterator[str]:
    form, schema = form_of(op_type, version), schema_at(op_type, version)
    if form is None or schema is None:
        if op_type in operators() and version:
            yield f"is not an operator of opset {version}"
        return
    for name, _ in kinds:
        if name not in schema.attributes:
            yield f"has an attribute '{name}', which opset {version} does not know"
    inputs_present, outputs_present = (
        ["" if t is None else "x" for t in types] for types in (inputs, outputs)
    )
    yield from form.faults(inputs_present, outputs_present, dict(kinds))
    actual: list[list[tuple[str, list[str]] | None]] = []
    for types, parameters in zip((inputs, outputs), formals(schema), strict=True):
        actual.append([])
        for type_, formal in zip(types, each_formal(parameters, len(types)), strict=False):
            texts = [tensor_text(type_)] if type_ else []
            actual[-1].append(None if type_ is None else (formal.name, texts))
            if not formal.allowed.issuperset(texts):
                yield f"does not support {texts[0]} as '{formal.name}' in opset {version}"
    fault = type_fault(op_type, version, *actual)
    if fault is not None:
        yield f"does not fit: {fault}"
