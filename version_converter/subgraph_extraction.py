"""Extraction of a graph's nodes into a separate model."""

from collections.abc import Collection, Mapping, Sequence

import onnx

from ..analysis.constants.folding import Folder
from ..analysis.shapes.inference import ShapeInference
from ..facts.fact import Fact
from ..ir import Function, Graph, Model, Node, Operator, Tensor, Value, captured_by, instantiate
from ..ir.copying import copy_function, copy_node
from ..ir.read_names import named_tensors
from ..passes.functions.binding import bind, inline_call, obstacle
from ..passes.functions.calls import CallGraph
from ..passes.utils.legality import externally_named
from ..passes.utils.replace_all_uses import replace_values
from .constants import Constants
from .types import Types


class Gap:
    """Nodes of a graph that other nodes can replace.

    Args:
        nodes: the nodes, in order, with all nodes between two of them.
        reads: the values from outside that the nodes read.
        results: the values of the nodes that others read.
    """

    def __init__(
        self,
        graph: Graph,
        nodes: list[Node],
        types: Types,
        reads: list[Value],
        results: list[Value],
    ) -> None:
        self.graph = graph
        self.nodes = nodes
        self.reads = reads
        self.results = results
        self._types = types

    def fill(
        self,
        copies: Sequence[Value],
        arguments: Sequence[Value],
        imports: Mapping[str, int],
        others: Collection[Operator] = (),
    ) -> None:
        """Replace the nodes by a copy of a body that is in the graph.

        Args:
            copies: its results.
            arguments: the values for its inputs.
            imports: the opsets of its operators.
            others: nodes with one of these operators stay where nothing reads them any more.
        """
        outside = set(arguments)
        results = [v if v in outside else identity_source(v) or v for v in copies]
        results = [*map(self._apart, self.results, results)]
        for old, new in zip(self.results, results, strict=True):
            if old.producer is not None and old.producer.bodies:
                old.info = None  # what was declared for an If spoke of both branches
            self._types.transfer(old, new)
        replace_values(self.graph, dict(zip(self.results, results, strict=True)))
        # Backward, so that readers go before what they read.
        for node in reversed(self.nodes):
            self.graph.remove(node)
        drop_unread([*set(copies).difference(results), *self.reads], others)
        self._import(imports)

    def _apart(self, old: Value, new: Value) -> Value:
        """A constant for each output: the second would read an Identity, a node to replace."""
        tensor, outputs = self.graph.initializers.get(new), self.graph.outputs
        if tensor is None or new not in outputs or old not in outputs:
            return new
        return self.graph.add_initializer(old.name, tensor)

    def rewrite(
        self,
        op: Operator,
        inputs: Sequence[Value | None],
        imports: Mapping[str, int],
        result: Fact | None = None,
    ) -> None:
        """Write another operator and other inputs into the only node, which keeps its results.

        Args:
            op: the operator.
            inputs: the inputs, in the graph.
            imports: the opsets of operators in the graph.
            result: all that is known of the only result; by default inference tells.
        """
        (node,), types = self.nodes, self._types
        facts = [] if result else [(value, types.facts(value)) for value in self.results]
        self.graph.rewrite_node(node, op, inputs)
        if node.outputs != tuple(self.results):
            self.graph.set_node_outputs(node, self.results)
        if result:
            types.assume(self.results[0], result)
        for value, each in facts:
            types.renew(value, each)
        drop_unread(self.reads)
        self._import(imports)

    def _import(self, imports: Mapping[str, int]) -> None:
        present = self.graph.root.opset_imports
        for domain, version in imports.items():
            present.setdefault(domain, version)


