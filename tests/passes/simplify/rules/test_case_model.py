import onnx
import pytest
from sample_rules import Scaled
from straightline.definitions.pattern import RuleError
from straightline.passes.simplify.library import SHIPPED
from straightline.passes.simplify.rules.case_model import CaseModel, model_of
from straightline.passes.simplify.rules.rule import Rule
from straightline.passes.simplify.rules.rule_cases import settings


def first(rule, number=0):
    setting = list(settings(rule, rule.patterns[0]))[number]
    return CaseModel(rule, rule.patterns[0], setting, "c0_")


def test_sizes_are_symbols_and_constants_are_inputs():
    case = first(Scaled())
    assert case.is_valid() and case.assumed == ["c0_w", "c0_s"]
    model = model_of([case], case.setting.opset)
    onnx.checker.check_model(model, full_check=True)
    dims = [d.dim_param for d in model.graph.input[1].type.tensor_type.shape.dim]
    assert dims == ["c0_k", "c0_n"]


def test_a_case_may_compute_a_value():
    case = first(next(rule for rule in SHIPPED if rule.name == "expand-to-itself"))
    assert case.is_valid()
    assert [node.op_type for node in case.nodes] == ["Shape", "Expand", "Identity"]


class TwoShapes(Rule):
    """Drop the first of two Reshapes, by variables that no name explains."""

    before = "(x[*S]) => (y) { t = Reshape (x, @a)  y = Reshape (t, @b) }"
    after = "(x) => (y) { y = Reshape (x, @b) }"


def test_a_variable_without_a_value_is_named():
    with pytest.raises(RuleError, match="'cases' has no value of '@a'"):
        first(TwoShapes())
