"""Models that are not well formed: each by name, with what an error about it says."""

from __future__ import annotations

from collections.abc import Callable

import onnx
from onnx import TensorProto, helper

TEXT = """
<ir_version: 10, opset_import: ["": 18, "own": 1]>
main (bool c, int64 n, float[3] x, float[2, 3] xs) =>
    (float[3] y, float[3] z, float[3] s, float[2, 3] t, float[4, 3] q)
<float[3] w = {1, 2, 3}> {
    a = Add(x, w)
    b = own.f <axis: int = 0> (a)
    y = If(c) <
        then_branch = yes () => (float[3] p) { p = Neg(b) },
        else_branch = no () => (float[3] p) { p = Relu(a) }
    >
    z = Loop(n, c, x) <body = trip (int64 i, bool go, float[3] v) => (bool more, float[3] u) {
        more = Identity(go) u = Add(v, w)
    }>
    s, t = Scan <num_scan_inputs = 1, scan_input_axes = [0], scan_output_axes = [0],
                 scan_input_directions = [0], scan_output_directions = [0], body = row
                 (float[3] r, float[3] e) => (float[3] r2, float[3] o) { r2 = Add(r, e) o = Neg(e) }
    > (x, xs)
    list = SequenceConstruct(xs, xs)
    q = ConcatFromSequence <axis = 0> (list)
}
<domain: "own", opset_import: ["": 18]> f <axis> (x) => (y) {
    y = Concat <axis: int = @axis> (x)
}
"""
Change = Callable[[onnx.ModelProto], object]
REFUSED: dict[str, tuple[Change, str]] = {}


def model() -> onnx.ModelProto:
    """The model that is right until one of the changes is made to it."""
    return onnx.parser.parse_model(TEXT)


def refused(message: str) -> Callable[[Change], Change]:
    """Enter a change with what the error about its result says."""

    def enter(change: Change) -> Change:
        REFUSED[change.__name__] = change, message
        return change

    return enter


def malformed(name: str) -> onnx.ModelProto:
    proto = model()
    change, _ = REFUSED[name]
    result = change(proto)
    return result if isinstance(result, onnx.ModelProto) else proto


def node(proto: onnx.ModelProto, op_type: str) -> onnx.NodeProto:
    return next(n for n in proto.graph.node if n.op_type == op_type)


def attribute(proto: onnx.ModelProto, op_type: str, name: str) -> onnx.AttributeProto:
    return next(a for a in node(proto, op_type).attribute if a.name == name)


def drop(proto: onnx.ModelProto, op_type: str, name: str) -> None:
    node(proto, op_type).attribute.remove(attribute(proto, op_type, name))


def put(proto: onnx.ModelProto, op_type: str, name: str, value: object) -> None:
    new = helper.make_attribute(name, value)
    attribute(proto, op_type, name).CopyFrom(new)


def in_bytes(proto: onnx.ModelProto, old: bytes, new: bytes) -> onnx.ModelProto:
    assert len(old) == len(new)
    content = proto.SerializeToString()
    assert old in content
    return onnx.ModelProto.FromString(content.replace(old, new))


# Text that is no UTF-8 ---------------------------------------------------------------------------


@refused("graph.node[0].op_type is b'A\\xffA', which is not UTF-8")
def operator_of_odd_bytes(proto: onnx.ModelProto) -> onnx.ModelProto:
    node(proto, "Add").op_type = "AbA"
    return in_bytes(proto, b"AbA", b"A\xffA")


@refused("which is not UTF-8")
def value_of_odd_bytes(proto: onnx.ModelProto) -> onnx.ModelProto:
    return in_bytes(proto, b"\x04list", b"\x04l\xc3st")


@refused("graph.node[0].name is b'\\xff', which is not UTF-8")
def label_of_odd_bytes(proto: onnx.ModelProto) -> onnx.ModelProto:
    node(proto, "Add").name = "\1"
    return in_bytes(proto, b"\x1a\x01\1", b"\x1a\x01\xff")


