"""Mutations of the bodies of Loop, Scan and If, and of how they are fed."""

import random
from typing import Any

import onnx

from wrong_rewrites.place import Place

SCANS = (
    "scan_input_directions",
    "scan_output_directions",
    "scan_input_axes",
    "scan_output_axes",
    "directions",
)


def turn_scan(place: Place) -> bool | None:
    scans = [n for g, _ in place.graphs for n in g.node if n.op_type == "Scan"]
    if not scans:
        return False
    node, name = place.dice.choice(scans), place.dice.choice(SCANS)
    count = next((a.i for a in node.attribute if a.name == "num_scan_inputs"), 1)
    body = next(a.g for a in node.attribute if a.name == "body")
    if "output" in name:
        count = len(body.output) - (len(body.input) - count)
    kept = [a for a in node.attribute if a.name != name]
    values = [place.dice.randrange(2) for _ in range(max(count, 0))]
    given = onnx.helper.make_attribute(name, values, attr_type=onnx.AttributeProto.INTS)
    del node.attribute[:]
    node.attribute.extend([*kept, given])


def _body(place: Place) -> onnx.GraphProto | None:
    bodies = [g for g, _ in place.graphs[1:] if isinstance(g, onnx.GraphProto)]
    return place.dice.choice(bodies) if bodies else None


def swap_body_outputs(place: Place) -> bool | None:
    body = _body(place)
    return body is not None and _swap(body.output, place.dice)


def swap_body_inputs(place: Place) -> bool | None:
    body = _body(place)
    return body is not None and _swap(body.input, place.dice)


def _swap(infos: Any, dice: random.Random) -> bool:
    if len(infos) < 2:
        return False
    a, b = dice.sample(range(len(infos)), 2)
    infos[a].name, infos[b].name = infos[b].name, infos[a].name
    return True


def change_declaration(place: Place) -> bool | None:
    """The type that a body declares of an output or of an input."""
    body = _body(place)
    infos = [] if body is None else [*body.output, *body.input]
    if not infos:
        return False
    tensor = place.dice.choice(infos).type.tensor_type
    if tensor.shape.dim and place.dice.random() < 0.7:
        dim = place.dice.choice(tensor.shape.dim)
        dim.dim_value = dim.dim_value + 1
    elif place.dice.random() < 0.5:
        tensor.ClearField("shape")
    else:
        tensor.elem_type = place.dice.choice([1, 7, 9, 11])


def change_output_of_body(place: Place) -> bool | None:
    """A body gives out another of its values."""
    body = _body(place)
    if body is None or not body.output:
        return False
    names = [name for node in body.node for name in node.output if name]
    names += [info.name for info in body.input]
    if not names:
        return False
    place.dice.choice(body.output).name = place.dice.choice(names)


def swap_branches(place: Place) -> bool | None:
    ifs = [n for g, _ in place.graphs for n in g.node if n.op_type == "If"]
    if not ifs:
        return False
    one, other = place.dice.choice(ifs).attribute
    one.name, other.name = other.name, one.name
