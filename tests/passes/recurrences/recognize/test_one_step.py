"""Nodes of a single step in a Loop: the same operator on all iterations, bit for bit unless its
input gate is coupled with its forget gate."""

import numpy as np
import onnx
import pytest
from cells import HEAD, difference, made_of, raised
from harness import as_model
from straightline.passes.recurrences.weights import Unfit
from tables import table

RNG = np.random.default_rng(1)


def numbers(*shape):
    return (RNG.normal(size=shape) * 0.4).astype(np.float32)


@table(
    ("LSTM", "LSTM", ""),
    ("LSTM with peepholes", "LSTM", ""),
    ("LSTM with a coupled gate", "LSTM", ", input_forget = 1"),
    ("LSTM with a coupled gate and peepholes", "LSTM", ", input_forget = 1"),
    ("GRU", "GRU", ""),
    ("GRU, reset after", "GRU", ", linear_before_reset = 1"),
    ("RNN with another activation", "RNN", ', activations = ["Relu"]'),
)
def test_one_step_in_a_loop(case, op_type, attributes):
    states = ["h", "c"] if op_type == "LSTM" else ["h"]

    def each(text):
        return ", ".join(text.format(s) for s in states)

    peepholes = ", p" if "peepholes" in case else ""
    before = " ".join(f"{s}u = Unsqueeze ({s}, zero)" for s in states)
    behind = " ".join(f"{s}2 = Squeeze ({s}n, zero)" for s in states)
    text = f"""g (float[T, B, 3] x, {each("float[B, 4] {}0")}, int64 n)
        => ({each("float[B, 4] {}1")}, float[?, ?, ?] y)
        <bool yes = {{1}}, int64[1] zero = {{0}}, int64[2] two = {{0, 1}}> {{
        {each("{}1")}, y = Loop (n, yes, {each("{}0")}) <body = f (int64 i, bool k,
            {each("float[B, 4] {}")}) => (bool k2, {each("float[B, 4] {}2")}, float[B, 4] r) {{
            k2 = Identity (k) e = Gather (x, i) e1 = Unsqueeze (e, zero) {before}
            all, {each("{}n")} = {op_type} <hidden_size = 4{attributes}>
                (e1, w, u, b, "", {each("{}u")}{peepholes})
            r = Squeeze (all, two) {behind} }}> }}"""
    model = as_model(HEAD + text)
    gates = {"RNN": 1, "GRU": 3, "LSTM": 4}[op_type]
    shapes = {"w": (gates * 4, 3), "u": (gates * 4, 4), "b": (gates * 8,)}
    for name, shape in {**shapes, **({"p": (12,)} if peepholes else {})}.items():
        tensor = onnx.numpy_helper.from_array(numbers(1, *shape), name)
        model.graph.initializer.append(tensor)
    after = raised(model)
    for iterations, batch in [(5, 2), (0, 2), (1, 1), (40, 2), (3, 0)]:
        feed = {"x": numbers(iterations, batch, 3), "n": np.array(iterations)}
        feed |= {f"{state}0": numbers(batch, 4) for state in states}
        most = 8 if "coupled" in case else 0  # then one less a gate is a gate of its own
        assert difference(model, after, feed) <= most or iterations * batch == 0


@table(
    ("which is not one plain step", 'direction = "reverse"'),
    ("which has the activation Swish", 'activations = ["Swish"]'),
    ("which omits parameters of Affine", 'activations = ["Affine"]'),
)
def test_refused_steps(reason, text):
    body = f"""zero = Constant <value_ints = [0]> () hu = Unsqueeze (h, zero)
        eu = Unsqueeze (e, zero) all, hn = RNN <hidden_size = 4, {text}>
        (eu, w, w, "", "", hu) h2 = Squeeze (hn, zero)"""
    with pytest.raises(Unfit, match=reason):
        made_of(body, w=np.zeros((1, 4, 4)))