@refused("which is not UTF-8")
def symbol_of_odd_bytes(proto: onnx.ModelProto) -> onnx.ModelProto:
    proto.graph.input[2].type.tensor_type.shape.dim[0].dim_param = "NNN"
    return in_bytes(proto, b"NNN", b"N\xffN")


@refused("which is not UTF-8")
def domain_of_odd_bytes(proto: onnx.ModelProto) -> onnx.ModelProto:
    return in_bytes(proto, b"own", b"o\xffn")


@refused("which is not UTF-8")
def attribute_of_odd_bytes(proto: onnx.ModelProto) -> onnx.ModelProto:
    return in_bytes(proto, b"num_scan_inputs", b"num_scan_input\xff")


@refused("which is not UTF-8")
def inner_name_of_odd_bytes(proto: onnx.ModelProto) -> onnx.ModelProto:
    return in_bytes(proto, b"more", b"mor\xff")


@refused("which is not UTF-8")
def metadata_of_odd_bytes(proto: onnx.ModelProto) -> onnx.ModelProto:
    proto.metadata_props.add(key="key", value="MMMM")
    return in_bytes(proto, b"MMMM", b"M\xff\xffM")


@refused("which is not UTF-8")
def initializer_of_odd_bytes(proto: onnx.ModelProto) -> onnx.ModelProto:
    proto.graph.initializer.append(helper.make_tensor("unused", TensorProto.FLOAT, [1], [1]))
    return in_bytes(proto, b"unused", b"unus\xffd")


# Bodies ------------------------------------------------------------------------------------------


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


@refused("its body gives 0 outputs where the node needs 2")
def loop_body_without_outputs(proto: onnx.ModelProto) -> None:
    del attribute(proto, "Loop", "body").g.output[:]


@refused("its body gives 0 outputs where the node needs 1")
def branch_without_outputs(proto: onnx.ModelProto) -> None:
    del attribute(proto, "If", "then_branch").g.output[:]


@refused("its body gives 0 outputs where the node needs 2")
def scan_body_without_outputs(proto: onnx.ModelProto) -> None:
    del attribute(proto, "Scan", "body").g.output[:]


@refused("Loop 'z' has an attribute 'body' of kind INT, which takes GRAPH")
def body_of_another_kind(proto: onnx.ModelProto) -> None:
    put(proto, "Loop", "body", 1)


@refused("If 'y' has an attribute 'else_branch' of kind GRAPHS, which takes GRAPH")
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


@refused("SequenceMap 'k': its body takes 1 inputs where the node gives 2")
def body_of_a_map_with_too_few_inputs(proto: onnx.ModelProto) -> None:
    body = helper.make_graph(
        [helper.make_node("Neg", ["e"], ["o"])],
        "each",
        [helper.make_tensor_value_info("e", TensorProto.FLOAT, None)],
        [helper.make_tensor_value_info("o", TensorProto.FLOAT, None)],
    )
    proto.graph.node.append(helper.make_node("SequenceMap", ["list", "x"], ["k"], body=body))


@refused("SequenceMap 'k': its body gives 0 outputs where the node needs 1")
def body_of_a_map_without_outputs(proto: onnx.ModelProto) -> None:
    body_of_a_map_with_too_few_inputs(proto)
    del proto.graph.node[-1].input[1]
    del proto.graph.node[-1].attribute[0].g.output[:]


# Attributes --------------------------------------------------------------------------------------


@refused("Scan 's' has an attribute 'num_scan_inputs' of kind STRING, which takes INT")
def number_as_text(proto: onnx.ModelProto) -> None:
    put(proto, "Scan", "num_scan_inputs", "1")


@refused("Scan 's' lacks its attribute 'num_scan_inputs'")
def scan_without_number(proto: onnx.ModelProto) -> None:
    drop(proto, "Scan", "num_scan_inputs")


