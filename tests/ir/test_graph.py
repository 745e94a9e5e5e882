"""The mutators of a graph: what they change, what they refuse, and what they never break."""

from __future__ import annotations

import doctest

import numpy as np
import onnx
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from onnx import TensorProto, helper
from straightline import ir
from straightline.ir import Graph, GraphError, Model, Node, Operator, Tensor, Value

ADD, RELU = Operator("Add"), Operator("Relu")
SPLIT = Operator("Split")
MODEL = """
<ir_version: 10, opset_import: ["": 21]>
main (bool c, float[3] x, float[3] unused) => (float[3] y, float[3] z) <float[3] w = {1, 2, 3}> {
    a = Add(x, w)
    b = Relu(a)
    y = If (c) <
        then_branch = yes () => (float[3] p) {
            p = If (c) <
                then_branch = deep () => (float[3] d) { d = Add(a, w) },
                else_branch = same () => (float[3] e) { e = Identity(b) }
            >
        },
        else_branch = no () => (float[3] q) { q = Mul(b, x) }
    >
    z = Neg(b)
}
"""


@pytest.fixture
def model() -> Model:
    return ir.parse(MODEL)


def value(model: Model, name: str) -> Value:
    for graph in model.graphs():
        nodes = graph.nodes()
        for v in (*graph.inputs, *graph.initializers, *(v for n in nodes for v in n.outputs)):
            if v is not None and v.name == name:
                return v
    raise LookupError(name)


def node(model: Model, output: str) -> Node:
    producer = value(model, output).producer
    assert producer is not None
    return producer


class TestQueries:
    def test_captures_are_uses_of_every_holder_around(self, model: Model) -> None:
        outer = node(model, "y")
        inner = node(model, "p")
        deep = inner.body("then_branch")
        a, w = value(model, "a"), value(model, "w")
        assert deep.captures() == [a, w]
        assert set(outer.body("then_branch").captures()) == {a, w, *model.graph.inputs[:1]} | {
            value(model, "b")
        }
        assert model.graph.users(a) == [node(model, "b"), outer]
        assert deep.users(a) == [node(model, "d")]

    def test_uses_lists_every_place_at_every_depth(self, model: Model) -> None:
        b = value(model, "b")
        places = [(use.user, use.position) for use in model.graph.uses(b)]
        assert set(places) == {(node(model, label), 0) for label in "eqz"}
        same = node(model, "p").body("else_branch")
        same.set_outputs([b])
        assert (same, 0) in [(use.user, use.position) for use in model.graph.uses(b)]
        assert model.graph.is_used(b)
        assert not model.graph.is_used(value(model, "unused"))

    def test_asking_changes_nothing(self, model: Model) -> None:
        branch = node(model, "y").body("else_branch")
        a = value(model, "a")
        assert not branch.is_used(a)
        assert branch.uses(a) == []
        ir.verify(model)
        assert model.graph.users(node(model, "d").output()) == []

    def test_users_of_one_output_among_several(self, model: Model) -> None:
        graph = model.graph
        split = graph.add_node(SPLIT, [graph.inputs[1]], ["s", "t"])
        s, t = split.outputs
        assert s is not None and t is not None
        user = graph.add_node(RELU, [t], ["r"])
        assert graph.users(s) == [] and graph.users(t) == [user]
        assert graph.is_needed(split) and not graph.is_needed(user)

    def test_sees(self, model: Model) -> None:
        deep = node(model, "p").body("then_branch")
        assert deep.sees(value(model, "w")) and deep.sees(value(model, "d"))
        assert not model.graph.sees(value(model, "d"))
        assert not node(model, "y").body("else_branch").sees(value(model, "p"))

    def test_view_cannot_be_changed(self, model: Model) -> None:
        with pytest.raises(Exception, match="Frozen"):
            model.graph.view().remove_node(model.graph.inputs[0])
        assert len(model.graph.view()) == 1 + len(model.graph) + 4

    def test_the_examples_of_the_view_run(self) -> None:
        tests = doctest.DocTestFinder().find(Graph.view, "view", globs={})
        results = [doctest.DocTestRunner().run(test) for test in tests]
        assert [result.failed for result in results] == [0]
        assert results[0].attempted >= 6

    def test_vertices_of_the_view(self, model: Model) -> None:
        graph, inner = model.graph, node(model, "y").body("then_branch")
        a, x = value(model, "a"), value(model, "x")
        assert graph.vertex(a) is a.producer and graph.vertex(x) is x
        assert inner.vertex(a) is a, "captured"
        assert all(v in graph.view() for v in (a.producer, x)) and a in inner.view()

    def test_nodes_come_in_an_order_that_stays(self, model: Model) -> None:
        graph = model.graph
        late = graph.add_node(RELU, [value(model, "w")], ["late"])
        graph.set_input(node(model, "b"), 0, late.output())
        labels = [n.label for n in graph.nodes()]
        assert labels == ["a", "late", "b", "y", "z"]

    def test_long_chains_and_deep_nests(self) -> None:
        model = ir.parse(MODEL)
        graph, last = model.graph, value(model, "x")
        for _ in range(50_000):
            last = graph.add_node(RELU, [last], ["r"]).output()
        graph.set_outputs([last, last])
        assert len(graph.nodes()) == 50_000 + 5
        ir.to_proto(model)

    def test_nest_of_a_hundred_levels(self) -> None:
        model = ir.parse(MODEL)
        top = nest(model, 100)
        ir.verify(model)
        assert len(model.graph.uses(value(model, "x"))) == 2 + 100
        model.graph.replace_uses(value(model, "x"), value(model, "unused"))
        ir.verify(model)
        assert len(model.graph.uses(value(model, "unused"))) == 2 + 100
        assert ir.to_proto(model).graph.node[-1].op_type == "If"
        model.graph.remove(top)
        ir.verify(model)
        assert len(model.graph.uses(value(model, "unused"))) == 2


