import numpy as np
import pytest
from proofs import assert_open, assert_proved, model
from sessions import outputs
from straightline.facts.fact import Fact
from straightline.facts.polynomial import Dimension
from straightline.reference import run
from straightline.verification.proof.simplify.slices import even_steps
from straightline.verification.proof.terms.budget import Budget, OpenError
from straightline.verification.proof.terms.term_manager import Terms
from tables import table


def test_a_place_counted_from_the_end_is_one_counted_from_the_front():
    at = "i = Constant <value_int = %d> () z = Gather (c, i)"
    place = "g (float[2] x, float[1] y) => (float z) { c = Concat <axis = 0> (x, y) %s }"
    assert_proved(place % (at % -1), place % (at % 2))
    assert_proved(place % (at % -3), place % (at % 0))
    assert_open(place % (at % -1), place % (at % 1))


def test_a_place_behind_the_end_is_none():
    text = """g (float x) => (float z) <int64[1] s = {2}, int64 i = {%d}> {
        e = Expand (x, s) z = Gather (e, i) }"""
    assert_proved(text % 1, "g (float x) => (float z) { z = Identity (x) }")
    assert_open(text % 2, "g (float x) => (float z) { z = Identity (x) }")


def test_rows_by_the_number_of_the_iteration_are_all_rows():
    assert_proved(
        """g (float[n, 2] x) => (float[n, 2] z) <bool yes = {1}, int64 zero = {0}> {
            s = Shape (x) n = Gather (s, zero)
            z = Loop (n, yes) <body = b (int64 i, bool c) => (bool c2, float[2] o) {
                c2 = Identity (c) e = Gather (x, i) o = Neg (e) }> }""",
        "g (float[n, 2] x) => (float[n, 2] z) { z = Neg (x) }",
    )


def test_places_from_both_ends_are_not_side_by_side():
    text = "g (float[1] a, float[1] b) => (float[2] z) { %s }"
    wrapped = (
        "c = Concat <axis = 0> (a, b) i = Constant <value_ints = [-1, 0]> () z = Gather (c, i)"
    )
    assert_open(text % wrapped, text % "z = Concat <axis = 0> (a, b)")
    assert_open(text % wrapped, text % "s = Constant <value_ints = [2]> () z = Expand (b, s)")


def test_parts_of_parts_are_parts():
    assert_proved(
        """g (float[6] x) => (float[2] z) <int64[1] a = {1}, int64[1] b = {5}, int64[1] d = {3}> {
            y = Slice (x, a, b) z = Slice (y, a, d) }""",
        """g (float[6] x) => (float[2] z) <int64[1] a = {2}, int64[1] b = {-2}> {
            z = Slice (x, a, b) }""",
    )


def test_split_gives_slices():
    split = "g (float[5] x) => (float[3] a, float[2] b) { a, b = Split <num_outputs = 2> (x) }"
    sliced = """g (float[5] x) => (float[3] a, float[2] b)
        <int64[1] s = {0}, int64[1] m = {3}, int64[1] e = {%d}> {
        a = Slice (x, s, m) b = Slice (x, m, e) }"""
    assert_proved(split, sliced % 5)
    assert_proved(split, sliced % 9)
    assert_open(split, sliced % 4)


def test_axes_of_parts_count():
    text = """g (float[3, 3] x) => (float[1, 3] z) <int64[1] s = {0}, int64[1] e = {1}> {
        a = Constant <value_ints = [%d]> () y = Slice (x, s, e, a) %s }"""
    assert_proved(text % (0, "z = Identity (y)"), text % (-2, "z = Identity (y)"))
    assert_open(text % (0, "z = Identity (y)"), text % (1, "z = Transpose (y)"))


def test_reversed_twice_is_as_it_was():
    text = """g (float[n, 2] x) => (float[n, 2] z) <int64[1] s = {-1}, int64[1] k = {-1},
        int64[1] e = {-9223372036854775807}, int64[1] a = {%d}, int64[1] b = {%d}> {
        y = Slice (x, s, e, a, k) z = Slice (y, s, e, b, k) }"""
    same = "g (float[n, 2] x) => (float[n, 2] z) { z = Identity (x) }"
    assert_proved(text % (0, 0), same)
    assert_open(text % (0, 1), same)


def test_lengths_that_are_no_vector_are_open():
    text = "g (float[3] x) => (float[3] y) <int64 n = {3}> { y = Split (x, n) }"
    assert_open(text, text.replace("Split (x, n)", "Identity (x)"))


