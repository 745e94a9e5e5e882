from simplified import operators
from tables import table

CONSTANTS = "<float three = {3}, float seven = {7}, int64[1] first = {0}, float zero = {0}>"


@table(
    "y = Ceil (t)",
    "y = Floor (t)",
    "y = Round (t)",
    "i = Cast <to = 7> (t) y = Cast <to = 1> (i)",
    "a = Add (t, seven) y = Floor (a)",
    "a = Exp (t) b = Unsqueeze (a, first) c = Squeeze (b, first) y = Ceil (c)",
    "b = Less (x, seven) a = Where (b, x, t) y = Mod <fmod = 1> (a, seven)",
    "z = Neg (t) i = Cast <to = 6> (t) k = Cast <to = 1> (i) y = Add (z, k)",
)
def test_rounded_quotients_stay(reader):
    nodes = f"{CONSTANTS} {{ q = Div (x, three) t = Mul (q, seven) {reader} }}"
    assert operators(nodes, exactness="reals", opset=17)[:2] == ["Div", "Mul"]


@table(
    "y = Exp (t)",
    "i = Shape (t) k = Cast <to = 1> (i) p = ReduceProd <keepdims = 0> (k) y = Add (t, p)",
    "b = Less (t, zero) i = Cast <to = 7> (b) k = Cast <to = 1> (i) y = Add (t, k)",
)
def test_other_values_are_computed_with_one_constant(reader):
    nodes = f"{CONSTANTS} {{ q = Div (x, three) t = Mul (q, seven) {reader} }}"
    assert "Div" not in operators(nodes, exactness="reals", opset=17)
