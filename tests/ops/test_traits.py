import collections

import pytest
from straightline.ops import described
from straightline.ops.traits import _TABLE, ALL_OPERANDS, Traits, traits_of

ROWS = [row.rsplit(": ", 1) for row in _TABLE.replace("\n  ", " ").splitlines()]


def test_a_name_has_one_value_of_a_trait():
    pairs = [(head.split(" ")[0], name) for head, names in ROWS for name in names.split()]
    assert [pair for pair, count in collections.Counter(pairs).items() if count > 1] == []
    assert {name for _, name in pairs} <= set(described())


@pytest.mark.parametrize("names", [names.split() for _, names in ROWS])
def test_names_are_in_order(names):
    assert names == sorted(names)


def test_values_are_read():
    pad, gather = described()["Pad"], described()["Gather"]
    assert pad.operand_ranks == {1: (1,), 2: (0, 1), 3: (1,)} and pad.sized_by == (1, 3)
    assert pad.ignores_zero_sign == ALL_OPERANDS and pad.exact
    assert gather.steered_by == (1,) and gather.names_axes_of_first
    assert traits_of("Unknown") == {} and Traits.steered_by is None
