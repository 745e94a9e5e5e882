"""Mod of integers, and what it is made of in opset 9."""

import numpy as np
import onnx
import pytest
import straightline as sl
from proofs import is_proved, model
from sessions import open_session
from straightline.reference import run


def remainder(kind="int64", said="", shape="n"):
    mod = "g (%s[n] a, %s[n] b) => (%s[n] z) { z = Mod %s (a, b) }"
    return model((mod % (kind, kind, kind, said)).replace("[n]", f"[{shape}]"), 13)


@pytest.mark.parametrize("shape", ["n", "1", "3, n"])
@pytest.mark.parametrize("said", ["", "<fmod = 1>"])
@pytest.mark.parametrize("kind", ["int32", "int64", "uint64"])
def test_a_remainder_is_what_it_is_made_of(kind, said, shape):
    before = remainder(kind, said, shape)
    for opset in (9,) if shape == "3, n" else (8, 9):
        after = sl.convert_version(before, opset)
        assert is_proved(before, after)
        assert is_proved(after, before)


@pytest.mark.parametrize("old", ["Sub", "Less", "Xor", "And", "Add", "Div"])
def test_another_sum_is_not(old):
    before = remainder()
    after = sl.convert_version(before, 9)
    new = {"Sub": "Add", "Less": "Greater", "Xor": "And", "And": "Or", "Add": "Sub", "Div": "Mul"}
    for node in after.graph.node:
        if node.op_type == old:
            node.op_type = new[old]
    assert not is_proved(before, after)


def test_the_sign_counts():
    after = sl.convert_version(remainder(), 9)
    assert not is_proved(remainder(said="<fmod = 1>"), after)
    exchanged = onnx.ModelProto.FromString(after.SerializeToString())
    for node in exchanged.graph.node:
        if node.op_type == "Div":
            node.input[:] = list(node.input)[::-1]
    assert not is_proved(remainder(), exchanged)


@pytest.mark.parametrize("said", ["", "<fmod = 1>"])
@pytest.mark.parametrize("kind", ["int32", "int64", "uint64"])
def test_runs_give_the_same_bits(kind, said):
    low = 0 if kind == "uint64" else -7
    pairs = [(a, b) for a in range(low, 8) for b in range(low, 8) if b]
    feeds = {n: np.array([p[k] for p in pairs], kind) for k, n in enumerate("ab")}
    before = remainder(kind, said)
    after = sl.convert_version(before, 9)
    expected = run(before, feeds)[0]
    np.testing.assert_array_equal(run(after, feeds)[0], expected)
    for made in (before, after):
        np.testing.assert_array_equal(open_session(made).run(None, feeds)[0], expected)
