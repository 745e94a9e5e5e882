import numpy as np
import onnx
import pytest
from proofs import assert_open, assert_proved, is_proved, model, over_reals
from sessions import by_reference, open_session
from spelled import same_bits
from straightline import reference
from tables import table

FINAL = """g (float[n, 2] x, float[1, 2] a) => (float[2] f) <int64[1] zero = {0}> {
    first = Squeeze (a, zero)
    f = Scan <num_scan_inputs = 1, body = b (float[2] s, float[2] e) => (float[2] t)
        { t = Add (s, e) }> (first, x) }"""
LAST = """g (float[n, 2] x, float[1, 2] a) => (float[2] f) <int64 axis = {0}, int64 at = {-1}> {
    values = Concat <axis = 0> (a, x)
    sums = CumSum (values, axis)
    f = Gather (sums, at) }"""


def assert_equal_and_proved(before, after):
    """Proved, and so it is in runs of no row, of one and of many."""
    assert_proved(before, after)
    assert_proved(after, before)
    for rows in (0, 1, 7):
        rng = np.random.default_rng(rows)
        feeds = {
            "x": rng.normal(size=(rows, 2)).astype(np.float32),
            "a": rng.normal(size=(1, 2)).astype(np.float32),
        }
        assert same_bits(*(by_reference(model(text), feeds) for text in (before, after)))


@pytest.mark.parametrize("update", ["Add (s, e)", "Add (e, s)"])
def test_the_sum_of_rows_is_the_last_place_of_a_cumsum(update):
    assert_equal_and_proved(FINAL.replace("Add (s, e)", update), LAST)


@pytest.mark.parametrize("update", ["Sub (s, e)", "Mul (s, e)", "Add (s, s)", "Add (e, e)"])
def test_states_that_are_made_otherwise_are_no_sums(update):
    assert_open(FINAL.replace("Add (s, e)", update), LAST)


@table(
    ("CumSum (", "CumSum <reverse = 1> ("),
    ("CumSum (", "CumSum <exclusive = 1> ("),
    ("axis = {0}", "axis = {1}"),
    ("at = {-1}", "at = {-2}"),
    ("(a, x)", "(x, a)"),
    ("values = Concat <axis = 0> (a, x)", "b = Neg (a) values = Concat <axis = 0> (b, x)"),
    ("values = Concat <axis = 0> (a, x)", "y = Neg (x) values = Concat <axis = 0> (a, y)"),
    ("values = Concat <axis = 0> (a, x)", "values = Concat <axis = 0> (a, x, a)"),
)
def test_other_places_of_other_cumsums_are_not_equal(old, new):
    other = LAST.replace(old, new)
    assert other != LAST
    assert_open(FINAL, other)


ROWS = """g (float[n, 2] x, float[1, 2] a) => (float[n, 2] all) <int64[1] zero = {0}> {
    first = Squeeze (a, zero)
    f, all = Scan <num_scan_inputs = 1, body = b (float[2] s, float[2] e)
        => (float[2] t, float[2] o) { t = Add (s, e) o = Identity (%s) }> (first, x) }"""
PLACES = """g (float[n, 2] x, float[1, 2] a) => (float[n, 2] all)
    <int64 axis = {0}, int64[1] zero = {0}, int64[1] one = {1}, int64[1] last = {-1},
     int64[1] end = {9223372036854775807}> {
    values = Concat <axis = 0> (a, x)
    sums = CumSum (values, axis)
    all = Slice (sums, %s, zero) }"""


@pytest.mark.parametrize(("row", "places"), [("s", "zero, last"), ("t", "one, end")])
def test_sums_before_and_after_each_trip_are_the_places_of_a_cumsum(row, places):
    assert_equal_and_proved(ROWS % row, PLACES % places)


@pytest.mark.parametrize(("row", "places"), [("t", "zero, last"), ("s", "one, end")])
def test_sums_of_another_trip_are_not_equal(row, places):
    assert_open(ROWS % row, PLACES % places)


