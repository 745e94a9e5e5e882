"""Value numbering: equal constants and equal operators have equal keys."""

from collections import ChainMap
from collections.abc import Callable, Collection, Hashable, Mapping, MutableMapping
from typing import NamedTuple

import onnx

from ...analysis.constants.equal import KeyMemory, content_key
from ...ir import Function, FunctionKey, Graph, Model, Node, Operator, Tensor, Value, normal_domain
from ...ir.lazy import lazy_property
from ...ops import OperatorRules, rules_of
from ...ops.randomness import find_random
from ...ops.schema_queries import Schema, schema_at

# onnxruntime's own operators compute their outputs alone; those that draw have a class that says so
# (`ops/randomness.py`). Any other domain may count calls or write files.
_PURE = frozenset(("", "ai.onnx.ml", "com.microsoft"))
"""Domains whose operators have no side effects."""

_ORDER_BY_ATTRIBUTES = 7
"""Below this opset, attributes say how operands broadcast, so that their order matters."""


def identity_key(tensor: Tensor) -> Hashable:
    """The key of a constant: its content, or the identity of a large one.

    A `Folder` returns one tensor for all equal ones that it computes.
    """
    return content_key(tensor) or id(tensor)


def merge_constants(
    graph: Graph,
    fixed: Collection[Value] = frozenset(),
    key_of: Callable[[Tensor], Hashable | None] = content_key,
) -> bool:
    """Merge equal constants of a graph, and remove unused ones.

    Args:
        fixed: the constants that stay.
        key_of: the key that equal ones share; None for a constant that stays.

    Returns:
        true after a change.
    """
    representatives: dict[Hashable, Value] = {}
    replaced: dict[Value, Value] = {}
    changed = False
    interface = {*graph.inputs, *graph.outputs, *graph.listed}
    for value, tensor in list(graph.initializers.items()):
        # An initializer that is an input as well is a default, which callers may replace.
        if value in fixed or value in interface or value.pinned or value.constant is None:
            continue
        if not graph.is_used(value):
            graph.remove_initializer(value)
            changed = True
            continue
        key = key_of(tensor)
        if key is None or representatives.setdefault(key, value) is value:
            continue
        replaced[value] = representatives[key]
    graph.replace_all_uses(replaced)
    for value in replaced:
        graph.remove_initializer(value)
    return changed or bool(replaced)


class _Kind(NamedTuple):
    """An operator with its attributes.

    Attributes:
        number: equal for equal ones.
        commutative: the order of two operands does not matter.
        rules: the rules that know which of its nodes draw random numbers; None if none does.
    """

    number: int
    commutative: bool
    rules: OperatorRules | None


_NEW = _Kind(-1, False, None)
"""The kind of an operator that was not met before."""


class _Scope(ChainMap[Value, Hashable]):
    """Keys of values within a body, before those around it, which stay as they are."""

    def __init__(self, around: Mapping[Value, Hashable]) -> None:
        super().__init__({}, around)  # type: ignore[arg-type]


class Calls:
    """Calls of a model's functions, of which some must stay.

    Args:
        functions: the functions of the model.
    """

    def __init__(self, functions: Mapping[FunctionKey, Function]) -> None:
        self._functions = dict(functions)

    def __contains__(self, key: FunctionKey) -> bool:
        return key in self._functions

    @lazy_property
    def impure(self) -> set[FunctionKey]:
        """Functions with random numbers or side effects, which other domains may have."""
        callers: dict[FunctionKey, list[FunctionKey]] = {}
        waiting: list[FunctionKey] = []
        for key, function in self._functions.items():
            ops = {op for graph in function.graph.walk() for op in graph.operators()}
            own = [op for op in ops if op.function_key not in self._functions]
            for op in ops.difference(own):
                callers.setdefault(op.function_key, []).append(key)
            is_foreign = any(normal_domain(op.domain) not in _PURE for op in own)
            waiting += [key] * (is_foreign or find_random(function.graph, {}) is not None)
        impure = set(waiting)
        while waiting:
            new = set(callers.get(waiting.pop(), ())) - impure
            impure |= new
            waiting += new
        return impure


