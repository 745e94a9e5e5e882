"""What a hostile model is: how it is made, how large, and what is done with it."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import TensorProto
from onnx.helper import (
    make_function,
    make_graph,
    make_model,
    make_node,
    make_opsetid,
    make_tensor_value_info,
)

OPSET = 17
LOCAL = "local"
COMMANDS = ("inspect", "rewrite", "convert")


@dataclass(frozen=True)
class Case:
    """A class of hostile models.

    Attributes:
        name: what it is called.
        make: the model of a size.
        size: the one that once took too long, or too much memory.
        quick: one that is over in about a second when all is well.
        commands: the commands that are run on it.
    """

    name: str
    make: Callable[[int], onnx.ModelProto]
    size: int
    quick: int
    commands: tuple[str, ...] = COMMANDS


def model(nodes, inputs, outputs, initializers=(), functions=(), opset=OPSET):
    """A model; inputs and outputs are pairs of a name and a shape, or triples with a type."""
    graph = make_graph(nodes, "g", values(inputs), values(outputs), list(initializers))
    opsets = [make_opsetid("", opset), *([make_opsetid(LOCAL, 1)] if functions else [])]
    return make_model(graph, opset_imports=opsets, ir_version=8, functions=list(functions))


def values(told):
    return [
        make_tensor_value_info(name, type_[0] if type_ else TensorProto.FLOAT, shape)
        for name, shape, *type_ in told
    ]


def function(name, inputs, outputs, nodes, **more):
    opsets = [make_opsetid("", OPSET), make_opsetid(LOCAL, 1)]
    return make_function(LOCAL, name, inputs, outputs, nodes, opsets, **more)


def tensor(name, array):
    return onnx.numpy_helper.from_array(np.asarray(array), name)


def call(name, inputs, outputs):
    return make_node(name, inputs, outputs, domain=LOCAL)


def body(nodes, inputs, outputs, initializers=()):
    return make_graph(nodes, "b", values(inputs), values(outputs), list(initializers))


INT, BOOL, STRING = TensorProto.INT64, TensorProto.BOOL, TensorProto.STRING


def loop(iterations, nodes, carried, initializers=()):
    """A Loop of so many iterations; carried are triples of name outside, inside and after an
    iteration, with a shape and perhaps a type."""
    inside = [("i", [], INT), ("c", [], BOOL)]
    inside += [(name, shape, *type_) for _, name, _, shape, *type_ in carried]
    outside = [("c", [], BOOL)] + [(after, shape, *type_) for _, _, after, shape, *type_ in carried]
    graph = body(nodes, inside, outside, initializers)
    given = [iterations, "", *(first for first, *_ in carried)]
    return make_node("Loop", given, [f"{after}_out" for _, _, after, *_ in carried], body=graph)
