"""Range: an attribute without weight."""

import pytest
from conversions import assert_writes, converted

STEPS = [
    # Body, opset before and after, what it becomes, inputs.
    ("y = Range <stash_type = 1> (k, k, k)", 27, 26, ["Range (k, k, k)"], "float k"),
]


@pytest.mark.parametrize(("body", "source", "target", "nodes", "signature"), STEPS)
def test_what_each_step_writes(body, source, target, nodes, signature):
    assert_writes(body, source, target, nodes, signature)


def test_halves_are_counted_by_the_function_before_opset_27():
    found = converted("y = Range (k, k, k)", 27, 26, "float16 k")
    assert "Range" not in " ".join(found) and found[-1].startswith("Cast <to = 10>")
