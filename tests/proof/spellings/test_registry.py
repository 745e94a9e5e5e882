"""Where spellings are found."""

import pytest
from straightline.proof.spellings import SPELLINGS
from straightline.proof.spellings.registry import spelling


def test_they_are_found_by_the_operator():
    assert {"Clip", "Pad", "ReduceSum", "Softmax", "Upsample"} <= SPELLINGS.keys()


def test_an_operator_has_one():
    with pytest.raises(AssertionError):
        spelling("Clip")(SPELLINGS["Clip"])
