from simplified import operators
from tables import table


@table(
    ("n = Shape (x) e = Expand (z, n) y = Add (x, e)", ["Add"]),
    ("n = Shape (x) e = Expand (z, n) y = Add (e, x)", ["Add"]),
    ("n = Shape (x) e = Expand (z, n) y = Sub (e, x)", ["Sub"]),
    ("n = Shape (x) e = Expand (z, n) y = Div (x, e)", ["Div"]),
    ("n = Shape (x) e = Expand (z, n) y = Exp (e)", ["Shape", "Expand", "Exp"]),
)
def test_an_expand_before_a_broadcast(nodes, left):
    signature = "(float[N, 3] x, float[3] z) => (y)"
    assert operators(f"{{ {nodes} }}", signature) == left
