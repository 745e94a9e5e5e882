"""Nodes that are not well formed, and what they hold."""

import onnx
from malformed_base import attribute, drop, node, put, refused
from onnx import TensorProto, helper

# Bodies -------------------------------------------------------------------------------------------


@refused("Loop 'z' lacks its graph attribute 'body'")
def loop_without_body(proto: onnx.ModelProto) -> None:
    drop(proto, "Loop", "body")


@refused("Scan 's' lacks its graph attribute 'body'")
def scan_without_body(proto: onnx.ModelProto) -> None:
    drop(proto, "Scan", "body")


@refused("If 'y' lacks its graph attribute 'then_branch'")
def if_without_a_branch(proto: onnx.ModelProto) -> None:
    drop(proto, "If", "then_branch")


@refused("If 'y' lacks its graph attribute")
def if_without_branches(proto: onnx.ModelProto) -> None:
    del node(proto, "If").attribute[:]


@refused("its body has 0 outputs; the node needs 2")
def loop_body_without_outputs(proto: onnx.ModelProto) -> None:
    del attribute(proto, "Loop", "body").g.output[:]


@refused("its body has 0 outputs; the node needs 1")
def branch_without_outputs(proto: onnx.ModelProto) -> None:
    del attribute(proto, "If", "then_branch").g.output[:]


@refused("its body has 0 outputs; the node needs 2")
def scan_body_without_outputs(proto: onnx.ModelProto) -> None:
    del attribute(proto, "Scan", "body").g.output[:]


@refused("Loop 'z' has an attribute 'body' of kind INT, which accepts GRAPH")
def body_of_another_kind(proto: onnx.ModelProto) -> None:
    put(proto, "Loop", "body", 1)


@refused("If 'y' has an attribute 'else_branch' of kind GRAPHS, which accepts GRAPH")
def branches_as_a_list(proto: onnx.ModelProto) -> None:
    put(proto, "If", "else_branch", [attribute(proto, "If", "else_branch").g])


@refused("Scan 's' exists from opset 8 on; the model imports 7")
def scan_before_its_opset(proto: onnx.ModelProto) -> None:
    proto.opset_import[0].version = 7
    keep = node(proto, "Scan")
    proto.graph.node.remove(node(proto, "ConcatFromSequence"))
    proto.graph.node.remove(node(proto, "SequenceConstruct"))
    del proto.graph.output[4]
    del keep.attribute[:]


@refused("SequenceMap 'k' exists from opset 17 on; the model imports 16")
def sequence_operator_before_its_opset(proto: onnx.ModelProto) -> None:
    proto.opset_import[0].version = 16
    proto.graph.node.append(helper.make_node("SequenceMap", [], ["k"]))


@refused("SequenceMap 'k': its body has 1 inputs; the node feeds 2")
def body_of_a_map_with_too_few_inputs(proto: onnx.ModelProto) -> None:
    body = helper.make_graph(
        [helper.make_node("Neg", ["e"], ["o"])],
        "each",
        [helper.make_tensor_value_info("e", TensorProto.FLOAT, None)],
        [helper.make_tensor_value_info("o", TensorProto.FLOAT, None)],
    )
    proto.graph.node.append(helper.make_node("SequenceMap", ["list", "x"], ["k"], body=body))


@refused("SequenceMap 'k': its body has 0 outputs; the node needs 1")
def body_of_a_map_without_outputs(proto: onnx.ModelProto) -> None:
    body_of_a_map_with_too_few_inputs(proto)
    del proto.graph.node[-1].input[1]
    del proto.graph.node[-1].attribute[0].g.output[:]


# Attributes ---------------------------------------------------------------------------------------


@refused("Scan 's' has an attribute 'num_scan_inputs' of kind STRING, which accepts INT")
def number_as_text(proto: onnx.ModelProto) -> None:
    put(proto, "Scan", "num_scan_inputs", "1")


@refused("Scan 's' lacks its attribute 'num_scan_inputs'")
def scan_without_number(proto: onnx.ModelProto) -> None:
    drop(proto, "Scan", "num_scan_inputs")


@refused("Loop 'z' has an attribute 'body' of kind UNDEFINED, which accepts GRAPH")
def body_of_no_kind(proto: onnx.ModelProto) -> None:
    attribute(proto, "Loop", "body").ClearField("type")


@refused("Scan 's' has an attribute 'num_scan_inputs' of kind UNDEFINED, which accepts INT")
def number_of_no_kind(proto: onnx.ModelProto) -> None:
    attribute(proto, "Scan", "num_scan_inputs").ClearField("type")
    attribute(proto, "Scan", "num_scan_inputs").ClearField("i")


@refused("Scan 's' has an attribute 'scan_input_axes' of kind FLOATS, which accepts INTS")
def axes_as_floats(proto: onnx.ModelProto) -> None:
    put(proto, "Scan", "scan_input_axes", [0.0])


@refused("Scan 's' has 2 scan_input_axes for 1 scanned inputs")
def surplus_input_axes(proto: onnx.ModelProto) -> None:
    put(proto, "Scan", "scan_input_axes", [0, 0])


@refused("Scan 's' has 2 scan_input_directions for 1 scanned inputs")
def surplus_input_directions(proto: onnx.ModelProto) -> None:
    put(proto, "Scan", "scan_input_directions", [0, 0])


