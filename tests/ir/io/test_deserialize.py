import itertools
from collections.abc import Callable

import onnx
import pytest
from onnx import TensorProto, helper
from straightline import ir
from straightline.ir import MAX_OPSET, ModelError
from straightline.ir.read_names import put_in_order

TEXT = """<ir_version: 10, opset_import: ["": 21, "own": 1]>
main (bool c, float[3] x) => (float[3] y) <float[3] w = {1, 2, 3}> {
    a = Add(x, w)
    b = own.f(a)
    y = If (c) <
        then_branch = yes () => (float[3] p) { r = Relu(b) p = Neg(r) },
        else_branch = no () => (float[3] p) { p = Relu(a) } > }
<domain: "own", opset_import: ["": 21]> f (x) => (y) { h = Neg(x) y = Relu(h) }"""
Change = Callable[[onnx.ModelProto], object]


def model() -> onnx.ModelProto:
    return onnx.parser.parse_model(TEXT)


def branch(proto: onnx.ModelProto, index: int = 0) -> onnx.GraphProto:
    return proto.graph.node[2].attribute[index].g


class TestOrder:
    def test_nodes_that_stand_before_what_they_use_are_sorted(self) -> None:
        proto = model()
        proto.graph.node.reverse()
        branch(model()).node.reverse()
        proto.functions[0].node.reverse()
        loaded = ir.load(proto)
        ir.verify(loaded)
        assert [n.label for n in loaded.graph.nodes()] == ["a", "b", "y"]
        result = ir.to_proto(loaded)
        onnx.checker.check_model(result, full_check=True)
        assert [n.op_type for n in result.functions[0].node] == ["Neg", "Relu"]

    def test_a_body_may_be_all_that_uses_a_later_node(self) -> None:
        proto = model()
        nodes = list(proto.graph.node)
        del proto.graph.node[:]
        proto.graph.node.extend([nodes[0], nodes[2], nodes[1]])
        assert [n.label for n in ir.load(proto).graph.nodes()] == ["a", "b", "y"]

    @pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
    def test_every_order_gives_what_sorting_gives(self, order: tuple[int, ...]) -> None:
        proto = model()
        proto.graph.node.append(helper.make_node("Abs", ["a"], ["late"]))
        nodes = [proto.graph.node[index] for index in order]
        proto.graph.ClearField("node")
        proto.graph.node.extend(nodes)
        right = [n.output[0] for n in put_in_order(proto.graph.node, "here")]
        assert [n.label for n in ir.load(proto).graph.nodes()] == right

    def test_an_order_that_is_right_stays(self) -> None:
        proto = model()
        proto.graph.node.append(helper.make_node("Abs", ["x"], ["late"]))
        assert ir.to_proto(ir.load(proto)) == proto

    def test_absent_inputs_and_omitted_outputs_are_no_names(self) -> None:
        proto = model()
        proto.graph.node.insert(
            0, helper.make_node("F", ["", "x", ""], ["", "f", ""], domain="own")
        )
        proto.graph.node.append(helper.make_node("F", ["x"], ["", "g"], domain="own"))
        loaded = ir.load(proto)
        assert ir.to_proto(loaded) == proto
        first = loaded.graph.nodes()[0]
        assert first.inputs[0] is None and first.outputs[2] is None


class TestScopes:
    def test_the_inner_name_wins(self) -> None:
        proto = model()
        branch(proto).node[0].output[0] = branch(proto).node[1].input[0] = "a"
        inner = ir.load(proto).graph.nodes()[2].body("then_branch")
        relu, neg = inner.nodes()
        assert neg.inputs == relu.outputs
        assert [v.name for v in inner.captures()] == ["b"]

    def test_sibling_branches_define_the_same_names(self) -> None:
        first, second = ir.load(model()).graph.nodes()[2].graphs()
        assert first.outputs[0].name == second.outputs[0].name
        assert first.outputs[0] is not second.outputs[0]

    def test_a_value_used_only_inside_counts_as_used(self) -> None:
        graph = ir.load(model()).graph
        assert graph.users(graph.nodes()[1].output()) == [graph.nodes()[2]]

    def test_overridable_initializers_are_not_constants(self) -> None:
        proto = model()
        proto.graph.input.append(helper.make_tensor_value_info("w", TensorProto.FLOAT, [3]))
        for version, constant in ((10, False), (3, True)):
            proto.ir_version = version
            (weights,) = ir.load(proto).graph.initializers
            assert (weights.constant is not None) == constant
            ir.verify(ir.load(proto))

    def test_defaults_of_body_inputs_below_ir_version_4(self) -> None:
        text = """<ir_version: 3, opset_import: ["": 8]>
        main (int64 M, bool c, float[3] x) => (float[3] y) {
            y = Loop (M, c, x) <body = b (int64 i, bool go, float[3] s) => (bool go, float[3] s) {}>
        }"""
        proto = onnx.parser.parse_model(text)
        body = proto.graph.node[0].attribute[0].g
        body.initializer.append(helper.make_tensor("s", TensorProto.FLOAT, [3], [0] * 3))
        loaded = ir.load(proto)
        ir.verify(loaded)
        assert ir.to_proto(loaded) == proto

    def test_gradient_pins_what_it_names(self) -> None:
        proto = model()
        domain = "ai.onnx.preview.training"
        gradient = helper.make_node("Gradient", ["x"], ["dx"], domain=domain, xs=["x"], y="b")
        proto.graph.node.insert(0, gradient)
        graph = ir.load(proto).graph
        assert [v.name for v in graph.inputs if v.pinned] == ["x"]
        assert {n.label for n in graph.nodes() if n.outputs[0] and n.outputs[0].pinned} == {"b"}


