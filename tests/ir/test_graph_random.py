"""Any sequence of changes to a graph leaves it whole."""

import numpy as np
import onnx
import pytest
from depth import examples
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from nested import MODEL, RELU
from straightline import ir
from straightline.ir import Graph, GraphError, Node, Operator, Tensor, Value


class Mutations(RuleBasedStateMachine):
    """After any sequence of changes the topology is what `verify` recomputes."""

    @initialize()
    def start(self) -> None:
        self.model = ir.parse(MODEL)

    def graph(self, data: st.DataObject) -> Graph:
        return data.draw(st.sampled_from(list(self.model.graphs())), label="graph")

    def any_node(self, data: st.DataObject) -> Node:
        nodes = [n for graph in self.model.graphs() for n in graph.nodes()]
        return data.draw(st.sampled_from(nodes), label="node")

    def values(self) -> list[Value]:
        found = []
        for graph in self.model.graphs():
            found += [*graph.inputs, *graph.initializers]
            found += [v for n in graph.nodes() for v in n.outputs if v is not None]
        return found

    def visible(self, data: st.DataObject, graph: Graph) -> Value:
        seen = [v for v in self.values() if graph.sees(v)]
        return data.draw(st.sampled_from(seen), label="value")

    @rule(data=st.data(), inputs=st.integers(0, 3), outputs=st.integers(1, 2))
    def add_node(self, data: st.DataObject, inputs: int, outputs: int) -> None:
        graph = self.graph(data)
        chosen = [self.visible(data, graph) for _ in range(inputs)]
        if not self.holds_user_of(graph, chosen):
            graph.add_node(Operator("Any", domain="own"), chosen, ["v"] * outputs)

    @rule(data=st.data())
    def add_if(self, data: st.DataObject) -> None:
        graph = self.graph(data)
        if graph.holder is not None and graph.holder.graph is not self.model.graph:
            return
        chosen = self.visible(data, graph)
        if self.holds_user_of(graph, [chosen]):
            return
        node = graph.add_node(Operator("If"), [chosen], ["i"])
        for name in ("then_branch", "else_branch"):
            body = graph.add_body(node, name, onnx.GraphProto())
            inner = body.add_node(RELU, [chosen], ["r"])
            body.set_outputs([inner.output()], [onnx.ValueInfoProto(name="r")])

    def holds_user_of(self, graph: Graph, values: list[Value]) -> bool:
        """Whether adding a read of the values to the graph may close a cycle."""
        holder = graph.holder
        while holder is not None and holder.graph is not None:
            if any(self.depends(v, holder) for v in values):
                return True
            holder = holder.graph.holder
        return False

    def depends(self, value: Value, node: Node) -> bool:
        """Whether a value is computed from what a node gives."""
        todo, seen = [value], set[Value]()
        while todo:
            current = todo.pop()
            producer = current.producer
            if producer is node:
                return True
            if producer is not None and current not in seen:
                todo += [v for v in (*producer.inputs, *ir.captured_by(producer)) if v]
                inside = producer.graph.holder if producer.graph is not None else None
                if inside is not None:
                    todo += [v for v in inside.inputs if v]
            seen.add(current)
        return False

    @rule(data=st.data())
    def set_input(self, data: st.DataObject) -> None:
        node = self.any_node(data)
        assert node.graph is not None
        if not node.inputs or node.is_op("If"):
            return
        index = data.draw(st.integers(0, len(node.inputs) - 1))
        visible = st.just(self.visible(data, node.graph))
        new = data.draw(st.none() | visible if node.domain else visible)
        cyclic = new is not None and (
            self.depends(new, node) or self.holds_user_of(node.graph, [new])
        )
        if not cyclic:
            node.graph.set_input(node, index, new)

    @rule(data=st.data(), inputs=st.integers(0, 3))
    def rewrite_node(self, data: st.DataObject, inputs: int) -> None:
        node = self.any_node(data)
        assert node.graph is not None
        chosen = [self.visible(data, node.graph) for _ in range(inputs)]
        cyclic = any(self.depends(value, node) for value in chosen)
        if node.bodies or cyclic or self.holds_user_of(node.graph, chosen):
            return
        outputs = node.outputs
        node.graph.rewrite_node(node, Operator("Other", domain="own"), chosen)
        assert (node.op_type, node.inputs, node.outputs) == ("Other", tuple(chosen), outputs)

    def exchange(self, data: st.DataObject) -> tuple[Graph, Value, Value] | None:
        """A graph, a value of it, and one that may take its place without closing a cycle."""
        graph = self.graph(data)
        own = [v for v in self.values() if v.graph is graph]
        if not own:
            return None
        old = data.draw(st.sampled_from(own), label="old")
        new = self.visible(data, graph)
        readers = [n for n in graph.users(old) if isinstance(n, Node)]
        cyclic = any(self.depends(new, reader) for reader in readers)
        return None if cyclic or self.holds_user_of(graph, [new]) else (graph, old, new)

    @rule(data=st.data())
    def replace_uses(self, data: st.DataObject) -> None:
        drawn = self.exchange(data)
        if drawn is not None:
            graph, old, new = drawn
            graph.replace_uses(old, new)
            assert new is old or not graph.is_used(old)

    @rule(data=st.data())
    def supersede(self, data: st.DataObject) -> None:
        drawn = self.exchange(data)
        if drawn is not None and drawn[1] is not drawn[2]:
            graph, old, new = drawn
            graph.supersede(old, new)
            assert not graph.is_used(old)

    @rule(data=st.data(), count=st.integers(0, 3))
    def resize_inputs(self, data: st.DataObject, count: int) -> None:
        node = self.any_node(data)
        assert node.graph is not None
        if node.domain:
            before = node.inputs
            node.graph.resize_inputs(node, count)
            assert len(node.inputs) == count
            assert node.inputs[: len(before)] == before[:count]

    @rule(data=st.data(), keep=st.lists(st.booleans(), min_size=2, max_size=2))
    def set_node_outputs(self, data: st.DataObject, keep: list[bool]) -> None:
        node = self.any_node(data)
        assert node.graph is not None
        if node.domain:
            kept = [v for v, stays in zip(node.outputs, keep, strict=False) if stays]
            going = [v for v in node.outputs if v is not None and v not in kept]
            if any(node.graph.is_used(v) for v in going):
                with pytest.raises(GraphError, match="is used"):
                    node.graph.set_node_outputs(node, [*kept, "n"])
            else:
                node.graph.set_node_outputs(node, ["n", *kept])
                assert list(node.outputs[1:]) == kept

    @rule(data=st.data())
    def set_outputs(self, data: st.DataObject) -> None:
        graph = self.graph(data)
        chosen = [self.visible(data, graph) for _ in graph.outputs]
        if not self.holds_user_of(graph, chosen):
            graph.set_outputs(chosen)

    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        node = self.any_node(data)
        assert node.graph is not None
        if node.graph.is_needed(node):
            with pytest.raises(GraphError):
                node.graph.remove(node)
        else:
            node.graph.remove(node)

    @rule(data=st.data())
    def remove_initializer(self, data: st.DataObject) -> None:
        graph = self.graph(data)
        added = graph.add_initializer("w", Tensor(array=np.ones(1)))
        for v in list(graph.initializers):
            if v is not added and not graph.is_used(v):
                graph.remove_initializer(v)

    @precondition(lambda self: hasattr(self, "model"))
    @invariant()
    def holds(self) -> None:
        ir.verify(self.model)

    def teardown(self) -> None:
        if hasattr(self, "model"):
            proto = ir.to_proto(self.model)
            assert [v.name for v in proto.graph.output] == ["y", "z"]
            assert ir.to_proto(ir.load(proto)) == proto


Mutations.TestCase.settings = settings(
    max_examples=examples(20), stateful_step_count=25, deadline=None
)
TestMutations = Mutations.TestCase
