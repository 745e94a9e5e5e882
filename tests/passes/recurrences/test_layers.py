import pytest
from straightline import ir
from straightline.analysis.shapes.inference import ShapeInference
from straightline.passes.recurrences.layers import PEEPHOLES, read_layer
from straightline.passes.recurrences.weights import Unfit


def layer(node, x="float[3, 2, 1] x", r="float[1, 4, 1] r", opset=17):
    model = ir.parse(
        f'<ir_version: 8, opset_import: ["" : {opset}]> g ({x}, float[1, 4, 1] w, {r})'
        f" => (float[?, ?, ?, ?] y) {{ y = {node} (x, w, r) }}"
    )
    return read_layer(model.graph.nodes()[0], ShapeInference(model))


def test_absent_inputs_have_the_defaults_of_onnx():
    found = layer("LSTM")
    assert (found.length, found.batch.value, found.hidden, found.gates) == (3, 2, 1, 4)
    assert found.backward == (False,) and found.clip is None and found.node.input(PEEPHOLES) is None
    assert [[kind for kind, *_ in names] for names in found.functions] == [
        ["Sigmoid", "Tanh", "Tanh"]
    ]
    assert not (found.batch_first or found.coupled or found.reset_after)


def test_attributes_of_a_layer():
    found = layer(
        'GRU <direction = "bidirectional", layout = 1, clip = 2.0, linear_before_reset = 1,'
        ' activations = ["relu", "Tanh", "Elu", "Sigmoid"], activation_alpha = [0.5]>',
        x="float[N, T, 1] x",
        r="float[2, 6, 2] r",
    )
    assert found.length is None and str(found.batch) == "N" and found.hidden == 2
    assert found.backward == (False, True) and found.clip == 2.0
    assert found.batch_first and found.reset_after
    assert found.functions[1] == (("Elu", 0.5, 0.0), ("Sigmoid", 0.0, 0.0))


def test_the_width_is_that_of_the_weights_or_what_is_written():
    assert layer("LSTM <hidden_size = 1>", r="float[1, 4, ?] r").hidden == 1
    with pytest.raises(Unfit, match="states of a width that is not known"):
        layer("LSTM", r="float[1, 4, ?] r")


def test_older_operators_are_others():
    with pytest.raises(Unfit, match="is of an opset below 7"):
        layer("LSTM", opset=6)


def test_an_attribute_that_callers_give_says_nothing():
    model = ir.parse(
        '<ir_version: 8, opset_import: ["" : 17, "d" : 1]> g (float[3, 2, 1] x, float[1, 1, 1] w)'
        ' => (y) { y = d.f <s = 1> (x, w) } <domain: "d", opset_import: ["" : 17]>'
        " f <s> (x, w) => (y) { y = RNN <hidden_size : int = @s> (x, w, w) }"
    )
    (function,) = model.functions.values()
    with pytest.raises(Unfit, match="its attribute 'hidden_size' comes from the function around"):
        read_layer(function.graph.nodes()[0], ShapeInference(model))
