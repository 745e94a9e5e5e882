"""Ranks that operators tell, against what the reference computes."""

import onnx
import pytest
from operator_cases import cases
from operator_draws import FAMILIES
from straightline import ir
from straightline.analysis.shapes.onnx_inference_cache import connected_message
from straightline.ops import OperatorRules, described
from straightline.ops.axes import RankOf
from straightline.reference import EvaluationError, operator_kernel

TELLING = [
    name
    for name, rules in described().items()
    if rules.defines(OperatorRules.rank) or rules.fixed_rank is not None
]


OPEN = {"NonMaxSuppression": "fails on all cases"}


def answer(rule, arrays):
    """What a rule tells when it asks for ranks and lengths of the operands."""
    found = None
    while True:
        try:
            value, is_length = rule.send(found)
        except StopIteration as done:
            return done.value
        array = None if value is None else arrays[value]
        found = None if array is None else len(array) if is_length else array.ndim


@pytest.mark.sample(40)
@pytest.mark.parametrize("name", sorted(set(TELLING) & set(FAMILIES)))
def test_ranks_are_those_of_results(name):
    told = 0
    for case in cases(3, 0, only={name}):
        model = ir.Model(onnx.ModelProto(ir_version=10))
        model.opset_imports = {"": case.opset}
        values = [model.graph.add_input(each) if each else None for each in case.node.input]
        named = {message.name: message for message in case.node.attribute}
        op = ir.Operator(name, attributes=named)
        node = model.graph.add_node(op, values, list(case.node.output))
        try:
            results = operator_kernel(connected_message(op, node), {"": case.opset})(case.operands)
        except EvaluationError:
            continue
        given = dict(zip(values, case.operands, strict=True))
        for output, result in enumerate(results):
            rank = answer(described()[name].rank(node, output), given)
            assert rank in (None, result.ndim), case
            told += rank is not None
    assert told or name in OPEN


def test_a_question_is_for_a_rank_or_a_length():
    assert RankOf(None) == (None, False)
