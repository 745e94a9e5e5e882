"""Values: what is declared of them."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto, helper
from straightline import ir
from straightline.ir import Operator, Tensor, Value

FLOAT = TensorProto.FLOAT


def test_nothing_declared() -> None:
    value = Value("v")
    assert value.type is value.shape is value.elem_type is value.graph is None
    assert repr(value) == "value 'v'"


def test_dimensions() -> None:
    info = helper.make_tensor_value_info("v", FLOAT, [2, "N", None])
    value = Value("v", info)
    assert (value.elem_type, value.shape) == (FLOAT, (2, "N", None))
    assert Value("v", helper.make_tensor_value_info("v", FLOAT, None)).shape is None
    assert Value("v", helper.make_tensor_value_info("v", FLOAT, [])).shape == ()


def test_sequences_have_neither_shape_nor_element_type() -> None:
    sequence = helper.make_sequence_type_proto(helper.make_tensor_type_proto(FLOAT, [2]))
    value = Value("v", helper.make_value_info("v", sequence))
    assert value.type == sequence
    assert value.shape is value.elem_type is None


def test_constants_have_the_type_of_their_tensor() -> None:
    value = Value("v", constant=Tensor(array=np.ones((2, 3), np.int8)))
    assert (value.elem_type, value.shape) == (TensorProto.INT8, (2, 3))


def test_setting_a_type_leaves_what_clones_share() -> None:
    info = helper.make_tensor_value_info("v", FLOAT, [2], "text")
    first, second = Value("v", info), Value("w", info)
    first.type = helper.make_tensor_type_proto(FLOAT, [3])
    assert (first.shape, second.shape) == ((3,), (2,))
    assert first.info is not None and first.info.doc_string == "text"
    second.type = None
    assert second.type is None and info.HasField("type")


def test_the_graph_is_that_of_the_definition() -> None:
    model = ir.parse(
        '<ir_version: 10, opset_import: ["": 21]> g (float[3] x) => (float[3] y) { y = Neg(x) }'
    )
    graph = model.graph
    assert graph.inputs[0].graph is graph.outputs[0].graph is graph
    node = graph.add_node(Operator("Neg"), graph.inputs, ["n"])
    graph.remove(node)
    assert node.output().graph is None