def test_an_add_of_something_else_is_not_the_next_place():
    assert_open((ROWS % "t").replace("o = Identity (t)", "o = Add (s, s)"), PLACES % "one, end")


def test_an_add_to_another_state_is_not_the_next_place():
    two = """g (float[n, 2] x, float[1, 2] a) => (float[n, 2] all) <int64[1] zero = {0}> {
        first = Squeeze (a, zero)
        f, h, all = Scan <num_scan_inputs = 1, body = b (float[2] s, float[2] r, float[2] e)
            => (float[2] t, float[2] u, float[2] o)
            { t = Add (s, e) u = Neg (r) o = Add (%s, e) }> (first, first, x) }"""
    assert_proved(two % "s", PLACES % "one, end")
    assert_open(two % "r", PLACES % "one, end")


UNROLLED = """g (float[2] a, float[2] x, float[2] y) => (float[2] f) { %s }"""
ADDED = UNROLLED % "s = Add (a, x) t = Add (s, y) f = Add (t, x)"
SUMMED = """g (float[2] a, float[2] x, float[2] y) => (float[2] f)
    <int64 axis = {0}, int64 at = {3}, int64[1] zero = {0}> {
    p = Unsqueeze (a, zero) q = Unsqueeze (x, zero) r = Unsqueeze (y, zero)
    values = Concat <axis = 0> (p, q, r, q)
    sums = CumSum (values, axis)
    f = Gather (sums, at) }"""


@pytest.mark.parametrize("last", ["f = Add (t, x)", "f = Add (x, t)"])
def test_a_chain_of_additions_is_a_place_of_a_cumsum(last):
    before = ADDED.replace("f = Add (t, x)", last)
    assert_proved(before, SUMMED)
    assert_proved(SUMMED, before)
    feeds = {name: np.array([0.1, 3e7], np.float32) * k for k, name in enumerate("axy", 1)}
    assert same_bits(*(by_reference(model(text), feeds) for text in (before, SUMMED)))


@table(
    "s = Add (x, y) t = Add (s, x) f = Add (a, t)",
    "s = Add (a, y) t = Add (s, x) f = Add (t, x)",
    "s = Add (a, x) t = Add (s, y) f = Sub (t, x)",
    "s = Add (a, x) f = Add (s, y)",
)
def test_another_order_of_additions_is_open(nodes):
    assert_open(UNROLLED % nodes, SUMMED)


SCANNED = """g (float[{sizes}] x) => (float[{sizes}] y) <float start = {{{start}}}> {{
    s = Shape <start = 1> (x)
    first = Expand (start, s)
    f, y = Scan <num_scan_inputs = 1, scan_input_directions = [{back}],
        scan_output_directions = [{back}], body = b (float[w] s, float[w] e)
        => (float[w] t, float[w] o) {{ t = Add (s, e) o = Identity ({row}) }}> (first, x) }}"""
DIRECT = """g (float[{sizes}] x) => (float[{sizes}] y) <int64 axis = {{0}}> {{
    y = CumSum <exclusive = {exclusive}, reverse = {back}> (x, axis) }}"""


@pytest.mark.parametrize("back", [0, 1])
@pytest.mark.parametrize("sizes", ["n, w", "3, w"])
def test_a_loop_that_adds_to_a_neutral_number(back, sizes):
    options = {"sizes": sizes, "back": back}
    loop = SCANNED.format(start="-0.0", row="t", **options)
    total = DIRECT.format(exclusive=0, **options)
    assert assert_proved(total, loop).assumptions == ()
    assert_open(total, SCANNED.format(start="0.0", row="t", **options))  # -0 + 0 is 0
    assert_open(total, SCANNED.format(start="-0.0", row="t", sizes=sizes, back=1 - back))
    assert_open(DIRECT.format(exclusive=1, **options), loop)


