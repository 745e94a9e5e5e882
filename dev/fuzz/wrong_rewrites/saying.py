"""Mutations of what a node computes: its operator, attributes and constants."""

import random
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

from wrong_rewrites.place import Place


def change_attribute(place: Place) -> bool | None:
    node, _ = place.node()
    plain = [a for a in node.attribute if not a.HasField("g")]
    if not plain:
        return False
    a, dice = place.dice.choice(plain), place.dice
    if a.type == onnx.AttributeProto.INT:
        step = dice.choice([-2, -1, 1, 2])
        a.i += step if abs(a.i) < 2**62 else -a.i  # an extreme number of int64 has no successor
    elif a.type == onnx.AttributeProto.FLOAT:
        a.f = a.f * 2 + 1
    elif a.type == onnx.AttributeProto.INTS and a.ints:
        if dice.random() < 0.5:
            values = list(a.ints)
            dice.shuffle(values)
            a.ints[:] = values
        else:
            position, step = dice.randrange(len(a.ints)), dice.choice([-1, 1])
            a.ints[position] += step if abs(a.ints[position]) < 2**62 else -a.ints[position]
    elif a.type == onnx.AttributeProto.TENSOR:
        return _change_tensor(a.t, dice)
    elif a.type == onnx.AttributeProto.STRING:
        a.s = a.s[::-1]
    else:
        return False


FLAGS = {
    "Concat": ("axis",),
    "Gather": ("axis",),
    "Softmax": ("axis",),
    "Loop": (),
    "ArgMax": ("keepdims", "axis", "select_last_index"),
    "ReduceMax": ("keepdims",),
    "ReduceSum": ("keepdims",),
    "Transpose": ("perm",),
    "Flatten": ("axis",),
    "Shape": ("start", "end"),
    "CumSum": ("exclusive", "reverse"),
}


def set_attribute(place: Place) -> bool | None:
    """An attribute that was left out."""
    node, _ = place.node()
    names = [n for n in FLAGS.get(node.op_type, ()) if n not in {a.name for a in node.attribute}]
    if not names:
        return False
    name = place.dice.choice(names)
    value: Any = [1, 0] if name == "perm" else place.dice.choice([0, 1])
    node.attribute.append(onnx.helper.make_attribute(name, value))


def drop_attribute(place: Place) -> bool | None:
    node, _ = place.node()
    plain = [k for k, a in enumerate(node.attribute) if not a.HasField("g")]
    if not plain:
        return False
    del node.attribute[place.dice.choice(plain)]


ALIKE = (
    ("Add", "Sub", "Mul", "Max", "Min", "Div", "Mod"),
    ("Tanh", "Neg", "Sigmoid", "Identity", "Softmax", "Abs", "Sin", "Relu", "Exp", "Sqrt"),
    ("And", "Or", "Xor"),
    ("Less", "Greater", "LessOrEqual", "GreaterOrEqual", "Equal"),
    ("ReduceMax", "ReduceMin", "ReduceSum", "ReduceMean", "ReduceProd"),
    ("ArgMax", "ArgMin"),
    ("Unsqueeze", "Squeeze", "Reshape", "Expand", "Tile"),
    ("Gather", "GatherElements"),
    ("Shape", "Size", "Identity"),
    ("Not", "Identity"),
    ("Cast", "CastLike"),
    ("SequenceInsert", "Identity"),
)


def change_operator(place: Place) -> bool | None:
    node, _ = place.node()
    groups = [group for group in ALIKE if node.op_type in group]
    if not groups:
        return False
    node.op_type = place.dice.choice([n for n in place.dice.choice(groups) if n != node.op_type])


def _change_tensor(tensor: onnx.TensorProto, dice: random.Random) -> bool:
    content = numpy_helper.to_array(tensor).copy()
    if not content.size:
        return False
    flat = content.reshape(-1)
    at = dice.randrange(len(flat))
    if content.dtype == bool:
        flat[at] = not flat[at]
    elif content.dtype.kind in "iu":
        flat[at] += dice.choice([-1, 1, 1, 2])
    elif content.dtype.kind == "f":
        flat[at] = dice.choice([-flat[at], flat[at] + 1, np.nan, -0.0])
    else:
        flat[at] = f"{flat[at]}?" if content.dtype.kind in "OUS" else flat[at]
    if dice.random() < 0.2 and len(flat) > 1:
        content = flat[::-1].reshape(content.shape)
    tensor.CopyFrom(numpy_helper.from_array(content, tensor.name))
    return True


def change_constant(place: Place) -> bool | None:
    tensors = [t for graph, _ in place.graphs for t in getattr(graph, "initializer", ())]
    tensors += [
        a.t for g, _ in place.graphs for n in g.node for a in n.attribute if a.HasField("t")
    ]
    return bool(tensors) and _change_tensor(place.dice.choice(tensors), place.dice)


def change_type_of_cast(place: Place) -> bool | None:
    casts = [n for g, _ in place.graphs for n in g.node if n.op_type == "Cast"]
    if not casts:
        return False
    node = place.dice.choice(casts)
    del node.attribute[:]
    node.attribute.append(onnx.helper.make_attribute("to", place.dice.choice([1, 6, 7, 9, 10, 11])))