CUT = """g (float[n, m] x, float[k, 512] w) => (float[] y) <
    int64[1] zero = {{0}}, int64 one = {{1}},
    int64[1] axis = {{1}}, int64[1] two = {{2}}, int64[1] most = {{512}}, int64 first = {{0}},
    int64[1] far = {{9223372036854775807}}, int64[1] back = {{-3}}> {{
    s = Shape (x) t = Gather (s, axis) {} }}"""


@table(
        ("a = Slice (w, zero, t, axis) y = Exp (a)", "a = Exp (w) y = Slice (a, zero, t, axis)"),
        ("y = Slice (w, zero, t, axis)", "e = Min (most, t) y = Slice (w, zero, e, axis)"),
        (
            "a = Slice (x, back, far, axis) y = Exp (a)",
            "b = Exp (x) y = Slice (b, back, far, axis)"),
        (
            "a = Slice (x, zero, two, zero) y = Slice (a, zero, two, axis)",
            "a = Slice (x, zero, two, axis) y = Slice (a, zero, two, zero)",
        ))  # fmt: skip
def test_lengths_that_a_slice_clamps(one, other):
    assert_proved(CUT.format(one), CUT.format(other))
    assert_proved(CUT.format(other), CUT.format(one))


@table(
    ("y = Slice (w, zero, t, axis)", "e = Max (most, t) y = Slice (w, zero, e, axis)"),
    ("y = Slice (x, back, far, axis)", "y = Slice (x, zero, far, axis)"),
    ("y = Slice (x, zero, two, axis)", "y = Identity (x)"),
    ("y = Slice (x, two, far, axis)", "y = Slice (x, axis, far, axis)"),
    ("y = Slice (x, zero, two, axis)", "y = Slice (x, zero, two, zero)"),
)
def test_other_lengths_stay_open(one, other):
    assert_open(CUT.format(one), CUT.format(other))


def test_a_slice_is_a_gather_of_its_positions():
    gather = """c = Greater (t, most) e = Where (c, most, t) q = Squeeze (e, zero)
        r = Range (first, q, one) y = Gather <axis = 1> (w, r)"""
    assert_proved(CUT.format(gather), CUT.format("y = Slice (w, zero, t, axis)"))
    assert_open(CUT.format(gather), CUT.format("y = Slice (w, axis, t, axis)"))
    assert_open(CUT.format(gather), CUT.format("y = Slice (x, zero, t, axis)"))


def test_tuples_in_order_are_a_slice():
    flat = """int64[3] s = {12, -1, 1}, int64[1] b = {%d}, int64[1] e = {%d}, int64[1] z = {0}> {
        f = Flatten <axis = 2> (x) c = Slice (f, b, e, z) d = Unsqueeze (c, z) y = Identity (d) }"""
    text = "g (float[4, 3, n] x) => (float[] y) <int64[1, 2, 2] i = {%s}, "
    picked = text % "1, 2, 2, 0" + "int64 o = {0}> { y = GatherND (x, i) }"
    assert_proved(picked, text % "0, 0, 0, 0" + flat % (5, 7))
    assert_open(picked, text % "0, 0, 0, 0" + flat % (4, 6))
    assert_proved(picked.replace("1, 2, 2, 0", "1, 2, -2, 0"), text % "0, 0, 0, 0" + flat % (5, 7))
    for other in ("2, 0, 1, 2", "1, 2, 2, 1", "1, 2, -1, 0"):
        assert_open(picked.replace("1, 2, 2, 0", other), text % "0, 0, 0, 0" + flat % (5, 7))


@pytest.mark.sample(0)
def test_positions_in_a_constant_grow_with_the_iteration():
    positions = [4 * i + k for i in range(90) for k in range(3)]
    windows = """g (float[N] x) => (float[90, 3] y) <int64 n = {90}, bool yes = {1}, int64 k = {4},
        int64[3] offsets = {0, 1, 2}> { y = Loop (n, yes) <body = b (int64 i, bool c)
        => (bool c2, float[3] r) { c2 = Identity (c) s = Mul (i, k) p = Add (offsets, s)
        w = Gather (x, p) r = Neg (w) }> }"""
    gathered = """g (float[N] x) => (float[90, 3] y) <int64[90, 3] p = {%s}> {
        w = Gather (x, p) y = Neg (w) }"""
    assert_proved(windows, gathered % ", ".join(map(str, positions)))
    for at in (0, 7, 269):
        other = [p + (n == at) for n, p in enumerate(positions)]
        assert_open(windows, gathered % ", ".join(map(str, other)))