def nest(model: Model, depth: int) -> Node:
    """Ifs inside each other, with a node in each branch that uses an input of the model."""
    c, x = model.graph.inputs[:2]
    info = model.graph.output_infos[:1]
    graph = model.graph
    top = None
    for level in range(depth):
        holder = graph.add_node(Operator("If"), [c], [f"n{level}"])
        top = top or holder
        if graph is not model.graph:
            graph.set_outputs([holder.output()], info)
        other = graph.add_body(holder, "else_branch", onnx.GraphProto(name="other"))
        other.set_outputs([other.add_node(RELU, [x], ["e"]).output()], info)
        graph = graph.add_body(holder, "then_branch", onnx.GraphProto(name="then"))
    graph.set_outputs([graph.add_node(RELU, [c], ["e"]).output()], info)
    assert top is not None
    return top


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


class TestReplacing:
    def test_uses_at_every_depth(self, model: Model) -> None:
        graph = model.graph
        new = graph.add_node(RELU, [value(model, "x")], ["new"]).output()
        graph.replace_uses(value(model, "b"), new)
        ir.verify(model)
        assert not graph.is_used(value(model, "b"))
        assert len(graph.uses(new)) == 3

    def test_what_bodies_give_out_of_what_is_around_them(self, model: Model) -> None:
        graph, branch = model.graph, node(model, "y").body("else_branch")
        deep = node(model, "p").body("then_branch")
        b = value(model, "b")
        branch.set_outputs([b])
        deep.set_outputs([b])
        new = graph.add_node(RELU, [value(model, "x")], ["new"]).output()
        graph.replace_uses(b, new)
        ir.verify(model)
        assert not graph.is_used(b)
        for body in (branch, deep):
            # What a body gives out must come from within.
            (given,) = body.outputs
            assert given.producer is not None
            assert given.producer.op_type == "Identity"
            assert given.producer.inputs == (new,)
        graph.remove(b.producer)  # type: ignore[arg-type]
        onnx.checker.check_model(ir.to_proto(model), full_check=True)

    def test_a_captured_value_that_nothing_used(self, model: Model) -> None:
        deep = node(model, "p").body("then_branch")
        deep.set_outputs([value(model, "w")])
        deep.replace_uses(value(model, "d"), value(model, "unused"))
        ir.verify(model)
        assert not model.graph.is_used(value(model, "unused"))

    def test_set_input_lets_go_of_what_was_captured(self, model: Model) -> None:
        q = node(model, "q")
        assert q.graph is not None
        q.graph.set_input(q, 0, value(model, "x"))
        ir.verify(model)
        assert value(model, "b") not in q.graph.captures()
        q.graph.set_input(q, 1, None)
        ir.verify(model)

    def test_reads_alone(self, model: Model) -> None:
        graph = model.graph
        z, x = value(model, "z"), value(model, "x")
        reader = graph.add_node(RELU, [z], ["r"])
        graph.replace_reads(z, x)
        ir.verify(model)
        assert reader.inputs == (x,)
        assert graph.outputs[1] is z and len(graph) == 5