@refused("Loop 'z' has an attribute 'body' of kind UNDEFINED, which takes GRAPH")
def body_of_no_kind(proto: onnx.ModelProto) -> None:
    attribute(proto, "Loop", "body").ClearField("type")


@refused("Scan 's' has an attribute 'num_scan_inputs' of kind UNDEFINED, which takes INT")
def number_of_no_kind(proto: onnx.ModelProto) -> None:
    attribute(proto, "Scan", "num_scan_inputs").ClearField("type")
    attribute(proto, "Scan", "num_scan_inputs").ClearField("i")


@refused("Scan 's' has an attribute 'scan_input_axes' of kind FLOATS, which takes INTS")
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


@refused("own::f 'b' has an attribute 'axis' of kind STRING, which takes INT")
def call_with_an_attribute_of_another_kind(proto: onnx.ModelProto) -> None:
    put(proto, "f", "axis", "zero")


@refused("Concat 'own::f/y' has an attribute 'axis' of kind FLOAT, which takes INT")
def reference_of_another_kind(proto: onnx.ModelProto) -> None:
    proto.functions[0].node[0].attribute[0].type = onnx.AttributeProto.FLOAT


@refused("Constant 'k' has an attribute 'value' of kind INTS, which takes TENSOR")
def constant_of_another_kind(proto: onnx.ModelProto) -> None:
    proto.graph.node.append(helper.make_node("Constant", [], ["k"], value=[1]))


@refused("Constant 'k' has an attribute 'value' that holds no tensor")
def constant_without_a_tensor(proto: onnx.ModelProto) -> None:
    proto.graph.node.append(helper.make_node("Constant", [], ["k"], value=TensorProto()))
    proto.graph.node[-1].attribute[0].ClearField("t")


@refused("Cast 'k' has 999 as its attribute 'to', which is no element type")
def cast_to_no_type(proto: onnx.ModelProto) -> None:
    proto.graph.node.append(helper.make_node("Cast", ["x"], ["k"], to=999))


@refused("Gradient")
def gradient_of_numbers(proto: onnx.ModelProto) -> None:
    domain = "ai.onnx.preview.training"
    proto.opset_import.add(domain=domain, version=1)
    proto.graph.node.append(helper.make_node("Gradient", ["x"], ["k"], domain=domain, xs=[1], y=2))


# Inputs and outputs of nodes ---------------------------------------------------------------------


@refused("Add 'a' has 1 inputs; Add takes 2 at opset 18")
def input_missing(proto: onnx.ModelProto) -> None:
    del node(proto, "Add").input[1:]


@refused("Add 'a' lacks its input 'B', which Add needs")
def input_absent(proto: onnx.ModelProto) -> None:
    node(proto, "Add").input[1] = ""


@refused("Add 'a' has 3 inputs; Add takes 2 at opset 18")
def input_too_many(proto: onnx.ModelProto) -> None:
    node(proto, "Add").input.append("x")


@refused("Add 'a' has 2 outputs; Add gives 1 at opset 18")
def output_too_many(proto: onnx.ModelProto) -> None:
    node(proto, "Add").output.append("more_of_it")


@refused("Neg 'lost' has 0 outputs; Neg gives 1 at opset 18")
def output_missing(proto: onnx.ModelProto) -> None:
    proto.graph.node.append(helper.make_node("Neg", ["x"], [], name="lost"))


@refused("SequenceConstruct 'list' has 0 inputs; SequenceConstruct takes at least 1 at opset 18")
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


# Types and tensors -------------------------------------------------------------------------------


@refused("initializer 'w' has the element type 999, which ONNX does not know")
def initializer_of_no_type(proto: onnx.ModelProto) -> None:
    proto.graph.initializer[0].data_type = 999


@refused("initializer 'w' has no element type")
def initializer_of_undefined_type(proto: onnx.ModelProto) -> None:
    proto.graph.initializer[0].data_type = 0


