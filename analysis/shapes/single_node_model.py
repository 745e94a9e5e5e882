"""Models of single constructs."""

import onnx

from ...ir import Graph, Model, Node, Value, captured_by, copy_graph, to_proto


def reads_of(node: Node) -> list[Value]:
    """List the inputs of a node and the captures of its graphs, each once."""
    return list(dict.fromkeys(v for v in (*node.inputs, *captured_by(node)) if v is not None))


def single_node_model(node: Node, model: Model) -> onnx.ModelProto:
    """Make a model of one construct, whose inputs are all values that it reads."""
    single = Model(onnx.ModelProto(ir_version=model.ir_version))
    single.opset_imports = dict(node.root.opset_imports)
    single.functions = dict(model.functions)
    graph: Graph = single.graph
    inputs = {value: graph.add_input(f"i{i}") for i, value in enumerate(reads_of(node))}
    labels = ["" if v is None else v.name for v in node.outputs]
    copy = graph.add_node(node.op, [None if v is None else inputs[v] for v in node.inputs], labels)
    for attribute, bodies in node.bodies.items():
        for body in bodies:
            copy_graph(body, graph.add_body(copy, attribute, body.header), inputs)
    outputs = [v for v in copy.outputs if v is not None]
    graph.set_outputs(outputs, [onnx.ValueInfoProto(name=v.name) for v in outputs])
    return to_proto(single)
