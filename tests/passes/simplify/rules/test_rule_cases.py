from sample_rules import DoubleNeg, Scaled
from straightline.passes.simplify.rules.rule import Rule
from straightline.passes.simplify.rules.rule_cases import opsets_of, settings


def test_each_version_of_an_operator_each_type_and_each_rank():
    rule = DoubleNeg()
    every = list(settings(rule, rule.patterns[0]))
    assert {s.opset for s in every} == {7, 13} == set(opsets_of(rule, rule.patterns[0]))
    assert {rank for s in every for rank in s.ranks.values()} == set(range(7))
    assert len({t for s in every for t in s.types.values()}) == 7
    assert str(every[0]) == "opset 13, float, rank 2"


def test_numbers_have_several_shapes():
    class One(Rule):
        before = "(x[*S]) => (y[*S]) { y = Mul (x, 1) }"
        after = "(x) => (x)"
        ranks = (2,)

    every = [s for s in settings(One(), One().patterns[0]) if s.opset == 14]
    assert {s.sizes for s in every} == {"symbols", "numbers", "ones"}
    assert {shape for s in every for shape in s.shapes.values()} > {(), (1, 1, 1), (2, 3), (3,)}


def test_sizes_of_a_fixed_rank():
    rule = Scaled()
    assert all(not s.ranks for s in settings(rule, rule.patterns[0]))