@refused("'x' of graph 'main' has the element type 999, which ONNX does not know")
def input_of_no_type(proto: onnx.ModelProto) -> None:
    proto.graph.input[2].type.tensor_type.elem_type = 999


@refused("'u' of graph 'trip' of Loop 'z' has the element type 999, which ONNX does not know")
def body_output_of_no_type(proto: onnx.ModelProto) -> None:
    attribute(proto, "Loop", "body").g.output[1].type.tensor_type.elem_type = 999


@refused("'a' of graph 'main' has the element type 77, which ONNX does not know")
def declaration_of_no_type(proto: onnx.ModelProto) -> None:
    proto.graph.value_info.append(helper.make_tensor_sequence_value_info("a", 77, [3]))


@refused("initializer 'w' has a negative dimension: [-3]")
def initializer_of_negative_size(proto: onnx.ModelProto) -> None:
    proto.graph.initializer[0].dims[0] = -3


@refused("initializer 'w' has 3 elements where its shape [4] takes 4")
def initializer_with_too_little(proto: onnx.ModelProto) -> None:
    proto.graph.initializer[0].dims[0] = 4


@refused("initializer 'w' has 10 bytes where its shape [3] takes 12")
def initializer_with_odd_bytes(proto: onnx.ModelProto) -> None:
    tensor = proto.graph.initializer[0]
    del tensor.float_data[:]
    tensor.raw_data = b"0123456789"


@refused("tensor 'value' of Constant 'k' has 1 elements where its shape [2] takes 2")
def constant_with_too_little(proto: onnx.ModelProto) -> None:
    proto.graph.node.append(
        helper.make_node("Constant", [], ["k"], value=helper.make_tensor("v", 1, [1], [1]))
    )
    proto.graph.node[-1].attribute[0].t.dims[0] = 2


@refused("sparse initializer 'sp' has indices of shape [1] for 2 values")
def sparse_with_too_few_indices(proto: onnx.ModelProto) -> None:
    values = helper.make_tensor("sp", TensorProto.FLOAT, [2], [1, 2])
    indices = helper.make_tensor("", TensorProto.INT64, [1], [1])
    proto.graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, [3]))


# Functions ---------------------------------------------------------------------------------------


@refused("function 'own::f' calls itself")
def recursive_function(proto: onnx.ModelProto) -> None:
    call = helper.make_node("f", ["x"], ["unused"], domain="own", axis=0)
    proto.functions[0].node.append(call)
    proto.functions[0].opset_import.add(domain="own", version=1)


@refused("function 'own::f' calls itself through 'own::g'")
def functions_that_call_each_other(proto: onnx.ModelProto) -> None:
    other = helper.make_function(
        "own",
        "g",
        ["x"],
        ["y"],
        [helper.make_node("f", ["x"], ["y"], domain="own", axis=0)],
        proto.opset_import,
    )
    proto.functions.append(other)
    proto.functions[0].opset_import.add(domain="own", version=1)
    proto.functions[0].node.append(helper.make_node("g", ["x"], ["unused"], domain="own"))


@refused("model 'main' uses ONNX's own operators but imports no opset for them")
def opset_of_nothing(proto: onnx.ModelProto) -> None:
    proto.opset_import[0].domain = "other"
    attribute(proto, "Scan", "num_scan_inputs").type = onnx.AttributeProto.STRINGS


@refused("a function of domain 'own' has no name")
def function_without_a_name(proto: onnx.ModelProto) -> None:
    proto.functions.add(domain="own")


@refused("own::f 'b' has 2 inputs; the function takes 1")
def call_with_too_many_inputs(proto: onnx.ModelProto) -> None:
    node(proto, "f").input.append("x")


@refused("own::f 'b' has 2 outputs; the function gives 1")
def call_with_too_many_outputs(proto: onnx.ModelProto) -> None:
    node(proto, "f").output.append("more_of_it")
