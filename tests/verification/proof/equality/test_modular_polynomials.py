import numpy as np
import pytest
from proofs import assert_open, assert_proved, model
from sessions import open_session
from spelled import same_bits
from straightline import reference
from tables import table

COUNTED = """g (int64 m, {t}[2] start, {t}[2] delta) => ({t}[2] f, {t}[k, 2] z) {{
    f, z = Loop (m, , start) <body = b (int64 i, bool c, {t}[2] s)
        => (bool c2, {t}[2] n, {t}[2] o)
    {{ c2 = Identity (c) o = Identity (s) n = {update} }}> }}"""
CLOSED = """g (int64 m, {t}[2] start, {t}[2] delta) => ({t}[2] f, {t}[k, 2] z)
    <int64 none = {{0}}, int64 one = {{1}}, int64[1] vector = {{1}}, int64[2] column = {{-1, 1}}> {{
    iterations = Max (m, none)
    numbers = Range (none, iterations, one)
    cast = Cast <to = {number}> (numbers)
    rows = Reshape (cast, column)
    added = Mul (rows, delta)
    z = Add (start, added)
    all = Cast <to = {number}> (iterations)
    total = Mul (all, delta)
    f = Add (start, total) }}"""
NUMBERS = {"int32": 6, "int64": 7, "float": 1}


def written(type_, update="Add (s, delta)"):
    return (COUNTED.format(t=type_, update=update), CLOSED.format(t=type_, number=NUMBERS[type_]))


@pytest.mark.parametrize("type_", ["int32", "int64"])
@pytest.mark.parametrize("update", ["Add (s, delta)", "Add (delta, s)"])
def test_a_state_to_which_the_same_is_added_is_so_many_times_that(type_, update):
    before, after = written(type_, update)
    assert_proved(before, after)
    assert_proved(after, before)


