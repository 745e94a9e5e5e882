from sample_rules import Joined
from spelled import model
from straightline import ir
from straightline.analysis.shapes.inference import ShapeInference
from straightline.passes.simplify.rules.matcher import Matcher, Scope
from straightline.passes.simplify.rules.normal_form import NormalForms
from straightline.passes.simplify.rules.rule import Rule
from tables import table

X = "(float[N, 3] x, float[3] z) => (y)"


def matches(before, nodes, signature=X, after=None, opset=17):
    """The matches at the last node, as names of values and attributes."""
    content = {"before": before, "after": after or before}
    rule = type("Tried", (Rule,), content)() if isinstance(before, str) else before
    loaded = ir.load(model(nodes, opset, signature))
    scope = Scope(loaded.graph, ShapeInference(loaded), NormalForms(opset))
    node = loaded.graph.nodes()[-1]
    return list(Matcher(rule, rule.patterns[0], opset).matches(scope, node))


def bound(match, name):
    value = match.values[name]
    return [v.name for v in value] if isinstance(value, tuple) else value and value.name


def test_operands_of_a_commutative_operator_in_either_order():
    pattern = "(a, b) => (y) { t = Neg (b)  y = Add (a, t) }"
    for nodes in ("{ t = Neg (z) y = Add (x, t) }", "{ t = Neg (z) y = Add (t, x) }"):
        (match,) = matches(pattern, nodes)
        assert (bound(match, "a"), bound(match, "b")) == ("x", "z")
    assert not matches(pattern.replace("Add", "Sub"), "{ t = Neg (z) y = Sub (t, x) }")


@table(
    ("float k = {2}", 1),
    ("float[3] k = {2, 2, 2}", 1),
    ("float[3] k = {2, 2, 3}", 0),
    ("float[1] k = {-2}", 0),
)
def test_constants_by_value(constant, count):
    results = matches("(a) => (y) { y = Sub (a, 2) }", f"<{constant}> {{ y = Sub (x, k) }}")
    assert len(results) == count


def test_zeros_differ_by_their_sign():
    text = "<float k = {-0.0}> { y = Sub (x, k) }"
    assert not matches("(a) => (y) { y = Sub (a, 0) }", text)
    assert matches("(a) => (y) { y = Sub (a, -0.0) }", text)


def test_a_default_of_an_input_is_no_constant():
    text = """<ir_version: 8, opset_import: ["" : 17]>
        g (float[3] x, float[1] k) => (y) <float[1] k = {2}> { y = Sub (x, k) }"""
    content = {"before": "(a) => (y) { y = Sub (a, 2) }", "after": "(a) => (a)"}
    rule, loaded = type("Tried", (Rule,), content)(), ir.parse(text)
    scope = Scope(loaded.graph, ShapeInference(loaded), NormalForms(17))
    assert not list(Matcher(rule, rule.patterns[0], 17).matches(scope, loaded.graph.nodes()[0]))


def test_attributes_that_the_pattern_does_not_name_have_their_defaults():
    pattern = "(a) => (y) { y = LeakyRelu (a) }"
    assert matches(pattern, "y = LeakyRelu <alpha = 0.01> (x)")
    assert not matches(pattern, "y = LeakyRelu <alpha = 0.2> (x)")
    (match,) = matches("(a) => (y) { y = LeakyRelu <*A> (a) }", "y = LeakyRelu <alpha = 0.25> (x)")
    assert match["A"] == {"alpha": 0.25}
    (match,) = matches("(a) => (y) { y = Transpose <perm = @p> (a) }", "y = Transpose (x)")
    assert match["p"] == (1, 0)


def test_sizes_of_one_name_are_equal():
    pattern = "(a[m, k], b[k]) => (y) { y = Mul (a, b) }"
    assert matches(pattern, "y = Mul (x, z)")
    assert not matches(pattern, "y = Mul (x, z)", X.replace("[3] z", "[1] z"))
    assert matches(
        pattern.replace("b[k]", "b[< m, k]"), "y = Mul (x, z)", X.replace("[3] z", "[1] z")
    )
    assert not matches("(a[*S], b) => (y[*S]) { y = Sub (a, b) }", "y = Sub (z, x)")


def test_any_number_of_operands():
    rule = Joined()
    (match,) = matches(rule, "{ t = Concat <axis = 0> (x, x) y = Concat <axis = 0> (x, t) }")
    assert [bound(match, name) for name in ("xs", "ys", "zs")] == [["x"], ["x", "x"], []]
    assert not matches(rule, "{ t = Concat <axis = 1> (x, x) y = Concat <axis = 0> (x, t) }")


def test_the_same_value_twice():
    pattern = "(a) => (y) { y = Max (a, a) }"
    assert matches(pattern, "y = Max (x, x)") and not matches(pattern, "y = Max (x, z)")
