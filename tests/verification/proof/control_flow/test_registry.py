"""Where constructs are found."""

import pytest
from straightline.verification.proof.control_flow import CONSTRUCTS
from straightline.verification.proof.control_flow.registry import construct


def test_they_are_found_by_the_operator():
    assert {"If", "Loop", "Optional", "Scan", "SequenceMap"} <= CONSTRUCTS.keys()


def test_an_operator_has_one():
    with pytest.raises(AssertionError):
        construct("Loop")(CONSTRUCTS["Loop"])
