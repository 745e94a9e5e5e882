import numpy as np
import onnx
import pytest
from harness import as_model, assert_equal_outputs
from nested import ADD, MODEL, RELU, node, value
from onnx import TensorProto, helper
from sessions import outputs
from straightline import ir
from straightline.ir import GraphError, Model, Operator, Tensor, Value
from straightline.passes import PassContext
from straightline.passes.control.unroll_loops import UnrollLoops
from tables import table


@pytest.fixture
def model() -> Model:
    return ir.parse(MODEL)


class TestRows:
    def test_same_as_one_by_one(self) -> None:
        model = ir.parse(MODEL)
        graph, values = model.graph, {v.name: v for v in model.graph.inputs}
        x, count = graph.inputs[0].name, len(graph)
        rows = [(RELU, [x], "r", "n"), (ADD, [x, "r"], "s", ""), (ADD, ["s", "s"], "t", "")]
        relu, add, twice = graph.add_rows(rows, values)
        assert (relu.name, twice.inputs) == ("n", (add.output(), add.output()))
        assert graph.users(relu.output()) == [add] and graph.users(add.output()) == [twice]
        assert values["t"] is twice.output() and len(graph) == count + 3
        assert {relu, add, twice} <= {*graph.nodes_of("Relu"), *graph.nodes_of("Add")}
        ir.verify(model)

    def test_constants_are_those_added_one_by_one(self) -> None:
        model = ir.parse(MODEL)
        tensors = [(name, Tensor(array=np.ones(2, np.float32))) for name in "uv"]
        values = model.graph.add_initializers(tensors)
        assert [(v.name, model.graph.initializers[v]) for v in values] == tensors
        assert all(v.owner is model.graph and v.constant is dict(tensors)[v.name] for v in values)
        add = model.graph.add_node(ADD, values, ["w"])
        assert all(model.graph.users(v) == [add] for v in values)
        ir.verify(model)

    def test_ends_at_an_unknown_and_at_a_second_name(self) -> None:
        graph = ir.parse(MODEL).graph
        values = {v.name: v for v in graph.inputs}
        x = graph.inputs[0].name
        for bad in (["nothing"], "r"), ([x], x):
            rows = iter([(RELU, [x], f"r{bad[1]}", ""), (RELU, *bad, ""), (RELU, [x], "u", "")])
            (added,) = graph.add_rows(rows, values)
            assert added.output().name == f"r{bad[1]}" and len(list(rows)) == 1


class TestReplacing:
    def test_uses_at_every_depth(self, model: Model) -> None:
        graph = model.graph
        new = graph.add_node(RELU, [value(model, "x")], ["new"]).output()
        graph.replace_uses(value(model, "b"), new)
        ir.verify(model)
        assert not graph.is_used(value(model, "b"))
        assert len(graph.uses(new)) == 3

    def test_captured_outputs_of_bodies(self, model: Model) -> None:
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
        graph.remove_initializer(graph.add_initializer("k", Tensor(array=np.ones(2))))
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
    def test_two_pinned_names_need_an_identity(self, name: str) -> None:
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

    def test_trained_values_stay(self, model: Model) -> None:
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
        "operator: does not accept a graph": lambda m: m.graph.set_operator(node(m, "y"), RELU),
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
        with pytest.raises(GraphError, match="does not accept a graph"):
            graph.add_body(holder, "then_branch", onnx.GraphProto())

    def test_constant_nodes_are_known(self, model: Model) -> None:
        op = Operator.make("Constant", value_ints=[1, 2])
        constant = model.graph.add_node(op, [], ["k"]).output().constant
        assert constant is not None and constant.numpy().tolist() == [1, 2]


class TestOutputs:
    def test_slots_of_one_name_share_what_carries_it(self) -> None:
        model = ir.parse("""<ir_version: 8, opset_import: ["": 18]>
            g (float[3] x) => (float[3] y, float[3] y, float[3] z) { y = Relu(x) z = Neg(x) }""")
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

    def test_replacing_an_output_of_a_body_by_another_one(self) -> None:
        """onnxruntime returns zeros for one of two outputs of a branch that are one value."""
        before = as_model("""g (float[3] x, bool p) => (float[3] y, float[3] z) {
               y, z = If (p)
                  <then_branch = t () => (float[3] a, float[3] b) { a = Neg (x) b = Neg (x) },
                   else_branch = e () => (float[3] c, float[3] d) { c = Exp (x) d = Abs (x) }> }""")
        model = ir.load(before)
        branch = node(model, "y").body("then_branch")
        one, other = branch.outputs
        branch.replace_uses(other, one)
        assert other.producer is not None
        branch.remove(other.producer)
        ir.verify(model)
        assert len(set(branch.outputs)) == 2
        feeds = {"x": np.ones(3, np.float32), "p": np.array(True)}
        assert_equal_outputs(before, ir.to_proto(model), feeds)


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

    def test_a_rewritten_node_keeps_its_outputs(self, model: Model) -> None:
        graph, q = model.graph, node(model, "q")
        inner, x = q.graph, value(model, "x")
        assert inner is not None
        inner.rewrite_node(q, Operator("Sum"), [x, x, x])
        ir.verify(model)
        assert (q.op_type, q.inputs) == ("Sum", (x, x, x))
        assert value(model, "b") not in inner.captures() and x in inner.captures()
        with pytest.raises(GraphError, match="has bodies"):
            graph.rewrite_node(node(model, "y"), RELU, [x])
        with pytest.raises(GraphError, match="not visible"):
            graph.rewrite_node(node(model, "a"), RELU, [q.output()])
        ir.verify(model)

    def test_a_holder_keeps_its_graphs(self, model: Model) -> None:
        y = node(model, "y")
        model.graph.set_operator(y, Operator("If", y.op.attributes, domain="own"))
        assert (y.domain, len(list(y.graphs()))) == ("own", 2)


INNER = """e = Loop <body = w (int64 j, bool k, %s u) => (bool l, %s v) {
    l = Identity (k) v = Neg (u) }> (none, , %s)"""


@table(
    ("float",
     "Scan <num_scan_inputs = 1, body = b (float s, float a) => (float t, float e) {"
     f" t = Add (s, a) {INNER % ('float', 'float', 'a')} }}> (h, x)", [1, 2, 3]),
    ("int64",
     "Loop <body = b (int64 i, bool c, float s) => (bool d, float t, int64 e) {"
     f" d = Identity (c) t = Sin (s) {INNER % ('int64', 'int64', 'i')} }}> (n, , h)", [0, 1, 2]),
)  # fmt: skip
def test_no_output_of_a_body_is_an_input_that_onnxruntime_does_not_copy(
    kind: str, construct: str, wanted: list[int]
) -> None:
    """A Scan's output would be memory as it was allocated, the Loop's [3, 3, 3]."""
    model = as_model(
        '<ir_version: 8, opset_import: ["" : 17]> g (float[N] x, float h, int64 n) =>'
        f" (float z, {kind}[M] y) <int64 none = {{0}}> {{ z, y = {construct} }}"
    )
    after = ir.load(model)
    assert UnrollLoops().run(after, PassContext())
    feeds = {"x": np.float32([1, 2, 3]), "h": np.array(0, np.float32), "n": np.array(3)}
    assert outputs(ir.to_proto(after), feeds)[1].tolist() == wanted
