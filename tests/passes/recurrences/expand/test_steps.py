import numpy as np
import pytest
from harness import check_model, run_in_onnxruntime
from layers import PARAMETERS
from onnx import TensorProto
from straightline import ir, reference
from straightline.analysis.shapes.inference import ShapeInference
from straightline.ops.builder import Builder
from straightline.passes.recurrences.expand.steps import Activations, step_graph, weight_names
from straightline.passes.recurrences.layers import read_layer
from straightline.passes.recurrences.weights import Unfit
from straightline.reference.overrides.recurrent import _FUNCTIONS
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


EDGES = np.array([-1e30, -90, -1, -0.3, -0.0, 0, 0.3, 1, 90, 1e30, np.inf, -np.inf, np.nan], "f4")


def applied(function, opset=17, clip=None):
    """A model of an activation of x."""
    model = ir.parse(
        f'<ir_version: 8, opset_import: ["" : {opset}]> g (float[N] x) => (float[N] y)'
        " { y = Identity (x) }"
    )
    graph, (x,) = model.graph, model.graph.inputs
    activations = Activations(Builder(graph), TensorProto.FLOAT, clip)
    made = activations.apply(function, activations.clip(x), "made")
    graph.replace_uses(graph.nodes()[0].output(), made)
    proto = ir.to_proto(model)
    check_model(proto)
    return proto


@pytest.mark.parametrize("opset", [9, 17])
@pytest.mark.parametrize("kind", PARAMETERS)
def test_each_is_what_the_specification_says(kind, opset):
    alpha, beta = [0.5, 0.25][: PARAMETERS[kind]] + [0.0] * (2 - PARAMETERS[kind])
    model = applied((kind, alpha, beta), opset)
    with np.errstate(all="ignore"):
        wanted = _FUNCTIONS[kind.lower()][0](EDGES, alpha, beta)
        given = EDGES if kind != "Softsign" else EDGES[:-3]  # inf / inf
        (got,) = reference.run(model, {"x": given})
        np.testing.assert_allclose(got, wanted[: len(given)], rtol=1e-6)
        (got,) = run_in_onnxruntime(model, {"x": EDGES[1:-4]})
        np.testing.assert_allclose(got, wanted[1:-4], rtol=1e-5, atol=1e-6)


def test_identities_are_not_emitted():
    model = applied(("Affine", 1.0, 0.5))
    assert "Mul" not in {node.op_type for node in model.graph.node}


@pytest.mark.parametrize("opset", [10, 11])
def test_bounds(opset):
    (got,) = reference.run(applied(("Affine", 2.0, 0.0), opset, clip=0.25), {"x": EDGES})
    np.testing.assert_array_equal(got, 2 * np.clip(EDGES, -0.25, 0.25))


def test_without_a_choice_there_is_no_threshold():
    with pytest.raises(Unfit, match="has the activation ThresholdedRelu; convert to opset 9"):
        applied(("ThresholdedRelu", 1.0, 0.0), 8)
