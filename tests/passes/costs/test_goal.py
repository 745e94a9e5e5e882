import pytest
from straightline.passes.costs.goal import GOALS
from tables import table


@table(
    ("run", 300.0, 5300.0),
    ("run", 5000.0, 10000.0),
    ("run", 20000.0, 40000.0),
    ("balanced", 1000.0, 1100.0),
    ("load", 1000.0, 1000.0),
)
def test_the_longest_load(goal, before, most):
    assert GOALS[goal].most_load(before) == pytest.approx(most)
