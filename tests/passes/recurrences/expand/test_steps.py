from straightline import ir
from straightline.analysis.shapes.inference import ShapeInference
from straightline.passes.recurrences.expand.steps import step_graph, weight_names
from straightline.passes.recurrences.layers import read_layer
from tables import table


def step(node, inputs="x, w, r"):
    """The inputs and the text of the nodes of a step."""
    model = ir.parse(
        '<ir_version: 8, opset_import: ["" : 17]> g (float[3, 2, 1] x, float[1, 8, 1] w,'
        " float[1, 8, 2] r, float[1, 16] b, float[1, 6] p) => (float[?, ?, ?, ?] y)"
        f" {{ y = {node} ({inputs}) }}"
    )
    layer = read_layer(model.graph.nodes()[0], ShapeInference(model))
    graph = step_graph(layer, layer.functions[0])
    assert [v.name for v in graph.inputs][-len(weight_names(layer)) :] == weight_names(layer)
    return [v.name for v in graph.inputs], [node.op_type for node in graph.nodes()]


GATES = ["Split", "MatMul", "Add", "Sigmoid", "Split"]
BLEND = ["Sub", "Mul", "Mul", "Add"]


@table(
    ("RNN <clip = 1.0>", "x, w, r", "h fed r", ["MatMul", "Add", "Clip", "Tanh"]),
    ("GRU", "x, w, r, b", "h fed r r_new", [*GATES, "Mul", "MatMul", "Add", "Tanh", *BLEND]),
    ("GRU <linear_before_reset = 1>", "x, w, r, b", "h fed r b_new",
     [*GATES, "Split", "Add", "Mul", "Add", "Tanh", *BLEND]),
    ("LSTM", "x, w, r", "h c fed r",
     ["MatMul", "Add", "Split", *["Sigmoid"] * 3, "Tanh", "Mul", "Mul", "Add", "Tanh", "Mul"]),
    ("LSTM <input_forget = 1>", 'x, w, r, b, "", "", "", p', "h c fed r p_in p_out",
     ["MatMul", "Split", "Sub", "Tanh", "Tanh", *["Sigmoid"] * 2, *["Mul"] * 5,
     *["Add"] * 4]))  # fmt: skip
def test_inputs_and_nodes_of_a_step(node, inputs, names, operators):
    given, used = step(node, inputs)
    assert given == names.split() and sorted(used) == sorted(operators)
