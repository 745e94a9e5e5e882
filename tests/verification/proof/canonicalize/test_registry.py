"""Where spellings are found."""

import pytest
from straightline.verification.proof.canonicalize import SPELLINGS
from straightline.verification.proof.canonicalize.registry import spelling


def test_they_are_found_by_the_operator():
    assert {"Clip", "Pad", "ReduceSum", "Softmax", "Upsample"} <= SPELLINGS.keys()


def test_an_operator_has_one():
    with pytest.raises(AssertionError):
        spelling("Clip")(SPELLINGS["Clip"])