def test_rows_of_a_constant_that_are_all_alike():
    loop = """g (float[90] x) => (float[90] y) <int64 n = {90}, bool yes = {1}, float k = {%s}> {
        y = Loop (n, yes) <body = b (int64 i, bool c) => (bool c2, float r) {
        c2 = Identity (c) e = Gather (x, i) r = Mul (e, k) }> }"""
    table = "g (float[90] x) => (float[90] y) <float[90] k = {%s}> { y = Mul (x, k) }"
    assert_proved(loop % "0.0", table % ", ".join(["0.0"] * 90))
    assert_open(loop % "0.0", table % ", ".join(["0.0"] * 89 + ["-0.0"]))
    assert_open(loop % "0.0", table % ", ".join(["0.0"] * 45 + ["-0.0"] + ["0.0"] * 44))


def test_numbers_whose_differences_wrap_do_not_grow_evenly():
    assert even_steps(np.array([-(1 << 63), 0, -(1 << 63)])) is None
    assert even_steps(np.array([0, 1 << 62, 0])) is None
    assert even_steps(np.array([[1, 5], [2, 5], [3, 5]])).tolist() == [1, 0]
    assert even_steps(np.array([1, 2, 4])) is None


def test_a_constant_without_rows_has_no_row_at_an_unknown_place():
    terms = Terms(Budget())
    empty = terms.constant(np.zeros((0, 2), np.float32))
    row = terms.narrow(empty, 0, Dimension.symbol("n") - 1, Dimension.constant(1))
    assert row.head.name == "narrow"


@pytest.mark.parametrize("elements", [np.zeros((0, 2), np.float32), np.zeros(0, np.int64)])
def test_a_slice_from_before_the_start_of_an_axis_leaves_the_proof_open(elements):
    terms = Terms(Budget())
    empty = terms.constant(elements)
    with pytest.raises(OpenError, match="before the start"):
        terms.narrow(empty, 0, Dimension.constant(-1), Dimension.constant(1))
    assert terms.narrow(empty, 0, Dimension.constant(0), Dimension.constant(0)) is empty


def test_as_many_of_the_last_elements_as_there_are_is_all():
    text = """g (float[N, M] x) => (float[A, B] y) <int64[1] end = {9223372036854775807}> {
        n = Shape <start = %d, end = %d> (x)
        k = Neg (n)
        a = Constant <value_ints = [1]> ()
        y = Slice (x, k, end, a) }"""
    whole = "g (float[N, M] x) => (float[A, B] y) { y = Identity (x) }"
    assert_proved(text % (1, 2), whole)
    assert_open(text % (0, 1), whole)


def test_running_sums_begin_with_the_first_element():
    text = """g (float[n, m] x, int64[1] k) => (float[n, 1] y) <int64 axis = {1}, int64[1] s = {%d},
        int64[1] e = {%d}, int64[1] axes = {1}> { %s y = Slice (c, s, e, axes) }"""
    before = text % (0, 1, "c = CumSum (x, axis)")
    after = text % (0, 1, "c = Identity (x)")
    assert_proved(before, after)
    assert_open(text % (1, 2, "c = CumSum (x, axis)"), text % (1, 2, "c = Identity (x)"))
    assert_open(text % (0, 1, "c = CumSum <exclusive = 1> (x, axis)"), after)
    assert_open(text % (0, 1, "c = CumSum <reverse = 1> (x, axis)"), after)
    assert_open(text % (0, 1, "z = Sub (axis, axis) c = CumSum (x, z)"), after)


def test_a_part_of_a_slice_of_a_constant_is_a_slice_of_its_part():
    text = """g (float[n, 2] x) => (float[n, 2] y) <float[9, 4] c = {{{}}}, float[9, 2] h = {{{}}},
        int64[1] zero = {{0}}, int64[1] one = {{1}}, int64[1] two = {{2}}, int64[1] four = {{4}}> {{
        s = Shape <end = 1> (x) {} y = Add (x, p) }}"""
    numbers = [0.5 * n for n in range(36)]
    half = [n for place, n in enumerate(numbers) if place % 4 > 1]
    listed = ", ".join(map(str, numbers)), ", ".join(map(str, half))
    before = text.format(*listed, "r = Slice (c, zero, s, zero) p = Slice (r, two, four, one)")
    after = text.format(*listed, "p = Slice (h, zero, s, zero)")
    assert_proved(before, after)
    assert_open(before.replace("two, four", "one, two"), after)
    assert_open(before, after.replace("17.5", "17.0"))