class TestRemoving:
    def test_a_node_with_bodies_lets_go_of_its_captures(self, model: Model) -> None:
        graph = model.graph
        graph.set_outputs([value(model, "z")], graph.output_infos[1:])
        graph.remove(node(model, "y"))
        ir.verify(model)
        assert graph.users(value(model, "a")) == [node(model, "b")]

    def test_inputs_and_initializers(self, model: Model) -> None:
        graph = model.graph
        constant = graph.add_initializer("k", Tensor(array=np.ones(2)))
        graph.remove_initializer(constant)
        graph.remove_input(value(model, "unused"))
        ir.verify(model)
        assert [v.name for v in graph.inputs] == ["c", "x"]

    def test_bind_and_freeze(self, model: Model) -> None:
        graph = model.graph
        x = value(model, "x")
        graph.bind_input(x, Tensor(array=np.zeros(3, np.float32)))
        ir.verify(model)
        assert x.constant is not None and x not in graph.inputs

        proto = ir.to_proto(ir.parse(MODEL))
        proto.graph.input.append(helper.make_tensor_value_info("w", TensorProto.FLOAT, [3]))
        other = ir.load(proto)
        w = other.graph.inputs[-1]
        assert w.constant is None
        other.graph.freeze_input(w)
        ir.verify(other)
        assert w.constant is not None and w in other.graph.initializers


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


def annotated(text: str, *annotations: tuple[str, str]) -> Model:
    """A model whose tensors have a quantization annotation each, with its parameter."""
    proto = ir.to_proto(ir.parse(text))
    for name, scale in annotations:
        message = proto.graph.quantization_annotation.add(tensor_name=name)
        message.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value=scale)
    return ir.load(proto)


def annotations(model: Model) -> list[tuple[str, str]]:
    """The annotations of the main graph as they are written."""
    written = ir.to_proto(model).graph.quantization_annotation
    return [(m.tensor_name, m.quant_parameter_tensor_names[0].value) for m in written]


class TestSupersede:
    def test_name_declaration_pin_and_annotations_pass_on(self) -> None:
        model = annotated(MODEL, ("a", "w"), ("b", "a"))
        graph, a = model.graph, value(model, "a")
        a.info = helper.make_tensor_value_info("a", TensorProto.FLOAT, [3])
        new = graph.add_node(ADD, [value(model, "w"), value(model, "x")], ["fresh"]).output()
        assert graph.supersede(a, new) is new
        assert (new.name, new.info, new.pinned, a.pinned) == ("a", a.info, True, False)
        assert not graph.is_used(a) and new in node(model, "d").inputs
        graph.remove(a.producer)  # type: ignore[arg-type]
        ir.verify(model)
        assert annotations(model) == [("a", "w"), ("b", "a")]
        assert "a" in [info.name for info in ir.to_proto(model).graph.value_info]

    def test_annotations_of_graphs_inside_pass_on(self) -> None:
        proto = ir.to_proto(ir.parse(MODEL))
        proto.graph.node[2].attribute[0].g.quantization_annotation.add(tensor_name="a")
        model = ir.load(proto)
        graph, a = model.graph, value(model, "a")
        new = graph.add_node(ADD, [value(model, "w"), value(model, "x")], ["fresh"]).output()
        graph.supersede(a, new)
        graph.remove(a.producer)  # type: ignore[arg-type]
        ir.verify(model)
        (annotation,) = node(model, "y").body("then_branch").annotations
        assert annotation.value is new

    def test_an_input_keeps_its_name(self, model: Model) -> None:
        x = value(model, "x")
        assert model.graph.supersede(value(model, "a"), x) is x
        assert x.name == "x" and not x.pinned
        ir.verify(model)

    @pytest.mark.parametrize("name", ["x", "w"])
    def test_where_two_names_must_live_on_there_is_an_identity(self, name: str) -> None:
        model = annotated(MODEL, ("a", "w"), ("b", "w"))
        graph, new = model.graph, value(model, name)
        placed = graph.supersede(value(model, "a"), new)
        assert placed.producer is not None and placed.producer.is_op("Identity")
        assert (placed.name, new.name, placed.pinned) == ("a", name, True)
        graph.remove(value(model, "a").producer or node(model, "z"))
        ir.verify(model)
        assert annotations(model) == [("a", "w"), ("b", "w")]

    def test_from_around_too(self, model: Model) -> None:
        branch = node(model, "y").body("then_branch")
        p, b = value(model, "p"), value(model, "b")
        p.pinned = True
        placed = branch.supersede(p, b)
        assert (placed.graph, placed.name, b.name) == (branch, "p", "b")
        assert branch.outputs == (placed,)
        ir.verify(model)

    def test_what_training_assigns_to_stays(self, model: Model) -> None:
        w = value(model, "w")
        model.trained.add(w)
        w.pinned, w.constant = True, None
        with pytest.raises(GraphError, match="training assigns to value 'w', so it stays"):
            model.graph.supersede(w, value(model, "x"))
        assert w.pinned and not model.graph.initializers.keys() - {w}

    def test_a_declaration_of_its_own_and_a_constant_need_none(self, model: Model) -> None:
        graph, a = model.graph, value(model, "a")
        a.info = helper.make_tensor_value_info("a", TensorProto.FLOAT, [3])
        own = helper.make_tensor_value_info("o", TensorProto.FLOAT, ["N"])
        new = graph.add_node(RELU, [value(model, "x")], ["o"]).output()
        new.info = own
        assert graph.supersede(a, new).info is own
        constant = graph.add_initializer("k", Tensor(array=np.ones(3, np.float32)))
        assert graph.supersede(new, constant).info is None


