import numpy as np
import pytest
from harness import as_model
from loops import op_types
from straightline import reference
from straightline.ops import gather_batching
from straightline.ops.batching import Kind
from straightline.ops.gather_batching import bounds_kind
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


TEXT = """g (float[N] x, int64 n, int64 k, int64[K] ks) => (float[M] z) <int64[1] at = {{0}},
        int64 zero = {{0}}, int64 one = {{1}}, int64 two = {{2}}, int64 low = {{-1}},
        bool yes = {{1}}> {{
    over = Add (k, one) beyond = Sub (over, k) k32 = Cast <to = 6> (k) more = Add (k32, k32)
    z = Loop (n, yes) <body = b (int64 i, bool c) => (bool c2, float r) {{
        c2 = Identity (c) {body} a = Unsqueeze (s, at) b = Unsqueeze (e, at)
        part = Slice (x, a, b, at) r = ReduceSum <keepdims = 0> (part) }}> }}"""
CUT = "q = Sub (i, k) s = Max (q, zero)"
KINDS = [
    ("s = Identity (zero) e = Gather (ks, i)", Kind.PREFIX),
    ("s = Identity (i) e = Add (k, i)", Kind.WINDOW),
    ("s = Add (i, one) f = Add (i, k) e = Add (f, two)", Kind.WINDOW),
    ("s = Identity (i) m = Neg (k) e = Sub (i, m)", Kind.WINDOW),
    ("f = Add (i, k) e = Min (f, n)  s = Identity (i)", Kind.WINDOW),
    (f"{CUT} e = Add (s, k)", Kind.WINDOW),
    ("j = Gather (ks, i) s = Max (j, zero) e = Add (s, k)", Kind.WINDOW),
    (f"{CUT} f = Add (s, k) e = Min (f, n)", Kind.WINDOW),
    ("s = Gather (ks, i) e = Add (s, k)", None),
    (f"{CUT} e = Add (i, one)", Kind.CUT_WINDOW),
    (f"{CUT} f = Add (i, k) e = Add (f, one)", Kind.CUT_WINDOW),
    (f"{CUT} e = Add (i, over)", Kind.CUT_WINDOW),
    ("s = Add (i, beyond) e = Add (i, over)", Kind.WINDOW),
    ("j = Cast <to = 7> (more) s = Identity (i) f = Add (i, j) e = Min (f, n)", Kind.WINDOW),
    (f"{CUT} f = Add (i, k) h = Min (n, f) e = Max (h, zero)", Kind.CUT_WINDOW),
    ("q = Sub (i, k) h = Max (q, zero) s = Min (h, n) e = Min (i, n)", Kind.CUT_WINDOW),
    ("q = Sub (i, k) s = Clip (q, zero) e = Add (i, one)", Kind.CUT_WINDOW),
    ("q = Sub (i, k) s = Clip (q, zero, n) e = Min (i, n)", Kind.CUT_WINDOW),
    ("q = Sub (i, k) s = Clip (q, zero, n) e = Identity (i)", None),
    # The limit of the start cuts windows that the end does not.
    ("q = Sub (i, k) h = Max (q, zero) s = Min (h, n) e = Identity (i)", None),
    # Such an end may count from the last element, where the start is cut.
    (f"{CUT} f = Sub (i, k) e = Add (f, two)", None),
    ("q = Sub (i, k) s = Max (q, low) e = Add (i, one)", None),
    ("s = Sub (i, one) e = Add (i, k)", None),
    ("s = Sub (i, k) e = Add (i, one)", None),
    ("s = Identity (i) d = Mul (i, two) e = Add (d, k)", None),
    ("s = Identity (i) d = Gather (ks, i) e = Add (i, d)", None),
    ("s = Identity (i) d = Gather (ks, i) f = Add (i, k) e = Min (f, d)", None),
]


@pytest.mark.sample(12)
@pytest.mark.parametrize(("body", "kind"), KINDS)
def test_kinds(body, kind, monkeypatch):
    found = []

    def read(*arguments):
        found.append(bounds_kind(*arguments))
        return found[-1]

    monkeypatch.setattr(gather_batching, "bounds_kind", read)
    vectorized(as_model(TEXT.format(body=body)))
    assert found[:1] == [kind]


WINDOWS_TEXT = """g (float[{shape}] x, int64 n) => (float[{out}] z) <float[3] w = {{1, 2, 3}},
        float[3, 2] k = {{1, 2, 3, 4, 5, 6}}, float[2, 3] v = {{1, 2, 3, 4, 5, 6}},
        int64[1] at = {{0}}, int64[1] axes = {{{axis}}}, int64[1] three = {{3}}, bool yes = {{1}},
        int64 two = {{2}}, int64 nought = {{0}},
        int64[1] one = {{1}}, int64[1] last = {{-1}}> {{
    z = Loop (n, yes) <body = b (int64 i, bool c) => (bool c2, float[{row}] r) {{
        c2 = Identity (c) s = {start} s1 = Unsqueeze (s, at) t1 = Add (s1, three)
        part = Slice (x, s1, t1, axes) {body} }}> }}"""
