import numpy as np
import pytest
from harness import as_model, assert_equal, assert_equal_outputs
from loops import op_types
from straightline import ir, reference
from straightline.analysis.shapes.inference import ShapeInference
from straightline.passes.iteration.loop_view import read
from straightline.passes.iteration.places import element_reads, moving_indices
from tables import table
from vectorized import assert_same, numbers, untyped, vectorized

LOOP = """g (float[6, 2] x, float[6, 2] o, int64 n, int64[K] list) => (float[6, 2] y)
        <bool yes = {{1}}, int64 zero = {{0}}, int64 two = {{2}}, int64 five = {{5}},
        int64 six = {{6}}, int64[1] first = {{0}},
        int64[1] one = {{1}}, int64[2] both = {{1, 2}}, int64[2, 1] down = {{0, 1}},
        int64[2, 1] ones = {{1, 1}}> {{
    sizes = Shape ({counted}) m = Gather (sizes, zero)
    y, last = Loop (m, yes, o, {first}) <body = b (int64 i, bool c, float[6, 2] s, int64 k)
            => (bool c2, float[6, 2] t, int64 k2) {{
        c2 = Identity (c) k2 = Add (k, two) e = Gather (x, {read}) f = Exp (e) {write} }}> }}"""
ROW = "p = Reshape ({0}, one) t = ScatterND (s, p, f)"
GONE = {
    "the number of the iteration": ("x", "zero", "i", ROW.format("i")),
    "from the end": ("x", "zero", "i", "p0 = Sub (five, i) " + ROW.format("p0")),
    "ahead": ("list", "zero", "i", "p0 = Add (i, two) " + ROW.format("p0")),
    "a counter": ("list", "zero", "k", ROW.format("k")),
    "each element of a row": ("x", "zero", "i",
     "q = Mul (ones, i) p = Concat <axis = -1> (q, down) t = ScatterND (s, p, f)")}  # fmt: skip
WRAPPED = "g = Less (d, zero) w = Add (d, six) p0 = Where (g, w, d) "
GONE |= {
    "every second": ("list", "zero", "i", "p0 = Mul (i, two) " + ROW.format("p0")),
    "below 0": ("x", "zero", "i", f"d = Sub (i, six) {WRAPPED}" + ROW.format("p0")),
    "never below 0": ("x", "zero", "i", f"d = Identity (i) {WRAPPED}" + ROW.format("p0")),
    "with more axes": (
        "x",
        "zero",
        "i",
        "q = Mul (ones, i) p1 = Concat <axis = -1> (q, down) p = Unsqueeze (p1, first)"
        " h = Unsqueeze (f, first) t = ScatterND (s, p, h)",
    ),
}
STAYS = {
    "partly below 0": ("x", "zero", "i", f"d = Sub (i, two) {WRAPPED}" + ROW.format("p0")),
    "through 0": ("x", "zero", "i", "p0 = Sub (two, i) " + ROW.format("p0")),
    "a number of iterations that is not known": ("list", "zero", "i",
     "p0 = Sub (five, i) " + ROW.format("p0")),
    "twice the same": ("x", "zero", "i", "p0 = Div (i, two) " + ROW.format("p0"))}  # fmt: skip


@pytest.mark.parametrize("what", [*GONE, *STAYS])
def test_places(what):
    counted, first, read, write = {**GONE, **STAYS}[what]
    model = as_model(LOOP.format(counted=counted, first=first, read=read, write=write))
    result = vectorized(model)
    assert ("Loop" in op_types(result.model.graph)) == (what in STAYS), result.remarks
    for count in (0, 1, 3):
        given = {"list": np.zeros(count, np.int64), "n": np.array(0)}
        feed = {"x": numbers(6, 2), "o": numbers(6, 2), **given}
        assert_same(model, result.model, feed)


@table(
    ("a counter", "int64", "{4}",
     "t = Identity (s) d = Constant <value_int = 3> () s2 = Add (s, d)"),
    ("a counter that counts down", "int64", "{4}",
     "t = Identity (s) d = Constant <value_int = 3> () s2 = Sub (s, d)"),
    ("a vector of counters", "int64[2]", "{4, 5}",
     "t = Identity (s) d = Constant <value_ints = [1, -2]> () s2 = Add (d, s)"),
    ("the number of the iteration before", "int64", "{-1}", "t = Mul (s, s) s2 = Identity (i)"),
    ("what the iteration before made", "int64", "{-1}", "t = Add (s, i) s2 = Mul (i, i)"),
    ("a value that is always replaced", "int64", "{-1}",
     "t = Add (s, i) s2 = Constant <value_int = 8> ()"))  # fmt: skip