class Cut(Gap):
    """Nodes of a graph with a scratch model of copies.

    Args:
        model: the model; it is not changed before `put_in_place`.
        nodes: the nodes, in order; what lies between two of them is among them.
        types: the types of the model's values.
        constants: their constants before run time.
        calls: the call graph of the model's functions.

    Attributes:
        scratch: a model of copies of the nodes. It has an input for each value that they read, or a
            constant where that is decided, and an output for each value that others read.
        outside: the values that the nodes read, with their stand-ins in the scratch model.
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
        inside = set(nodes)
        read = [v for node in nodes for v in (*node.inputs, *captured_by(node)) if v is not None]
        reads = [v for v in dict.fromkeys(read) if v.producer not in inside]
        outputs = [v for node in nodes for v in node.outputs if v is not None]
        results = [v for v in outputs if v.pinned or not inside.issuperset(graph.users(v))]
        super().__init__(graph, nodes, types, reads, results)
        # Below IR version 4 its constants would have to be inputs, too.
        self.scratch = Model(onnx.ModelProto(ir_version=max(model.ir_version, 4)), model.base_dir)
        self.scratch.opset_imports = dict(graph.root.opset_imports)
        self._constants = constants
        self.outside = {value: self._stand_in(value) for value in self.reads}
        values = dict(self.outside)
        for node in self.nodes:
            copy_node(node, self.scratch.graph, values)
        copies = [values[value] for value in self.results]
        infos = [v.info or onnx.ValueInfoProto(name=v.name) for v in copies]
        self.scratch.graph.set_outputs(copies, infos)
        self._calls = calls
        for key in self._calls.reachable_from(self.scratch.graph):
            self.scratch.functions[key] = copy_function(model.functions[key])

    def _stand_in(self, value: Value) -> Value:
        tensor = decided_tensor(value, self._types, self._constants)
        if tensor is not None:
            return self.scratch.graph.add_initializer(value.name, tensor)
        new_input = self.scratch.graph.add_input(value.name)
        type_ = self._types.of(value)
        if type_ is not None:
            new_input.type = type_
        return new_input

    def obstacle(self) -> str | None:
        """The reason why the nodes must stay; None if there is none."""
        for node in self.nodes:
            reason = externally_named(node)
            if named_tensors(node.op):
                reason = f"{node}, which lies between, names tensors in its attributes"
            if reason is not None:
                return reason
        return None

    def facts(self) -> list[Fact | None]:
        """The facts of the results that inference finds in the scratch model, too.

        It may know less of other operators, or count another size.
        """
        inference = ShapeInference(self.scratch)
        pairs = zip(self.results, self.scratch.graph.outputs, strict=True)
        facts = [(self._types.fact(value), inference.fact(copy)) for value, copy in pairs]
        return [one if one and one.has_type_of(other) else None for one, other in facts]

    def inline(self, functions: Collection[Function]) -> None:
        """Inline calls of functions in the scratch model, where that is legal."""
        fold = Folder(self.scratch).fold
        for graph in list(self.scratch.graph.walk()):
            for node in graph.nodes():
                function = self._calls.callee(node)
                if function is None or function not in functions:
                    continue
                if obstacle(function, node, self._calls) is None:
                    inline_call(node, bind(function, node), fold)

    def put_in_place(self, others: Collection[Operator] = ()) -> None:
        """Replace the nodes by the scratch model.

        Args:
            others: nodes with one of these operators stay where nothing reads them any more.
        """
        arguments = self.as_inputs()
        body = self.scratch.graph
        values = [arguments[value] for value in body.inputs]
        copies = instantiate(body, self.graph, values)
        self.fill(copies, values, self.scratch.opset_imports, others)

    def as_inputs(self) -> dict[Value, Value]:
        """Turn constants back into inputs, and map each input to its value."""
        scratch, arguments = self.scratch.graph, {}
        for value, replica in self.outside.items():
            if replica.constant is None:
                arguments[replica] = value
            elif replica in scratch.initializers:
                if scratch.is_used(replica):
                    arguments[as_input(scratch, replica)] = value
                else:
                    scratch.remove_initializer(replica)
        return arguments


def as_input(graph: Graph, constant: Value) -> Value:
    """Make a constant an input."""
    read = graph.add_input(constant.name)
    graph.replace_uses(constant, read)
    graph.remove_initializer(constant)
    return read


def decided_tensor(value: Value, types: Types, constants: Constants) -> Tensor | None:
    """The constant of a value in a cut; None for one that stays an input."""
    return constants.tensor(value) or types.decided(value)


def identity_source(value: Value) -> Value | None:
    """The input of the Identity that computes a value; None for another producer."""
    node = value.producer
    return node.input(0) if node is not None and node.is_op("Identity") else None


def drop_unread(values: Collection[Value], others: Collection[Operator] = ()) -> None:
    """Remove values without readers, then their producers."""
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
