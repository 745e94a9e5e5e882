import pytest
from proofs import assert_open, assert_proved

TEXT = """g (float[T, 2, 3] x, float[1, {}, 3] w, float[1, {}, 2] r) => (float[T, 1, 2, 2] y)
    <float[1, 2, 2] zeros = {{0, 0, 0, 0}}, float[1, 1, 2] few = {{0, 0}},
    float[2, 1, 2] other = {{0, 0, 0, 0}}, float[1, 2, 2] minus = {{0, 0, -0.0, 0}},
    float[1, 2, 2] one = {{0, 0, 1, 0}}> {{ y, h = {} <hidden_size = 2> (x, w, r{}) }}"""


@pytest.mark.parametrize(("op_type", "gates"), [("RNN", 1), ("GRU", 3), ("LSTM", 4)])
def test_zeros_and_no_state(op_type, gates):
    def text(state):
        return TEXT.format(2 * gates, 2 * gates, op_type, state)

    assert_proved(text(", , , zeros"), text(""))
    assert_proved(text(""), text(", , , zeros"))
    for other in ("minus", "one", "few", "other"):
        assert_open(text(f", , , {other}"), text(""))
    if op_type == "LSTM":
        assert_proved(text(", , , zeros, zeros"), text(", , , , zeros"))
        assert_open(text(", , , zeros, one"), text(""))


BATCH_FIRST = """g (float[B, T, 3] x, float[1, {gates}, 3] w, float[1, {gates}, 2] r,
    float[B, 1, 2] s) => (float[B, T, 1, 2] y, float[B, 1, 2] h)
    {{ y, h = {op_type} <hidden_size = 2, layout = 1> (x, w, r, , , s) }}"""
SEQUENCE_FIRST = """g (float[B, T, 3] x, float[1, {gates}, 3] w, float[1, {gates}, 2] r,
    float[B, 1, 2] s) => (float[B, T, 1, 2] y, float[B, 1, 2] h)
    {{ u = Transpose <perm = [1, 0, 2]> (x) t = Transpose <perm = [1, 0, 2]> (s)
       v, k = {op_type} <hidden_size = 2> (u, w, r, , , {state})
       y = Transpose <perm = {perm}> (v) h = Transpose <perm = [1, 0, 2]> (k) }}"""


@pytest.mark.parametrize(("op_type", "gates"), [("RNN", 2), ("GRU", 6), ("LSTM", 8)])
def test_batches_first(op_type, gates):
    first = BATCH_FIRST.format(op_type=op_type, gates=gates)

    def second(state="t", perm="[2, 0, 1, 3]"):
        return SEQUENCE_FIRST.format(op_type=op_type, gates=gates, state=state, perm=perm)

    assert_proved(first, second())
    assert_proved(second(), first)
    assert_open(first, second(state=""))
    assert_open(first, second(perm="[2, 0, 1, 3]").replace("(k)", "(t)"))
