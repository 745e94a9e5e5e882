"""Replacement of a match by the graph after, where that costs less."""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from ....definitions.pattern import Operand, PatternNode, Variable
from ....ir import Graph, Node, Operator, Tensor, Value
from ....ir.operator import attribute_message
from ....ops.builder import Builder
from ...utils.replace_all_uses import replace_value
from .match import Match
from .matcher import Matcher, Scope
from .normal_form import insert_lists
from .uniform_constants import as_element

_WEIGHTS = {
    **dict.fromkeys(("Identity", "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Shape"), 1),
    **dict.fromkeys(("Cast", "Slice", "Neg", "Abs", "Not", "Relu"), 2),
    **dict.fromkeys(("Gather", "Transpose", "Concat", "Add", "Sub", "Mul"), 3),
    **dict.fromkeys(("Div", "Expand", "Tile", "Pad"), 4),
    **dict.fromkeys(("Pow", "Exp", "Log", "Sqrt", "Where"), 6),
}
"""Relative costs of a node; others cost 8. Among replacements of as many nodes the sum decides."""

_OTHER = 8
_SMALL = 1 << 10
"""The most elements of a constant that may stay beside one that is computed from it."""


class PatternReplacement:
    """Plan of a replacement.

    Args:
        scope: the graph and what is known about it.

    Attributes:
        removed: the nodes that nothing will need.
    """

    def __init__(self, matcher: Matcher, match: Match, scope: Scope) -> None:
        self.matcher = matcher
        self.match = match
        self.scope = scope
        self.result = matcher.rule.result
        names = zip(matcher.pattern.outputs, self.result.outputs, strict=True)
        computed = self.result.producers()
        self.outputs = [
            (match.value(old), new) for old, new in names if old != new or new in computed
        ]
        self.removed = self._removed()
        self._folded = self._foldable()

    def is_possible(self) -> bool:
        """Test that old values may go, and that new ones may take their places."""
        graph, computed = self.scope.graph, self.result.producers()
        for old, name in self.outputs:
            if old.pinned or old.graph is not graph:
                return False
            # Outputs keep their names, which only the result of a node of this graph can take over.
            if old in graph.outputs:
                new = self.match.values.get(name)
                stays = name in computed and name not in self._folded
                if not stays and not (isinstance(new, Value) and may_be_output(graph, new)):
                    return False
        return True

    def pays(self) -> bool:
        """Test that it costs less: fewer nodes, or as many that cost less or read less."""
        added = [node for node in self.result.nodes if not self._is_folded(node)]
        read = sum(len(node.inputs) for node in self.removed)
        reads = sum(self._count(operand) for node in added for operand in node.inputs)
        before = len(self.removed), sum(weight(node.op_type) for node in self.removed), read
        after = len(added), sum(weight(node.op_type) for node in added), reads
        # Strictly less, or two rules could undo each other for ever.
        return after < before and not self._grows()

    def _count(self, operand: Operand) -> int:
        """The number of values that an operand stands for."""
        return len(self.match.several(operand.name)) if operand.kind == "many" else 1

    def _removed(self) -> list[Node]:
        """The matched nodes that nothing needs afterwards."""
        graph = self.scope.graph
        replaced = {old for old, _ in self.outputs}
        read = {self.match.values.get(name) for name in self.result.parameters}
        removed: list[Node] = []
        for node in self.match.nodes:
            values = [value for value in node.outputs if value is not None]
            dies = node.graph is graph and all(
                value in replaced or self._dies(value, removed, read) for value in values
            )
            if dies:
                removed.append(node)
        return removed

    def _dies(self, value: Value, removed: Collection[Node], read: Collection[Any]) -> bool:
        if value.pinned or value in read:
            return False
        return all(user in removed for user in self.scope.graph.users(value))

    def _foldable(self) -> set[str]:
        """The names of values that are computed before run time."""
        folded: set[str] = set()
        for node in self.result.nodes:
            operands = [self._is_constant(operand, folded) for operand in node.inputs]
            if all(operands):
                folded.update(node.outputs)
        return folded

    def _is_constant(self, operand: Operand, folded: set[str]) -> bool:
        if operand.kind in ("number", "integers", "attribute", "absent"):
            return True
        if operand.name in folded:
            return True
        bound = self.match.values.get(operand.name)
        values = bound if isinstance(bound, tuple) else (bound,)
        if operand.name in self.result.producers():
            return False
        return all(v is None or self.scope.is_constant(v) for v in values)

    def _is_folded(self, node: PatternNode) -> bool:
        return all(name in self._folded for name in node.outputs if name)

    def _grows(self) -> bool:
        """Test for a large constant that is folded, and stays for others."""
        graph = self.scope.graph
        for node in self.result.nodes if self._folded else ():
            for operand in node.inputs if self._is_folded(node) else ():
                value = self.match.values.get(operand.name)
                tensor = value.constant if isinstance(value, Value) else None
                if tensor is not None and tensor.size > _SMALL and isinstance(value, Value):
                    users = graph.users(value) if value.graph is graph else [graph]
                    if any(user not in self.removed for user in users):
                        return True
        return False

    def apply(self, emit: Builder) -> list[Node]:
        """Emit the nodes after and remove those before; return the new ones."""
        graph, inference = self.scope.graph, self.scope.inference
        facts = [inference.fact(old) for old, _ in self.outputs]
        emit.replaces = self.match.nodes
        values = _Emission(self, emit).run()
        news: list[Node] = []
        for (old, name), fact in zip(self.outputs, facts, strict=True):
            new = values[name]
            assert isinstance(new, Value)
            if name in self.result.producers() and new.constant is None:
                inference.assume(new, fact)
            replace_value(graph, old, new)
        for name in self.result.producers():
            result = values[name]
            if (
                isinstance(result, Value)
                and result.producer is not None
                and result.producer not in news
            ):
                news.append(result.producer)
        _remove(graph, self.removed)
        return news