class NodeKeys:
    """Keys of nodes: nodes of one key compute equal outputs, if their bodies are equal, too."""

    def __init__(self, root: Model | Function, calls: Calls, memory: KeyMemory) -> None:
        self._opset = root.opset()
        self._memory = memory
        self._calls = calls
        self._kinds: dict[Operator, _Kind | None] = {}
        self._constants: dict[Tensor, int] = {}
        self._numbers: dict[Hashable, int] = {}

    def of(self, node: Node, same: Mapping[Value, Hashable]) -> Hashable | None:
        """The key of a node apart from its bodies; None for one that must stay.

        Args:
            same: values, or keys of them, by values that are equal to them.
        """
        form = node.op.form
        kind = self._kinds.get(form, _NEW)
        if kind is _NEW:
            kind = self._kinds[form] = self._kind(node)
        if kind is None or (kind.rules is not None and kind.rules.draws_random_numbers(node)):
            return None
        read: list[Hashable] = []
        for value in node.inputs:
            if value is None or value.constant is not None:
                read.append(self.number(value, same))
            else:
                read.append(same.get(value, value))
        # An absent input at the end means the same as none.
        while read and read[-1] is None:
            read.pop()
        outputs = node.outputs
        present = 1 if len(outputs) == 1 and outputs[0] else tuple([v is not None for v in outputs])
        if kind.commutative and len(read) == 2:
            # x + x has the set {x}, which no sum of two different operands has.
            return kind.number, present, frozenset(read)
        return kind.number, present, *read

    def of_bodies(self, node: Node, same: Mapping[Value, Hashable], depth: int = 0) -> Hashable:
        """The key of all bodies of a node, given its operands and captured values.

        Args:
            same: values, or keys of them, by values that are equal to them.
            depth: how many bodies around the node have the same key.

        Returns:
            the key; None for bodies that draw random numbers or have side effects.
        """
        keys = [
            (name, self._of_body(body, _Scope(same), depth + 1))
            for name, bodies in sorted(node.bodies.items())
            for body in bodies
        ]
        return None if any(key is None for _, key in keys) else self._number(tuple(keys))

    def _of_body(self, body: Graph, same: _Scope, depth: int) -> Hashable | None:
        same.update((value, (depth, place)) for place, value in enumerate(body.inputs))
        if any(self.enter(node, same, depth) is None for node in body.nodes()):
            return None
        return tuple([self.number(value, same) for value in body.outputs])

    def enter(
        self, node: Node, same: MutableMapping[Value, Hashable], depth: int = 0
    ) -> int | None:
        """Enter the keys of a node's outputs; return its number, equal for equal nodes and bodies.

        Args:
            same: values, or keys of them, by values that are equal to them.
            depth: how many bodies around the node have the same key.

        Returns:
            the number; None for a node that must stay, whose outputs equal no others.
        """
        key = self.of(node, same)
        if key is not None and node.bodies:
            bodies = self.of_bodies(node, same, depth)
            key = None if bodies is None else (key, bodies)
        if key is None:
            return None
        # A key with the keys of operands in it would be as long as all paths to the node; and two
        # parts name the input of a body.
        number = self._number(key)
        for place, value in enumerate(node.outputs):
            if value is not None and value not in same:
                same[value] = number, place, None
        return number

    def number(self, value: Value | None, same: Mapping[Value, Hashable]) -> Hashable:
        """A value, or a number of a constant: equal for values that are certainly equal."""
        if value is None:
            return None
        tensor = value.constant
        if tensor is None:
            return same.get(value, value)
        number = self._constants.get(tensor)
        if number is None:
            key = self._memory.of(tensor) if tensor.is_readable else None
            number = self._constants[tensor] = self._number(key or id(tensor))
        return number

    def _number(self, key: Hashable) -> int:
        return self._numbers.setdefault(key, len(self._numbers))

    def _kind(self, node: Node) -> _Kind | None:
        op, domain = node.op, normal_domain(node.domain)
        if op.is_sharded:
            return None
        key = op.function_key
        if key in self._calls.impure if key in self._calls else domain not in _PURE:
            return None
        rules = rules_of(op)
        commutative = rules.commutative and self._opset >= _ORDER_BY_ATTRIBUTES
        draws = rules.defines(OperatorRules.draws_random_numbers)
        return _Kind(self._number(self._content(op)), commutative, rules if draws else None)

    def _content(self, op: Operator) -> Hashable:
        """The key of an operator with its attributes, without those that are the default."""
        keys, place = self._memory.operators, (op.form, self._opset)
        if place not in keys:
            schema = None if normal_domain(op.domain) else schema_at(op.op_type, self._opset)
            attributes = [
                (name, _content(message))
                for name, message in sorted(op.attributes.items())
                if schema is None
                or name not in schema.attributes
                or not _is_default(message, schema)
            ]
            keys[place] = (op.function_key, *attributes)
        return keys[place]


def _content(message: onnx.AttributeProto) -> bytes:
    """The bytes of an attribute without its doc string."""
    if message.doc_string:
        message = onnx.AttributeProto.FromString(message.SerializeToString())
        message.ClearField("doc_string")
    return message.SerializeToString(deterministic=True)


def _is_default(message: onnx.AttributeProto, schema: Schema) -> bool:
    default = schema.attributes[message.name].default_value
    return bool(default.name) and _content(message) == default.SerializeToString(deterministic=True)