def undefined(proto: onnx.ModelProto) -> None:
    proto.graph.node[0].input[1] = "missing"


def undefined_inside(proto: onnx.ModelProto) -> None:
    branch(proto).node[0].input[0] = "missing"


def undefined_output(proto: onnx.ModelProto) -> None:
    proto.graph.output[0].name = "missing"


def name_of_a_sibling(proto: onnx.ModelProto) -> None:
    branch(proto, 1).node[0].input[0] = "r"


def name_from_inside(proto: onnx.ModelProto) -> None:
    proto.graph.node.append(helper.make_node("Relu", ["r"], ["z"]))


def outer_name_in_a_function(proto: onnx.ModelProto) -> None:
    proto.functions[0].node[0].input[0] = "w"


def twice(proto: onnx.ModelProto) -> None:
    proto.graph.node[1].output[0] = "a"


def twice_inside(proto: onnx.ModelProto) -> None:
    branch(proto).node[0].output[0] = branch(proto).node[1].input[0] = "p"


def twice_as_input(proto: onnx.ModelProto) -> None:
    proto.graph.node[0].output[0] = "x"


def twice_as_initializer(proto: onnx.ModelProto) -> None:
    proto.graph.initializer.append(proto.graph.initializer[0])


def twice_as_attribute(proto: onnx.ModelProto) -> None:
    proto.graph.node[2].attribute.append(proto.graph.node[2].attribute[0])


def function_twice(proto: onnx.ModelProto) -> None:
    proto.functions.append(proto.functions[0])


def cycle(proto: onnx.ModelProto) -> None:
    proto.graph.node[0].input[0] = "b"


def self_cycle(proto: onnx.ModelProto) -> None:
    proto.graph.node[0].input[0] = "a"


def cycle_through_a_body(proto: onnx.ModelProto) -> None:
    branch(proto).node[0].input[0] = "y"


def cycle_in_a_function(proto: onnx.ModelProto) -> None:
    proto.functions[0].node[0].input[0] = "y"


def opset_missing(proto: onnx.ModelProto) -> None:
    del proto.opset_import[0]


def opset_missing_in_a_function(proto: onnx.ModelProto) -> None:
    del proto.functions[0].opset_import[:]


def opset_unknown(proto: onnx.ModelProto) -> None:
    proto.opset_import[0].version = MAX_OPSET + 1


def opset_zero(proto: onnx.ModelProto) -> None:
    proto.opset_import[0].version = 0


def opset_twice(proto: onnx.ModelProto) -> None:
    proto.opset_import.add(domain="ai.onnx", version=20)


def branch_with_an_input(proto: onnx.ModelProto) -> None:
    branch(proto).input.append(onnx.ValueInfoProto(name="n"))


def branch_missing(proto: onnx.ModelProto) -> None:
    del proto.graph.node[2].attribute[1]


REFUSED: dict[Change, str] = {
    undefined: "Add 'a' in graph 'main' reads 'missing', which nothing defines",
    undefined_inside: "Relu 'r' in graph 'yes' of If 'y' reads 'missing', which nothing defines",
    undefined_output: "graph 'main' has an output 'missing', which nothing defines",
    name_of_a_sibling: "Relu 'p' in graph 'no' of If 'y' reads 'r', which nothing defines",
    name_from_inside: "Relu 'z' in graph 'main' reads 'r', which nothing defines",
    outer_name_in_a_function: "Neg 'h' in graph 'f' reads 'w', which nothing defines",
    twice: "'a' is defined twice in graph 'main'",
    twice_inside: "'p' is defined twice in graph 'yes' of If 'y'",
    twice_as_input: "'x' is defined twice in graph 'main'",
    twice_as_initializer: "'w' is defined twice in graph 'main'",
    twice_as_attribute: "has two attributes 'then_branch'",
    function_twice: "function 'own::f' is defined twice",
    cycle: "the nodes of graph 'main' form a cycle",
    self_cycle: "the nodes of graph 'main' form a cycle through 'a'",
    cycle_through_a_body: "the nodes of graph 'main' form a cycle through 'y'",
    cycle_in_a_function: "the nodes of graph 'f' form a cycle",
    opset_missing: "model 'main' uses ONNX's own operators but imports no opset for them",
    opset_missing_in_a_function: "function 'own::f' uses ONNX's own operators but imports no opset",
    opset_unknown: f"model 'main' imports opset {MAX_OPSET + 1}; known are 1 to {MAX_OPSET}",
    opset_zero: f"model 'main' imports opset 0; known are 1 to {MAX_OPSET}",
    opset_twice: "the model imports two versions of domain 'ai.onnx'",
    branch_with_an_input: "its body has 1 inputs; the node feeds 0",
    branch_missing: "If 'y' lacks its graph attribute 'else_branch'",
}


@pytest.mark.parametrize("change", REFUSED, ids=lambda change: change.__name__)
def test_refused_models(change: Change) -> None:
    proto = model()
    change(proto)
    with pytest.raises(ModelError) as error:
        ir.load(proto)
    assert REFUSED[change] in str(error.value)
    assert "\n" not in str(error.value)


def test_a_constant_of_odd_strings() -> None:
    proto = model()
    proto.graph.node.append(helper.make_node("Constant", [], ["k"], value_string=b"\xff"))
    loaded = ir.load(proto)
    ir.verify(loaded)
    assert ir.to_proto(loaded) == proto
    assert loaded.graph.nodes()[-1].output().constant is None
