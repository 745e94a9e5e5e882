"""Nodes that their opset does not have are no part of a proof."""

import pytest
from spelled import model
from straightline.proof import prove

INTEGERS = "(int64[3] x) => (int64[3] y)"


@pytest.mark.parametrize(
    ("nodes", "opset", "signature", "reason"),
    [
        ("y = Max (x, x)", 11, INTEGERS, "takes no int64 in opset 11"),
        ("y = Cast <to = 7, saturate = 0> (x)", 13, INTEGERS, "has no 'saturate' in opset 13"),
        ("c = Cast <to = 1> (x) y = Add (x, c)", 13, INTEGERS, "types that do not fit"),
        ("a = Add (x, x) c = Cast <to = 1> (a) y = Add (x, c)", 13, INTEGERS, "do not fit"),
    ],
)
def test_they_are_open(nodes, opset, signature, reason):
    bad = model(nodes, opset, signature)
    proof = prove(bad, bad)
    assert proof.status == "open" and reason in proof.reason


def test_inputs_of_other_types_may_stand_side_by_side():
    nodes = "<int64[1] a = {0}> { c = Unsqueeze (x, a) y = Gather (c, a) }"
    good = model(nodes, 13, "(float[3] x) => (float[1,3] y)")
    assert prove(good, good).proved
