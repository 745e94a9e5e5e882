import numpy as np
import onnx
import pytest
from cells import HEAD, recurrence_of
from harness import as_model
from straightline.passes.recurrences.recognize.finiteness import Finiteness

FINITE = {
    "a constant": ("w = Add (h, k)", "k"),
    "rows of a table": ("v = Gather (table, i) w = Add (h, v)", "v"),
    "what is scanned of it": ("w = Add (h, p)", "p"),
    "truth values": ("v = Cast <to = 1> (b) w = Add (h, v)", "v"),
    "an activation of it": ("v = Tanh (p) w = Mul (h, v)", "v"),
    "a product of matrices": ("v = MatMul (p, square) w = Add (h, v)", "v"),
    "chosen of two": ("v = Where (b, p, k) w = Add (h, v)", "v"),
}
OPEN = {
    "an input": ("w = Add (h, e)", "e"),
    "an activation of it": ("v = Tanh (e) w = Mul (h, v)", "v"),
    "a state": ("w = Tanh (h)", "h"),
    "an infinity": ("w = Add (h, infinite)", "infinite"),
    "a quotient": ("v = Div (p, k) w = Add (h, v)", "v"),
    "a product that overflows": ("v = Mul (huge, huge) w = Add (h, v)", "v"),
    "numbers that a smaller type lacks": (
        "v = Cast <to = 10> (number) u = Cast <to = 1> (v) w = Add (h, u)",
        "v",
    ),
}
CONSTANTS = {
    "k": np.ones(4),
    "table": np.ones((9, 4)),
    "square": np.ones((4, 4)),
    "infinite": np.array([1, 1, np.inf, 1]),
    "huge": np.full(4, 1e38),
    "rows": np.ones((5, 4)),
}


def holds(body, name):
    text = f"""{HEAD} g (float[4] h0, float[5, 4] x, int64[5] ids, bool[5, 4] flags)
        => (float[4] h1) {{ h1 = Scan <num_scan_inputs = 5, body = f (float[4] h, float[4] e,
            int64 i, bool[4] b, float[4] p, int64 number) => (float[4] h2)
            {{ {body} h2 = Tanh (w) }}> (h0, x, ids, flags, rows, ids) }}"""
    model = as_model(text.replace(f"{HEAD} ", HEAD))
    for key, array in CONSTANTS.items():
        model.graph.initializer.append(onnx.numpy_helper.from_array(array.astype(np.float32), key))
    recurrence = recurrence_of(model)
    graph = recurrence.iterations.loop_view.body
    held = [*graph.inputs, *(v for n in graph.nodes() for v in (*n.inputs, *n.outputs) if v)]
    (value,) = {value for value in held if value.name == name}
    return Finiteness(recurrence).holds([value])


@pytest.mark.parametrize("case", FINITE)
def test_finite_magnitudes(case):
    assert holds(*FINITE[case])


@pytest.mark.parametrize("case", OPEN)
def test_magnitudes_that_may_be_infinite(case):
    assert not holds(*OPEN[case])