@pytest.mark.parametrize("type_", ["int32", "int64"])
@pytest.mark.parametrize("iterations", [0, 1, 70])
def test_runs_agree_also_where_the_numbers_wrap(type_, iterations):
    before, after = (model(text) for text in written(type_))
    most = np.iinfo(type_).max
    feeds = {
        "m": np.array(iterations),
        "start": np.array([most - 5, -3], type_),
        "delta": np.array([most // 3, -(most // 2)], type_),
    }
    for run in (reference.run, run_by_runtime):
        assert same_bits(run(before, feeds), run(after, feeds))


def run_by_runtime(model, feeds):

    return open_session(model).run(None, feeds)


@table("Sub (s, delta)", "Add (s, s)", "Add (s, start)", "Mul (s, delta)")
def test_states_that_are_made_otherwise_are_not_that(update):
    assert_open(*written("int32", update))


def test_floats_are_rounded_on_each_iteration():
    assert_open(*written("float"))


def test_addends_that_depend_on_the_iteration_are_open():
    before, after = written("int64", "Cast <to = 7> (i) u = Add (n0, delta) n = Add (s, u)")
    assert_open(before.replace("n = Cast", "n0 = Cast"), after)


SUMS = "g ({t}[2] x, {t}[2] y, {t}[1, 2] z) => ({t}[1, 2] w) {{ {nodes} }}"
EXPANDED = "a = Mul (x, z) b = Mul (y, z) w = Add (a, b)"
FACTORED = "a = Add (y, x) w = Mul (a, z)"


@pytest.mark.parametrize("type_", ["int8", "int32", "int64", "uint8", "uint64"])
def test_sums_and_products_of_integers_may_be_written_in_any_order(type_):
    assert_proved(*(SUMS.format(t=type_, nodes=nodes) for nodes in (EXPANDED, FACTORED)))


@table(
    (EXPANDED, "a = Add (y, x) w = Mul (a, a)"),
    (EXPANDED, "a = Sub (x, y) w = Mul (a, z)"),
    ("w = Sub (x, z)", "w = Sub (z, x)"),
    ("a = Add (x, x) w = Add (a, z)", "w = Add (x, z)"),
)
def test_other_polynomials_are_not_equal(one, other):
    assert_open(*(SUMS.format(t="int32", nodes=nodes) for nodes in (one, other)))


def test_floats_are_no_ring():
    assert_open(*(SUMS.format(t="float", nodes=nodes) for nodes in (EXPANDED, FACTORED)))


def test_one_part_that_differs_is_compared():
    text = "g (int32[2] x, int32[2] y) => (int32[2] w) { %s w = Add (a, y) }"
    one, other = "b = Neg (x) a = Mod (b, y)", "b = Sub (y, x) c = Sub (b, y) a = Mod (c, y)"
    assert_proved(text % one, text % other)
    assert_open(text % one, text % other.replace("Mod (c, y)", "Mod (y, c)"))


def test_a_cast_to_fewer_bits_keeps_sums():
    cast = "g (int64[2] x, int64[2] y) => (int32[2] w) { %s }"
    assert_proved(
        cast % "a = Add (x, y) w = Cast <to = 6> (a)",
        cast % "a = Cast <to = 6> (x) b = Cast <to = 6> (y) w = Add (b, a)",
    )


def test_a_cast_to_more_bits_does_not():
    wide = "g (int32[2] x, int32[2] y) => (int64[2] w) { %s }"
    assert_open(
        wide % "a = Add (x, y) w = Cast <to = 7> (a)",
        wide % "a = Cast <to = 7> (x) b = Cast <to = 7> (y) w = Add (b, a)",
    )


def test_sizes_that_broadcast_count_as_the_shape_that_comes_out():
    text = "g (int32[n, 1] x, int32[1, m] y) => (int32[n, m] w) { %s }"
    assert_proved(text % "w = Add (x, y)", text % "w = Add (y, x)")
    assert_open(text % "a = Add (x, y) w = Sub (a, y)", text % "a = Add (x, y) w = Sub (a, x)")


def test_a_place_of_a_range_is_a_number():
    counted = COUNTED.replace("{t}[2] f, ", "").format(t="int32", update="Add (s, delta)")
    sliced = """g (int64 m, int32[2] start, int32[2] delta) => (int32[k, 2] z)
        <int64 none = {0}, int64 one = {1}, int64[1] first = {0}, int64[2] column = {-1, 1}> {
        iterations = Max (m, none) more = Add (iterations, one) end = Unsqueeze (iterations, first)
        numbers = Range (none, more, one)
        cast = Cast <to = 6> (numbers)
        rows = Reshape (cast, column)
        added = Mul (rows, delta)
        all = Add (start, added)
        z = Slice (all, first, end) }"""
    assert_proved(counted, sliced)
    assert_open(counted, sliced.replace("first = {0}", "first = {1}"))


def test_a_view_of_a_product_is_one_of_views():
    text = "g (int64[n] x, int64 f, int64[m] z, int64[k] w) => (int64[n, k] y) %s"
    text = text % "<int64[2] p = {-1, 1}, int64[2] q = {1, -1}> { %s }"
    before = text % "a = Mul (x, f) b = Reshape (a, p) y = Add (b, w)"
    after = text % "b = Reshape (x, p) a = Mul (f, b) c = Reshape (w, q) y = Add (c, a)"
    assert_proved(before, after)
    assert_open(before, after.replace("Mul (f, b)", "Add (f, b)"))
    assert_open(before, after.replace("Reshape (x, p)", "Reshape (x, q)").replace("[n] x", "[k] x"))


def test_leading_axes_of_a_constant_change_no_sum():
    text = "g (int64[n, 2, 3] x, int64[n, 1, 1] z) => (int64[n, 2, 3] y) <%s> { %s }"
    before = text % ("int64[1, 2, 1] k = {4, 5}", "a = Add (z, k) y = Add (x, a)")
    after = text % ("int64[2, 1] k = {4, 5}", "a = Add (x, k) y = Add (a, z)")
    assert_proved(before, after)
    assert_open(before, after.replace("{4, 5}", "{5, 4}"))
    square, by_row = text.replace("[n, 2, 3]", "[n, 2, 2]"), "int64[2] k = {4, 5}"
    assert_proved(square % (by_row, "y = Add (x, k)"), square % (by_row, "y = Add (k, x)"))
    by_column = before.replace("[n, 2, 3]", "[n, 2, 2]")
    assert_open(by_column, square % (by_row, "a = Add (x, k) y = Add (a, z)"))


def test_atoms_below_an_even_factor_are_compared():
    text = "g (int64[n, 2] x, int64[n, 2] z, int64[n, 1] w) => (int64[n, 2] y)"
    text += "<int64 two = {2}> { %s a = Mul (m, two) %s }"
    before = text % ("m = Abs (x)", "y = Add (a, w)")
    after = text % ("m = Max (x, p)", "y = Add (w, a)")
    assert_open(before, after.replace("m = Max", "p = Neg (x) " + "m = Max"))
    assert_open(before, text % ("m = Abs (z)", "y = Add (w, a)"))
    less = text % ("b = Less (x, z) m = Where (b, x, z)", "y = Add (a, w)")
    assert_proved(less, text % ("m = Min (x, z)", "y = Add (w, a)"))
    assert_open(less, text % ("m = Max (x, z)", "y = Add (w, a)"))
