from harness import run_passes
from recurred import loop, raised
from straightline.passes import RaiseRecurrences
from tables import table


@table(
    ("a = Mul (s, one_) s2 = Add (a, e)", "Mul"),
    ("a = Add (s, none) s2 = Add (a, e)", "Add"),
    ("a = Mul (s, minus) b = Mul (a, minus) s2 = Add (b, e)", "Neg"),
    ("a = Neg (s) b = Sub (e, a) s2 = Add (b, e)", "Mul"),
    ("a = Add (s, e) s2 = Where (yes, a, e)", "Where"),
)
def test_numbers_emit_no_node(body, operator):
    head = "<float one_ = {1}, float none = {0}, float minus = {-1}, bool yes"
    text = loop(f"{body} r = Identity (s2)", "float[3] s s0", "float[3] r")
    model = raised(text.replace("<bool yes", head))
    assert operator not in [node.op_type for node in model.graph.node if node.op_type != "Add"]


def test_a_factor_of_unknown_sign_keeps_both_bounds():
    """A negative factor swaps the bounds of what it multiplies."""
    body = "p = Tanh (e) a = Mul (s, p) s2 = Max (a, e)"
    text = loop(f"{body} r = Identity (s2)", "float[3] s s0", "float[3] r")
    nodes = run_passes(text, RaiseRecurrences()).model.graph.node
    (steps,) = [node for node in nodes if node.op_type == "Loop"]
    assert "Min" in [node.op_type for node in steps.attribute[0].g.node]


def test_a_factor_that_is_never_negative_keeps_one_bound():
    body = "p = Sigmoid (e) a = Mul (s, p) s2 = Max (a, e)"
    text = loop(f"{body} r = Identity (s2)", "float[3] s s0", "float[3] r")
    nodes = run_passes(text, RaiseRecurrences()).model.graph.node
    (steps,) = [node for node in nodes if node.op_type == "Loop"]
    assert "Min" not in [node.op_type for node in steps.attribute[0].g.node]