@pytest.mark.parametrize("back", [0, 1])
def test_a_loop_that_gives_the_sum_before_each_element(back):
    options = {"sizes": "n, w", "back": back}
    loop = SCANNED.format(start="0.0", row="s", **options)
    assert_proved(DIRECT.format(exclusive=1, **options), loop)
    assert_open(DIRECT.format(exclusive=1, **options), loop.replace("{0.0}", "{-0.0}"))
    assert_open(DIRECT.format(exclusive=0, **options), loop)


@pytest.mark.parametrize("exclusive", [0, 1])
@pytest.mark.parametrize("start", ["0.0", "-0.0"])
def test_runtimes_begin_with_that_number(exclusive, start):
    options = {"sizes": "3, 2", "back": 0}
    row = "s" if exclusive else "t"
    texts = (
        DIRECT.format(exclusive=exclusive, **options),
        SCANNED.format(start=start, row=row, **options),
    )
    feeds = {"x": np.full((3, 2), -0.0, np.float32)}
    sums = [open_session(model(text)).run(None, feeds)[0] for text in texts]
    same = sums[0].tobytes() == sums[1].tobytes()
    assert same is (start == ("0.0" if exclusive else "-0.0"))


WEIGHTED = """<ir_version: 8, opset_import: ["" : 18]>
    g (float[n, 2, 2] x, float[2, 2] h, float[2] a, float[2, 1] c) => (float[2, 2] y)
    <int64[1] axis = {0}, int64 zero = {0}, int64 one = {1}, int64[2] last = {1, 2}, float f = {1}>
    { NODES }"""
SMOOTHED = """y = Scan <num_scan_inputs = 1, body = step (float[2, 2] s, float[2, 2] e)
    => (float[2, 2] s_next) { k = Exp (e) p = Mul (s, a) s_next = Add (k, p) }> (h, x)"""
WEIGHTED_SUM = """b = Exp (x) shape = Shape (x) n = Gather <axis = 0> (shape, zero)
    t = Range (zero, n, one) m = Sub (n, one) e = Sub (m, t) g = Cast <to = 1> (e)
    u = Unsqueeze (g, last) q = Pow (a, u) w = Mul (q, b)
    total = ReduceSum <keepdims = 0> (w, axis)
    z = Cast <to = 1> (n) r = Pow (a, z) i = Mul (r, h) y = Add (i, total)"""


def weighted(nodes):
    return model(WEIGHTED.replace("NODES", nodes))


def outputs(proto, n):
    draw = np.random.default_rng(n)
    shapes = {"x": (n, 2, 2), "h": (2, 2), "a": (2,), "c": (2, 1)}
    return reference.run(
        proto, {k: draw.standard_normal(s).astype("float32") for k, s in shapes.items()}
    )[0]


@table(
    ("Mul (q, b)", "Mul (b, q)"),
    ("Add (i, total)", "Add (total, i)"),
    ("Mul (r, h)", "Mul (h, r)"),
    ("ReduceSum <keepdims = 0> (w, axis)", "ReduceSum <keepdims = 1> (w, axis)"),
)
def test_a_last_state_is_a_weighted_sum_over_the_reals(old, new):
    nodes = WEIGHTED_SUM.replace(old, new)
    nodes = (
        nodes.replace("y = Add", "v = Add") + " y = Squeeze (v, axis)" if "= 1>" in new else nodes
    )
    one, other = weighted(SMOOTHED), weighted(nodes)
    for n in (1, 2, 5):
        np.testing.assert_allclose(outputs(one, n), outputs(other, n), rtol=1e-4, atol=1e-5)
    assert over_reals(one, other)
    assert not is_proved(one, other)


