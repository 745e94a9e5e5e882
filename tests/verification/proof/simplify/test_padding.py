import numpy as np
import pytest
from proofs import assert_open, assert_proved, model
from sessions import by_reference, open_session
from straightline.reference import run
from tables import table
from term_values import evaluated, terms_of

FILLED = """g (int64[1] n, float[l, 2] x) => (float[a, b] z)
    <int64[1] two = {2}, int64[1] front = {0}, int64 axis = {0}, float one = {7}> { %s }"""
OF_SHAPE = "s = Concat <axis = 0> (n, two) z = ConstantOfShape <value = float[1] {7}> (s)"


def test_a_constant_of_a_shape_is_its_element_expanded():
    expanded = "s = Concat <axis = 0> (n, two) z = Expand (%s, s)"
    assert_proved(FILLED % OF_SHAPE, FILLED % (expanded % "one"))
    assert_open(FILLED % OF_SHAPE, FILLED.replace("{7}>", "{6}>") % (expanded % "one"))
    assert_open(FILLED % OF_SHAPE, FILLED % OF_SHAPE.replace("n, two", "two, n"))


def test_an_element_that_is_not_said_is_a_zero():
    zero = FILLED.replace("{7}>", "{0}>") % "s = Concat <axis = 0> (n, two) z = Expand (one, s)"
    assert_proved(FILLED % "s = Concat <axis = 0> (n, two) z = ConstantOfShape (s)", zero)
    assert_open(
        FILLED % "s = Concat <axis = 0> (n, two) z = ConstantOfShape (s)",
        zero.replace("{0}>", "{-0.0}>"),
    )


PLACES = """g (int64[1] n, float[l, 2] x) => (float[a, 2] z) {
    ones = ConstantOfShape <value = %s> (n) p = NonZero (ones)
    front = Constant <value_ints = [0]> () q = Squeeze (p, front) z = Gather (x, q) }"""
RANGE = """g (int64[1] n, float[l, 2] x) => (float[a, 2] z) <int64 u = {1}, int64 o = {0}> {
    m = Squeeze (n) f = ConstantOfShape (n) s = Shape (f) k = Squeeze (s) r = Range (o, k, u)
    z = Gather (x, r) }"""


@pytest.mark.parametrize("value", ["int64[1] {1}", "float[1] {-2}", "bool[1] {1}"])
def test_the_places_of_what_is_nowhere_zero_are_all(value):
    assert_proved(PLACES % value, RANGE)
    assert_open(PLACES % value, RANGE.replace("(o, k, u)", "(u, k, u)"))
    for count in (0, 1, 3):
        feeds = {"n": np.array([count]), "x": np.arange(6, dtype=np.float32).reshape(3, 2)}
        (found,), (expected,) = (
            evaluated(model(PLACES % value), feeds),
            by_reference(model(PLACES % value), feeds),
        )
        np.testing.assert_array_equal(found, expected)


def test_zeros_have_no_places():
    assert_open(PLACES % "float[1] {0}", RANGE)
    assert_open(PLACES % "float[1] {-0.0}", RANGE)


UP = """g (int64[1] n, float[l, 2] x, float[k, 2] y) => (float[a, b] z, int64[2] s)
    <int64[1] five = {5}, int64[1] two = {2}, int64[1] front = {0}, int64[1] one = {1}> {
    ones = ConstantOfShape <value = int64[1] {1}> (n) p = NonZero (ones)
    q = Squeeze (p, front) part = Gather (x, q)
    rows = Scan <num_scan_inputs = 1, body = b (float[2] e) => (float[2] o) { o = Sin (e) }> (part)
    %s s = Shape (z) }"""
ZEROS = """rest = Sub (%s, n) sizes = Concat <axis = 0> (rest, two)
    more = ConstantOfShape <value = float[1] {%s}> (sizes) z = Concat <axis = 0> (%s)"""
FIVE = UP % (ZEROS % ("five", "0", "rows, more"))


def told(text):
    """The sizes that are known of what comes out."""
    _, (z, _) = terms_of(model(text))
    return [str(size) for size in z.fact.shape]


def test_the_length_of_a_padded_value():
    assert told(FIVE) == ["5", "2"]
    assert_proved(FIVE, FIVE.replace("s = Shape (z)", "s = Concat <axis = 0> (five, two)"))


