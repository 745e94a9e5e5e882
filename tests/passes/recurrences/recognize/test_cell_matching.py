import numpy as np
import pytest
from cells import interpreted
from straightline.passes.recurrences.recognize.cell_matching import find_cell
from straightline.passes.recurrences.weights import Unfit

W = {name: np.random.default_rng(3).normal(size=(4, 4)) for name in ("u", "v", "w")}
GATES = """a = MatMul (h, u) b = Add (a, e) z = Sigmoid (b) c = MatMul (h, v) r = Sigmoid (c)
    d = Mul (r, h) f = MatMul (d, w) g = Add (f, e) n = Tanh (g) one = Constant <value_float = 1.0>
    () o = Sub (one, z) """


def cell_of(body):
    return find_cell(interpreted(body, **W))


def signs(cell):
    return [gate.recurrent[0][0] for gate in cell.gates]


def test_the_update_gate_keeps_the_state_or_replaces_it():
    kept = cell_of(GATES + "s = Mul (z, h) t = Mul (o, n) h2 = Add (s, t)")
    taken = cell_of(GATES + "s = Mul (z, n) t = Mul (o, h) h2 = Add (s, t)")
    assert kept.op_type == taken.op_type == "GRU"
    assert [gate.recurrent[0][1].value.name for gate in kept.gates] == ["u", "v", "w"]
    assert signs(kept) == [1.0, 1.0, 1.0] and signs(taken) == [-1.0, 1.0, 1.0]
    assert not kept.reset_after


def test_a_reset_after_the_product():
    text = GATES.replace("d = Mul (r, h) f = MatMul (d, w)", "d = MatMul (h, w) f = Mul (r, d)")
    cell = cell_of(text + "s = Mul (z, h) t = Mul (o, n) h2 = Add (s, t)")
    assert cell.reset_after and cell.reset_bias == ()


def test_a_linear_recurrence_is_an_rnn_without_activation():
    cell = cell_of("a = MatMul (h, u) h2 = Add (a, e)")
    assert (cell.op_type, cell.functions) == ("RNN", (("Affine", 1.0, 0.0),))


REFUSED = {
    "multiplies its input by the reset gate as well": """p = MatMul (e, w) q = MatMul (h, w)
        s = Add (p, q) t = Mul (r, s) n2 = Tanh (t) x1 = Mul (z, h) x2 = Mul (o, n2)
        h2 = Add (x1, x2)""",
    "both with and without the reset gate": """q = MatMul (h, v) s = Add (g, q) n2 = Tanh (s)
        x1 = Mul (z, h) x2 = Mul (o, n2) h2 = Add (x1, x2)""",
    "is neither an activation nor a blend": "x1 = Mul (z, h) x2 = Mul (z, n) h2 = Add (x1, x2)",
}


@pytest.mark.parametrize("reason", REFUSED)
def test_bodies_that_are_no_gru(reason):
    with pytest.raises(Unfit, match=reason):
        cell_of(GATES + REFUSED[reason])
