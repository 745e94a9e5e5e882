import pytest
from straightline import ir
from straightline.ops.composite import PARAMETERS
from straightline.passes.recurrences.functions import attributes_of, functions_of
from straightline.passes.recurrences.weights import Unfit


def node(attributes, op_type="LSTM"):
    model = ir.parse(
        '<ir_version: 8, opset_import: ["" : 17]> g (float[1, 1, 1] x, float[1, 4, 1] w,'
        f" float[1, 4, 1] r) => (float[?, ?, ?, ?] y) {{ y = {op_type} <{attributes}> (x, w, r) }}"
    )
    return model.graph.nodes()[0]


def test_defaults_are_not_written():
    defaults = [("Sigmoid", 0.0, 0.0), ("Tanh", 0.0, 0.0), ("Tanh", 0.0, 0.0)]
    assert functions_of(node("hidden_size = 1")) == defaults
    assert attributes_of("LSTM", defaults) == {}


def test_parameters_go_to_those_that_have_them():
    functions = [("HardSigmoid", 0.25, 0.5), ("Tanh", 0.0, 0.0), ("LeakyRelu", 0.125, 0.0)]
    assert attributes_of("LSTM", functions) == {
        "activations": ["HardSigmoid", "Tanh", "LeakyRelu"],
        "activation_alpha": [0.25, 0.125],
        "activation_beta": [0.5],
    }
    text = 'activations = ["hardsigmoid", "TANH", "LeakyRelu"], activation_beta = [0.5]'
    assert functions_of(node(f"{text}, activation_alpha = [0.25, 0.125]")) == functions
    assert functions_of(node(text))[0] == ("HardSigmoid", 0.2, 0.5)


def test_unknown_ones():
    assert "Softsign" in PARAMETERS and "Exp" not in PARAMETERS
    with pytest.raises(Unfit, match="has the activation Swish, which ONNX does not know"):
        functions_of(node('activations = ["Swish", "Tanh", "Tanh"]'))
    with pytest.raises(Unfit, match="has 1 activations for 2 directions"):
        functions_of(node('activations = ["Tanh"], direction = "bidirectional"', "RNN"))
    with pytest.raises(Unfit, match="has the direction sideways"):
        functions_of(node('direction = "sideways"'))


@pytest.mark.parametrize("kind", ["Affine", "ScaledTanh", "ThresholdedRelu"])
def test_parameters_with_several_defaults_must_be_written(kind):
    with pytest.raises(Unfit, match=f"omits parameters of {kind}, .* activation_alpha"):
        functions_of(node(f'activations = ["{kind}"]', "RNN"))
    text = f'activations = ["{kind}"], activation_alpha = [0.5], activation_beta = [2.0]'
    ((found, alpha, beta),) = functions_of(node(text, "RNN"))
    assert (found, alpha) == (kind, 0.5) and beta == (0.0 if kind == "ThresholdedRelu" else 2.0)
