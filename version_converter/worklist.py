"""Worklist of a conversion: the nodes that each step must visit, which are few."""

import functools
from collections.abc import Iterable, Sequence

import onnx

from ..definitions.registry import IN_ONNX_DOMAIN
from ..ir import Function, Graph, Model, Node, Operator
from ..ops.schema_queries import (
    Actual,
    Schema,
    default_of,
    formals,
    schema_at,
    tensor_text,
    type_fault,
)
from . import scans
from .attribute_to_input import MOVES
from .form import OperatorForm
from .registry import ADDED_VALUES, concerns
from .schemas import REVIEWED, changes, takes_all
from .types import Types

_MOST_REMEMBERED = 10_000
"""Size of the caches of forms, for all models."""

ElemTypes = tuple[int | None, ...]
Key = tuple[Operator | str | int, ...]
"""A version and the form of a node, by its very operator or what that says."""
_Steps = tuple[int | None, int | None, dict[ElemTypes, int | None]]
"""Next steps of nodes of a form: for unknown types, for types valid in all versions, and by types
of inputs and outputs."""


class Worklist:
    """Nodes of a model or function by the step at which each is due next.

    A node is due where its schema, an adapter or its element types let two versions differ; steps
    skip all others. New nodes enter when a step ends.

    Args:
        target: the version to convert to.
        model: the model, whose functions a node of the default domain may call, too.
        types: the types; the engine renews them.
    """

    def __init__(self, root: Model | Function, target: int, model: Model, types: Types) -> None:
        self.types = types
        self._target = target
        self._functions = model.functions
        self._version = root.opset()
        self._step = 1 if target > self._version else -1
        self._due: dict[int, list[Node]] = {}
        # The order in which nodes entered.
        self._numbers: dict[Node, int] = {}
        self._graphs: list[Graph] = []
        self._steps: dict[Key, _Steps] = {}
        # Forms without absent inputs that no later step changes, which are most of a model.
        self._settled: set[tuple[Operator, int, int]] = set()
        self._enter_graph(root.graph)

    def due(self, version: int) -> list[Node]:
        """The nodes due in the step from a version to the next, in order."""
        return sorted(self._due.pop(version, ()), key=self._numbers.__getitem__)

    def is_due(self, node: Node, version: int) -> bool:
        """Test whether a node is due in the step from a version to the next."""
        return self._next(node, version) == version

    def step_done(self, version: int, nodes: Iterable[Node]) -> None:
        """Enter nodes from a version on: those of the step, and all new ones."""
        self._version = version
        for node in nodes:
            if node.stands:
                self._enter(node)
        self._graphs = [g for g in self._graphs if g.holder is None or g.holder.stands]
        for graph in list(self._graphs):
            self._enter_latest(graph)

    def _enter_graph(self, graph: Graph) -> None:
        self._graphs.append(graph)
        self._enter_latest(graph)

    def _enter_latest(self, graph: Graph) -> None:
        numbers, settled, new = self._numbers, self._settled, list[Node]()
        # The latest nodes are the new ones.
        for node in graph.latest_nodes():
            if node in numbers:
                break
            new.append(node)
        for node in reversed(new):
            numbers[node] = len(numbers)
            form = node.op, len(node.inputs), len(node.outputs)
            if form not in settled or None in node.inputs:
                self._enter(node)
            if node.bodies:
                for inner in node.graphs():
                    self._enter_graph(inner)

    def _enter(self, node: Node) -> None:
        version = self._next(node, self._version)
        if version is not None:
            self._due.setdefault(version, []).append(node)

    def _next(self, node: Node, version: int) -> int | None:
        """The next version after which a node is due; None if there is none."""
        inputs, outputs = node.inputs, node.outputs
        if self._functions and node.op.function_key in self._functions:
            return None
        key: Key = version, node.op, len(inputs), len(outputs)
        if None in inputs:
            key += tuple([i for i, value in enumerate(inputs) if value is None])
        # The very operator is the cheaper key; equal operators share the answer by their form.
        steps = self._steps.get(key)
        if steps is None:
            form = (version, node.op.qualname, *node.op.attributes, *key[2:])  # as OperatorForm.of
            steps = self._steps.get(form) or self._without_types(node, version)
            self._steps[key] = self._steps[form] = steps
        doubtful, certain, by_types = steps
        # The types make no difference.
        if doubtful == certain:
            if certain is None and None not in inputs:
                self._settled.add((node.op, len(inputs), len(outputs)))
            return certain
        types = self.types.plain_elem_types((*inputs, *outputs))
        # An unknown type may be one that a version lacks.
        if 0 in types:
            return doubtful
        if types not in by_types:
            pair = types[: len(inputs)], types[len(inputs) :]
            by_types[types] = self._first(OperatorForm.of(node), version, pair)
        return by_types[types]

    def _without_types(self, node: Node, version: int) -> _Steps:
        op = node.op
        # What a definition says is converted at the end.
        is_defined = op.op_type in IN_ONNX_DOMAIN and _is_foreign(op.op_type, version)
        if is_defined or op.domain not in ("", "ai.onnx"):
            return None, None, {}
        form = OperatorForm.of(node)
        return self._first(form, version), self._first(form, version, any_types=True), {}

    def _first(
        self,
        form: OperatorForm,
        version: int,
        types: tuple[ElemTypes, ElemTypes] | None = None,
        *,
        any_types: bool = False,
    ) -> int | None:
        """The first version, from one on, after which a form is due.

        Args:
            types: the element types of inputs and outputs, where they are known.
            any_types: assume that all types are valid.
        """
        for source in range(version, self._target, self._step):
            target = source + self._step
            if not stays(form, source, target):
                return source
            if not any_types and not types_stay(form, source, target, types):
                return source
        return None


