import numpy as np
import pytest
from harness import run_passes
from simplified import assert_exact
from straightline.passes import EliminateDeadNodes, MergeSlices
from tables import table

PASSES = (MergeSlices(), EliminateDeadNodes())
FEED = {"x": np.arange(12, dtype=np.float32).reshape(2, 6)}
BOUNDS = "int64[1] k = {0}, int64[1] one = {1}, int64[1] two = {2}, int64[1] six = {6}"


def merges(before, after, opset=17):
    assert_exact(PASSES, before, after, FEED, opset=opset)


def test_slices_and_gathers_that_cover_an_axis():
    merges(
        """g (float[N, 6] x) => (float[N, 2] a, float[N, 3] d, float[N, 1] c)
            <int64[1] k = {0}, int64[1] one = {1}, int64[1] two = {2}, int64[1] last = {-1},
             int64[1] end = {99}, int64[3] i = {2, 3, 4}> {
            a = Slice (x, k, two, one) b = Gather <axis = 1> (x, i) c = Slice (x, last, end, one)
            d = Exp (b) }""",
        """g (float[N, 6] x) => (float[N, 2] a, float[N, 3] d, float[N, 1] c)
            <int64[3] sizes = {2, 3, 1}> {
            a, b, c = Split <axis = 1> (x, sizes) d = Exp (b) }""",
    )


def test_merged_slices_of_older_opsets():
    merges(
        """g (float[2, 6] x) => (float[2, 2] a, float[2, 4] b) {
            a = Slice <axes = [1], starts = [0], ends = [2]> (x)
            b = Slice <axes = [1], starts = [2], ends = [100]> (x) }""",
        """g (float[2, 6] x) => (float[2, 2] a, float[2, 4] b) {
            a, b = Split <axis = 1, split = [2, 4]> (x) }""",
        opset=9,
    )


def test_parts_that_are_joined_again():
    merges(
        """g (float[N, 6] x) => (float[N, 6] y, float[N, 5] z, float[N, 8] w)
            <int64[3] sizes = {1, 2, 3}, int64[1] k = {0}, int64[1] one = {1}, int64[1] two = {2},
             int64[1] six = {6}> {
            e = Exp (x) a, b, c = Split <axis = 1> (x, sizes) d = Concat <axis = 1> (a, b, c)
            y = Neg (d) p, q, r = Split <axis = -1> (e, sizes) z = Concat <axis = -1> (q, r)
            s = Slice (y, k, two, one) t = Slice (y, two, six, one)
            w = Concat <axis = 1> (s, s, t) }""",
        """g (float[N, 6] x) => (float[N, 6] y, float[N, 5] z, float[N, 8] w)
            <int64[1] k = {0}, int64[1] one = {1}, int64[1] two = {2}, int64[1] cut = {1},
             int64[1] cut_1 = {6}> {
            e = Exp (x) y = Neg (x) s = Slice (y, k, two, one)
            z = Slice (e, cut, cut_1, cut, cut) w = Concat <axis = 1> (s, y) }""",
    )


KEPT = {
    "parts in another order": """p, q = Split <axis = 1> (x, halves) d = Concat <axis = 1> (q, p)
        a = Neg (d) b = Abs (p)""",
    "parts along another axis": """p, q = Split <axis = 1> (x, halves)
        d = Concat <axis = 0> (p, q) a = Neg (d) b = Abs (d)""",
    "parts that others read": """p, q, r = Split <axis = 1> (x, twos)
        d = Concat <axis = 1> (q, r) a = Neg (d) b = Abs (q)""",
    "a dead slice": "a = Slice (x, k, two, one) d = Slice (x, two, six, one) b = Abs (a)",
    "sizes": """t = Shape (x) p = Slice (t, k, one) q = Slice (t, one, two) a = Expand (c, p)
        b = Expand (c, q)""",
    "a gap": "a = Slice (x, k, one, one) b = Slice (x, two, six, one)",
    "an overlap": "a = Slice (x, k, two, one) b = Slice (x, one, six, one)",
    "other axes": "a = Slice (x, k, one, k) b = Slice (x, one, six, one)",
    "other steps": "a = Slice (x, k, two, one, two) b = Slice (x, two, six, one)",
    "both axes": "a = Slice (x, kk, two2) b = Slice (x, two2, sixes)",
    "the whole axis": "a = Slice (x, k, six, one) b = Slice (x, k, two, one)",
    "an open axis": "a = Slice (x, k, two, k) b = Slice (x, two, six, k)",
    "bounds of run time": "a = Slice (x, k, s, one) b = Slice (x, two, six, one)",
    "other tensors": "e = Exp (x) a = Slice (x, k, two, one) b = Slice (e, two, six, one)",
    "an index beyond the axis": "a = Slice (x, k, two, one) b = Gather <axis = 1> (x, beyond)",
    "indices out of order": "a = Slice (x, k, two, one) b = Gather <axis = 1> (x, order)",
}


