import onnx
import pytest
from proofs import assert_open, assert_proved, is_proved, model, over_reals
from tables import table

TEXT = """g (float[n, m] x) => (int64 y) <int64 zero = {{0}}, int64 one = {{1}}, double f0 = {{0}},
    double f1 = {{1}}, double half = {{0.5}}, double two = {{2}}> {{
    h = Shape (x) n = Gather (h, zero) m = Gather (h, one) {} }}"""
COUNT = "d = Cast <to = 11> (n) q = Div (d, f1) c = Ceil (q) l = Max (c, f0) y = Cast <to = 7> (l)"


@table(
        (COUNT, "n"),
        (COUNT.replace("Ceil", "Floor"), "n"),
        ("e = Add (n, n) d = Cast <to = 11> (e) q = Div (d, two) c = Ceil (q)"
         " y = Cast <to = 7> (c)", "n"))  # fmt: skip
def test_a_size_stays_exact(nodes, size):
    assert_proved(TEXT.format(nodes), TEXT.format(f"y = Identity ({size})"))


@table(
    COUNT.replace("to = 11", "to = 1").replace("f1)", "g1)").replace("f0)", "g0)").replace("d =",
     "g0 = Cast <to = 1> (f0) g1 = Cast <to = 1> (f1) d ="),
    COUNT.replace("(d, f1)", "(d, half)"),
    COUNT.replace("(d, f1)", "(d, two)"),
    "k = Mul (n, m) d = Cast <to = 11> (k) c = Ceil (d) y = Cast <to = 7> (c)",
    COUNT.replace("(n)", "(m)"))  # fmt: skip
def test_others_may_be_rounded(nodes):
    assert_open(TEXT.format(nodes), TEXT.format("y = Identity (n)"))
    assert_open(TEXT.format(nodes), TEXT.format("y = Mul (n, m)"))


def sums(kind, wide, name="Sub", to="float"):
    """A sum of integers as a float, and a sum of floats."""
    numbers = [onnx.TensorProto.DataType.Value(each.upper()) for each in (wide, to)]
    text = "g ({} x, {} z) => ({} y) {{ a = Cast <to = {}> (x) b = Cast <to = {}> (z) {} }}"
    before = text.format(kind, kind, to, numbers[0], numbers[0], f"c = {name} (a, b)")
    before = before.replace("(a, b)", f"(a, b) y = Cast <to = {numbers[1]}> (c)")
    return before, text.format(kind, kind, to, numbers[1], numbers[1], f"y = {name} (a, b)")


@pytest.mark.parametrize("kind", ["int8[n]", "uint16[n]"])
@pytest.mark.parametrize("name", ["Add", "Sub"])
def test_a_sum_of_small_integers_is_exact(kind, name):
    for wide, to in (("int32", "float"), ("int64", "double")):
        assert_proved(*[text.replace(to, f"{to}[n]") for text in sums(kind, wide, name, to)])


@table(
    sums("int8", "int32", "Mul"),  # the product of 0 and -1 is -0
    sums("int16", "int16"),
    sums("int32", "int64"),
    sums("uint8", "uint32"),
    sums("uint16", "int32", to="float16"),
)
def test_other_sums_wrap_or_round(before, after):
    assert_open(before, after)


@table(
    ("d = Cast <to = 11> (n) y = Max (d, f1)", "l = Max (n, one) y = Cast <to = 11> (l)"),
    ("d = Cast <to = 11> (n) y = Max (f0, d)", "y = Cast <to = 11> (n)"),
    ("k = Add (n, one) d = Cast <to = 11> (k) y = Max (d, f1)", "y = Cast <to = 11> (k)"),
)
def test_a_cast_of_integers_keeps_their_order(nodes, wanted):
    text = TEXT.replace("(int64 y)", "(double y)")
    assert_proved(text.format(nodes), text.format("k = Add (n, one) " * ("k)" in wanted) + wanted))


@pytest.mark.parametrize("bound", ["half", "two"])
def test_a_larger_bound_or_one_that_is_no_integer_counts(bound):
    text = TEXT.replace("(int64 y)", "(double y)")
    node = f"k = Add (n, one) d = Cast <to = 11> (k) y = Max (d, {bound})"
    assert_open(
        text.format(node), text.format("k = Add (n, one) l = Neg (k) y = Cast <to = 11> (l)")
    )
    if bound == "two":
        assert_open(text.format(node), text.format("k = Add (n, one) y = Cast <to = 11> (k)"))


COUNTED = """g (int64 n, float[k] x) => (float[m] y) <int64 one = {1}, float f1 = {1},
    int64[1] first = {0}> { s = Shape (x) k = Squeeze (s) f = Cast <to = 1> (k) e = Add (f, f1)
    NODES }"""
BY_REALS = [
    ("y = Range (f1, e, f1)", "g = Add (k, one) r = Range (one, g, one) y = Cast <to = 1> (r)"),
    (
        "p = Cast <to = 1> (n) b = Less (p, f) c = Cast <to = 1> (b) y = Unsqueeze (c, first)",
        "b = Less (n, k) c = Cast <to = 1> (b) y = Unsqueeze (c, first)",
    ),
]


@pytest.mark.parametrize("pair", BY_REALS)
def test_real_numbers_hold_all_integers(pair):
    """From 2^24 + 1 on floats do not, so bits may differ."""
    models = [model(COUNTED.replace("NODES", nodes)) for nodes in pair]
    assert over_reals(*models)
    assert not is_proved(*models, equality="values")
    other = model(
        COUNTED.replace("NODES", pair[1].replace("one)", "k)").replace("(n, k)", "(k, n)"))
    )
    assert not over_reals(models[0], other)


def test_truth_values_do_not_hold_integers():
    as_bool = "p = Cast <to = 9> (n) q = Cast <to = 9> (k) b = Equal (p, q) c = Cast <to = 1> (b)"
    exact = "b = Equal (n, k) c = Cast <to = 1> (b)"
    models = [
        model(COUNTED.replace("NODES", f"{nodes} y = Unsqueeze (c, first)"))
        for nodes in (as_bool, exact)
    ]
    assert not over_reals(*models)