def test_states_that_are_none(state, type_, initial, body):
    text = f"""g (int64 n) => ({type_} last, z) <{type_} first = {initial}> {{
        last, z = Loop (n, , first) <body = b (int64 i, bool c, {type_} s)
                => (bool c2, {type_} s2, {type_} t) {{ c2 = Identity (c) {body} }}> }}"""
    before = untyped(text)
    result = vectorized(before)
    assert "Loop" not in set(op_types(result.model.graph)), result.remarks
    for n in (0, 1, 2, 6):
        assert_equal_outputs(before, result.model, {"n": np.array(n)})


def test_states_that_hand_on_to_each_other():
    text = """g (int64 n) => (int64 p, int64 q, z) <int64 one = {7}, int64 two = {9}> {
        p, q, z = Loop (n, , one, two) <body = b (int64 i, bool c, int64 s, int64 t)
                => (bool c2, int64 s2, int64 t2, int64 r) {
            c2 = Identity (c) s2 = Mul (i, i) t2 = Identity (s) r = Add (s, t) }> }"""
    before = untyped(text)
    result = vectorized(before)
    assert "Loop" not in set(op_types(result.model.graph)), result.remarks
    for n in (0, 1, 2, 6):
        expected = reference.run(before, {"n": np.array(n)})
        for one, other in zip(
            reference.run(result.model, {"n": np.array(n)}), expected, strict=True
        ):
            assert_equal(one, other)


def found(body, what=element_reads):
    """Places in a loop over x of [N, 3], whose state u counts from two, two down."""
    constants = "<bool yes = {1}, int64 zero = {0}, int64 two = {2}, int64[1] k = {1}>"
    text = f"""g (float[N, 3] x, float[3] s) => (float[3] y) {constants} {{
        sh = Shape (x) m = Gather (sh, zero) one = Squeeze (k)
        t, v, y = Loop (m, yes, two, two, s) <body = b
                (int64 i, bool c, int64 u, int64 d, float[3] a)
                => (bool c2, int64 u2, int64 d2, float[3] r) {{
            c2 = Identity (c) u2 = Add (one, u) d2 = Sub (d, one) {body} }}> }}"""
    model = ir.load(as_model(text))
    node = next(n for n in model.graph.nodes() if n.is_op("Loop"))
    return what(read(node), ShapeInference(model))


@table(
    ("j = Identity (i)", "0", 1),
    ("j = Add (i, two)", "2", 1),
    ("j = Sub (i, two)", "-2", 1),
    ("j = Sub (two, i)", "2", -1),
    ("h = Sub (m, one) j = Sub (h, i)", "N - 1", -1),
    ("h = Sub (m, i) j = Sub (h, one)", "N - 1", -1),
    ("j = Identity (u)", "2", 1),
    ("j = Add (d, one)", "3", -1),
    ("h = Reshape (u, k) j = Squeeze (h)", "2", 1),
    ("j = Add (i, u)", None, None),
    ("j = Mul (i, two)", "0", 2),
    ("h = Add (i, one) j = Mul (two, h)", "2", 2),
    ("h = Neg (i) j = Mul (h, two)", "0", -2),
    ("j = Mul (i, i)", None, None),
    ("f = Cast <to = 1> (i) g0 = Floor (f) j = Cast <to = 7> (g0)", None, None),
)
def test_indices(index, start, step):
    known = found(f"{index} r = Identity (a)", moving_indices)
    (one,) = [known.get(v) for v in known if v.name == "j"] or [None]
    assert (None if one is None else (str(one.start), one.step)) == (start and (start, step))


@table(
    ("e = Gather (x, i)", 0, False),
    ("e = Gather <axis = -1> (x, i)", 1, False),
    ("j = Expand (i, k) e = Gather (x, j)", None, None),
    ("j = Reshape (i, k) e = Gather (x, j)", 0, True),
    ("j = Reshape (i, k) l = Add (j, k) e = Slice (x, j, l)", 0, True),
    ("j = Reshape (i, k) l = Add (j, k) e = Slice (x, j, l, k, k)", 1, True),
    ("j = Mul (i, two) e = Gather (x, j)", None, None),
    ("j = Reshape (i, k) h = Add (j, k) l = Add (h, k) e = Slice (x, j, l)", None, None),
    ("e = Gather (a, i)", None, None),
)
def test_reads(body, axis, keeps):
    reads = found(f"{body} f = ReduceSum <keepdims = 0> (e) r = Add (a, f)")
    expected = [] if axis is None else [(axis, keeps)]
    assert [(one.selection.axis, one.keeps_axis) for one in reads] == expected
    assert all(one.checked == one.node.is_op("Gather") for one in reads)


def test_an_unread_sequence_has_no_reads():
    assert found("e = Gather (x, i) r = Neg (a)") == []
