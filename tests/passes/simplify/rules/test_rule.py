import pytest
from sample_rules import DoubleNeg
from straightline.definitions.pattern import RuleError
from straightline.passes.simplify.rules.rule import Rule, sample, values_of
from tables import table


def test_names_and_summaries():
    assert DoubleNeg().name == "double-neg" and DoubleNeg().summary == "A right rule."


@table(
    ({"exactness": "exact"}, "its exactness must be bits, values or reals"),
    ({"after": "(x, z) => (x)"}, "'z' of the text after is not in that before"),
    ({"before": "(x) => (x)"}, "and a node"),
    ({"before": "(x) => (y) { z = Exp (x) y = Neg (x) }"}, "does not depend on every node"),
)
def test_faulty_rules(content, message):
    with pytest.raises(RuleError, match=message.replace("(", r"\(")):
        type("Odd", (DoubleNeg,), content)()


def test_default_cases_depend_on_attributes():
    class Two(Rule):
        before = "(x[*S]) => (y) { t = Transpose <perm = @p> (x)  y = Softmax <axis = @a> (t) }"
        after = "(x) => (x)"

    cases = list(Two().cases({"x": 3, "S": 3}))
    assert len(cases) == 6 * 3 and {"p", "a"} == cases[0].keys()
    assert values_of("axes", 2) == [(0,), (1,), (0, 1)]
    assert sample(range(100), 3) == sample(range(100), 3)
