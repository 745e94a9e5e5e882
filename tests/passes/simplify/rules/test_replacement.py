from sample_rules import DoubleNeg
from spelled import model
from straightline import ir
from straightline.analysis.shapes.inference import ShapeInference
from straightline.passes.simplify.rules.matcher import Matcher, Scope
from straightline.passes.simplify.rules.normal_form import NormalForms
from straightline.passes.simplify.rules.replacement import PatternReplacement, resolved, weight
from straightline.passes.simplify.rules.rule import Rule


def plan(rule, nodes, signature="(float[N, 3] x) => (y)"):
    loaded = ir.load(model(nodes, 17, signature))
    scope = Scope(loaded.graph, ShapeInference(loaded), NormalForms(17))
    matcher = Matcher(rule, rule.patterns[0], 17)
    for node in reversed(loaded.graph.nodes()):
        for match in matcher.matches(scope, node):
            return PatternReplacement(matcher, match, scope)
    return None


def test_only_nodes_that_nothing_else_reads_count():
    alone = plan(DoubleNeg(), "{ e = Exp (x) t = Neg (e) u = Neg (t) y = Exp (u) }")
    assert len(alone.removed) == 2 and alone.pays() and alone.is_possible()
    shared = plan(DoubleNeg(), "{ e = Exp (x) t = Neg (e) u = Neg (t) y = Add (u, t) }")
    assert len(shared.removed) == 1 and shared.pays()


def test_as_many_nodes_pay_where_they_cost_less():
    class Cheaper(Rule):
        before = "(x[*S]) => (y) { y = Pow (x, 2) }"
        after = "(x) => (y) { y = Mul (x, x) }"

    class Dearer(Rule):
        before = "(x) => (y) { y = Mul (x, x) }"
        after = "(x) => (y) { y = Pow (x, 2) }"

    assert weight("Mul") < weight("Pow")
    assert plan(Cheaper(), "<float k = {2}> { y = Pow (x, k) }").pays()
    assert not plan(Dearer(), "y = Mul (x, x)").pays()


def test_all_attributes_at_once():
    assert resolved(DoubleNeg().patterns[0].nodes[0], {}) == {}