ONE = {"shape": "N", "out": "M, 3", "row": "3", "axis": 0}
TWO = {"shape": "2, N", "out": "M, 2, 3", "row": "2, 3", "axis": 1}
ON, BY_TWO = "Identity (i)", "Mul (i, two)"
GONE = {
    "a weight for each": (ONE, ON, "r = Mul (part, w)"),
    "by two": (ONE, BY_TWO, "r = Add (w, part)"),
    "rows": (TWO, ON, "r = Mul (part, w)"),
    "rows by two": (TWO, BY_TWO, "p = Mul (part, w) q = Sub (v, part) r = Add (p, q)"),
    "a product": ({**ONE, "out": "M, 2", "row": "2"}, ON, "r = MatMul (part, k)"),
    "a product of rows": ({**TWO, "out": "M, 2, 2", "row": "2, 2"}, BY_TWO,
     "m = ReduceMax (part) q = MatMul (part, k) r = Add (q, m)"),
    "a product of itself": ({**ONE, "row": "?", "out": "?, ?"}, ON, "r = Mul (part, part)"),
    "a function": (ONE, BY_TWO, "r = Exp (part)"),
    "a row": (TWO, ON, "r = Neg (part)"),
    "an axis before it": ({**ONE, "out": "M, 1, 3", "row": "1, 3"}, ON, "r = Unsqueeze (part, at)"),
    "less its mean": (ONE, ON, "m = ReduceMean (part) p = Sub (part, m) r = Mul (w, p)"),
    "a weight and a sum": (ONE, ON, "p = Mul (part, w) q = ReduceSum (part) r = Add (p, q)"),
    "differences": ({**ONE, "row": "2", "out": "M, 2"}, ON,
     "a = Slice (part, one, three, at) b = Slice (part, at, last, at) r = Sub (a, b)"),
    "its first elements": ({**ONE, "row": "1", "out": "M, 1"}, ON,
     "a = Slice (part, at, one) r = Exp (a)"),
    "a function before a product": ({**ONE, "out": "M, 2", "row": "2"}, BY_TWO,
     "p = Tanh (part) r = MatMul (p, k)"),
    "the right of a product": ({"shape": "N, 2", "out": "M, 2, 2", "row": "2, 2", "axis": 0}, ON,
     "r = MatMul (v, part)")}  # fmt: skip


@pytest.mark.sample(6)
@pytest.mark.parametrize("what", GONE)
def test_windows_that_must_be_whole(what):
    form, start, body = GONE[what]
    model = as_model(WINDOWS_TEXT.format(**form, start=start, body=body))
    result = vectorized(model)
    assert "Loop" not in op_types(result.model.graph), result.remarks
    ran = 0
    for length in (1, 2, 3, 4, 6, 7):
        sizes = [length if size == "N" else int(size) for size in form["shape"].split(", ")]
        for n in (0, 1, 2, 3, 5):
            feed = {"x": numbers(*sizes), "n": np.array(n)}
            try:
                reference.run(model, feed)
            except reference.EvaluationError:
                with pytest.raises(reference.EvaluationError):
                    reference.run(result.model, feed)
                continue
            assert_same(model, result.model, feed)
            ran += n > 0
    assert ran > 3


@table(
    ("what may be short", "p = CumSum (part, nought) r = Sub (p, w)"),
    ("what may be empty", "p = Exp (part) r = Reshape (p, three)"),
)
def test_windows_that_may_be_short(what, text):
    model = as_model(WINDOWS_TEXT.format(**ONE, start=ON, body=text))
    result = vectorized(model)
    assert "Loop" in op_types(result.model.graph)
    for length in (3, 4):
        for n in (0, 1, 2):
            feed = {"x": numbers(length), "n": np.array(n)}
            if n <= length - 2:
                assert_same(model, result.model, feed)


PREFIXES = """<ir_version: 8, opset_import: ["" : 17]>
g (float[N, 6, 2] x, float[N, 6] w, int64[N] lens) => (float[{out}] z)
        <int64[1] at = {{0}}, int64 zero = {{0}}, int64 last = {{-1}}, bool yes = {{1}}> {{
    sizes = Shape (lens) n = Gather (sizes, zero)
    z = Loop (n, yes) <body = b (int64 i, bool c) => (bool c2, float[{row}] r) {{
        c2 = Identity (c) e = Gather (x, i) v = Gather (w, i) k = Gather (lens, i)
        k1 = Unsqueeze (k, at) part = Slice (e, at, k1, at) {body} }}> }}"""
VECTOR = {"out": "N, 2", "row": "2"}


@table(
    ("sum", VECTOR, "r = ReduceSum <keepdims = 0> (part, at)", True),
    ("mean", VECTOR, "p = Exp (part) r = ReduceMean <axes = [0], keepdims = 0> (p)", True),
    ("extreme", VECTOR, "r = ReduceMax <axes = [0], keepdims = 0> (part)", True),
    ("weights", VECTOR, "u = Slice (v, at, k1, at) p = Softmax (u) r = MatMul (p, part)", True),
    ("last row", VECTOR, "r = Gather (part, last)", False),
)
def test_prefixes_of_own_rows(name, sizes, body, is_mask):
    model = as_model(PREFIXES.format(body=body, **sizes))
    result = vectorized(model)
    kinds = set(op_types(result.model.graph))
    assert "Loop" not in kinds, result.remarks
    assert ("CumSum" not in kinds) is is_mask  # flat rows have owners
    # Ends count from the back or lie beyond; only a sum is defined without elements.
    for lens in ([6, 3, 1, 2], [-1, -5, 7, 1], [2, 2, 2], [], [0, 4, -9] * (name == "sum")):
        feed = {"x": numbers(len(lens), 6, 2), "w": numbers(len(lens), 6)}
        feed["lens"] = np.array(lens, np.int64)
        for place, length in enumerate(lens):
            feed["x"][place, range(6)[:length].stop :] = [np.nan, np.inf]
        assert_same(model, result.model, feed)
