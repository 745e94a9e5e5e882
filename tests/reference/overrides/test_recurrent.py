import random

import numpy as np
import pytest
from harness import run_in_onnxruntime
from onnx import helper
from straightline import reference
from straightline.reference import EvaluationError

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
FUNCTIONS = {"RNN": 1, "GRU": 2, "LSTM": 3}
BOUNDED = ["Sigmoid", "Tanh", "HardSigmoid", "Softsign"]
ACTIVATIONS = [*BOUNDED, "Relu", "LeakyRelu", "Elu", "ThresholdedRelu", "Affine"]

PARAMETERS = {"HardSigmoid": 2, "Affine": 2, "LeakyRelu": 1, "Elu": 1, "ThresholdedRelu": 1}


def drawn(op_type, seed):
    """A model of one node with attributes of every kind, and what it is fed."""
    pick, numbers = random.Random(seed), np.random.default_rng(seed)
    iterations, batch, inputs, hidden = (pick.randint(1, 4) for _ in range(4))
    direction = pick.choice(["forward", "reverse", "bidirectional"])
    count = 2 if direction == "bidirectional" else 1
    attributes = {"hidden_size": hidden, "direction": direction}
    if pick.random() < 0.5:
        names = [pick.choice(BOUNDED) for _ in range(FUNCTIONS[op_type])]
        if op_type == "RNN":
            names = [pick.choice(ACTIVATIONS)]
        attributes["activations"] = names * count
        # Left out, onnxruntime takes other parameters than the specification.
        for letter, at in (("alpha", 1), ("beta", 2)):
            having = [name for name in names * count if PARAMETERS.get(name, 0) >= at]
            attributes |= {f"activation_{letter}": [0.4] * len(having)} if having else {}
    if op_type == "GRU" and pick.random() < 0.5:
        attributes["linear_before_reset"] = 1
    coupled = op_type == "LSTM" and pick.random() < 0.2
    if coupled:
        attributes["input_forget"] = 1
    gates = GATES[op_type]

    def array(*shape):
        return (numbers.normal(size=shape) * 0.7).astype(np.float32)

    feed = {
        "x": array(iterations, batch, inputs),
        "w": array(count, gates * hidden, inputs),
        "r": array(count, gates * hidden, hidden),
    }
    names = ["x", "w", "r", "", "", ""]
    if pick.random() < 0.7:
        names[3], feed["b"] = "b", array(count, 2 * gates * hidden)
    if pick.random() < 0.4:
        lengths = numbers.integers(1, iterations + 1, batch).astype(np.int32)
        names[4], feed["lengths"] = "lengths", lengths
    if pick.random() < 0.7:
        names[5], feed["h"] = "h", array(count, batch, hidden)
    outputs = ["y", "last"]
    if op_type == "LSTM":
        outputs.append("cell")
        names += ["", ""]
        if pick.random() < 0.7:
            names[6], feed["c"] = "c", array(count, batch, hidden)
        if pick.random() < 0.4 and not coupled:
            names[7], feed["p"] = "p", array(count, 3 * hidden)
    return model(op_type, names, outputs, feed, attributes), feed


def model(op_type, names, outputs, feed, attributes):
    node = helper.make_node(op_type, names, outputs, **attributes)
    given = [
        helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape
        )
        for name, array in feed.items()
    ]
    made = [helper.make_tensor_value_info(name, 1, None) for name in outputs]
    graph = helper.make_graph([node], "g", given, made)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.parametrize("op_type", GATES)
def test_as_onnxruntime(op_type):
    for seed in range(80):
        source, feed = drawn(op_type, seed)
        expected = run_in_onnxruntime(source, feed)
        for one, other in zip(reference.run(source, feed), expected, strict=True):
            assert one.dtype == other.dtype and one.shape == other.shape
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5, err_msg=str(seed))


@pytest.mark.parametrize("op_type", GATES)
def test_without_elements_the_initial_state_is_the_last(op_type):
    """onnxruntime gives zeros or aborts."""
    rows = GATES[op_type] * 2
    feed = {"x": np.zeros((0, 1, 3), np.float32), "w": np.zeros((1, rows, 3), np.float32)}
    feed["r"] = np.zeros((1, rows, 2), np.float32)
    feed["h"] = np.array([[[5, -7]]], np.float32)
    source = model(op_type, ["x", "w", "r", "", "", "h"], ["y", "last"], feed, {"hidden_size": 2})
    every, last = reference.run(source, feed)[:2]
    assert every.shape == (0, 1, 1, 2)
    np.testing.assert_array_equal(last, feed["h"])


def test_clipping_and_batches_first():
    feed = {"x": np.full((2, 1, 1), 9, np.float32), "w": np.ones((1, 1, 1), np.float32)}
    feed["r"] = np.ones((1, 1, 1), np.float32)
    attributes = {"hidden_size": 1, "clip": 0.5, "layout": 1, "activations": ["Affine"]}
    source = model("RNN", ["x", "w", "r"], ["y", "last"], feed, attributes)
    every, last = reference.run(source, feed)
    assert every.shape == (2, 1, 1, 1) and last.shape == (2, 1, 1)
    np.testing.assert_array_equal(every.reshape(-1), [0.5, 0.5])


def test_refused_layers():
    feed = {"x": np.zeros((1, 1, 1), np.float32), "w": np.ones((1, 1, 1), np.float32)}
    feed["r"] = np.ones((1, 1, 1), np.float32)
    attributes = {"hidden_size": 1, "activations": ["Softmax"]}
    source = model("RNN", ["x", "w", "r"], ["y", "last"], feed, attributes)
    with pytest.raises(EvaluationError, match="there is no activation 'Softmax'"):
        reference.run(source, feed)
    source.graph.input[0].type.tensor_type.ClearField("shape")
    with pytest.raises(EvaluationError, match="its operands and states have three axes"):
        reference.run(source, feed | {"x": np.zeros((1, 1), np.float32)})


def test_without_peepholes_no_gate_sees_the_cell():
    """Not even that it is infinite."""
    shapes = {"x": (2, 1, 1), "w": (1, 4, 1), "r": (1, 4, 1), "h": (1, 1, 1), "c": (1, 1, 1)}
    feed = {name: np.full(shape, 0.5, np.float32) for name, shape in shapes.items()}
    feed["c"] = np.full((1, 1, 1), -np.inf, np.float32)
    names = ["x", "w", "r", "", "", "h", "c"]
    source = model("LSTM", names, ["y", "last", "cell"], feed, {"hidden_size": 1})
    expected = run_in_onnxruntime(source, feed)
    assert expected[2].item() == -np.inf and not np.isnan(expected[0]).any()
    for one, other in zip(reference.run(source, feed), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)