@pytest.mark.parametrize("what", KEPT)
def test_others_stay(what):
    text = f"""g (float[N, 6] x, int64[1] s, float c) => (float[?, ?] a, float[?, ?] b)
        <{BOUNDS}, int64[2] kk = {{0, 0}}, int64[2] two2 = {{2, 2}}, int64[2] sixes = {{6, 6}},
         int64[5] beyond = {{2, 3, 4, 5, 6}}, int64[2] halves = {{3, 3}},
         int64[3] twos = {{2, 2, 2}}, int64[4] order = {{3, 2, 4, 5}}> {{ {KEPT[what]} }}"""
    if what == "sizes":
        text = text.replace("[?, ?] a, float[?, ?] b", "[?] a, float[?] b")
    assert not run_passes(text, MergeSlices()).changed


def test_slices_of_a_shared_slice_cut_along_both_axes():
    """As stride-two stems of detectors come from PyTorch: four cuts of the image, not six."""
    lists = "int64[1] k = {0}, int64[1] one = {1}, int64[1] two = {2}, int64[1] end = {99}"
    merges(
        f"""g (float[N, 6] x) => (float[?, 3] a, float[?, 3] b) <{lists}> {{
            t = Slice (x, k, end, k, two) a = Slice (t, k, end, one, two)
            b = Slice (t, one, end, one, two) }}""",
        """g (float[N, 6] x) => (float[?, 3] a, float[?, 3] b)
            <int64[2] cut = {0, 0}, int64[2] cut_1 = {99, 99}, int64[2] cut_2 = {0, 1},
             int64[2] cut_3 = {2, 2}> {
            a = Slice (x, cut, cut_1, cut_2, cut_3) b = Slice (x, cut_2, cut_1, cut_2, cut_3) }""",
    )


def test_slices_of_the_parts_of_a_split_cut_along_both_axes():
    merges(
        """g (float[2, 6] x) => (float[1, 2] a, float[1, 4] b)
            <int64[2] sizes = {2, 4}, int64[1] one = {1}, int64[1] end = {99}, int64[1] k = {0}> {
            p, q = Split <axis = 1> (x, sizes) a = Slice (p, one, end, k)
            b = Slice (q, one, end, k) }""",
        """g (float[2, 6] x) => (float[1, 2] a, float[1, 4] b)
            <int64[2] cut = {0, 1}, int64[2] cut_1 = {2, 99}, int64[2] cut_2 = {1, 0},
             int64[2] cut_3 = {1, 1}, int64[2] cut_4 = {2, 1}, int64[2] cut_5 = {6, 99}> {
            a = Slice (x, cut, cut_1, cut_2, cut_3) b = Slice (x, cut_4, cut_5, cut_2, cut_3) }""",
    )


def test_slices_of_a_shared_slice_of_older_opsets():
    merges(
        """g (float[2, 6] x) => (float[1, 2] a, float[1, 3] b) {
            t = Slice <axes = [0], starts = [1], ends = [9]> (x)
            a = Slice <axes = [1], starts = [0], ends = [2]> (t)
            b = Slice <axes = [1], starts = [0], ends = [3]> (t) }""",
        """g (float[2, 6] x) => (float[1, 2] a, float[1, 3] b) {
            a = Slice <starts = [1, 0], ends = [9, 2], axes = [0, 1]> (x)
            b = Slice <starts = [1, 0], ends = [9, 3], axes = [0, 1]> (x) }""",
        opset=9,
    )


@table(
    ("the same axis", "a = Slice (t, k, one, k) b = Slice (t, one, two, one)"),
    ("an open axis", "a = Slice (t, k, one, s) b = Slice (t, one, two, one)"),
    ("another reader", "a = Slice (t, k, one, one) b = Exp (t)"),
    ("a node of no Slice", "a = Slice (t, k, one, one) b = Concat <axis = 0> (t, t)"),
)
def test_a_slice_that_others_read_stays(what, nodes):
    text = f"""g (float[N, 6] x, int64[1] s, float c) => (float[?, ?] a, float[?, ?] b)
        <{BOUNDS}> {{ t = Slice (x, k, one, k) {nodes} }}"""
    assert not run_passes(text, MergeSlices()).changed