class _Emission:
    """Emission of the nodes after a replacement."""

    def __init__(self, plan: PatternReplacement, emit: Builder) -> None:
        self.plan = plan
        self.emit = emit
        self.match = plan.match
        self.labels = {name: old.name for old, name in plan.outputs}
        self.root = plan.match.nodes[0]

    def run(self) -> Mapping[str, Any]:
        """Emit the nodes; return the values by name."""
        values: dict[str, Any] = dict(self.match.values)
        for number, node in enumerate(self.plan.result.nodes):
            inputs: list[Value | None] = []
            for place, operand in enumerate(node.inputs):
                inputs += self._operand(operand, number, place, values)
            op, inputs = self._operator(node, inputs)
            labels = [self.labels.get(n, f"{self.root.output().name}_{n}") for n in node.outputs]
            name = self.root.name if node is self.plan.result.nodes[-1] else ""
            if op.domain:
                self.emit.graph.root.opset_imports.setdefault(op.domain, 1)
                outputs = self.emit.add_unchecked(op, inputs, labels, name)
            else:
                outputs = self.emit.several(op, inputs, labels, name)
            values.update(zip(node.outputs, outputs, strict=True))
        return values

    def _operand(
        self, operand: Operand, number: int, place: int, values: Mapping[str, Any]
    ) -> list[Value | None]:
        if operand.kind == "absent":
            return [None]
        if operand.kind == "many":
            return list(values[operand.name])
        if operand.kind in ("value", "optional"):
            return [values[operand.name]]
        if operand.kind == "integers":
            return [self.emit.vector(operand.value, "numbers")]
        if operand.kind == "attribute":
            return [self._constant(self.match[operand.name], operand.name)]
        name, types = self.plan.matcher.types.of_operand(1, number, place)
        elem_type = self.match.elem_type(name) if name is not None else min(types)
        array = as_element(operand.value, elem_type)
        assert array is not None, f"{operand.value} is not an element of type {elem_type}"
        return [self.emit.constant(array, "number")]

    def _constant(self, value: Any, label: str) -> Value:
        if isinstance(value, Tensor):
            return self.emit.graph.add_initializer(label, value)
        if isinstance(value, tuple) and all(isinstance(one, int) for one in value):
            return self.emit.vector(value, label)
        array = np.asarray(value)
        return self.emit.constant(
            array.astype(np.int64) if isinstance(value, int) else array, label
        )

    def _operator(
        self, node: PatternNode, inputs: list[Value | None]
    ) -> tuple[Operator, list[Value | None]]:
        """The operator in the form of the opset, with its operands."""
        attributes = resolved(node, self.match.attributes)
        insert_lists(node.op_type, self.emit.opset, attributes, inputs, self._list)
        domain, _, op_type = node.op_type.rpartition(".")
        op = Operator(op_type, domain=domain)
        messages = [attribute_message(name, value) for name, value in attributes.items()]
        return op.with_attributes(messages), inputs

    def _list(self, name: str, value: Any) -> Value:
        return self.emit.vector(tuple(value), name)


def resolved(node: PatternNode, variables: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of a node of a pattern with the values of their variables."""
    attributes: dict[str, Any] = {}
    for name, value in node.attributes.items():
        actual = variables[value.name] if isinstance(value, Variable) else value
        attributes.update(actual if name == "*" else {name: actual})
    return attributes


def may_be_output(graph: Graph, value: Value) -> bool:
    """Test whether a value may take the place of an output of the graph."""
    node = value.producer
    own = node is not None and node.graph is graph and not value.pinned
    return own and value not in graph.outputs


def weight(op_type: str) -> int:
    """The relative cost of a node."""
    return _WEIGHTS.get(op_type, _OTHER)


def _remove(graph: Graph, nodes: list[Node]) -> None:
    """Remove nodes, and operands that only they needed."""
    stack = list(reversed(nodes))
    while stack:
        node = stack.pop()
        if node.graph is not graph or graph.is_needed(node):
            continue
        sources = {value.producer: None for value in node.inputs if value is not None}
        graph.remove(node)
        stack += [source for source in sources if source is not None]
