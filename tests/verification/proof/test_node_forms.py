from proofs import assert_open, assert_proved
from tables import table


@table(("w, none, none, s", True), ("w, all, , s", False), ("w, none, none, far", False))
def test_a_folded_node_has_a_twin_with_other_unused_inputs(operands, same):
    resized = """g (float[n] x) => (float y) <float[1, 1, 2, 2] w = {1, 2, 3, 4},
        int64[4] s = {1, 1, 4, 4}, int64[4] far = {1, 1, 2, 6}, float[0] none = {},
        float[8] all = {0, 0, 0, 0, 1, 1, 1, 1}>
        { r = Resize <mode = "linear"> (%s) y = ReduceSum <keepdims = 0> (%s) }"""
    before, after = resized % ("w, , , s", "x"), resized % (operands, "x")
    if same:
        assert_proved(before, after, opset=13)
        assert_proved(resized % (operands, "r"), resized % ("w, , , s", "r"), opset=13)
    else:
        assert_open(before, after, "Resize 'r' of the rewrite may fail", opset=13)


JOINED = """g (float[A, 1] a, float[B, 1] b, float[C, 1] c, float[D, 0] e) => (float[R, W] y) {
    %s }"""


def test_a_concat_of_concats_fails_where_one_concat_does():
    before = "d = Concat <axis = 1> (a, b) y = Concat <axis = 1> (d, c)"
    assert_proved(JOINED % before, JOINED % "y = Concat <axis = 1> (a, b, c)")


@table(
    ("y = Concat <axis = 1> (a, b)", "y = Concat <axis = 1> (a, b, e)"),
    ("y = Concat <axis = 1> (a, b)", "d = Concat <axis = 1> (b, e) y = Concat <axis = 1> (a, d)"),
    ("y = Concat <axis = 1> (a, b)", "d = Concat <axis = 1> (b, c) y = Concat <axis = 1> (a, b)"),
)
def test_sizes_of_an_operand_that_the_original_does_not_join(before, after):
    after += " z = Add (d, d)" if after.endswith("(a, b)") else ""
    assert_open(JOINED % before, JOINED % after)
