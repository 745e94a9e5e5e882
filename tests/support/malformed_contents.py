"""Text, tensors, types and functions that are not well formed."""

import onnx
from malformed_base import attribute, in_bytes, node, refused
from onnx import TensorProto, helper

# Text that is no UTF-8 ----------------------------------------------------------------------------


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


# Types and tensors --------------------------------------------------------------------------------


@refused("initializer 'w' has the element type 999, which ONNX does not know")
def initializer_of_no_type(proto: onnx.ModelProto) -> None:
    proto.graph.initializer[0].data_type = 999


@refused("initializer 'w' has no element type")
def initializer_of_undefined_type(proto: onnx.ModelProto) -> None:
    proto.graph.initializer[0].data_type = 0


@refused("'x' of graph 'main' has the element type 999, which ONNX does not know")
def input_of_no_type(proto: onnx.ModelProto) -> None:
    proto.graph.input[2].type.tensor_type.elem_type = 999


@refused("'u' of graph 'iteration' of Loop 'z' has the element type 999, which ONNX does not know")
def body_output_of_no_type(proto: onnx.ModelProto) -> None:
    attribute(proto, "Loop", "body").g.output[1].type.tensor_type.elem_type = 999


@refused("'a' of graph 'main' has the element type 77, which ONNX does not know")
def declaration_of_no_type(proto: onnx.ModelProto) -> None:
    proto.graph.value_info.append(helper.make_tensor_sequence_value_info("a", 77, [3]))


@refused("initializer 'w' has a negative dimension: [-3]")
def initializer_of_negative_size(proto: onnx.ModelProto) -> None:
    proto.graph.initializer[0].dims[0] = -3


@refused("initializer 'w' has 3 elements where its shape [4] needs 4")
def initializer_with_too_little(proto: onnx.ModelProto) -> None:
    proto.graph.initializer[0].dims[0] = 4


@refused("initializer 'w' has 10 bytes where its shape [3] needs 12")
def initializer_with_odd_bytes(proto: onnx.ModelProto) -> None:
    tensor = proto.graph.initializer[0]
    del tensor.float_data[:]
    tensor.raw_data = b"0123456789"


@refused("tensor 'value' of Constant 'k' has 1 elements where its shape [2] needs 2")
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


@refused("sparse initializer 'sp' has an index outside of its shape [2, 3]")
def sparse_with_an_index_behind(proto: onnx.ModelProto) -> None:
    values = helper.make_tensor("sp", TensorProto.FLOAT, [1], [1])
    indices = helper.make_tensor("", TensorProto.INT64, [1, 2], [0, 3])
    proto.graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, [2, 3]))


@refused("sparse initializer 'sp' has an index outside of its shape [3]")
def sparse_with_an_index_from_the_end(proto: onnx.ModelProto) -> None:
    values = helper.make_tensor("sp", TensorProto.FLOAT, [1], [1])
    indices = helper.make_tensor("", TensorProto.INT64, [1], [-1])
    proto.graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, [3]))


@refused("graph 'main' has an output '', which nothing defines")
def output_without_a_name(proto: onnx.ModelProto) -> None:
    proto.graph.output.add(type=proto.graph.output[0].type)


# Functions ----------------------------------------------------------------------------------------


@refused("function 'own::f' calls itself")
def recursive_function(proto: onnx.ModelProto) -> None:
    proto.functions[0].node.append(helper.make_node("f", ["x"], ["unused"], domain="own", axis=0))
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


@refused("own::f 'b' has 2 inputs; the function accepts 1")
def call_with_too_many_inputs(proto: onnx.ModelProto) -> None:
    node(proto, "f").input.append("x")


@refused("own::f 'b' has 2 outputs; the function has 1")
def call_with_too_many_outputs(proto: onnx.ModelProto) -> None:
    node(proto, "f").output.append("more_of_it")
