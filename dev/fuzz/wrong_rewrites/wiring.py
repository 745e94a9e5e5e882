"""Mutations of what is fed into what."""

import random
from collections.abc import MutableSequence

import numpy as np
import onnx
from onnx import numpy_helper

from wrong_rewrites.place import Place


def swap_inputs(place: Place) -> bool | None:
    return _swap(place.node()[0].input, place.dice)


def read_another(place: Place) -> bool | None:
    node, names = place.node()
    if not node.input or not names:
        return False
    node.input[place.dice.randrange(len(node.input))] = place.dice.choice(names[-12:])


def drop_input(place: Place) -> bool | None:
    node, _ = place.node()
    if not node.input:
        return False
    node.input[place.dice.randrange(len(node.input))] = ""


def swap_outputs(place: Place) -> bool | None:
    return _swap(place.node()[0].output, place.dice)


def _swap(names: MutableSequence[str], dice: random.Random) -> bool:
    if len(names) < 2:
        return False
    a, b = dice.sample(range(len(names)), 2)
    names[a], names[b] = names[b], names[a]
    return True


def swap_results(place: Place) -> bool | None:
    """Two nodes give what the other one gave."""
    graph, _ = place.graph()
    if len(graph.node) < 2:
        return False
    one, other = place.dice.sample(list(graph.node), 2)
    one.output[0], other.output[0] = other.output[0], one.output[0]


def rename_output(place: Place) -> bool | None:
    """A name outside is hidden by one inside, or another value is given out."""
    node, names = place.node()
    if not names or not node.output:
        return False
    node.output[place.dice.randrange(len(node.output))] = place.dice.choice(names)


def bypass(place: Place) -> bool | None:
    """A node gives one of its inputs."""
    node, _ = place.node()
    given = [name for name in node.input if name]
    if not given or not node.output:
        return False
    kept, output = place.dice.choice(given), node.output[0]
    node.Clear()
    node.CopyFrom(onnx.helper.make_node("Identity", [kept], [output]))


def insert(place: Place) -> bool | None:
    """A node after another one that changes what it gives."""
    graph, _ = place.graph()
    at = place.dice.randrange(len(graph.node))
    node = graph.node[at]
    if not node.output or not node.output[0]:
        return False
    op_type = place.dice.choice(["Neg", "Not", "Transpose", "Abs", "Round", "Sign"])
    name = node.output[0]
    node.output[0] = f"{name}__changed"
    graph.node.insert(at + 1, onnx.helper.make_node(op_type, [node.output[0]], [name]))


def change_lengths(place: Place) -> bool | None:
    """A node is given other numbers than the vector of the input that it reads, such as lengths:
    one off, or in another order."""
    graph = place.model.graph
    sizes = {
        info.name: info.type.tensor_type.shape.dim[0].dim_value
        for info in graph.input
        if info.type.tensor_type.elem_type == onnx.TensorProto.INT64
        and len(info.type.tensor_type.shape.dim) == 1
    }
    readers = [
        (at, k)
        for at, node in enumerate(graph.node)
        for k, name in enumerate(node.input)
        if name in sizes
    ]
    if not readers:
        return False
    at, k = place.dice.choice(readers)
    name = graph.node[at].input[k]
    graph.node[at].input[k] = f"{name}__changed"
    if sizes[name] > 1 and place.dice.random() < 0.5:
        given, made = np.arange(sizes[name])[::-1].copy(), ("Gather", [name, "changed__by"])
    else:
        given = np.array(place.dice.choice([-1, 1]))
        made = place.dice.choice(["Add", "Sub"]), [name, "changed__by"]
    value = numpy_helper.from_array(given.astype(np.int64))
    graph.node.insert(at, onnx.helper.make_node(made[0], made[1], [f"{name}__changed"]))
    graph.node.insert(at, onnx.helper.make_node("Constant", [], ["changed__by"], value=value))
