"""Weights of hundreds of MB, which nothing needs to look into."""

import onnx
from case import BOOL, Case, body, loop, model
from onnx import TensorProto
from onnx.helper import make_node

LARGE = 100_000_000


def stored(name, elem_type, size, dims):
    """An initializer of zeros."""
    weight = TensorProto(name=name, data_type=elem_type, dims=dims)
    weight.raw_data = bytes(size)
    return weight


def captured(size):
    """A body captures a large weight."""
    inner = [make_node("Gather", ["weight", "i"], ["g"]), make_node("Add", ["v", "g"], ["w"])]
    nodes = [loop("n", inner, [("x", "v", "w", [])])]
    weight = stored("weight", TensorProto.FLOAT, 4 * size, [size])
    return model(nodes, [("x", []), ("n", [], TensorProto.INT64)], [("w_out", [])], [weight])


def branched(size):
    """Both branches capture a large weight."""
    two = {
        name: body(
            [make_node("Slice", ["weight", "a", "b"], ["s"]), make_node(op, ["s"], ["z"])],
            [],
            [("z", [1])],
            [
                onnx.helper.make_tensor("a", TensorProto.INT64, [1], [0]),
                onnx.helper.make_tensor("b", TensorProto.INT64, [1], [1]),
            ],
        )
        for name, op in (("then_branch", "Neg"), ("else_branch", "Abs"))
    }
    weight = stored("weight", TensorProto.INT8, size, [size])
    nodes = [make_node("If", ["c"], ["q"], **two), make_node("Cast", ["q"], ["y"], to=1)]
    return model(nodes, [("c", [], BOOL)], [("y", [1])], [weight])


def shaped(size):
    """A large constant of whole numbers, of which content could be followed."""
    weight = stored("weight", TensorProto.INT64, 8 * size, [size])
    nodes = [
        make_node("Shape", ["x"], ["s"]),
        make_node("Gather", ["weight", "s"], ["g"]),
        make_node("Add", ["g", "s"], ["t"]),
        make_node("Expand", ["x", "t"], ["y"]),
    ]
    return model(nodes, [("x", ["a"])], [("y", ["b"])], [weight])


CASES = [
    Case("captured-weight", captured, LARGE, 1_000_000),
    Case("branched-weight", branched, LARGE, 1_000_000),
    Case("whole-weight", shaped, LARGE // 2, 1_000_000),
]
