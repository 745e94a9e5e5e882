"""The recurrence of a Scan over one row."""

from types import SimpleNamespace

import numpy as np
import pytest
from straightline.reference.bodies import scan_row
from straightline.reference.errors import EvaluationError


class Run:
    """A bound body: a Python function of states and elements."""

    def __init__(self, call, outputs):
        self.call = call
        self.body = SimpleNamespace(output_count=outputs)

    def __call__(self, inputs):
        return self.call(*inputs)


def test_states_go_on_and_elements_are_collected_in_order():
    run = Run(lambda total, x, y: [total + x, x * y, np.float32(7)], 3)
    rows = [np.float32([1, 2, 3]), np.float32([10, 20, 30])]
    (total,), (products, sevens) = scan_row(run, [np.float32(0)], rows, 3)
    assert total == 6 and products == [10, 40, 90] and sevens == [7, 7, 7]


def test_only_so_many_elements_as_are_asked_for():
    run = Run(lambda total, x: [total + x, x], 2)
    (total,), (seen,) = scan_row(run, [np.float32(0)], [np.float32([1, 2, 3])], 2)
    assert total == 3 and seen == [1, 2]
    (total,), (seen,) = scan_row(run, [np.float32(5)], [np.float32([1])], 0)
    assert total == 5 and seen == []


def test_without_states_or_without_outputs():
    assert scan_row(Run(lambda x: [x + 1], 1), [], [np.array([1, 2])], 2) == ([], [[2, 3]])
    finals, collected = scan_row(Run(lambda s, x: [s + x], 1), [np.array(1)], [np.array([4])], 1)
    assert finals == [5] and collected == []


def test_elements_keep_their_other_axes():
    run = Run(lambda x: [x], 1)
    _, (seen,) = scan_row(run, [], [np.zeros((2, 3, 1))], 2)
    assert [element.shape for element in seen] == [(3, 1)] * 2


def test_a_state_that_changes_its_shape_is_refused():
    run = Run(lambda state, x: [np.append(state, x)], 1)
    with pytest.raises(EvaluationError, match=r"state 0 changes shape from \[1\] to \[2\] in iter"):
        scan_row(run, [np.zeros(1)], [np.zeros(3)], 3)
