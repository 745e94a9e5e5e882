"""Recurrent layers: they take as long as they have steps."""

import numpy as np
from operator_facts import make_node
from straightline.ops import rules_of


def test_steps_and_states():
    def given(steps):
        shapes = (steps, 2, 3), (1, 16, 3), (1, 16, 4)
        return [np.ones(shape, np.float32) for shape in shapes]

    node = make_node("LSTM", given(5), hidden_size=4)
    rules = rules_of(node.op)
    assert rules.work(node, given(1000)) == 100 * rules.work(node, given(10))
    assert rules.growth(node, given(5)) == 5 * 2 * 4
