import numpy as np
import pytest
from proofs import assert_open, assert_proved, model
from sessions import by_reference
from tables import table

IMAGE = "g (float[2, 8, 4, 6] x) => (float[] y) {{ {} }}"
BLOCKS = {
    "DepthToSpace <blocksize = 2> (x)": ([2, 2, 2, 2, 4, 6], [0, 3, 4, 1, 5, 2], [2, 2, 8, 12]),
    'DepthToSpace <blocksize = 2, mode = "CRD"> (x)': ([2, 2, 2, 2, 4, 6], [0, 1, 4, 2, 5, 3],
     [2, 2, 8, 12]),
    "SpaceToDepth <blocksize = 2> (x)": ([2, 8, 2, 2, 3, 2], [0, 3, 5, 1, 2, 4],
     [2, 32, 2, 3])}  # fmt: skip


@pytest.mark.parametrize("node", BLOCKS)
def test_blocks_are_moved_as_specified(node):
    parts, perm, result = BLOCKS[node]
    moves = f"""p = Constant <value_ints = {parts}> () r = Constant <value_ints = {result}> ()
        a = Reshape (x, p) b = Transpose <perm = {perm}> (a) y = Reshape (b, r)"""
    one, other = IMAGE.format(f"y = {node}"), IMAGE.format(moves)
    assert_proved(one, other)
    x = np.arange(384, dtype=np.float32).reshape(2, 8, 4, 6)
    (a,), (b,) = (by_reference(model(text), {"x": x}) for text in (one, other))
    np.testing.assert_array_equal(a, b)
    turned = [perm[0], perm[2], perm[1], *perm[3:]]
    if parts[perm[1]] == parts[perm[2]]:
        assert_open(one, IMAGE.format(moves.replace(str(perm), str(turned))))


CONSTANTS = """<int64[4] ones = {1, 1, 1, 1}, int64[4] twos = {1, 1, 2, 1}, int64[1] first = {0},
    int64[8] none = {0, 0, 0, 0, 0, 0, 0, 0}, int64[8] some = {0, 0, 0, 0, 0, 0, 1, 0},
    float[4] scales = {1, 1, 1, 1}, float[4] double = {1, 1, 2, 1}, int64[1] second = {1}>"""


@table(
    ("Tile (x, ones)", True),
    ("Tile (x, twos)", False),
    ("Pad (x, none)", True),
    ("Pad (x, some)", False),
    ('Pad <mode = "reflect"> (x, none)', True),
    ('Resize <mode = "nearest"> (x, , scales)', True),
    ('Resize <mode = "nearest"> (x, , double)', False),
    ("Split <axis = 1, num_outputs = 1> (x)", True),
    ("ReduceMax <noop_with_empty_axes = 1> (x)", True),
    ("ReduceSum <noop_with_empty_axes = 1> (x)", False),
    ("ReduceMax (x, first)", True),
    ("ReduceProd (x, first)", True),
    ("ReduceSum (x, first)", False),
    ("ReduceMax (x, second)", False),
    ("Einsum <equation = \"abcd->abcd\"> (x)", True),
    ("Einsum <equation = \"abcd->abdc\"> (x)", False))  # fmt: skip
def test_no_ops_equal_their_input(node, expected):
    text = "g (float[1, 3, 4, 4] x) => (float[] y) %s { y = %s }"
    claim = assert_proved if expected else assert_open
    claim(text % (CONSTANTS, node), text % (CONSTANTS, "Identity (x)"))


def test_integers_have_one_zero():
    text = "g (int64[n, 1] x) => (int64[n, 1] y) <int64[1] a = {1}, int64 b = {1}> { y = %s }"
    for node in ("ReduceSum (x, a)", "CumSum (x, b)"):
        assert_proved(text % node, text % "Identity (x)")
    floats = text.replace("int64[n, 1]", "float[n, 1]")
    assert_proved(floats % "CumSum (x, b)", floats % "Identity (x)")  # it begins with -0
    assert_open(text % "CumSum <exclusive = 1> (x, b)", text % "Identity (x)")
    assert_open(text % "ReduceSumSquare (x, a)", text % "Identity (x)")


def test_a_repeat_of_an_axis_of_length_1_is_an_expansion():
    text = "g (float[n, 1] x) => (float[] y) <int64[2] r = {1, 3}, int64[2] s = {3, 1}> { y = %s }"
    assert_proved(text % "Tile (x, r)", text % "Expand (x, r)")
    assert_open(text % "Tile (x, s)", text % "Expand (x, r)")


def test_the_diagonal_0_is_the_default():
    text = "g (float[n, m] x) => (float[n, m] y) <int64 zero = {0}, int64 one = {1}> { y = %s }"
    assert_proved(text % "Trilu (x, zero)", text % "Trilu (x)")
    assert_open(text % "Trilu (x, one)", text % "Trilu (x)")


def test_sums_from_behind_are_those_of_reversed_values():
    text = """g (float[n, m] x) => (float[n, m] y) <int64 one = {1}, int64[1] last = {-1},
        int64[1] front = {-9223372036854775808}, int64[1] axes = {%d}> { %s }"""
    before = text % (1, "y = CumSum <reverse = 1> (x, one)")
    nodes = """r = Slice (x, last, front, axes, last) s = CumSum (r, one)
        y = Slice (s, last, front, axes, last)"""
    assert_proved(before, text % (1, nodes))
    assert_open(before, text % (0, nodes))
    assert_open(before, text % (1, nodes.replace("CumSum", "CumSum <exclusive = 1>")))