def refusals() -> dict[str, object]:
    """Calls that must raise, by what they do."""

    def removed(m: Model) -> Value:
        gone = m.graph.add_node(RELU, [m.graph.inputs[1]], ["gone"])
        m.graph.remove(gone)
        return gone.output()

    deep = "then_branch"
    return {
        "add: inner value": lambda m: m.graph.add_node(ADD, [value(m, "x"), value(m, "q")], ["r"]),
        "add: removed value": lambda m: m.graph.add_node(RELU, [removed(m)], ["r"]),
        "add: of a sibling": lambda m: (
            node(m, "y").body(deep).add_node(ADD, [value(m, "unused"), value(m, "q")], ["r"])
        ),
        "add: of another model": lambda m: m.graph.add_node(
            RELU, [ir.parse(MODEL).graph.inputs[1]], ["r"]
        ),
        "outputs: too few": lambda m: m.graph.set_outputs([value(m, "x")]),
        "outputs: inner value": lambda m: (
            node(m, "p")
            .body(deep)
            .set_outputs([value(m, "unused"), value(m, "q")], [onnx.ValueInfoProto()] * 2)
        ),
        "input: foreign node": lambda m: m.graph.set_input(node(m, "q"), 0, value(m, "x")),
        "input: too large": lambda m: m.graph.set_input(node(m, "a"), 2, value(m, "x")),
        "input: negative": lambda m: m.graph.set_input(node(m, "a"), -1, value(m, "x")),
        "input: inner value": lambda m: m.graph.set_input(node(m, "a"), 0, value(m, "q")),
        "replace: not defined here": lambda m: (
            node(m, "y").body(deep).replace_uses(value(m, "x"), value(m, "w"))
        ),
        "replace: by inner value": lambda m: m.graph.replace_uses(value(m, "x"), value(m, "q")),
        "remove: used": lambda m: m.graph.remove(node(m, "a")),
        "remove: given out": lambda m: m.graph.remove(node(m, "z")),
        "remove: foreign": lambda m: m.graph.remove(node(m, "q")),
        "remove input: used": lambda m: m.graph.remove_input(value(m, "x")),
        "remove input: no input": lambda m: m.graph.remove_input(value(m, "w")),
        "remove initializer: used": lambda m: m.graph.remove_initializer(value(m, "w")),
        "remove initializer: input": lambda m: m.graph.remove_initializer(value(m, "x")),
        "freeze: no default": lambda m: m.graph.freeze_input(value(m, "x")),
        "bind: no input": lambda m: m.graph.bind_input(value(m, "w"), Tensor(array=np.ones(3))),
        "resize: foreign node": lambda m: m.graph.resize_inputs(node(m, "q"), 1),
        "resize: negative": lambda m: m.graph.resize_inputs(node(m, "a"), -1),
        "node outputs: foreign node": lambda m: m.graph.set_node_outputs(node(m, "q"), ["r"]),
        "node outputs: one goes that is used": lambda m: m.graph.set_node_outputs(
            node(m, "a"), ["r"]
        ),
        "node outputs: of another node": lambda m: m.graph.set_node_outputs(
            node(m, "a"), [value(m, "a"), value(m, "b")]
        ),
        "node outputs: one twice": lambda m: m.graph.set_node_outputs(
            node(m, "a"), [value(m, "a")] * 2
        ),
        "operator: foreign node": lambda m: m.graph.set_operator(node(m, "q"), RELU),
        "operator: takes no graph": lambda m: m.graph.set_operator(node(m, "y"), RELU),
        "supersede: not defined here": lambda m: (
            node(m, "y").body(deep).supersede(value(m, "x"), value(m, "w"))
        ),
        "supersede: by inner value": lambda m: m.graph.supersede(value(m, "a"), value(m, "q")),
        "supersede: by a removed value": lambda m: m.graph.supersede(value(m, "a"), removed(m)),
        "supersede: by itself": lambda m: m.graph.supersede(value(m, "a"), value(m, "a")),
        "body: foreign node": lambda m: m.graph.add_body(node(m, "q"), "g", onnx.GraphProto()),
    }


