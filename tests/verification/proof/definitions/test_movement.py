"""Operators that move elements and their longer forms, without an assumption; near misses."""

import pytest
from proofs import assert_open, assert_proved

IMAGE = (
    "g (float[n, 8, 2, 3] x) => (float[n, 2, 4, 6] y) <int64[6] p = {{{}}}, int64[4] q = {{{}}}>"
)
DEPTH = (
    "g (float[n, 2, 4, 6] x) => (float[n, 8, 2, 3] y) <int64[6] p = {{{}}}, int64[4] q = {{{}}}>"
)
NODES = "a = Reshape (x, p) t = Transpose <perm = {}> (a) y = Reshape (t, q)"
PAIRS = {
    "DCR": (
        IMAGE.format("0, 2, 2, 2, 2, 3", "0, 2, 4, 6"),
        "y = DepthToSpace <blocksize = 2> (x)",
        [0, 3, 4, 1, 5, 2],
        [0, 3, 4, 2, 5, 1],
    ),
    "CRD": (
        IMAGE.format("0, 2, 2, 2, 2, 3", "0, 2, 4, 6"),
        'y = DepthToSpace <blocksize = 2, mode = "CRD"> (x)',
        [0, 1, 4, 2, 5, 3],
        [0, 3, 4, 1, 5, 2],
    ),
    "SpaceToDepth": (
        DEPTH.format("0, 2, 2, 2, 3, 2", "0, 8, 2, 3"),
        "y = SpaceToDepth <blocksize = 2> (x)",
        [0, 3, 5, 1, 2, 4],
        [0, 5, 3, 1, 2, 4],
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_blocks_are_moved(name):
    head, short, perm, other = PAIRS[name]
    texts = [f"{head} {{ {nodes} }}" for nodes in (short, NODES.format(perm), NODES.format(other))]
    assert assert_proved(texts[0], texts[1]).assumptions == ()
    assert_open(texts[0], texts[2])


def test_center_crop_pad():
    head = "g (float[5, 6] x) => (float[4, 8] y) <int64[2] s = {4, 8}, int64[4] p = {0, 1, 0, 1}, "
    head += "int64[1] a = {%d}, int64[1] e = {%d}, int64[1] axis = {0}>"
    before = f"{head % (0, 4)} {{ y = CenterCropPad (x, s) }}"
    after = "{ k = Slice (x, a, e, axis) y = Pad (k, p) }"
    assert assert_proved(before, f"{head % (0, 4)} {after}").assumptions == ()
    assert_open(before, f"{head % (1, 5)} {after}")


def test_center_crop_pad_to_sizes_of_run_time():
    head = (
        "g (float[5, 6] x, int64[2] s) => (float[m, n] y) <int64[1] two = {2}, int64[2] h = {5, 6}>"
    )
    before = f"{head} {{ y = CenterCropPad (x, s) }}"
    after = f"""{head} {{
        m = Max (h, s) a = Sub (m, h) l = Div (a, two) r = Sub (a, l) p = Concat <axis = 0> (l, r)
        w = Pad (x, p) k = Shape (w) d = Sub (k, s) b = Div (d, two) e = Add (b, s)
        y = Slice (w, b, e) }}"""
    assert assert_proved(before, after).assumptions == ()
    assert_open(before, after.replace("r = Sub (a, l)", "r = Sub (a, a)"))
