import numpy as np
import pytest
from harness import as_model
from loops import op_types
from tables import table
from vectorized import assert_same, assert_vectorizes, loop, numbers, vectorized, why_kept

DECLARED = "float[N, 4, 3] x, float[9, 3] t, int64[N, 2] p, int64 n"
FEED = {
    "x": numbers(5, 4, 3),
    "t": numbers(9, 3),
    "p": np.array([[0, -1], [2, 1], [-3, 2], [1, 1], [0, 0]]),
}
Q = "q = Gather (p, i)"
A = "a0 = Constant <value = int64[1] {0}> () a1 = Constant <value = int64[1] {1}> ()"


@pytest.mark.sample(12)
@pytest.mark.parametrize("opset", [11, 12, 13, 17])
@table(
    ("from what varies at what varies", f"{Q} r = Gather (e, q)", "float[2, 3] r"),
    ("along another axis", f"{Q} r = Gather <axis = 1> (e, q)", "float[4, 2] r"),
    ("along the last axis", f"{Q} r = Gather <axis = -1> (e, q)", "float[4, 2] r"),
    ("one row", f"{A} {Q} w = Gather (q, a0) v = Squeeze (w, a0) r = Gather (e, v)", "float[3] r"),
    ("at a matrix", f"{A} {Q} w = Unsqueeze (q, a0) r = Gather (e, w)", "float[1, 2, 3] r"),
    ("beside each other", f"{A} {Q} w = Unsqueeze (q, a1) r = GatherElements <axis = 0> (e, w)",
     "float[2, 1] r"),
    ("beside what is the same",
     f"{A} {Q} w = Unsqueeze (q, a1) r = GatherElements <axis = 0> (t, w)", "float[2, 1] r"),
    ("tuples", f"{Q} r = GatherND (t, q)", "float r"),
    ("tuples of one", f"{A} {Q} w = Unsqueeze (q, a1) r = GatherND (e, w)", "float[2, 3] r"),
    ("tuples of all", f"{Q} r = GatherND (e, q)", "float r"),
    ("tuples that are the same",
     "j = Constant <value = int64[2, 1] {3, 1}> () r = GatherND (e, j)", "float[2, 3] r"),
    ("scattered beside",
     f"{A} {Q} w = Unsqueeze (q, a1) g = Gather (e, q) b = Slice (g, a0, a1, a1)"
        " r = ScatterElements <axis = 0> (e, w, b)", "float[4, 3] r"),
    ("scattered rows",
     f"{A} {Q} w = Unsqueeze (q, a1) g = Gather (e, a0) h = Concat <axis = 0> (g, g)"
        " r = ScatterND (e, w, h)", "float[4, 3] r"),
    ("scattered into what is the same",
     f"{A} {Q} w = Unsqueeze (q, a1) g = Gather (e, a0) h = Concat <axis = 0> (g, g)"
        " r = ScatterND (t, w, h)", "float[9, 3] r"),
    ("where a condition is the same",
     "w = Constant <value = bool[4] {1, 0, 1, 1}> () r = Compress <axis = 0> (e, w)",
     "float[3, 3] r"))  # fmt: skip
def test_reads_against_the_loop(read, body, out, opset):
    if opset < 13:
        for axis in ("0", "1"):
            for name in ("q", "w"):
                body = body.replace(
                    f"Unsqueeze ({name}, a{axis})", f"Unsqueeze <axes = [{axis}]> ({name})"
                ).replace(f"Squeeze ({name}, a{axis})", f"Squeeze <axes = [{axis}]> ({name})")
    assert_vectorizes(loop(body, out, DECLARED), FEED, opset=opset)


def test_batch_axes_of_tuples():
    body = """a1 = Constant <value = int64[1] {1}> () q = Gather (p, i) w = Unsqueeze (q, a1)
        o = Concat <axis = 0> (w, w) r = GatherND <batch_dims = 1> (e, o)"""
    assert_vectorizes(loop(body, "float[4] r", DECLARED), FEED)


@pytest.mark.parametrize("opset", [11, 13])
@pytest.mark.parametrize("data", ["e", "t"])
def test_places_of_32_bits(data, opset):
    """Gather takes them, GatherND does not."""
    body = f"{Q} w = Cast <to = 6> (q) r = Gather ({data}, w)"
    assert_vectorizes(loop(body, "float[2, 3] r", DECLARED), FEED, opset=opset)
    same = f"w = Cast <to = 6> (m) r = Gather ({data}, w)"
    text = loop(same, "float[2, 3] r", f"{DECLARED}, int64[2] m")
    assert_vectorizes(text, FEED | {"m": np.array([1, -1])}, opset=opset)


@pytest.mark.parametrize("reduction", ["add", "mul", "max"])
def test_reductions_of_what_is_scattered(reduction):
    body = f"""{A} {Q} w = Unsqueeze (q, a1) g = Gather (e, a0) h = Concat <axis = 0> (g, g)
        r = ScatterND <reduction = "{reduction}"> (e, w, h)"""
    assert_vectorizes(loop(body, "float[4, 3] r", DECLARED), FEED, opset=18)
    body = f"""{A} {Q} w = Unsqueeze (q, a1) g = Gather (e, q) b = Slice (g, a0, a1, a1)
        r = ScatterElements <axis = 0, reduction = "{reduction}"> (e, w, b)"""
    assert_vectorizes(loop(body, "float[4, 3] r", DECLARED), FEED, opset=18)


