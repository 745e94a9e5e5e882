"""Nodes that may fail, in the forms of other versions of their operators."""

from proofs import assert_open, assert_proved
from tables import table

RESIZED = """g (float[n] x) => (float y) <float[1, 1, 2, 2] w = {1, 2, 3, 4},
    int64[4] s = {1, 1, 4, 4}, int64[4] far = {1, 1, 2, 6}, float[0] none = {},
    float[8] all = {0, 0, 0, 0, 1, 1, 1, 1}>
    { r = Resize <mode = "linear"> (%s) y = ReduceSum <keepdims = 0> (%s) }"""


@table(("w, none, none, s", True), ("w, all, , s", False), ("w, none, none, far", False))
def test_a_folded_node_has_a_twin_with_other_unused_inputs(operands, same):
    before, after = RESIZED % ("w, , , s", "x"), RESIZED % (operands, "x")
    if same:
        assert_proved(before, after, opset=13)
        assert_proved(RESIZED % (operands, "r"), RESIZED % ("w, , , s", "r"), opset=13)
    else:
        assert_open(before, after, "Resize 'r' of the rewrite may fail", opset=13)
