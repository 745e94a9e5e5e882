import pytest
from simplified import operators
from tables import table

TWO = "(float[N, 3] x, float[3] z) => (y)"


@table(
    ("{ t = Neg (x) u = Neg (t) y = Add (u, z) }", ["Add"]),
    ("{ t = Neg (z) y = Add (t, x) }", ["Sub"]),
    ("{ t = Neg (z) y = Sub (x, t) }", ["Add"]),
    ("{ t = Neg (z) y = Sub (t, x) }", ["Neg", "Sub"]),
    ("{ t = Neg (x) u = Abs (t) y = Add (u, z) }", ["Abs", "Add"]),
    ("{ t = Neg (z) y = Add (x, t) w = Mul (t, y) }", ["Neg", "Add", "Mul"]),
)
def test_negations(nodes, left):
    signature = TWO if "w =" not in nodes else TWO.replace("(y)", "(w)")
    assert operators(nodes, signature) == left


def test_choices_keep_the_signs_that_onnxruntime_would_lose():
    """Its Where makes 0.0 of a -0.0 of the first value."""
    may = "{ c = Less (x, z) n = Not (c) y = Where (n, x, z) }"
    never = "{ c = Less (x, z) n = Not (c) e = Exp (x) f = Exp (z) y = Where (n, e, f) }"
    assert operators(may, TWO) == ["Less", "Not", "Where"]
    assert operators(may, TWO, "values") == ["Less", "Where"]
    assert operators(never, TWO) == ["Less", "Exp", "Exp", "Where"]
    divided = may.replace("y = Where", "w = Where").replace(") }", ") y = Reciprocal (w) }")
    assert operators(divided, TWO, "values") == ["Less", "Not", "Where", "Reciprocal"]
    assert operators(may, "(int64[N, 3] x, int64[3] z) => (y)") == ["Less", "Where"]


@table(
    ("{ s = Neg (x) t = Neg (z) y = Mul (t, s) }", ["Mul"]),
    ("<float[3] c = {1, -2, 0}> { t = Neg (x) y = Mul (c, t) }", ["Mul"]),
    ("<float[3] c = {1, -2, 0}> { t = Mul (x, c) y = Neg (t) }", ["Mul"]),
    ("<float[3] c = {1, -2, 0}> { t = Neg (x) u = Mul (t, c) y = Neg (u) }", ["Mul"]),
    ("<float[3] c = {1, -2, 0}> { t = Mul (x, c) y = Neg (t) w = Exp (t) }", None),
)
def test_signs_that_go_elsewhere(nodes, left):
    signature = TWO if left else TWO.replace("(y)", "(y, w)")
    assert operators(nodes, signature) == (left or ["Mul", "Neg", "Exp"])


@table(
    ("y = Neg (t)", []),
    ("u = Neg (t) y = Reciprocal (u)", ["Neg", "Reciprocal"]),
    ("u = Neg (t) v = Exp (t) y = Mul (u, v)", ["Neg", "Exp", "Mul"]),
)
def test_a_negated_difference(nodes, left):
    text = f"{{ t = Sub (x, z) {nodes} }}"
    assert operators(text, TWO, "values") == ["Sub", *left]
    assert "Neg" in operators(text, TWO, "bits")


def test_constants_that_meet_round_elsewhere():
    text = "<float[3] c = {1, 2, 3}, float d = {5}> { t = Mul (x, c) u = Mul (d, t) y = Exp (u) }"
    assert operators(text) == ["Mul", "Mul", "Exp"]
    assert operators(text, exactness="reals") == ["Mul", "Exp"]
    assert operators("{ t = Reciprocal (z) y = Mul (x, t) }", TWO, "reals") == ["Div"]


def test_a_division_of_one():
    text = "<float%s k = {1%s}> { t = Div (k, z) y = Mul (x, t) }"
    assert operators(text % ("", ""), TWO, "reals") == ["Div"]
    wide = "(float[N, 3] x, float[1] z) => (y)"
    assert operators(text % ("[3]", ", 1, 1"), wide, "reals") == ["Div", "Mul"]


@table(
    ("t = Sub (c, x) u = Add (d, t)", "Sub"),
    ("t = Sub (c, x) u = Sub (d, t)", "Add"),
    ("t = Add (x, c) u = Sub (d, t)", "Sub"),
    ("t = Div (c, x) u = Mul (t, d)", "Div"),
    ("t = Mul (x, c) u = Div (d, t)", "Div"),
    ("t = Div (x, c) u = Div (d, t)", "Div"),
    ("t = Div (c, x) u = Div (d, t)", "Div Div"),
    ("t = Add (x, c) r = Add (z, d) u = Add (t, r)", "Add Add"),
    ("t = Mul (c, x) r = Mul (t, z) u = Mul (r, d)", "Mul Mul"),
    ("t = Add (x, c) r = Mul (t, z) u = Add (r, d)", "Add Mul Add"),
)
def test_constants_on_either_side_and_around_others(nodes, left):
    constants = "<float[3] c = {1, 2, 3}, float d = {5}>"
    text = f"{constants} {{ {nodes} y = Exp (u) }}"
    assert operators(text, TWO, "reals") == [*left.split(), "Exp"]
    assert operators(text, TWO) == [word for word in nodes.split() if word[0].isupper()] + ["Exp"]


@pytest.mark.parametrize("text", ["1e30}, float d = {1e30}", "1e-30}, float d = {1e-30}"])
def test_constants_whose_product_no_float_holds_stay(text):
    nodes = f"<float c = {{{text}> {{ t = Mul (x, c) u = Mul (t, d) y = Exp (u) }}"
    assert operators(nodes, TWO, "reals") == ["Mul", "Mul", "Exp"]


@table(
    ("int64 c = {3}, int64 d = {-1}", "t = Add (x, c) u = Sub (t, d) y = Sub (u, c)", ["Add"]),
    ("int64[1] c = {3}, int64[1] d = {2}", "t = Mul (x, c) y = Mul (d, t)", ["Mul"]),
    ("int64 c = {3}, int64 d = {2}", "t = Sub (c, x) y = Sub (d, t)", ["Add"]),
    ("int64 c = {3}, int64 d = {2}", "t = Div (x, c) y = Div (t, d)", ["Div", "Div"]),
)
def test_integers_wrap_in_any_order(constants, nodes, left):
    integers = "(int64[N, 3] x, int64[3] z) => (y)"
    assert operators(f"<{constants}> {{ {nodes} }}", integers) == left
