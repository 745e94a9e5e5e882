from proofs import assert_open, assert_proved
from straightline.facts.polynomial import Dimension
from straightline.verification.proof.equality.views import _groups, _reshaped
from tables import table

TEXT = """g (float[a, b] x, float[a, b] w, float[b] v, float[a, 1] u) => (float[] y)
    <float k = {{2.5}}, int64[1] flat = {{-1}}, int64[1] one = {{1}}> {{ {} }}"""


@table(
    ("r = Reshape (x, flat) y = Exp (r)", "e = Exp (x) y = Reshape (e, flat)"),
    ("r = Reshape (x, flat) s = Reshape (w, flat) y = Add (r, s)",
     "e = Add (x, w) y = Reshape (e, flat)"),
    ("r = Reshape (x, flat) y = Mul (r, k)", "e = Mul (x, k) y = Reshape (e, flat)"),
    ("r = Unsqueeze (x, one) y = Add (r, v)", "e = Add (x, v) y = Unsqueeze (e, one)"))  # fmt: skip
def test_a_view_passes_an_elementwise_operator(one, other):
    assert_proved(TEXT.format(one), TEXT.format(other))
    assert_proved(TEXT.format(other), TEXT.format(one))


@table(
    ("r = Reshape (x, flat) y = Exp (r)", "e = Exp (w) y = Reshape (e, flat)"),
    ("e = Add (x, v) y = Reshape (e, flat)", "r = Reshape (x, flat) y = Add (r, k)"),
    ("e = Add (x, u) y = Reshape (e, flat)", "e = Add (w, u) y = Reshape (e, flat)"),
)
def test_others_do_not(one, other):
    assert_open(TEXT.format(one), TEXT.format(other))


def shape(*sizes):
    return tuple(
        Dimension.symbol(s) if isinstance(s, str) else Dimension.constant(s) for s in sizes
    )


@table(
    ((2, 6, "n"), (2, 2, 3, "n"), ("n",), (1, 1, 1, "n")),
    ((2, 6, "n"), (2, 2, 3, "n"), (6, 1), (1, 2, 3, 1)),
    ((2, 6, "n"), (12, "n"), (6, 1), None),
    ((2, 6, "n"), (12, "n"), (2, 6, 1), (12, 1)),
    (("n", 1, "m"), ("n", "m"), ("m",), (1, "m")),
    ((4, "n"), ("n", 4), ("n",), None),
)
def test_an_operand_has_all_of_a_group_of_axes_or_one(whole, other, own, expected):
    groups = list(_groups(shape(*whole), shape(*other)))
    reshaped = _reshaped(shape(*own), shape(*whole), groups)
    assert reshaped == (None if expected is None else shape(*expected))


def test_the_number_of_elements_determines_the_last_size():
    text = """g (float[] x, float[] w) => (float[] y) <int64[2] s = {%s}> {
        a = %s y = Reshape (a, s) }"""
    assert_proved(text % ("-1, 1", "Add (x, w)"), text % ("-1, 1", "Add (w, x)"))
    assert_open(text % ("-1, 1", "Add (x, w)"), text % ("1, -1", "Add (w, x)"))
    assert_open(text % ("-1, 2", "Add (x, w)"), text % ("2, -1", "Add (w, x)"))
    assert_open(text % ("-1, 1", "Add (x, w)"), text % ("-1, 1", "Sub (w, x)"))