COMPUTED = """g (float[4, 32] w, float[S] x) => (float[4, K] y)
    <int64[1] c = {{32}}, int64[1] far = {{9223372036854775807}}, int64[1] one = {{1}},
     int64[1] zero = {{0}}, int64 from = {{0}}, int64 step = {{1}}> {{
    s = Shape (x) d = Sub (c, s) {} }}"""
SLICE = COMPUTED.format("y = Slice (w, d, far, one)")
RANGE = """back = Add (d, c) negative = Less (d, zero) b = Where (negative, back, d)
    low = Less (b, zero) p = Where (low, zero, b) high = Greater (p, c) q = Where (high, c, p)
    n = Sub (c, q) none = Less (n, zero) m = Where (none, zero, n) k = Squeeze (m)
    r = Range (from, k, step) i = Add (r, q) y = Gather <axis = 1> (w, i)"""


def test_a_computed_start_counts_from_the_front_or_from_behind():
    assert_proved(SLICE, COMPUTED.format(RANGE))


@table(
    ("back = Add (d, c)", "back = Add (d, one)"),
    ("negative = Less (d, zero)", "negative = Less (zero, d)"),
    ("negative = Less (d, zero)", "negative = Less (d, one)"),
    ("Where (low, zero, b)", "Where (low, one, b)"),
    ("Where (negative, back, d)", "Identity (d)"),
    ("n = Sub (c, q)", "n = Sub (c, p)"),
    ("i = Add (r, q)", "i = Add (r, zero)"),
)
def test_other_starts(old, new):
    assert old in RANGE
    assert_open(SLICE, COMPUTED.format(RANGE.replace(old, new)))


@pytest.mark.parametrize("runtime", [run, outputs])
def test_starts_on_each_side_of_the_axis(runtime):
    w = np.arange(128, dtype=np.float32).reshape(4, 32)
    for size in (0, 1, 31, 32, 33, 63, 64, 65, 100):
        feeds = {"w": w, "x": np.zeros(size, np.float32)}
        one, other = (runtime(model(t), feeds)[0] for t in (SLICE, COMPUTED.format(RANGE)))
        np.testing.assert_array_equal(one, other)


def test_a_slice_of_an_axis_of_open_size_counts_more_steps():
    terms, spent = Terms(Budget()), []
    rest = [terms.constant(np.array([each])) for each in (1, 1 << 40, 0)]
    for size in (Dimension.constant(9), Dimension.symbol("n")):
        x, steps = terms.leaf("input", str(size), Fact(1, (size,))), terms.budget.steps
        terms.op("Slice", 17, x, *rest)
        spent.append(steps - terms.budget.steps)
    assert spent[1] > spent[0] + 60


def test_a_slice_of_a_concat_counts_the_pieces_before_it():
    terms = Terms(Budget(steps=4000))
    sizes = [Dimension.symbol(f"n{k}") for k in range(100)]
    whole = terms.op(
        "Concat", 17, *[terms.leaf("input", str(n), Fact(1, (n,))) for n in sizes], axis=0
    )
    for k in range(3):
        part = terms.narrow(whole, 0, sum(sizes[:k], Dimension.constant(0)), sizes[k])
        assert part.head.name == "input"
    with pytest.raises(OpenError):
        terms.narrow(whole, 0, sum(sizes[:99], Dimension.constant(0)), sizes[99])


@table(
    "t = Slice (x, k, end, k, two) y = Slice (t, one, end, one, two)",
    "t = Slice (x, one, end, one, two) y = Slice (t, k, end, k, two)",
    "r = Slice (x, k, end, k, two) t = Slice (r, one, end, one, two) y = Identity (t)",
)
def test_slices_in_steps_along_axes_of_open_size(spelling):
    steps = """g (float[N, M] x) => (float[?, ?] y) <int64[1] k = {{0}}, int64[1] one = {{1}},
        int64[1] two = {{2}}, int64[1] end = {{99}}, int64[2] s = {{0, 1}}, int64[2] e = {{99, 99}},
        int64[2] both = {{2, 2}}, int64[2] turned = {{1, 0}}> {{ {} }}"""
    at_once = steps.format("y = Slice (x, s, e, s, both)")
    assert_proved(steps.format(spelling), at_once)
    assert_open(steps.format(spelling), steps.format("y = Slice (x, s, e, turned, both)"))
    assert_open(steps.format(spelling.replace("end, one, two", "end, one, one")), at_once)
