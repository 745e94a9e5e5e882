"""Nodes of a graph as a model of their own, to be rewritten apart from the rest."""

from __future__ import annotations

from collections.abc import Collection

import onnx

from ..analysis.constants.folding import Folder
from ..ir import Function, Graph, Model, Node, Operator, Template, Value, captured_by
from ..ir.copying import copy_function, copy_node
from ..ir.references import named_tensors
from ..passes.functions.binding import bind, inline_call, obstacle
from ..passes.functions.calls import CallGraph
from ..passes.utils.legality import named_from_outside
from ..passes.utils.replace_all_uses import replace_values
from .constants import Constants
from .types import Types


class Cut:
    """Nodes that are cut out of a graph.

    Args:
        model: the model; it is not changed before `put_in_place`.
        graph: the graph that the nodes are in.
        nodes: the nodes, in order; what lies between two of them is among them.
        types: what is known of the model's values.
        constants: what is decided of them before run time.
        calls: who calls whom among the model's functions.

    Attributes:
        scratch: a model of copies of the nodes. It has an input for each value that they read, or a
            constant where that is decided, and gives out each value that others read.
    """

    def __init__(
        self,
        model: Model,
        graph: Graph,
        nodes: list[Node],
        types: Types,
        constants: Constants,
        calls: CallGraph,
    ) -> None:
        self.graph = graph
        self.nodes = nodes
        self.scratch = Model(onnx.ModelProto(ir_version=max(model.ir_version, 4)), model.base_dir)
        self.scratch.opset_imports = dict(graph.root.opset_imports)
        self._types = types
        self._constants = constants
        self._outside: dict[Value, Value] = {}  # what is read, and what stands for it
        self._results: list[Value] = []
        self._fill()
        self._calls = calls
        for key in self._calls.reached_from(self.scratch.graph):
            self.scratch.functions[key] = copy_function(model.functions[key])

    def _fill(self) -> None:
        inside = set(self.nodes)
        values: dict[Value, Value] = {}
        for node in self.nodes:
            for value in (*node.inputs, *captured_by(node)):
                if value is not None and value.producer not in inside and value not in values:
                    values[value] = self._outside[value] = self._given(value)
            copy_node(node, self.scratch.graph, values)
            self._results += [v for v in node.outputs if v is not None and self._leaves(v, inside)]
        copies = [values[value] for value in self._results]
        infos = [v.info or onnx.ValueInfoProto(name=v.name) for v in copies]
        self.scratch.graph.set_outputs(copies, infos)

    def _given(self, value: Value) -> Value:
        tensor = self._constants.tensor(value) or self._types.decided(value)
        if tensor is not None:
            return self.scratch.graph.add_initializer(value.name, tensor)
        given = self.scratch.graph.add_input(value.name)
        type_ = self._types.of(value)
        if type_ is not None:
            given.type = type_
        return given

    def _leaves(self, value: Value, inside: set[Node]) -> bool:
        return value.pinned or not inside.issuperset(self.graph.users(value))

    def obstacle(self) -> str | None:
        """Why the nodes must stay as they are; None if they need not."""
        for node in self.nodes:
            reason = named_from_outside(node)
            if named_tensors(node.op):
                reason = f"{node}, which lies between, names tensors in its attributes"
            if reason is not None:
                return reason
        return None

    def inline(self, functions: Collection[Function]) -> None:
        """Put the bodies of functions in the place of calls of them, where that may be."""
        fold = Folder(self.scratch).fold
        for graph in list(self.scratch.graph.walk()):
            for node in graph.nodes():
                function = self._calls.called(node)
                if function is None or function not in functions:
                    continue
                if obstacle(function, node, self._calls) is None:
                    inline_call(node, bind(function, node), fold)

    def put_in_place(self, others: Collection[Operator] = ()) -> None:
        """Put what the scratch model has become by now in the place of the nodes.

        Args:
            others: nodes with one of these operators stay where nothing reads them any more.
        """
        scratch = self.scratch.graph
        arguments = self._as_inputs()
        made = Template(scratch, self.graph).instantiate([arguments[v] for v in scratch.inputs])
        outside = set(arguments.values())
        results = [value if value in outside else _behind_its_name(value) for value in made]
        for old, new in zip(self._results, results, strict=True):
            if old.producer is not None and old.producer.bodies:
                old.info = None  # what was declared for an If spoke of both branches
            self._types.hand_over(old, new)
        replace_values(self.graph, dict(zip(self._results, results, strict=True)))
        for node in reversed(self.nodes):
            self.graph.remove(node)
        _drop_unread([*set(made).difference(results), *self._outside], others)
        imports = self.graph.root.opset_imports
        for domain, version in self.scratch.opset_imports.items():
            imports.setdefault(domain, version)

    def _as_inputs(self) -> dict[Value, Value]:
        """Read decided values again, too; what each input stands for."""
        scratch, arguments = self.scratch.graph, {}
        for value, given in self._outside.items():
            if given.constant is None:
                arguments[given] = value
            elif given in scratch.initializers:
                if scratch.is_used(given):
                    read = scratch.add_input(given.name)
                    scratch.replace_uses(given, read)
                    arguments[read] = value
                scratch.remove_initializer(given)
        return arguments


def _behind_its_name(value: Value) -> Value:
    """What a new value copies where that only gave it the name of an output."""
    node = value.producer
    copied = node.input(0) if node is not None and node.is_op("Identity") else None
    return value if copied is None else copied


def _drop_unread(values: Collection[Value], others: Collection[Operator]) -> None:
    """Remove values that nothing reads any more, then what they alone were computed from."""
    open_ = list(values)
    while open_:
        value = open_.pop()
        graph, node = value.graph, value.producer
        if graph is None or value.pinned or graph.is_used(value):
            continue
        if node is not None:
            if node.graph is not graph or graph.is_needed(node) or node.op in others:
                continue
            open_ += [v for v in (*node.inputs, *captured_by(node)) if v is not None]
            graph.remove(node)
        elif value in graph.initializers and value not in graph.inputs:
            graph.remove_initializer(value)