@table(
    UP % (ZEROS % ("five", "-0.0", "rows, more")),
    UP % (ZEROS % ("five", "1", "rows, more")),
    UP % (ZEROS % ("five", "0", "more, rows")),
    UP % (ZEROS % ("five", "0", "y, more")),
    UP % (ZEROS % ("five", "0", "rows, more")).replace("(five, n)", "(n, five)"),
    UP % (ZEROS % ("five", "0", "rows, more")).replace("Sub (five", "Add (five"),
    UP % ("m = Add (n, one) " + (ZEROS % ("five", "0", "rows, more")).replace(", n)", ", m)")),
)
def test_other_sums_and_other_elements_are_none(text):
    assert told(text)[0] != "5"
    assert_open(FIVE, text)


def test_a_loop_of_a_negative_number_makes_no_iteration_so_that_more_zeros_are_behind_it():
    rows = """m = Squeeze (n) yes = Constant <value = bool {1}> ()
        line = Constant <value = float[2] {1, 2}> ()
        rows = Loop (m, yes) <body = b (int64 i, bool c) => (bool d, float[2] o) {
            d = Identity (c) o = Identity (line) }> """
    text = UP % (rows + ZEROS % ("five", "0", "rows, more"))
    text = text[: text.index("ones = ")] + text[text.index("m = Squeeze") :]
    feeds = {"x": np.zeros((5, 2), np.float32), "y": np.zeros((0, 2), np.float32)}
    for count, length in ((2, 5), (-1, 6)):
        assert by_reference(model(text), {**feeds, "n": np.array([count])})[0].shape == (length, 2)
    assert told(text)[0] != "5"
    assert_open(text, text.replace("s = Shape (z)", "s = Concat <axis = 0> (five, two)"))


@pytest.mark.parametrize("count", [0, 1, 4, 5])
def test_padded_values_agree_with_runs(count):
    text = model(FIVE)
    feeds = {
        "n": np.array([count]),
        "x": np.arange(10, dtype=np.float32).reshape(5, 2),
        "y": np.zeros((count, 2), np.float32),
    }
    expected = run(text, feeds)
    for one, other in zip(evaluated(text, feeds), expected, strict=True):
        assert np.shape(one) == np.shape(other)
        np.testing.assert_array_equal(one, other)
    if count:  # onnxruntime refuses a Scan without iterations from opset 11 on
        session = open_session(text)
        for one, other in zip(session.run(None, feeds), expected, strict=True):
            np.testing.assert_array_equal(one.shape, other.shape)


PADDED = (
    "g (float[n, 2] x) => (float[a, b] y) {{ widths = Constant <value = int64[4] {{{}}}> () {} }}"
)


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect"])
def test_a_pad_of_no_elements_is_its_operand(mode):
    pad = f'y = Pad <mode = "{mode}"> (x, widths)'
    assert_proved(PADDED.format("0, 0, 0, 0", pad), PADDED.format("0, 0, 0, 0", "y = Identity (x)"))
    assert_open(PADDED.format("0, 0, 0, 1", pad), PADDED.format("0, 0, 0, 0", "y = Identity (x)"))
    both = PADDED.format("1, 0, -1, 0", pad), PADDED.format("0, 0, 0, 0", "y = Identity (x)")
    assert_open(*both)


@table(
    ("1, 0, 0, 0", "Add (i, one)", 1),
    ("1, 0, 2, 0", "Add (i, one)", 1),
    ("2, 0, 0, 0", "Add (i, one)", 2),
)
def test_rows_of_a_pad_are_those_of_a_concat(widths, place, side):
    options = {"widths": widths, "place": place, "side": f"{side}, 2"}
    options["zeros"] = ", ".join(["0"] * 2 * side)
    rows = """g (float[n, 2] x) => (float[a, b] y) <int64 zero = {{0}}, int64 one = {{1}},
        bool go = {{1}}, int64[4] widths = {{{widths}}}, float[{side}] first = {{{zeros}}}> {{
        p = {pad} s = Shape (x) n = Gather <axis = 0> (s, zero) y = Loop (n, go) <body = b (int64 i,
            bool c) => (bool d, float[2] r) {{ d = Identity (c) j = {place}
            r = Gather <axis = 0> (p, j) }}> }}"""
    padded = rows.format(pad="Pad (x, widths)", **options)
    assert_proved(padded, rows.format(pad="Concat <axis = 0> (first, x)", **options))
    other = {**options, "place": "Identity (i)"}
    assert_open(padded, rows.format(pad="Concat <axis = 0> (first, x)", **other))