@pytest.mark.sample(4)
@table(
    ("e = Sub (m, t)", "e = Sub (n, t)"),
    ("e = Sub (m, t)", "e = Identity (t)"),
    ("z = Cast <to = 1> (n)", "z = Cast <to = 1> (m)"),
    ("r = Pow (a, z)", "r = Pow (c, z)"),
    ("q = Pow (a, u)", "q = Pow (c, u)"),
    ("q = Pow (a, u)", "q = Pow (u, a)"),
    ("i = Mul (r, h)", "i = Mul (r, r)"),
    ("i = Mul (r, h)", "i = Add (r, h)"),
    ("w = Mul (q, b)", "w = Mul (q, x)"),
    ("w = Mul (q, b)", "w = Add (q, b)"),
    ("(w, axis)", "(w, k)"),
    ("g = Cast <to = 1> (e)", "d = Cast <to = 3> (e) g = Cast <to = 1> (d)"),
    ("y = Add", "y = Sub"),
    ("b = Exp (x)", "v = Exp (x) b = Transpose <perm = [0, 2, 1]> (v)"),
    ("b = Exp (x)", "v = Transpose <perm = [0, 2, 1]> (x) b = Exp (v)"),
    ("b = Exp (x)", "v = Exp (x) b = Slice (v, back, first, axis, back)"),
)
def test_other_sums_are_open(old, new):
    assert old in WEIGHTED_SUM
    nodes = WEIGHTED_SUM.replace(old, new)
    text = WEIGHTED.replace("f = {1}", "f = {1}, int64[1] k = {1}, int64[1] back = {-1}")
    text = text.replace("f = {1}", "f = {1}, int64[1] first = {-9999}").replace("NODES", nodes)
    assert not over_reals(weighted(SMOOTHED), text)


@pytest.mark.parametrize("shape", ["{2, 1}", "{1, 2}"])
def test_factors_along_another_axis_are_open(shape):
    """A vector along columns in the sum, and along rows before the initial state."""
    nodes = WEIGHTED_SUM.replace("r = Pow (a, z)", "v = Reshape (a, way) r = Pow (v, z)")
    text = WEIGHTED.replace("f = {1}", f"f = {{1}}, int64[2] way = {shape}").replace("NODES", nodes)
    assert over_reals(weighted(SMOOTHED), text) is (shape == "{1, 2}")


DOTS = """g (float[n, 2] x, float[n] w) => (float[{d}] f)
    <int64[1] zero = {{0}}, int64[1] one = {{1}}, {c} first> {{
    f = Scan <num_scan_inputs = 2, body = b (float[{d}] s, float[2] e, float k)
        => (float[{d}] t) {{ {body} t = Add (s, v) }}> (first, x, w) }}"""
PRODUCT = "g (float[n, 2] x, float[n] w) => (float[{d}] f) {{ {nodes} }}"
OUTER = "c = Unsqueeze (e, one) r = Unsqueeze (e, zero) v = Mul (c, r)"


@table(
    ("2", "v = Mul (k, e)", "f = MatMul (w, x)", True),
    ("2", "v = Mul (k, e)", "v = Neg (w) f = MatMul (v, x)", False),
    ("2", "v = Mul (k, e)", "u = Mul (w, w) f = MatMul (u, x)", False),
    ("2", "v = Mul (e, e)", "f = MatMul (w, x)", False),
    ("2, 2", OUTER, "t = Transpose <perm = [1, 0]> (x) f = MatMul (t, x)", True),
    ("2, 2", OUTER, "z = Neg (x) t = Transpose <perm = [1, 0]> (z) f = MatMul (t, x)", False),
)
def test_a_product_of_matrices_is_a_sum_of_products_of_columns_and_rows(d, body, nodes, holds):
    """Over the reals alone, since kernels add in other orders; also of no row."""
    zeros = np.zeros([int(size) for size in d.split(", ")], np.float32)
    before = model(DOTS.format(d=d, body=body, c=f"float[{d}]"))
    before.graph.initializer.append(onnx.numpy_helper.from_array(zeros, "first"))
    after = model(PRODUCT.format(d=d, nodes=nodes))
    for pair in ((before, after), (after, before)):
        assert over_reals(*pair) is holds
        assert not is_proved(*pair)
