"""Values inside a model: those of the main graph, and of all iterations of its loops.

The values of a loop's body become scan outputs of the loop, and those of the main graph outputs of
the model, so any runtime shows them. Branches and functions stay closed.
"""

import itertools
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

import onnx

LOOPS = ("Loop", "Scan")
LARGEST = 1 << 28
"""The limit of bytes of a model that is copied, without external data."""


class Inside(NamedTuple):
    """A value inside a model.

    Attributes:
        loops: the first outputs of the loops around it, outer before inner; they identify loops.
    """

    loops: tuple[str, ...]
    name: str


def inside_values(graph: onnx.GraphProto) -> Iterator[Inside]:
    """Yield the values of nodes in the main graph and in loops, in order."""
    for node in graph.node:
        body = _body(node)
        if body is not None:
            name = loop_name(node.output)
            for loops, inner in inside_values(body):
                yield Inside((name, *loops), inner)
        if node.op_type != "Constant":
            yield from (Inside((), name) for name in node.output if name)


def exposed(
    model: onnx.ModelProto, values: Collection[Inside]
) -> tuple[onnx.ModelProto, list[str]]:
    """Copy a model whose outputs are values inside it.

    Args:
        model: the model; unchanged.
        values: the values; each one in a loop has an axis for each loop around it.

    Returns:
        the copy, and the names of its outputs in the order of the values.
    """
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    labels = (f"straightline_inside_{number}" for number in itertools.count())
    names = {value: _exposed_in(copy.graph, value, labels) for value in values}
    outputs = list(dict.fromkeys(names.values()))
    del copy.graph.output[:]
    copy.graph.output.extend([onnx.ValueInfoProto(name=name) for name in outputs])
    return copy, [names[value] for value in values]


def _exposed_in(graph: onnx.GraphProto, value: Inside, labels: Iterator[str]) -> str:
    """Make a value inside a graph one of the graph; return its name there."""
    if not value.loops:
        return value.name
    node = next(
        n for n in graph.node if _body(n) is not None and loop_name(n.output) == value.loops[0]
    )
    body = _body(node)
    assert body is not None
    name = _exposed_in(body, Inside(value.loops[1:], value.name), labels)
    inner, outer = next(labels), next(labels)
    body.node.append(onnx.helper.make_node("Identity", [name], [inner]))
    body.output.append(onnx.ValueInfoProto(name=inner))
    node.output.append(outer)
    for attribute in node.attribute:
        if attribute.name in ("scan_output_axes", "scan_output_directions"):
            attribute.ints.append(0)
    return outer


def loop_name(outputs: Sequence[str]) -> str:
    """The first output of a loop, which identifies it."""
    return next(filter(None, outputs), "")


def _body(node: onnx.NodeProto) -> onnx.GraphProto | None:
    if node.op_type not in LOOPS or node.domain not in ("", "ai.onnx"):
        return None
    return next((a.g for a in node.attribute if a.name == "body" and a.HasField("g")), None)
