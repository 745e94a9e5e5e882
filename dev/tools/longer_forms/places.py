"""A case in each place where nodes may stand: a graph, a branch, a loop, a function."""

from collections.abc import Callable, Mapping, Sequence

import onnx
from onnx import helper

from .case import Case

IR_VERSION = 10


def nodes_of(case: Case, opset: int) -> onnx.GraphProto | None:
    """The graph of a case in one opset, with types; None where it cannot be written there."""
    head = f'<ir_version: {IR_VERSION}, opset_import: ["": {opset}]>'
    text = f"{head} g ({case.inputs}) => ({case.gives}) {{{case.nodes}}}"
    model = onnx.parser.parse_model(text)
    try:
        if case.gives == "y":
            model = onnx.shape_inference.infer_shapes(model, strict_mode=True)
        onnx.checker.check_model(model)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError):
        return None
    return model.graph


def renamed(graph: onnx.GraphProto, suffix: str) -> list[onnx.NodeProto]:
    """The nodes with their own names changed, so that no name stands twice."""
    own = {name for node in graph.node for name in node.output if name}
    nodes = []
    for node in graph.node:
        copy = onnx.NodeProto()
        copy.CopyFrom(node)
        copy.input[:] = [f"{n}{suffix}" if n in own else n for n in node.input]
        copy.output[:] = [f"{n}{suffix}" if n else n for n in node.output]
        nodes.append(copy)
    return nodes


Made = tuple[list[onnx.NodeProto], list[onnx.ValueInfoProto], list[onnx.FunctionProto]]


def in_graph(graph: onnx.GraphProto, opset: int) -> Made:
    return list(graph.node), list(graph.input), []


def body(graph: onnx.GraphProto, name: str, more: Sequence[str] = ()) -> onnx.GraphProto:
    """A body that gives out what `more` names, and then `y`, of its type."""
    y = onnx.ValueInfoProto()
    y.CopyFrom(graph.output[0])
    y.name = f"y{name}"
    given = [helper.make_tensor_value_info(n, onnx.TensorProto.BOOL, []) for n in more]
    return helper.make_graph(renamed(graph, name), name, [], [*given, y])


def in_branch(graph: onnx.GraphProto, opset: int) -> Made:
    branches = {f"{name}_branch": body(graph, name) for name in ("then", "else")}
    condition = helper.make_tensor_value_info("c", onnx.TensorProto.BOOL, [])
    return [helper.make_node("If", ["c"], ["y"], **branches)], [*graph.input, condition], []


def in_loop(graph: onnx.GraphProto, opset: int) -> Made:
    inner = body(graph, "_in", ["on", "so_far_on"])  # below opset 11 it carries at least one value
    iteration = helper.make_tensor_value_info("iteration", onnx.TensorProto.INT64, [])
    keep = helper.make_tensor_value_info("keep", onnx.TensorProto.BOOL, [])
    so_far = helper.make_tensor_value_info("so_far", onnx.TensorProto.BOOL, [])
    inner.input.extend([iteration, keep, so_far])
    for name, given in (("keep", "on"), ("so_far", "so_far_on")):
        inner.node.append(helper.make_node("Identity", [name], [given]))
    two = helper.make_tensor("two", onnx.TensorProto.INT64, [], [2])
    count = helper.make_node("Constant", [], ["n_iterations"], value=two)
    yes = helper.make_tensor("yes", onnx.TensorProto.BOOL, [], [True])
    start = helper.make_node("Constant", [], ["start"], value=yes)
    loop = helper.make_node(
        "Loop", ["n_iterations", "start", "start"], ["carried", "y"], body=inner
    )
    return [count, start, loop], list(graph.input), []


def in_function(graph: onnx.GraphProto, opset: int) -> Made:
    names = [value.name for value in graph.input]
    imports = [helper.make_opsetid("", opset)]
    function = helper.make_function("own", "f", names, ["y"], list(graph.node), imports)
    return [helper.make_node("f", names, ["y"], domain="own")], list(graph.input), [function]


PLACES: Mapping[str, Callable[[onnx.GraphProto, int], Made]] = {
    "graph": in_graph,
    "branch": in_branch,
    "Loop": in_loop,
    "function": in_function,
}


def model_of(graph: onnx.GraphProto, place: str, opset: int) -> onnx.ModelProto:
    """The nodes of a graph in one of the places."""
    nodes, inputs, functions = PLACES[place](graph, opset)
    y = onnx.ValueInfoProto()
    y.CopyFrom(graph.output[0])
    if place == "Loop":
        shape = onnx.TensorShapeProto(dim=[onnx.TensorShapeProto.Dimension(dim_value=2)])
        shape.dim.extend(y.type.tensor_type.shape.dim)
        y.type.tensor_type.shape.CopyFrom(shape)
    imports = [helper.make_opsetid("", opset)]
    imports += [helper.make_opsetid("own", 1)] if functions else []
    made = helper.make_graph(nodes, "g", inputs, [y])
    return helper.make_model(
        made, opset_imports=imports, functions=functions, ir_version=IR_VERSION
    )
