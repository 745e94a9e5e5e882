"""A node for each operand whose rank `operand_ranks` restricts, with the operand in other ranks."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import onnx
from onnx import helper, numpy_helper
from straightline.ir import Operator
from straightline.ops import rules_of

REDUCTIONS = ["L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare"]
WINDOWS = ("BlackmanWindow", "HammingWindow", "HannWindow")


def _x(*shape: int) -> Any:
    return np.arange(1, 1 + np.prod(shape), dtype=np.float32).reshape(shape)


def _i(*numbers: int) -> Any:
    return np.array(numbers, np.int64)


def _s(number: Any, dtype: Any = np.int64) -> Any:
    return np.array(number, dtype)


F, ROWS = np.float32, {"output_height": 1, "output_width": 1}
CROPS = {"coordinate_transformation_mode": "tf_crop_and_resize"}
NODES: list[tuple[str, int, list[Any], dict[str, Any]]] = [
    ("Squeeze", 13, [_x(1, 3), _i(0)], {}),
    ("Unsqueeze", 13, [_x(3), _i(0)], {}),
    *((f"Reduce{name}", 18, [_x(2, 3), _i(1)], {}) for name in REDUCTIONS),
    ("Slice", 13, [_x(5), _i(1), _i(4), _i(0), _i(2)], {}),
    ("Split", 13, [_x(4), _i(4)], {}),
    ("Pad", 18, [_x(2, 3), _i(1, 1), _s(0, F), _i(0)], {}),
    ("Expand", 8, [_x(1), _i(4)], {}),
    ("Reshape", 13, [_x(2, 2), _i(4)], {}),
    ("Tile", 13, [_x(3), _i(2)], {}),
    ("ConstantOfShape", 9, [_i(3)], {}),
    ("TopK", 11, [_x(4), _i(2)], {}),
    ("Resize", 18, [_x(4), _x(2), np.array([2], F)], CROPS),
    ("Resize", 18, [_x(4), None, None, _i(8)], {}),
    ("Upsample", 9, [_x(1, 1, 2, 2), np.array([1, 1, 2, 2], F)], {}),
    ("OneHot", 11, [_i(0, 2), _s(3), _x(2)], {}),
    ("Range", 11, [_s(0), _s(5), _s(1)], {}),
    ("Trilu", 14, [_x(3, 3), _s(1)], {}),
    ("CumSum", 14, [_x(3), _s(0)], {}),
    ("CumProd", 26, [_x(3), _s(0)], {}),
    ("Clip", 13, [_x(4), _s(2, F), _s(3, F)], {}),
    ("Compress", 11, [_x(1), np.array([True])], {}),
    ("Dropout", 13, [_x(4), _s(0.5, F), _s(False, bool)], {}),
    *((name, 17, [_s(4)], {}) for name in WINDOWS),
    ("DFT", 20, [_x(1, 4, 1), _s(4), _s(1)], {}),
    ("STFT", 17, [_x(1, 8, 1), _s(2), _x(4), _s(4)], {}),
    ("MelWeightMatrix", 17, [_s(4), _s(8), _s(8000), _s(0, F), _s(4000, F)], {}),
    ("CenterCropPad", 18, [_x(4), _i(2)], {"axes": [0]}),
    ("Col2Im", 18, [_x(1, 4, 4), _i(4, 4), _i(2, 2)], {"strides": [2, 2]}),
    ("AffineGrid", 20, [_x(1, 2, 3), _i(1, 1, 2, 2)], {}),
    ("NonMaxSuppression", 11, [_x(1, 2, 4), _x(1, 1, 2), _s(1), _s(0.5, F), _s(0, F)], {}),
    ("RoiAlign", 16, [_x(1, 1, 4, 4), _x(1, 4), _i(0)], ROWS),
    ("ReverseSequence", 10, [_x(2, 1), _i(2)], {}),
    ("MaxUnpool", 11, [_x(1, 1, 1), _i(0).reshape(1, 1, 1), _i(1, 1, 2)], {"kernel_shape": [2]}),
    ("SequenceAt", 17, [..., _s(0)], {}),
    ("SequenceErase", 17, [..., _s(0)], {}),
    ("SequenceInsert", 17, [..., _x(2), _s(0)], {}),
    ("SplitToSequence", 17, [_x(2), _s(2)], {}),
]
"""Operators with their opset, operands (... for a sequence of two tensors) and attributes."""


class Case(NamedTuple):
    """A node with one operand in each rank that its elements fit.

    Attributes:
        op_type: the operator.
        position: the position of the operand.
        allowed: the ranks that are allowed.
        models: by rank, a model that gives what the node gives.
        dead: by rank, the same where nothing reads that.
        without: by rank, the same without the node.
    """

    op_type: str
    position: int
    allowed: tuple[int, ...]
    models: dict[int, onnx.ModelProto]
    dead: dict[int, onnx.ModelProto]
    without: dict[int, onnx.ModelProto]


def cases() -> Iterator[Case]:
    """All operands of all nodes."""
    for op_type, opset, operands, attributes in NODES:
        for position, allowed in rules_of(Operator(op_type)).operand_ranks.items():
            operand = operands[position] if position < len(operands) else None
            if operand is None:
                continue
            shapes = {rank: (1,) * (rank - 1) + (operand.size,) for rank in (1, 2)}
            if operand.size == 1:
                shapes[0] = ()
            made: tuple[dict[int, onnx.ModelProto], ...] = ({}, {}, {})
            for rank, shape in shapes.items():
                given = [*operands]
                given[position] = operand.reshape(shape)
                node = helper.make_node(op_type, [], ["o", "p"][: 1 + (op_type == "TopK")])
                node.attribute.extend(helper.make_attribute(*each) for each in attributes.items())
                for models, reads in zip(made, (True, False, None), strict=True):
                    models[rank] = _model(node, opset, given, reads)
            yield Case(op_type, position, allowed, *made)


def _model(
    of: onnx.NodeProto, opset: int, operands: list[Any], reads: bool | None
) -> onnx.ModelProto:
    """A model of one float input and the node; None for `reads` leaves the node out."""
    node, tensors, nodes = onnx.NodeProto.FromString(of.SerializeToString()), [], []
    for position, operand in enumerate(operands):
        name = "" if operand is None else f"i{position}"
        node.input.append(name)
        if operand is ...:
            nodes.append(helper.make_node("SequenceConstruct", ["x", "x"], [name]))
        elif operand is not None:
            tensors.append(numpy_helper.from_array(operand, name))
    x = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [2])
    outputs = [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [2])]
    if reads is not None:
        nodes.append(node)
    if reads:
        graph = helper.make_graph(nodes, "g", [x], [onnx.ValueInfoProto(name="o")], tensors)
        imports = [helper.make_opsetid("", opset)]
        loose = helper.make_model(graph, opset_imports=imports, ir_version=10)
        type_ = onnx.shape_inference.infer_shapes(loose).graph.output[0].type
        if not type_.WhichOneof("value"):
            elem_type = tensors[0].data_type if of.op_type == "Range" else onnx.TensorProto.FLOAT
            type_ = helper.make_tensor_type_proto(elem_type, None)
        if type_.HasField("tensor_type"):
            type_.tensor_type.ClearField("shape")
        outputs.append(helper.make_value_info("o", type_))
    nodes.append(helper.make_node("Neg", ["x"], ["y"]))
    graph = helper.make_graph(nodes, "g", [x], outputs, tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
