import numpy as np
from harness import run_passes
from simplified import assert_exact
from straightline.passes import EliminateDeadNodes, EliminateIdentities, ReadOperands
from tables import table

PASSES = (ReadOperands(), EliminateIdentities(), EliminateDeadNodes())
FEED = {"x": np.arange(12, dtype=np.float32).reshape(2, 6)}
BOUNDS = "int64[1] k = {0}, int64[1] one = {1}, int64[1] two = {2}, int64[1] six = {6}"


def reads(before, after, opset=17):
    assert_exact(PASSES, before, after, FEED, opset=opset)


def test_parts_that_are_operands():
    reads(
        """g (float[N, 6] x) => (float[N, 6] y, float[N, 6] z)
            <int64[1] k = {6}, int64[1] end = {12}, int64[1] one = {1}, int64[2] sizes = {6, 6}> {
            a = Exp (x) b = Neg (x) c = Concat <axis = 1> (a, b) d = Slice (c, k, end, one)
            y = Abs (d) e, f = Split <axis = -1> (c, sizes) z = Sub (e, f) }""",
        """g (float[N, 6] x) => (float[N, 6] y, float[N, 6] z) {
            a = Exp (x) b = Neg (x) y = Abs (b) z = Sub (a, b) }""",
    )


def test_rows_that_a_loop_stacked():
    """An output keeps its name; a row that no Unsqueeze made is gathered from its operand."""
    reads(
        """g (float[2, 6] x) => (float[6] a, float[6] b, float[6, 1] c, float[1, 6] d)
            <int64 last = {-1}, int64 third = {-3}, int64 two = {2}, int64[1] zero = {0},
             int64[1] one = {1}, int64[1] three = {3}, int64[1] end = {99}> {
            h = ReduceSum <keepdims = 0> (x, zero) k = Exp (h) p = Unsqueeze (h, zero)
            q = Unsqueeze (k, zero) t = Concat <axis = 0> (x, p, q) a = Gather (t, last)
            u = Gather (t, third) b = Neg (u) i = Gather (t, two) c = Unsqueeze (i, one)
            r = Slice (t, three, end, zero) d = Neg (r) }""",
        """g (float[2, 6] x) => (float[6] a, float[6] b, float[6, 1] c, float[1, 6] d)
            <int64[1] zero = {0}, int64[1] one = {1}, int64 row = {1}> {
            h = ReduceSum <keepdims = 0> (x, zero) a = Exp (h) q = Unsqueeze (a, zero)
            u = Gather <axis = 0> (x, row) b = Neg (u) c = Unsqueeze (h, one) d = Neg (q) }""",
    )


def test_parts_of_operands():
    """A part within an operand, and one of several whole ones."""
    before = f"""g (float[N, 6] x) => (float[N, 2] a, float[N, 12] b)
        <{BOUNDS}, int64[1] end = {{99}}> {{
        y = Exp (x) e = Concat <axis = 1> (x, y, y) a = Slice (e, k, two, one)
        b = Slice (e, six, end, one) }}"""
    after = """g (float[N, 6] x) => (float[N, 2] a, float[N, 12] b)
        <int64[1] cut = {0}, int64[1] cut_1 = {2}, int64[1] cut_2 = {1}> {
        y = Exp (x) b = Concat <axis = 1> (y, y) a = Slice (x, cut, cut_1, cut_2, cut_2) }"""
    reads(before, after)


def test_parts_of_a_concat_with_other_readers_stay():
    """Several parts of a Concat may become one Split."""
    text = f"""g (float[N, 6] x) => (float[N, 2] a, float[N, 4] b)
        <{BOUNDS}, int64[1] end = {{99}}> {{
        y = Exp (x) e = Concat <axis = 1> (x, y) a = Slice (e, k, two, one)
        f = Slice (e, two, six, one) b = Neg (f) }}"""
    assert not run_passes(text, ReadOperands()).changed


def test_parts_of_operands_in_older_opsets():
    reads(
        """g (float[2, 6] x) => (float[2, 2] a) { y = Exp (x) e = Concat <axis = 1> (x, y)
            a = Slice <axes = [1], starts = [-5], ends = [-3]> (e) }""",
        """g (float[2, 6] x) => (float[2, 2] a) { y = Exp (x)
            a = Slice <starts = [1], ends = [3], axes = [1]> (y) }""",
        opset=9,
    )


@table(
    ("across operands", """e = Concat <axis = 1> (x, x) a = Slice (e, two, ten, one)
        b = Neg (x)"""),
    ("along another axis", "e = Concat <axis = 1> (x, x) a = Gather (e, k) b = Neg (x)"),
    ("a Split within an operand", """e = Concat <axis = 1> (x, x)
        a, b = Split <axis = 1> (e, inner)"""),
    ("a row beyond the end", """e = Concat <axis = 1> (x, x)
        a = Gather <axis = 1> (e, far) b = Neg (x)"""),
    ("behind an open size", """z = Concat <axis = 0> (x, x) e = Concat <axis = 0> (z, x)
        a = Slice (e, six, ten, k) b = Neg (x)"""))  # fmt: skip
def test_other_parts_stay(what, nodes):
    text = f"""g (float[N, 6] x) => (float[?, ?] a, float[?, ?] b)
        <{BOUNDS}, int64[1] ten = {{10}}, int64[2] inner = {{2, 10}}, int64[1] far = {{12}}>
        {{ {nodes} }}"""
    assert not run_passes(text, ReadOperands()).changed


def test_elements_along_another_axis_stay():
    text = """g (float[2, 6] x) => (float[4] a) <int64 k = {0}> {
        y = Exp (x) e = Concat <axis = 0> (x, y) b = Gather <axis = 1> (e, k) a = Neg (b) }"""
    assert not run_passes(text, ReadOperands()).changed


def test_a_split_stays_for_its_other_parts():
    before = """g (float[2, 6] x) => (float[2, 6] a, float[2, 3] b) <int64[3] sizes = {6, 3, 3}> {
        y = Exp (x) e = Concat <axis = 1> (y, x) c, d, f = Split <axis = 1> (e, sizes)
        a = Neg (c) b = Add (d, f) }"""
    after = """g (float[2, 6] x) => (float[2, 6] a, float[2, 3] b) <int64[3] sizes = {6, 3, 3}> {
        y = Exp (x) e = Concat <axis = 1> (y, x) c, d, f = Split <axis = 1> (e, sizes)
        a = Neg (y) b = Add (d, f) }"""
    reads(before, after)
