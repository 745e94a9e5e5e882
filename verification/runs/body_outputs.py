"""Copies of outputs of bodies, without which onnxruntime has other ones than are specified.

It copies no output of a body that is another one, in an If or Scan, no input in a Scan, and no
iteration number of a Loop (`ops.departures`). Samples compare meanings: onnxruntime runs the models
with an Identity there, unless the rewrite brings such outputs in.
"""

import onnx

from ...ir import normal_domain
from ...ops.departures import uncopied_outputs
from ...reference.signature import nodes_of

_Place = tuple[onnx.GraphProto, int]
"""A body, and the position of an output."""


def uncopied(model: onnx.ModelProto) -> list[_Place]:
    """The outputs of bodies in a model that onnxruntime does not copy."""
    places = []
    for node in nodes_of(model):
        if node.op_type in ("If", "Loop", "Scan") and not normal_domain(node.domain):
            for body in (field.g for field in node.attribute if field.HasField("g")):
                names = [[info.name for info in side] for side in (body.input, body.output)]
                places += [
                    (body, place)
                    for place in uncopied_outputs(node.op_type, *names)
                    if node.op_type != "If" or body.output[place].type.HasField("tensor_type")
                ]
    return places


def with_copies(model: onnx.ModelProto) -> onnx.ModelProto:
    """A copy of a model in which an Identity computes each of these outputs."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    names = {name for node in nodes_of(copy) for name in (*node.input, *node.output)}
    names |= {info.name for body, _ in uncopied(copy) for info in body.input}
    for body, place in uncopied(copy):
        old = new = body.output[place].name
        while new == old or new in names:
            new += "_"
        names.add(new)
        body.node.add(op_type="Identity", input=[old], output=[new])
        body.output[place].name = new
    return copy
