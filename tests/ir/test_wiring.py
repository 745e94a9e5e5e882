"""Nodes, what they read and give, and what graphs give out: the edges follow."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from nested import MODEL, RELU, node, value
from straightline import ir
from straightline.ir import GraphError, Model, Operator, Tensor


@pytest.fixture
def model() -> Model:
    return ir.parse(MODEL)


class TestAdding:
    def test_capture_through_levels(self, model: Model) -> None:
        deep = node(model, "p").body("then_branch")
        unused = value(model, "unused")
        deep.add_node(RELU, [unused], ["r"])
        ir.verify(model)
        assert model.graph.users(unused) == [node(model, "y")]

    def test_body_of_a_new_node(self, model: Model) -> None:
        graph = model.graph
        holder = graph.add_node(Operator("If"), [value(model, "c")], ["h"])
        for name in ("then_branch", "else_branch"):
            body = graph.add_body(holder, name, onnx.GraphProto(name=name))
            inner = body.add_node(RELU, [value(model, "x")], [name])
            body.set_outputs([inner.output()], [model.graph.output_infos[0]])
        graph.set_outputs([holder.output(), graph.outputs[1]])
        ir.verify(model)
        written = ir.to_proto(model).graph.node[-1]
        assert [a.name for a in written.attribute] == ["then_branch", "else_branch"]
        with pytest.raises(GraphError, match="takes no graph"):
            graph.add_body(holder, "then_branch", onnx.GraphProto())

    def test_constant_nodes_are_known(self, model: Model) -> None:
        op = Operator.make("Constant", value_ints=[1, 2])
        constant = model.graph.add_node(op, [], ["k"]).output().constant
        assert constant is not None and constant.numpy().tolist() == [1, 2]


class TestOutputs:
    def test_slots_of_one_name_share_what_carries_it(self) -> None:
        model = ir.parse(
            """<ir_version: 8, opset_import: ["": 18]>
            g (float[3] x) => (float[3] y, float[3] y, float[3] z) { y = Relu(x) z = Neg(x) }"""
        )
        graph = model.graph
        (x,) = graph.inputs
        graph.replace_uses(graph.outputs[0], x)
        assert graph.outputs[0] is graph.outputs[1]
        assert [o.name for o in ir.to_proto(model).graph.output] == ["y", "y", "z"]

    def test_a_computed_value_takes_the_name_of_its_slot(self, model: Model) -> None:
        graph = model.graph
        new = graph.add_node(RELU, [value(model, "x")], ["anything"])
        graph.set_outputs([new.output(), graph.outputs[1]])
        assert written_outputs(model) == ["y", "z"]
        assert len(graph) == 5

    @pytest.mark.parametrize("name", ["x", "w"])
    def test_an_input_or_a_constant_gets_an_identity(self, model: Model, name: str) -> None:
        model.graph.set_outputs([value(model, name), value(model, name)])
        assert written_outputs(model) == ["y", "z"]
        assert [n.op_type for n in model.graph.nodes()][-2:] == ["Identity"] * 2

    def test_a_value_in_two_slots(self, model: Model) -> None:
        model.graph.set_outputs([value(model, "b")] * 2)
        assert written_outputs(model) == ["y", "z"]

    def test_a_value_in_two_slots_with_the_label_of_the_second(self, model: Model) -> None:
        model.graph.set_outputs([value(model, "z")] * 2)
        assert written_outputs(model) == ["y", "z"]

    def test_a_body_gives_out_outer_and_repeated_values_as_they_are(self, model: Model) -> None:
        branch = node(model, "y").body("else_branch")
        branch.set_outputs([value(model, "x")])
        ir.verify(model)
        assert len(branch) == 1
        written = ir.to_proto(model).graph.node[2].attribute[1].g
        assert [v.name for v in written.output] == ["x"]
        assert ir.to_proto(ir.load(model)) == ir.to_proto(model)

    def test_replacing_an_output_of_a_body_by_an_outer_value(self, model: Model) -> None:
        branch = node(model, "y").body("else_branch")
        branch.replace_uses(value(model, "q"), value(model, "x"))
        ir.verify(model)
        assert branch.outputs[0].producer is not None
        assert branch.outputs[0].producer.op_type == "Identity"


def written_outputs(model: Model) -> list[str]:
    ir.verify(model)
    proto = ir.to_proto(model)
    onnx.checker.check_model(proto, full_check=True)
    return [v.name for v in proto.graph.output]


class TestNodes:
    """What a node is made of is changed by its graph."""

    def test_inputs_are_cut_and_written_out(self, model: Model) -> None:
        a, w = node(model, "a"), value(model, "w")
        d = node(model, "d")
        assert d.graph is not None
        d.graph.resize_inputs(d, 1)
        assert d.inputs == (value(model, "a"),) and d.graph.captures() == [value(model, "a")]
        assert model.graph.users(w) == [a], "the capture went through all graphs between"
        model.graph.resize_inputs(a, 4)
        assert a.inputs == (model.graph.inputs[1], w, None, None)
        ir.verify(model)

    def test_an_input_that_stands_twice_stays_connected(self, model: Model) -> None:
        a, x = node(model, "a"), value(model, "x")
        model.graph.set_input(a, 1, x)
        model.graph.resize_inputs(a, 1)
        assert a in model.graph.users(x)
        ir.verify(model)

    def test_outputs_come_and_go(self, model: Model) -> None:
        a = node(model, "a")
        graph, old = model.graph, value(model, "a")
        graph.set_node_outputs(a, ["first", old, "", None, "last"])
        first, kept, empty, absent, last = a.outputs
        assert first is not None and first.producer is a and first.name == "first"
        assert kept is old and empty is None and absent is None and last is not None
        ir.verify(model)
        last.pinned = True
        with pytest.raises(GraphError, match="'last' is used"):
            graph.set_node_outputs(a, [first, old])
        last.pinned = False
        graph.set_node_outputs(a, [old])
        assert a.outputs == (old,)
        ir.verify(model)

    def test_a_change_of_outputs_counts_only_if_it_is_one(self, model: Model) -> None:
        a, graph = node(model, "a"), model.graph
        before = graph.changes
        graph.set_node_outputs(a, a.outputs)
        assert graph.changes == before
        graph.set_node_outputs(a, [*a.outputs, "more"])
        assert graph.changes > before

    def test_an_operator_brings_its_constant(self, model: Model) -> None:
        made = model.graph.add_node(RELU, [], ["k"])
        seven = ir.constant_operator(Tensor(array=np.array([7.0])))
        model.graph.set_operator(made, seven)
        known = made.output().constant
        assert known is not None and known.numpy() == [7] and made.op is seven
        ir.verify(model)
        model.graph.set_operator(made, RELU)
        assert made.output().constant is None
        ir.verify(model)

    def test_a_holder_keeps_its_graphs(self, model: Model) -> None:
        y = node(model, "y")
        other = Operator("If", y.op.attributes, domain="own")
        model.graph.set_operator(y, other)
        assert (y.domain, len(list(y.graphs()))) == ("own", 2)
