import pytest
import straightline as sl
from proofs import assert_open, assert_proved, is_proved, model
from straightline.facts.polynomial import Dimension
from straightline.verification.proof import prove
from straightline.verification.proof.cases import cases_by_sizes, size_without_iteration, with_sizes
from straightline.verification.proof.terms.budget import Budget, OpenError
from straightline.verification.proof.terms.term_manager import Terms
from tables import table

N, M = Dimension.symbol("N"), Dimension.symbol("M")


def test_sizes_stand_in_earlier_ones():
    case = with_sizes({"N": M + 1}, {"M": Dimension.constant(0)})
    assert case == {"N": Dimension.constant(1), "M": Dimension.constant(0)}


def test_the_size_for_which_a_loop_has_no_iteration():
    assert size_without_iteration(N * 2 - 6) == {"N": Dimension.constant(3)}
    for iterations in (N * 2 - 5, N + 1, N + M, N * N):
        with pytest.raises(OpenError):
            size_without_iteration(iterations)


TOTALS = """g (float[n] x, float[5] p, int64 m, int64 k) => (float s, int64[1] y)
    <float none = {0}, int64 one = {1}, bool yes = {1}, int64[1] first = {0}, int64[1] next = {1},
    int64[1] most = {99}> { shape = Shape (x) n = Squeeze (shape) s = LOOP Y }"""
OVER = """Loop (COUNT, yes, none) <body = b (int64 i, bool c, float t) => (bool d, float u) {
    ON NODES }>"""
READ = "e = Gather (p, i) u = Add (t, e)"
GUARDED = """a = Less (i, m) e = If (a) <then_branch = f () => (float v) { v = Gather (p, i) },
    else_branch = g () => (float w) { w = Identity (t) }> u = Add (t, e)"""
NESTED = """u = Loop (n, c, t) <body = b (int64 j, bool f, float v) => (bool h, float w) {
    h = Identity (f) e = Gather (p, j) w = Add (v, e) }>"""


def totals(nodes, y, count="n", on="d = Identity (c)"):
    text = OVER.replace("ON", on).replace("COUNT", count).replace("NODES", nodes)
    return TOTALS.replace("LOOP", text).replace("Y }", f"{y} }}")


def rows(start, count="shape"):
    return f"q = Slice (p, {start}, most) r = Slice (q, first, {count}) y = Shape (r)"


@table((READ, {}, True),
     (READ.replace("(p, i)", "(p, j)").replace("e =", "j = Add (i, one) e ="), {}, True),
     (GUARDED, {}, False), (READ, {"on": "d = Less (t, none)"}, False),
     (READ, {"count": "m"}, False), (NESTED, {"count": "m"}, False),
     (NESTED, {"count": "one"}, True),
     (READ.replace("Add (t, e)", "Cos (t)"), {}, False))  # fmt: skip
def test_positions_in_a_loop_bound_its_iterations(nodes, options, known):
    """All n rows of p [5] are read, so n is at most 5, unless some of them may not be read."""
    before, after = (
        totals(nodes, "y = Identity (shape)", **options),
        totals(nodes, rows("first"), **options),
    )
    (assert_proved if known else assert_open)(before, after)
    after = totals(nodes, rows("next"), **options)
    (assert_proved if known and "j = Add" in nodes else assert_open)(before, after)


def test_trip_counts_make_cases_where_they_are_asked_for():
    terms = Terms(Budget())
    terms.facts.declared.add("N")
    terms.limits["?iteration0:N"] = N
    assert [case["N"].value for case in cases_by_sizes(terms, with_iterations=True)] == [None, 0]
    assert cases_by_sizes(terms, with_iterations=False) == []


PADDED = """g (float[n, m] x) => (float[a, b] y) <int64[1] zero = {0}, int64[1] one = {1}> {
    shape = Shape (x) rows = Gather (shape, zero) columns = Gather (shape, one)
    none = %s more = Cast <to = 7> (none)
    no_column = Equal (columns, zero) wider = Cast <to = 7> (no_column)
    widths = Concat <axis = 0> (zero, zero, more, wider) p = Pad (x, widths)
    e = Exp (p) ends = Concat <axis = 0> (rows, columns) starts = Concat <axis = 0> (zero, zero)
    y = Slice (e, starts, ends) }"""
PLAIN = "g (float[n, m] x) => (float[a, b] y) { y = Exp (x) }"


def test_padding_an_empty_value_and_cutting_it_again():
    assert_proved(PLAIN, PADDED % "Equal (rows, zero)")
    assert_proved(PLAIN, PADDED % "Less (rows, one)")
    assert_open(PLAIN.replace("Exp", "Sin"), PADDED % "Equal (rows, zero)")
    turned = (PADDED % "Equal (rows, zero)").replace("(rows, columns) st", "(columns, rows) st")
    assert_open(PLAIN, turned)
    starts = "starts = Concat <axis = 0> (zero, {})"
    cut = (PADDED % "Equal (rows, zero)").replace(starts.format("zero"), starts.format("one"))
    assert_open(PLAIN, cut)


@pytest.mark.parametrize(("number", "status"), [("0.0", "proved"), ("1.0", "open")])
def test_signs_of_zeros_are_alike_in_each_case(number, status):
    nodes = f"o = Constant <value_float = {number}> () d = Sin (p) e = Add (d, o)"
    padded = (PADDED % "Equal (rows, zero)").replace("e = Exp (p)", nodes)
    before, after = model(PLAIN.replace("Exp", "Sin")), model(padded)
    assert prove(before, after, equality="values").status == status