@refused("Scan 's' has 3 scan_output_axes for 1 scan outputs")
def surplus_output_axes(proto: onnx.ModelProto) -> None:
    put(proto, "Scan", "scan_output_axes", [0, 0, 0])


@refused("Scan 's' has 2 scan_output_directions for 1 scan outputs")
def surplus_output_directions(proto: onnx.ModelProto) -> None:
    put(proto, "Scan", "scan_output_directions", [0, 1])


@refused("Scan 's' has 5 among its scan_input_directions, which are 0 or 1")
def direction_of_five(proto: onnx.ModelProto) -> None:
    put(proto, "Scan", "scan_input_directions", [5])


@refused("ConcatFromSequence 'q' lacks its attribute 'axis'")
def concat_without_axis(proto: onnx.ModelProto) -> None:
    drop(proto, "ConcatFromSequence", "axis")


@refused("ConcatFromSequence 'own::f/y' lacks its attribute 'axis'")
def concat_without_axis_in_a_function(proto: onnx.ModelProto) -> None:
    proto.functions[0].node.insert(0, helper.make_node("SequenceConstruct", ["x"], ["l"]))
    concat = proto.functions[0].node[1]
    concat.op_type, concat.input[0] = "ConcatFromSequence", "l"
    del concat.attribute[:]


@refused("own::f 'b' lacks an attribute 'axis', which Concat 'own::f/y' needs")
def call_without_an_attribute_that_is_needed(proto: onnx.ModelProto) -> None:
    drop(proto, "f", "axis")


@refused("own::f 'b' has an attribute 'axis' of kind STRING, which accepts INT")
def call_with_an_attribute_of_another_kind(proto: onnx.ModelProto) -> None:
    put(proto, "f", "axis", "zero")


@refused("Concat 'own::f/y' has an attribute 'axis' of kind FLOAT, which accepts INT")
def reference_of_another_kind(proto: onnx.ModelProto) -> None:
    proto.functions[0].node[0].attribute[0].type = onnx.AttributeProto.FLOAT


@refused("Constant 'k' has an attribute 'value' of kind INTS, which accepts TENSOR")
def constant_of_another_kind(proto: onnx.ModelProto) -> None:
    proto.graph.node.append(helper.make_node("Constant", [], ["k"], value=[1]))


@refused("Constant 'k' has an attribute 'value' that holds no tensor")
def constant_without_a_tensor(proto: onnx.ModelProto) -> None:
    proto.graph.node.append(helper.make_node("Constant", [], ["k"], value=TensorProto()))
    proto.graph.node[-1].attribute[0].ClearField("t")


@refused("Cast 'k' has 999 as its attribute 'to', which is not an element type")
def cast_to_no_type(proto: onnx.ModelProto) -> None:
    proto.graph.node.append(helper.make_node("Cast", ["x"], ["k"], to=999))


@refused("Gradient")
def gradient_of_numbers(proto: onnx.ModelProto) -> None:
    domain = "ai.onnx.preview.training"
    proto.opset_import.add(domain=domain, version=1)
    proto.graph.node.append(helper.make_node("Gradient", ["x"], ["k"], domain=domain, xs=[1], y=2))


# Inputs and outputs of nodes ----------------------------------------------------------------------


@refused("Add 'a' has 1 inputs; Add accepts 2 at opset 18")
def input_missing(proto: onnx.ModelProto) -> None:
    del node(proto, "Add").input[1:]


@refused("Add 'a' lacks its input 'B', which Add needs")
def input_absent(proto: onnx.ModelProto) -> None:
    node(proto, "Add").input[1] = ""


@refused("Add 'a' has 3 inputs; Add accepts 2 at opset 18")
def input_too_many(proto: onnx.ModelProto) -> None:
    node(proto, "Add").input.append("x")


@refused("Add 'a' has 2 outputs; Add has 1 at opset 18")
def output_too_many(proto: onnx.ModelProto) -> None:
    node(proto, "Add").output.append("more_of_it")


@refused("Neg 'lost' has 0 outputs; Neg has 1 at opset 18")
def output_missing(proto: onnx.ModelProto) -> None:
    proto.graph.node.append(helper.make_node("Neg", ["x"], [], name="lost"))


@refused("SequenceConstruct 'list' has 0 inputs; SequenceConstruct accepts at least 1 at opset 18")
def variadic_input_missing(proto: onnx.ModelProto) -> None:
    del node(proto, "SequenceConstruct").input[:]


@refused("Add 'z/u' has 1 inputs")
def input_missing_inside(proto: onnx.ModelProto) -> None:
    del attribute(proto, "Loop", "body").g.node[1].input[1:]


@refused("model 'main' imports opset 9223372036854775807; known are 1 to")
def opset_of_the_far_future(proto: onnx.ModelProto) -> None:
    proto.opset_import[0].version = 2**63 - 1


@refused("model 'main' imports opset -1; known are 1 to")
def negative_opset(proto: onnx.ModelProto) -> None:
    proto.opset_import[0].version = -1


@refused("a node without an operator")
def operator_missing(proto: onnx.ModelProto) -> None:
    node(proto, "Add").op_type = ""