def test_an_index_out_of_range_where_there_are_no_iterations():
    text = loop("r = Gather (e, q)", "float[3] r", "float[N, 4, 3] x, int64 q, int64 n")
    assert_vectorizes(text, {"x": numbers(5, 4, 3), "q": np.array(9)}, lengths=(0,))


# Windows -----------------------------------------------------------------------------------------

NUMBERS = " ".join(f"k{n} = Constant <value = int64[1] {{{n}}}> ()" for n in range(4))


def windows(iterations, body, out, data="float[N, 2] x"):
    """A Loop whose trip count follows from the length of x, m; i1 is the iteration number."""
    return f"""g ({data}) => (z) <bool yes = {{1}}> {{
        {NUMBERS.replace("k", "g")} shape = Shape (x)
        m = Gather (shape, g0) iterations = {iterations}
        z = Loop (iterations, yes) <body = b (int64 i, bool c) => (bool c2, {out} r) {{
            c2 = Identity (c) {NUMBERS} i1 = Unsqueeze (i, k0) {body} }}> }}"""


@pytest.mark.sample(5)
@pytest.mark.parametrize("opset", [13, 18])
@table(
    ("of three rows",
     ("Sub (m, g2)", "en = Add (i1, k3) r = Slice (x, i1, en, k0)", "float[3, 2]")),
    ("without axes", ("Sub (m, g1)", "en = Add (i1, k2) r = Slice (x, i1, en)", "float[2, 2]")),
    ("every second row", ("Sub (m, g2)", "en = Add (i1, k3) r = Slice (x, i1, en, k0, k2)",
     "float[2, 2]")),
    ("one row", ("Identity (m)", "en = Add (i1, k1) r = Slice (x, i1, en, k0)", "float[1, 2]")),
    ("from the end", ("Identity (m)", "a = Sub (m, i1) st = Sub (a, k1) r = Slice (x, st, a, k0)",
     "float[1, 2]")),
    ("of a product", ("Sub (m, g2)",
     "j = Cast <to = 1> (i) y = Mul (x, j) en = Add (i1, k3) r = Slice (y, i1, en, k0)",
     "float[3, 2]")),
    ("of the sum of two", ("Sub (m, g2)",
     "en = Add (i1, k3) a = Slice (x, i1, en, k0) r = ReduceSum <keepdims = 0> (a, k0)",
     "float[2]")),
    ("of a part of each row", (
        "Sub (m, g2)",
        """en = Add (i1, k3) s = Concat <axis = 0> (k1, i1) t = Concat <axis = 0> (k2, en)
        o = Concat <axis = 0> (k1, k0) r = Slice (x, s, t, o)""",
        "float[3, 1]",
    )),
    ("along two axes", (
        "Sub (m, g2)",
        """en = Add (i1, k3) u = Transpose (x) s = Concat <axis = 0> (i1, i1)
        y = MatMul (x, u) t = Concat <axis = 0> (en, en) r = Slice (y, s, t)""",
        "float[3, 3]",
    )),
    ("of numbers that count", (
        "Sub (m, g2)",
        """o = Constant <value_int = 1> () t = Constant <value_int = 3> () en = Add (i, t)
        j = Range (i, en, o) a = Gather (x, j) r = ReduceSum <keepdims = 0> (a, k0)""",
        "float[2]",
    )))  # fmt: skip
def test_windows(name, case, opset):
    for rows in (0, 1, 2, 3, 8):
        assert_vectorizes(windows(*case), {"x": numbers(rows, 2)}, (None,), opset)


def test_windows_that_may_be_cut_off():
    body = "s = Slice (x, k0, i1, k0) r = ReduceL2 <keepdims = 0> (s)"
    assert "may vary between iterations" in why_kept(windows("Sub (m, g1)", body, "float"))


def test_a_slice_that_fails_where_it_is_empty():
    """Whoever drops an axis of one element fails where there is none, so the slice is a read."""
    body = f"""{NUMBERS} i1 = Unsqueeze (i, k0) en = Add (i1, k1) s = Slice (x, i1, en, k1)
        v = Slice (e, i1, en, k0) w = Squeeze (v, k0) u = Squeeze (s, k1) r = Mul (u, w)"""
    text = loop(body, "float[N, 3] r", "float[N, 5, 3] x, int64 n")
    assert_vectorizes(text, {"x": numbers(5, 5, 3)})


HEADS = """g (float[T, 12, 2] x) => (float[C, T, 4, 2] y) <bool yes = {1}, int64 count = {COUNT},
    int64 size = {4}, int64[1] a = {0}, int64[1] axis = {1}> {
    y = Loop (count, yes) <body = b (int64 i, bool c) => (bool c2, float[T, 4, 2] r) {
        c2 = Identity (c) start = Mul (i, size) end = Add (start, size)
        s = Unsqueeze (start, a) e = Unsqueeze (end, a) r = Slice (x, s, e, axis) }> }"""


@pytest.mark.parametrize(("count", "is_whole"), [("3", True), ("2", False), ("0", False)])
def test_parts_of_a_whole_axis_are_a_reshape(count, is_whole):
    before = as_model(HEADS.replace("COUNT", count))
    result = vectorized(before).model
    kinds = set(op_types(result.graph))
    assert "Loop" not in kinds
    assert ("Reshape" in kinds, "Gather" in kinds) == (is_whole, not is_whole)
    for rows in (0, 5):
        assert_same(before, result, {"x": numbers(rows, 12, 2)}, exact=True)
