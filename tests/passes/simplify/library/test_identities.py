import pytest
from simplified import operators
from tables import table


@table(
    ("<float k = {1}> { t = Exp (x) y = Mul (k, t) }", 1),
    ("<float[3] k = {1, 1, 1}> { t = Exp (x) y = Mul (t, k) }", 1),
    ("<float[3] k = {1, 1, 1.5}> { t = Exp (x) y = Mul (t, k) }", 2),
    ("<float[1, 1, 1] k = {1}> { t = Exp (x) y = Mul (t, k) }", 2),  # a rank more
    ("<float k = {1}> { t = Exp (x) y = Div (t, k) }", 1),
    ("<float k = {1}> { t = Exp (x) y = Div (k, t) }", 2),
    ("<float k = {0}> { t = Exp (x) y = Sub (t, k) }", 1),
    ("<float k = {0}> { t = Exp (x) y = Sub (k, t) }", 2),
    ("<float k = {-0.0}> { t = Exp (x) y = Add (t, k) }", 1),
    ("<float k = {0}> { t = Exp (x) y = Add (t, k) }", 2),
    ("<float k = {1e-12}> { t = Exp (x) y = Add (t, k) }", 2),
    ("{ t = Exp (x) y = Max (t, t) }", 1),
    ("{ t = Exp (x) y = Cast <to = 1> (t) }", 1),
    ("{ t = Exp (x) y = Cast <to = 11> (t) }", 2),
    ("{ t = Exp (x) y = Transpose <perm = [0, 1]> (t) }", 1),
    ("{ t = Exp (x) y = Transpose (t) }", 2),
    ("{ t = Exp (x) y = Concat <axis = 1> (t) }", 1),
    ("<int64[2] k = {1, 1}> { t = Exp (x) y = Expand (t, k) }", 1),
    ("<int64[3] k = {1, 1, 1}> { t = Exp (x) y = Expand (t, k) }", 2),
    ("<int64[2] k = {0, 3}> { t = Exp (x) y = Reshape (t, k) }", 1),
    ("<int64[2] k = {1, 1}> { t = Exp (x) y = Tile (t, k) }", 1),
    ("<int64[4] k = {0, 0, 0, 0}> { t = Exp (x) y = Pad (t, k) }", 1),
    ("<int64[1] s={0}, int64[1] e={9}, int64[1] a={1}> { t=Exp(x) y=Slice(t, s, e, a) }", 1),
    ("<int64[1] s={0}, int64[1] e={2}, int64[1] a={1}> { t=Exp(x) y=Slice(t, s, e, a) }", 2),
    ("{ t = Exp (x) y = Dropout (t) }", 1),
    ("{ t = Exp (x) y, m = Dropout (t) u = Cast <to = 1> (m) z = Add (y, u) }", 4),
)
def test_nodes_that_return_their_operand(nodes, left):
    outputs = "(y)" if "z =" not in nodes else "(z)"
    assert len(operators(nodes, f"(float[N, 3] x) => {outputs}")) == left


def test_the_class_of_exactness_decides():
    text = "<float k = {0}> { t = Exp (x) y = Add (t, k) }"
    assert operators(text, exactness="values") == ["Exp"]
    assert operators("<float k = {1}> { t = Exp (x) y = Pow (t, k) }") == ["Exp", "Pow"]
    assert operators("<float k = {1}> { t = Exp (x) y = Pow (t, k) }", exactness="reals") == ["Exp"]


def test_a_choice_by_a_constant():
    text = "<bool c = {%d}, float k = {2}> { t = Exp (x) y = Where (c, t, k) }"
    assert operators(text % 1) == ["Exp"]
    assert operators(text % 0) == ["Exp", "Where"]  # the shape is that of t


def test_an_operator_of_training_stays():
    text = "<float r = {0.5}, bool t = {1}> { s = Exp (x) y = Dropout (s, r, t) }"
    assert operators(text) == ["Exp", "Dropout"]


NORMALIZED = """<float[4] ones = {1, 1, 1, 1}, float[4] none = {0, 0, 0, 0}, float one = {1},
    float e = {0.00001}, float two = {2}> {
    m = ReduceMean <axes = [-1]> (x) d = Sub (x, m) p = Pow (d, two)
    v = ReduceMean <axes = [-1]> (p) w = Add (v, e) s = Sqrt (w) n = Div (d, s)"""


@pytest.mark.parametrize("exactness", ["values", "reals"])
@table(
    ("a = Mul (n, ones) b = Add (a, none) y = Exp (b)", ["Mul", "Add"]),
    ("a = Mul (ones, n) b = Add (none, a) y = Exp (b)", ["Mul", "Add"]),
    ("b = Mul (n, ones) y = Exp (b)", ["Mul"]),
    ("a = Mul (n, one) y = Exp (a)", []),
    ("a = Exp (n) b = Mul (a, ones) y = Add (b, none)", []),
    ("a = Mul (d, ones) b = Add (a, none) y = Div (b, s)", []),
)
def test_unit_scales_and_biases_of_normalizations_stay(end, left, exactness):
    """onnxruntime fuses the longer form only as a whole."""
    interface = "(float[2, 4] x) => (float[2, 4] y)"
    operators_left = operators(f"{NORMALIZED} {end} }}", interface, exactness=exactness, opset=13)
    normalization = ["ReduceMean", "Sub", "Pow", "ReduceMean", "Add", "Sqrt", "Div"]
    assert operators_left == [*normalization, *left, *["Exp"] * end.count("Exp")]
