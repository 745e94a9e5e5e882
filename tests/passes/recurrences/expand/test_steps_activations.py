"""The activations of RNN, GRU and LSTM as nodes."""

import numpy as np
import pytest
from harness import check_model, run_in_onnxruntime
from layers import PARAMETERS
from onnx import TensorProto
from straightline import ir, reference
from straightline.ops.builder import Builder
from straightline.passes.recurrences.expand.steps import Activations
from straightline.passes.recurrences.weights import Unfit
from straightline.reference.overrides.recurrent import _FUNCTIONS

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
