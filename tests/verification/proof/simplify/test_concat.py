from proofs import assert_open, assert_proved, proof_of
from tables import table

SAME = "g (float[4, 2] x) => (float[4, 2] z) { z = Identity (x) }"
HALVES = """g (float[4, 2] x) => (float[4, 2] z)
    <int64[1] s = {0}, int64[1] m = {2}, int64[1] e = {4}> {
    a = Slice (x, s, m) b = Slice (x, m, e) z = Concat <axis = %d> (%s) }"""


def test_halves_side_by_side_are_the_whole():
    assert_proved(HALVES % (0, "a, b"), SAME)
    assert_proved(HALVES % (-2, "a, b"), SAME)


def test_halves_in_another_order_are_not():
    assert_open(HALVES % (0, "b, a"), SAME)
    assert_open(HALVES % (0, "b, a"), HALVES % (0, "a, b"))
    assert_open(HALVES % (0, "a, a"), SAME)


def test_concats_of_concats_are_one():
    text = "g (float[a] x, float[b] y, float[c] v) => (float[d] z) { %s }"
    assert_proved(
        text % "w = Concat <axis = 0> (x, y) z = Concat <axis = 0> (w, v)",
        text % "w = Concat <axis = -1> (y, v) z = Concat <axis = 0> (x, w)",
    )


def test_pieces_without_elements_are_left_out():
    text = "g (float[2] x, float[0] y) => (float[2] z) { z = %s }"
    assert_proved(text % "Concat <axis = 0> (y, x, y)", text % "Identity (x)")


def test_pieces_of_other_ranks_stay_as_they_are():
    text = "g (float[2] x, float[2, 2] y) => (float[a, b] z) { z = Concat <axis = 1> (x, y) }"
    reason = "the original is not a valid model: onnx's shape inference refuses Concat 'z': "
    assert proof_of(text, text).reason.startswith(reason)


def test_a_concat_whose_own_pieces_do_not_fit_stays_inside_of_another():
    text = """g (float[2, 3] x, float[2, 3, 1] z, float s) => (float[n, m] y) {
        c = Concat <axis = 1> (x, %s) y = Concat <axis = 1> (x, c) }"""
    for other in ("s", "z"):
        assert_open(text % other, text.replace("(x, c)", "(c, x)") % other)


def test_elements_of_a_sequence_are_joined_along_the_axis():
    text = "g (float[2, 3] x, float[2, 3] y) => (float[%s] z) { %s }"
    stacked = "s = SequenceConstruct (x, y) z = ConcatFromSequence <axis = %d, new_axis = %d> (s)"
    joined = "z = Concat <axis = %d> (x, y)"
    assert_proved(text % ("2, 6", stacked % (-1, 0)), text % ("2, 6", joined % 1))
    assert_open(text % ("4, 3", stacked % (0, 0)), text % ("4, 3", "z = Concat <axis = 0> (y, x)"))
    rows = "a = Constant <value_ints = [%d]> () u = Unsqueeze (x, a) v = Unsqueeze (y, a) "
    assert_proved(
        text % ("2, 3, 2", stacked % (-1, 1)),
        text % ("2, 3, 2", rows % 2 + "z = Concat <axis = 2> (u, v)"),
    )


def test_pieces_that_are_a_whole_have_its_size():
    """The first elements and all but as many last ones: as many as there are."""
    text = """g (float[N, 3] x) => (float[M, 3] y) <int64[1] zero = {{0}}, int64[1] two = {{2}},
        int64[1] back = {{{}}}> {{ a = Slice (x, zero, two, zero) b = Slice (x, zero, back, zero)
        c = Concat <axis = 0> (a, b) {} }}"""
    shape = "s = Shape ({}) y = Expand (x, s)"
    one, other = text.format(-2, shape.format("c")), text.format(-2, shape.format("x"))
    assert_proved(one, other)
    assert_open(one.replace("{-2}", "{-3}"), other)


@table(
    ("one", "one", 0, True),
    ("two", "two", 0, False),
    ("one", "two", 0, False),
    ("one", "one", 1, False),
)
def test_the_first_row_of_sums_is_the_first_summand(first, rest, exclusive, is_equal):
    sums = """g (float[K, 2] x) => (float[N, 2] y) <int64 zero = {0}, int64[1] first = {0},
        int64[1] one = {1}, int64[1] two = {2}, int64[1] most = {9223372036854775807}> {
        b = Concat <axis = 0> (x, x, x) a = Slice (b, first, FIRST, first) s = CumSum <EX> (b, zero)
        c = Slice (s, REST, most, first) y = Concat <axis = 0> (a, c) }"""
    whole = """g (float[K, 2] x) => (float[N, 2] y) <int64 zero = {0}> {
        b = Concat <axis = 0> (x, x, x) y = CumSum <EX> (b, zero) }"""
    texts = [
        text.replace("FIRST", first)
        .replace("REST", rest)
        .replace("<EX>", f"<exclusive = {exclusive}>")
        .replace("[K, 2]", "[1, 2]")
        for text in (sums, whole)
    ]
    (assert_proved if is_equal else assert_open)(*texts)
