"""Where rules are found."""

import pytest
from straightline.verification.proof.simplify import LATE, RULES
from straightline.verification.proof.simplify.registry import late, rule


def test_they_are_found_by_the_head():
    assert {"Concat", "Max", "ReduceSum", "Transpose", "view"} <= RULES.keys()
    assert {"Add", "MatMul", "ReduceSum", "Softmax"} <= LATE.keys()


def test_a_head_has_one():
    with pytest.raises(AssertionError):
        rule("Max")(RULES["Max"])
    with pytest.raises(AssertionError):
        late("Softmax")(LATE["Softmax"])


def test_a_function_may_be_the_rule_of_many():
    assert RULES["ReduceSum"] is RULES["ReduceMax"]
    assert LATE["Add"] is not LATE["MatMul"]