def _is_foreign(op_type: str, version: int) -> bool:
    """Test for an operator in ONNX's domain that only onnxruntime has."""
    return schema_at(op_type, version) is None


def _actuals(elem_types: ElemTypes) -> list[Actual | None]:
    return [None if t is None else ("", [tensor_text(t)]) for t in elem_types]


@functools.lru_cache(_MOST_REMEMBERED)
def stays(form: OperatorForm, source: int, target: int) -> bool:
    """Test whether a form has the same meaning in two adjacent versions, for valid types."""
    op_type = form.op_type
    old, new = schema_at(op_type, source), schema_at(op_type, target)
    if old is None or new is None:
        return False  # an operator of no version is refused by name
    if not changes(op_type, source, target):
        return True
    version = max(source, target)
    reviewed = version <= REVIEWED and (op_type, version) not in MOVES
    crosses = op_type == "Scan" and scans.crosses(source, target)
    if not reviewed or crosses or new.deprecated:
        return False
    if any(not concern.kinds for concern in concerns(form, source, target)):
        return False
    added = {} if target > source else ADDED_VALUES.get(op_type, {})
    if any(max(added[name].values()) > target for name in form.attributes if name in added):
        return False
    return _fits_attributes(form.attributes, old, new) and _fits_places(form, new)


@functools.lru_cache(_MOST_REMEMBERED)
def types_stay(
    form: OperatorForm, source: int, target: int, types: tuple[ElemTypes, ElemTypes] | None
) -> bool:
    """Test whether types are valid in both of two adjacent versions. Unknown types are valid only
    if both versions accept all types."""
    if changes(form.op_type, source, target):
        for concern in concerns(form, source, target):
            first = types[0][0] if types is not None and types[0] else None
            if first is None or onnx.helper.tensor_dtype_to_np_dtype(first).kind in concern.kinds:
                return False
    if takes_all(form.op_type, source, target):
        return True
    return types is not None and type_fault(form.op_type, target, *map(_actuals, types)) is None


def _fits_attributes(names: Sequence[str], old: Schema, new: Schema) -> bool:
    return (
        all(name in new.attributes for name in names)
        and all(name in names for name, a in new.attributes.items() if a.required)
        and not any(
            default_of(old, name) not in (None, default_of(new, name))
            for name in old.attributes
            if name in new.attributes and name not in names
        )
    )


def _fits_places(form: OperatorForm, new: Schema) -> bool:
    if form.absent and form.absent[-1] == form.inputs - 1:
        return False  # absent inputs at the end are cut off
    required = [index for index, formal in enumerate(formals(new)[0]) if formal.is_required]
    return (
        new.min_input <= form.inputs <= new.max_input
        and form.outputs <= new.max_output
        and all(index < form.inputs and index not in form.absent for index in required)
    )
