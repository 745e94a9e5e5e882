"""The operator that is made: its weights, its input, and what is fed to it as it is."""

import numpy as np
import onnx
import pytest
from cells import HEAD, difference, raised
from harness import as_model

RNG = np.random.default_rng(6)


@pytest.fixture(autouse=True)
def same_numbers():
    """Draw the same numbers in a test whichever tests run before."""
    RNG.bit_generator.state = np.random.default_rng(6).bit_generator.state


def numbers(*shape):
    return (RNG.normal(size=shape) * 0.4).astype(np.float32)


WEIGHTS = {"u": (4, 4), "v": (4, 4), "b": (4,), "c": (1, 4), "k": (1,), "m": (4, 2)}
BODIES = {
    "several inputs": "p = MatMul (e, u) q = MatMul (h, v) s = Add (p, q) t = Add (s, d)"
    " w = Add (t, f)",
    "biases of several shapes": "q = MatMul (h, v) s = Add (q, b) t = Add (s, c) t2 = Add (t, k)"
    " t3 = Add (t2, e) w = Sub (t3, row)",
    "no input": "w = MatMul (h, v)",
    "a product of inputs": "s = Mul (e, d) t = Mul (s, b) r0 = Add (t, h)"
    " q = MatMul (r0, v) w = Neg (q)",
    "the same matrix twice": "q = MatMul (h, v) s = MatMul (h, u) t = Sub (q, s) w = Add (t, q)",
    "a number for each trip": "q = MatMul (h, v) n = ReduceSum (f) w = Add (q, n)",
    "a number for each row": "q = MatMul (h, v) w = Add (q, column)",
    "another batch for all trips": "q = MatMul (h, v) w = Add (q, every)",
}


@pytest.mark.parametrize("case", BODIES)
@pytest.mark.parametrize("fed", [False, True])
def test_what_is_fed(case, fed):
    """With weights that are constants, and with weights that are inputs."""
    text = f"""g (float[B, 4] h0, float[T, B, 4] x, float[T, B, 4] x2, float[T, 1, 4] x3,
        float[B, 4] every, float[1, 4] row, float[B, 1] column)
        => (float[B, 4] h1, float[?, ?, ?] y) {{
        h1, y = Scan <num_scan_inputs = 3, body = g (float[B, 4] h, float[B, 4] e,
            float[B, 4] d, float[1, 4] f) => (float[B, 4] h2, float[B, 4] r) {{ {BODIES[case]}
            h2 = Tanh (w) r = Identity (h2) }}> (h0, x, x2, x3) }}"""
    model = as_model(HEAD + text)
    weights = {name: numbers(*shape) for name, shape in WEIGHTS.items()}
    for name, array in weights.items():
        if fed:
            info = onnx.helper.make_tensor_value_info(name, 1, array.shape)
            model.graph.input.append(info)
        else:
            model.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    after = raised(model)
    assert [n.op_type for n in after.graph.node].count("RNN") == 1
    for trips, batch in [(5, 2), (0, 3), (1, 1), (2, 0)]:
        feed = {"h0": numbers(batch, 4), "x": numbers(trips, batch, 4)}
        feed |= {"x2": numbers(trips, batch, 4), "x3": numbers(trips, 1, 4)}
        feed |= {"every": numbers(batch, 4), "row": numbers(1, 4)}
        feed |= {"column": numbers(batch, 1)} | (weights if fed else {})
        assert difference(model, after, feed) <= 8


def test_a_default_that_callers_may_override_is_no_constant():
    text = """<ir_version: 8, opset_import: ["" : 18]> g (float[4] h0, float[T, 4] x,
        float[4, 4] u) => (float[4] h1) <float[4, 4] u> { h1 = Scan <num_scan_inputs = 1,
        body = f (float[4] h, float[4] e) => (float[4] h2) {
            q = MatMul (h, u) s = Add (q, e) h2 = Tanh (s) }> (h0, x) }"""
    model = as_model(text.replace("<float[4, 4] u> ", ""))
    model.graph.initializer.append(onnx.numpy_helper.from_array(numbers(4, 4), "u"))
    after = raised(model)
    feed = {"h0": numbers(4), "x": numbers(3, 4)}
    for more in ({}, {"u": numbers(4, 4)}):
        assert difference(model, after, feed | more) <= 8
