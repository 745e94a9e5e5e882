import itertools

import numpy as np
import onnx
import pytest
from operator_cases import cases
from operator_draws import FAMILIES
from straightline import ir
from straightline.analysis.shapes.onnx_inference_cache import connected_message
from straightline.facts.fact import Symbols
from straightline.facts.polynomial import Dimension
from straightline.ops import OperatorRules, described
from straightline.ops.axes import RankOf, broadcast_shape, may_equal, positions, reduced, stretched
from straightline.reference import EvaluationError, operator_kernel
from tables import table

N, M = Dimension.symbol("N"), Dimension.symbol("M")


def dims(*sizes):
    return tuple(Dimension.constant(s) if isinstance(s, int) else s for s in sizes)


def test_positions():
    assert positions([0, -1], 3) == {0, 2}
    assert positions([], 0) == set()
    assert positions([3], 3) is positions([-4], 3) is positions([0], 0) is None


def test_reduced():
    assert reduced(dims(N, 3, M), {0, 2}, True) == (1, 3, 1)
    assert reduced(dims(N, 3, M), {0, 2}, False) == (3,)


def test_may_equal():
    assert may_equal(N, M) and may_equal(N, *dims(3)) and may_equal(*dims(3, 3))
    assert not may_equal(*dims(3, 1))


@table((N, 1, N), (1, N, N), (N, N, N), (N, 3, 3), (3, N, 3), (N + 2, M, N + 2), (0, N, 0))
def test_stretched(a, b, wanted):
    assert stretched(*dims(a, b), Symbols()) == wanted


def test_two_symbols_may_be_one_and_something():
    size = stretched(N, M, Symbols())
    assert size not in (N, M)
    assert size != stretched(N, M, Symbols()) or str(size).startswith("?")


def test_numbers_broadcast_as_in_numpy():
    shapes = [s for rank in range(3) for s in itertools.product((0, 1, 2, 3), repeat=rank)]
    for one, other in itertools.product(shapes, repeat=2):
        try:
            wanted = np.broadcast_shapes(one, other)
        except ValueError:
            wanted = None
        assert broadcast_shape([dims(*one), dims(*other)], Symbols()) == wanted, (one, other)


def test_one_value_alone():
    assert broadcast_shape([dims(N, 2)], Symbols()) == (N, 2)


TELLING = [
    name
    for name, rules in described().items()
    if rules.defines(OperatorRules.rank) or rules.fixed_rank is not None
]
OPEN = {"NonMaxSuppression": "fails on all cases"}


def answer(rule, arrays):
    """Result of a rule that asks for ranks and lengths of the operands."""
    reply = None
    while True:
        try:
            value, is_length = rule.send(reply)
        except StopIteration as done:
            return done.value
        array = None if value is None else arrays[value]
        reply = None if array is None else len(array) if is_length else array.ndim


@pytest.mark.sample(40)
@pytest.mark.parametrize("name", sorted(set(TELLING) & set(FAMILIES)))
def test_ranks_are_those_of_results(name):
    count = 0
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
        operands = dict(zip(values, case.operands, strict=True))
        for output, result in enumerate(results):
            rank = answer(described()[name].rank(node, output), operands)
            assert rank in (None, result.ndim), case
            count += rank is not None
    assert count or name in OPEN


def test_a_question_is_for_a_rank_or_a_length():
    assert RankOf(None) == (None, False)
