"""Features of a model that the strategies promise to draw."""

from collections.abc import Iterator

import numpy as np
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, numpy_helper


def bodies(node: NodeProto) -> list[GraphProto]:
    return [a.g for a in node.attribute if a.type == AttributeProto.GRAPH]


def walk(model: ModelProto) -> Iterator[tuple[NodeProto, str]]:
    """Every node with the operator that holds it, innermost first named; '' for the top."""
    todo = [(node, "") for node in model.graph.node]
    todo += [(node, "") for function in model.functions for node in function.node]
    while todo:
        node, holder = todo.pop()
        yield node, holder
        todo += [(inner, node.op_type) for g in bodies(node) for inner in g.node]


def features(model: ModelProto) -> Iterator[str]:
    names = {i.name for i in model.graph.initializer}
    graphs = [graph for node, _ in walk(model) for graph in bodies(node)]
    if model.ir_version < 4 and any(graph.initializer for graph in graphs):
        yield "constant listed by a body"
    if model.ir_version >= 4 and any(i.name in names for i in model.graph.input):
        yield "overridable initializer"
    if any(d.dim_param for i in model.graph.input for d in i.type.tensor_type.shape.dim):
        yield "symbolic dimension"
    if any(bodies(node) for function in model.functions for node in function.node):
        yield "function with control flow"
    for node, holder in walk(model):
        yield node.op_type
        yield f"{node.op_type} in {holder}"
        if any(a.ref_attr_name for a in node.attribute):
            yield "attribute reference"
        for body in bodies(node):
            yield from body_features(body)
        if node.op_type == "Loop":
            yield from loop_features(node, constants(model))
        elif node.op_type == "Scan":
            yield from scan_features(node)
        elif node.op_type == "If":
            yield from if_features(node)
    for graph in [model.graph, *(b for node, _ in walk(model) for b in bodies(node))]:
        yield from name_features(graph)


def constants(model: ModelProto) -> dict[str, np.ndarray]:
    """The constants of the top level by name."""
    arrays = {i.name: numpy_helper.to_array(i) for i in model.graph.initializer}
    for node in model.graph.node:
        for a in node.attribute:
            if node.op_type == "Constant" and a.type == AttributeProto.TENSOR:
                arrays[node.output[0]] = numpy_helper.to_array(a.t)
    return arrays


def body_features(body: GraphProto) -> Iterator[str]:
    outputs = [v.name for v in body.output]
    if len(set(outputs)) < len(outputs):
        yield "repeated body output"
    if {v.name for v in body.input} & set(outputs):
        yield "body input as output"
    if body.initializer:
        yield "body initializer"
    if body.value_info:
        yield "value_info in a body"


def loop_features(node: NodeProto, values: dict[str, np.ndarray]) -> Iterator[str]:
    iterations, going = node.input[0], node.input[1]
    yield "M given" if iterations else "M absent"
    if not going:
        yield "cond absent"
    body = bodies(node)[0]
    if len(body.input[0].type.tensor_type.shape.dim) == 1:
        yield "M of rank 1"
    if len(body.input[1].type.tensor_type.shape.dim) == 1:
        yield "cond of rank 1"
    if iterations in values and values[iterations].size == 1:
        count = values[iterations].item()
        if count <= 0:
            yield "M not positive"
        if count >= 2**62:
            yield "M the largest"
    if any(v.type.HasField("sequence_type") for v in body.input):
        yield "carried sequence"
    scans = body.output[len(node.input) - 1 :]
    if scans:
        yield "scan output"
    if any(not v.type.tensor_type.shape.dim for v in scans):
        yield "scalar scan output"


def scan_features(node: NodeProto) -> Iterator[str]:
    lists = {a.name: list(a.ints) for a in node.attribute}
    axes = lists.get("scan_input_axes", []) + lists.get("scan_output_axes", [])
    if any(axes):
        yield "axis not 0"
    if any(axis < 0 for axis in axes):
        yield "negative axis"
    if any(lists.get("scan_input_directions", [])):
        yield "reversed input"
    if any(lists.get("scan_output_directions", [])):
        yield "reversed output"
    states = len(bodies(node)[0].input) - next(
        a.i for a in node.attribute if a.name == "num_scan_inputs"
    )
    if states == 0:
        yield "no state"
    if states == len(node.output):
        yield "no scan output"


def if_features(node: NodeProto) -> Iterator[str]:
    first, second = bodies(node)
    for a, b in zip(first.output, second.output, strict=True):
        if a.type.tensor_type.shape != b.type.tensor_type.shape:
            yield "branches of other shapes"
    initializers: list[dict[str, TensorProto]] = [
        {i.name: i for i in g.initializer} for g in (first, second)
    ]
    for name in initializers[0].keys() & initializers[1].keys():
        if initializers[0][name] != initializers[1][name]:
            yield "sibling initializers of one name"


def name_features(graph: GraphProto) -> Iterator[str]:
    used: set[str] = set()
    own = {v.name for v in graph.input} | {i.name for i in graph.initializer}
    own |= {name for node in graph.node for name in node.output}
    for node in graph.node:
        if used & set(node.output):
            yield "name reused after a body"
        for body in bodies(node):
            inner = {name for n in body.node for name in n.output}
            used |= inner
            for nested in (g for n in body.node for g in bodies(n)):
                if own & {name for n in nested.node for name in n.input}:
                    yield "capture through two levels"
