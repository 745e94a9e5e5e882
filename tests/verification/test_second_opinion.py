import numpy as np
import pytest
from straightline.verification import second_opinion
from straightline.verification.checker import folding
from straightline.verification.checker.terms import Head

pytest.importorskip("onnxruntime")
F, N = np.float32, np.int64


def test_another_result_is_no_agreement(monkeypatch):
    five = [np.array([5], N)]
    assert second_opinion.agrees(Head("Neg", 13), five)
    monkeypatch.setattr(folding, "operator_kernel", lambda *_: lambda arrays: [arrays[0] + 1])
    assert not second_opinion.agrees(Head("Neg", 13), five)


def test_an_uncomputed_result_is_no_disagreement():
    assert second_opinion.agrees(Head("Div", 14), [np.array([1], N), np.array([0], N)])
    assert second_opinion.agrees(Head("Abs", 13), [np.array([-1, -2], F)[:0]])


def test_signs_of_zeros_are_compared(monkeypatch):
    """onnxruntime 1.32 loses the sign of a zero that Where takes from its first value."""
    monkeypatch.setattr(folding, "departs", lambda head, arrays: False)
    head, zeros = Head("Where", 16), np.array([-0.0, 0.0], F)
    assert second_opinion.agrees(head, [np.array([False]), zeros, zeros])
    assert not second_opinion.agrees(head, [np.array([True]), zeros, np.ones(2, F)])