@pytest.mark.parametrize("call", refusals().values(), ids=refusals().keys())
def test_a_refused_change_changes_nothing(model: Model, call) -> None:  # type: ignore[no-untyped-def]
    before = ir.to_proto(model)
    with pytest.raises(GraphError):
        call(model)
    ir.verify(model)
    assert ir.to_proto(model) == before
    for graph in model.graphs():
        assert value(model, "unused") not in graph.captures()


def test_pinned_values_stay(model: Model) -> None:
    a = value(model, "a")
    a.pinned = value(model, "unused").pinned = True
    graph = model.graph
    with pytest.raises(GraphError, match="named from outside"):
        graph.replace_uses(a, value(model, "x"))
    extra = graph.add_node(RELU, [a], ["extra"])
    extra.output().pinned = True
    assert graph.is_needed(extra)
    for refused in (
        lambda: graph.remove(extra),
        lambda: graph.remove_input(value(model, "unused")),
    ):
        with pytest.raises(GraphError):
            refused()


def test_initializers_that_are_inputs_below_ir_version_4() -> None:
    proto = ir.to_proto(ir.parse(MODEL))
    proto.ir_version = 3
    proto.graph.input.append(helper.make_tensor_value_info("w", TensorProto.FLOAT, [3]))
    model = ir.load(proto)
    ir.verify(model)
    w = model.graph.inputs[-1]
    assert w.constant is not None
    with pytest.raises(GraphError):
        model.graph.remove_initializer(w)


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

    @rule(data=st.data())
    def replace_uses(self, data: st.DataObject) -> None:
        graph = self.graph(data)
        own = [v for v in self.values() if v.graph is graph]
        if not own:
            return
        old = data.draw(st.sampled_from(own), label="old")
        new = self.visible(data, graph)
        readers = [n for n in graph.users(old) if isinstance(n, Node)]
        cyclic = any(self.depends(new, reader) for reader in readers)
        if not (cyclic or self.holds_user_of(graph, [new])):
            graph.replace_uses(old, new)
            assert new is old or not graph.is_used(old)

    @rule(data=st.data())
    def supersede(self, data: st.DataObject) -> None:
        graph = self.graph(data)
        own = [v for v in self.values() if v.graph is graph]
        if not own:
            return
        old = data.draw(st.sampled_from(own), label="old")
        new = self.visible(data, graph)
        readers = [n for n in graph.users(old) if isinstance(n, Node)]
        cyclic = any(self.depends(new, reader) for reader in readers)
        if new is not old and not (cyclic or self.holds_user_of(graph, [new])):
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


Mutations.TestCase.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
TestMutations = Mutations.TestCase
