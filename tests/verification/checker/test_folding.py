"""Operators on constants: what is computed, and what is not certain."""

import numpy as np
import pytest
from onnx import helper
from straightline.verification.checker.folding import fold, rounds
from straightline.verification.checker.terms import Head

F, N = np.float32, np.int64


def cast(to):
    message = helper.make_attribute("to", to)
    return Head("Cast", 13, (("to", message.SerializeToString()),))


def test_results_are_those_of_the_specification():
    (total,) = fold(Head("Add", 14), [np.array([1, 2], N), np.array(3, N)])
    assert total.tolist() == [4, 5] and total.dtype == N
    (joined,) = fold(Head("Gather", 13).changed(axis=0), [np.arange(4), np.array([-1, 0])])
    assert joined.tolist() == [3, 0]


@pytest.mark.parametrize(
    ("head", "arrays"),
    [
        (Head("Div", 14), [np.array([1], N), np.array([0], N)]),
        (Head("Div", 14), [np.array([-7], N), np.array([-2], N)]),
        (cast(7), [np.array([np.nan], F)]),
        (cast(7), [np.array([1e30], F)]),
        (cast(3), [np.array([300], N)]),
        (cast(8), [np.array([300], N)]),
        (Head("Max", 13), [np.array([np.nan], F), np.array([1], F)]),
        (Head("Exp", 13), [np.array([1e3], F)]),
        (Head("RandomNormalLike", 1), [np.array([1], F)]),
        (Head("NonMaxSuppression", 11), [np.array([1], F)]),
        (Head("Add", 14), [np.zeros(2, N), np.zeros(3, N)]),
        (Head("Abs", 13, key=1), [np.zeros(2, N)]),
        (Head("moved"), [np.zeros(2, N)]),
    ],
)
def test_results_that_are_not_certain(head, arrays):
    assert fold(head, arrays) is None


def test_operators_that_round_in_between_are_not_exact():
    assert rounds(Head("Exp", 13), is_whole=False) and rounds(Head("ReduceSum", 13), is_whole=False)
    assert not rounds(Head("ReduceSum", 13), is_whole=True)
    assert not rounds(Head("Mul", 14), is_whole=False)
    assert not rounds(Head("Gather", 13), is_whole=False)
