import numpy as np
import pytest
from conversions import assert_carried_everywhere

from targets import fitted, lacking, one_node, operators


@pytest.mark.sample(4)
@pytest.mark.parametrize("element", ["int32", "int64", "uint32", "uint64"])
@pytest.mark.parametrize("slope", [[2, 0, 3], [[2], [5]], 7])
def test_numbers(element, slope):
    feeds = {"x": np.array([[-3, 0, 5], [1, -1, 2]]).astype(element), "s": np.array(slope, element)}
    ranks = ", ".join(f"S{i}" for i in range(np.ndim(slope)))
    signature = f"{element}[A, B] x, {element}{f'[{ranks}]' if ranks else ''} s"
    assert_carried_everywhere("y = PRelu (x, s)", 9, (8, 7), feeds, signature, ["graph"])


def test_floats_are_left_alone():
    """Targets that lack the operator ask for the form in any opset."""
    outcome = fitted(
        one_node("y = PRelu (x, z)", "float[2, 2] x, float[2] z"), lacking("PRelu"), passes=()
    )
    assert not {"Cast", "ReduceSum", "MatMul"} & ({*operators(outcome)} - {"PRelu"})