def test_sizes_of_inputs_make_cases_before_others():
    terms = Terms(Budget())
    zero = terms.size(0)
    for name in ("?least0:s:", "N"):
        terms.op("Equal", 13, terms.size(Dimension.symbol(name)), zero)
    assert [set(case) for case in cases_by_sizes(terms, with_iterations=False)] == [
        {"?least0:s:"}
    ] * 2
    terms.facts.declared.add("N")
    assert [set(case) for case in cases_by_sizes(terms, with_iterations=False)] == [{"N"}] * 2


def test_a_shape_with_zeros_in_an_older_opset():
    split = """g (float[b, s, 4] x, float[b, s, 2] u) => (float[p, q, r] y) <int64[1] c = {4}> {
        all = Constant <value_ints = [-1, 4]> () rows = Reshape (x, all)
        sizes = Shape <start = 0, end = 2> (u) shape = Concat <axis = 0> (sizes, c)
        y = Reshape <allowzero = 1> (rows, shape) }"""
    before = model(split)
    after = sl.convert_version(before, 9, verify=False)
    assert is_proved(before, after)
    other = model(split.replace("(sizes, c)", "(swapped, c)").replace("shape =", SWAP + "shape ="))
    assert not is_proved(other, after)


SWAP = "back = Constant <value_ints = [1, 0]> () swapped = Gather (sizes, back) "


CHOSEN = """g (float[n, m, 4] x, float[k] z) => (float[a] y) <int64 zero = {0}, int64 four = {4},
    int64[1] all = {-1}, int64[1] none = {0}, int64[1] single = {1}> {
    count = Size (x) empty = Equal (count, zero)
    y = If (empty) <then_branch = t () => (float[b] u) { u = ConstantOfShape (none) },
        else_branch = f () => (float[c] v) { r = Reshape (x, all) v = Neg (r) }> }"""
BOTH = """g (float[n, m, 4] x, float[k] z) => (float[a] y) <int64[1] all = {-1}> {
    r = Reshape (x, all) y = Neg (r) }"""


def test_a_product_of_sizes_is_0_if_one_of_them_is():
    assert_proved(CHOSEN, BOTH)
    assert_proved(BOTH, CHOSEN)
    for old, new in (("(count, zero)", "(count, four)"), ("(none)", "(single)"), ("Neg", "Abs")):
        assert_open(CHOSEN.replace(old, new), BOTH)


def test_a_sum_of_sizes_is_0_if_all_are():
    chosen = CHOSEN.replace("count = Size (x)", "s = Size (x) q = Size (z) count = Add (s, q)")
    assert_proved(chosen, BOTH)
    assert_open(chosen.replace("Add (s, q)", "Sub (s, q)"), BOTH)


def test_rows_that_exist_are_one_case_however_many():
    """Each Gather demands a row more: x has 40 rows or more wherever the original runs."""
    reads = " ".join(
        f"i{k} = Constant <value_int = {k}> () r{k} = Gather (x, i{k})" for k in range(40)
    )
    sums = " ".join(f"s{k + 1} = Add (s{k}, r{k})" for k in range(1, 40))
    text = f"""g (float[n] x) => (float y, int64[1] z) <int64[1] few = {{39}},
        int64[1] many = {{40}}, int64[1] more = {{41}}> {{
        {reads} s1 = Abs (r0) {sums} y = Tanh (s40) n = Shape (x) LAST }}"""
    before, after = text.replace("LAST", "z = Identity (n)"), "z = Max (n, {})"
    for number in ("few", "many"):
        assert_proved(before, text.replace("LAST", after.format(number)))
    assert_open(before, text.replace("LAST", after.format("more")))
    other = before.replace("Abs (r0)", "Exp (r0)")
    assert_open(before, other, "output 'y': Abs and, in the rewrite, Exp are not proved equal")


def test_a_last_element_that_exists_bounds_a_trip_count_below():
    """SequenceAt (all, -1) fails unless m is 1 or more, so m is as many iterations."""
    last = """g (float[n, 2] x, int64 m) => (float[2] y) <int64 one = {1}, int64 back = {-1},
        bool yes = {1}> { NODES }"""
    listed = """none = SequenceEmpty () all = Loop (m, yes, none) <body = b (int64 i, bool c,
        seq(float[2]) s) => (bool d, seq(float[2]) t) { d = Identity (c) e = Gather (x, i)
        r = Exp (e) t = SequenceInsert (s, r) }> y = SequenceAt (all, back)"""
    before = last.replace("NODES", listed)
    row = "k = Sub (m, one) e = Gather (x, k) y = Exp (e)"
    assert_proved(before, last.replace("NODES", row))
    assert_open(before, last.replace("NODES", row.replace("Sub (m, one)", "Identity (m)")))
    assert_open(before, last.replace("NODES", row.replace("Sub (m, one)", "Add (m, one)")))
    first = before.replace("back = {-1}", "back = {0}")
    assert_open(first, last.replace("NODES", row))
    assert_proved(
        first, last.replace("NODES", row.replace("k = Sub (m, one)", "k = Sub (one, one)"))
    )
