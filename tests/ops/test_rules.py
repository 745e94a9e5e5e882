import contextlib
import re

import numpy as np
import onnx
import pytest
import zeros
from harness import as_model, run_in_onnxruntime
from operand_ranks import cases
from operator_cases import cases as drawn_cases
from operator_draws import FAMILIES
from operator_facts import INT64, SHAPELESS, N, bounds_said, fact_of, lying, make_node, tensor
from special_values import model_of
from straightline import ir, reference
from straightline.analysis.constants.folding import Folder
from straightline.analysis.safety.speculation import Hazard, Speculation
from straightline.analysis.shapes.inference import ShapeInference
from straightline.facts.fact import Symbols
from straightline.facts.safety_context import Premises, Unproven, require
from straightline.ops import OperatorRules, described, describes, rules, rules_of
from straightline.ops.rules import Moving, Total
from tables import table

CASES = list(cases())
SENSITIVE = {"Div": 1, "Reciprocal": 0, "BitCast": 0, "QuantizeLinear": 1}
"""Operand of which an operator reads the sign of zero."""
MOST_OPERANDS = 9


@pytest.fixture
def apart(monkeypatch):
    """Forget the descriptions of a test after it; Unique has none yet."""
    kept = {name: known for name, known in described().items() if name != "Unique"}
    monkeypatch.setattr(rules, "_DESCRIBED", kept)


UNIQUE = """<ir_version: 10, opset_import: ["" : 21]>
    g (int64[N] x) => (int64[?] y) { y = Unique (x) }"""


def folded(model):
    (node,) = model.graph.nodes()
    return Folder(model).fold(node, [ir.Tensor(array=np.array([5, 3, 5]))])


def hazard(model, *shape):
    """Reason why the graph may fail on a tensor of a shape; None if it cannot."""
    try:
        Speculation(ShapeInference(model), {}).run(model.graph, [tensor(*shape, elem_type=INT64)])
    except Hazard as found:
        return str(found)
    return None


def test_adding_an_operator_touches_one_class(apart, monkeypatch):
    """Shape inference, folding and speculation find a class that nothing else names."""
    model = ir.load(as_model(UNIQUE))
    (value,) = model.graph.outputs
    assert ShapeInference(model).fact(value).shape != (N + 7,)
    assert folded(model) is None, "nobody knows how long it takes"
    assert "is not among the operators that are known not to fail" in hazard(model, 3)

    @describes("Unique")
    class Unique(OperatorRules):
        def shapes(self, node, inputs, symbols):
            return [(inputs[0].shape[0] + 7,)]

        def prove_safe(self, given):
            require(len(given.shape(0)) == 1, "it is not a vector")

    assert ShapeInference(model).fact(value).shape == (N + 7,)
    assert folded(model)[0].numpy().tolist() == [3, 5]
    monkeypatch.setattr(Unique, "growth", lambda *_: 1e9)
    assert folded(model) is None
    assert hazard(model, 3) is None
    assert "may fail there: it is not a vector" in hazard(model, 3, 4)


def test_a_class_that_is_kept_or_random_is_not_folded(apart):
    model = ir.load(as_model(UNIQUE))
    (node,) = model.graph.nodes()
    assert Folder(model).may_fold(node)

    @describes("Unique")
    class Unique(OperatorRules):
        kept_from_folding = True

    assert not Folder(model).may_fold(node)
    Unique.kept_from_folding = False
    assert Folder(model).may_fold(node)
    Unique.draws_random_numbers = lambda self, node: True
    assert not Folder(model).may_fold(node)


def test_one_class_speaks_for_an_operator(apart):
    with pytest.raises(ValueError, match="MatMul is described by MatMul and by Other"):

        @describes("MatMul")
        class Other(OperatorRules):
            pass


def test_names_are_those_of_a_domain():
    for domain in ("", "ai.onnx"):
        assert type(rules_of(ir.Operator("MatMul", domain=domain))).__name__ == "MatMul"
    nothing = type(rules_of(ir.Operator("FromTheFuture")))
    assert type(rules_of(ir.Operator("MatMul", domain="own"))) is nothing
    assert type(rules_of(ir.Operator("Sampling", domain="com.microsoft"))) is not OperatorRules
    assert type(rules_of(ir.Operator("Sampling"))) is nothing


def test_described_operators_exist():
    """A name written wrong would only make fewer nodes known, which nothing else notices."""
    names = {schema.name for schema in onnx.defs.get_all_schemas() if not schema.domain}
    assert names >= {name for name in described() if "::" not in name}
    assert len(described()) > 150


def test_no_class_says_nothing():
    methods = [getattr(OperatorRules, name) for name in vars(OperatorRules) if name[0] != "_"]
    methods = [method for method in methods if callable(method)]
    for name, one in described().items():
        says = one.kept_from_folding or one.sized_by
        says = says or any(one.defines(method) for method in methods)
        assert says, name


def test_a_class_without_facts_knows_nothing():
    node = make_node("Det", [SHAPELESS])
    nothing = OperatorRules()
    assert nothing.shapes(node, [SHAPELESS], Symbols()) is None
    assert nothing.content(node, [SHAPELESS]) is None
    assert nothing.count(node, [SHAPELESS]) is None
    assert nothing.facts(node, [SHAPELESS]) is None
    assert not nothing.bounds(node, [tensor(2)])
    for value, settled in ((1.0, True), (np.nan, False), (np.inf, False), (-0.0, False)):
        assert nothing.is_settled(node, [np.ones(2)], [np.array(value)]) == settled
        assert nothing.is_settled(node, [np.array(value)], [np.ones(2)]) == settled
    assert not nothing.is_settled(node, [np.ones(0)], [np.ones(2)])
    assert not nothing.draws_random_numbers(node)
    assert not nothing.kept_from_folding
    with pytest.raises(Unproven):
        nothing.prove_safe(Premises(node, [tensor(2)], 17))


@table(((9,), 0), ((2000,), 0), ((2000, 1024), 0), ((2000, 1025), 2000 * 1025), ((None, 2000), 0))
def test_products_of_large_inputs_bound_what_may_come_out(sizes, bound):
    arrays = [None if size is None else np.empty(size, np.bool_) for size in sizes]
    assert OperatorRules().growth(make_node("Det", arrays), arrays) == bound


def test_which_methods_a_class_has():
    class Doubling(Total):
        def content(self, node, inputs):
            return inputs[0].content

    assert Doubling().defines(OperatorRules.content)
    assert Doubling().defines(OperatorRules.prove_safe), "it comes from a class between"
    assert not Doubling().defines(OperatorRules.bounds)
    assert not OperatorRules().defines(OperatorRules.content)


def test_total_operators_need_no_proof():
    node = make_node("Det", [fact_of(np.ones(2, np.int64))])
    Total().prove_safe(Premises(node, [tensor(2)], 17))
    assert not Moving().defines(OperatorRules.prove_safe)


MOVING = (
    "Compress DepthToSpace Expand Flatten Gather GatherElements GatherND Identity Reshape Slice"
    " SpaceToDepth Squeeze Tile Transpose Unsqueeze"
)


@pytest.mark.parametrize("op_type", MOVING.split())
def test_movement_keeps_bounds(op_type):
    assert bounds_said(op_type, [lying(2, N), lying(0, 5)]) == [(2, N)]
    assert bounds_said(op_type, [lying(2, N)], domain="ai.onnx") == [(2, N)]
    assert bounds_said(op_type, [lying(2, N)], domain="own") == ["any"]


def _of_spec():
    """Operands whose rank the specification restricts, in its words."""
    ranked = re.compile(
        r"\b[01]-?D\b(?!.*bias|.*indices)|must be a scalar|^list of integers|^optional input list",
        re.I,
    )
    for schema in onnx.defs.get_all_schemas():
        for position, operand in enumerate(schema.inputs):
            if not schema.domain and ranked.search(operand.description):
                yield schema.name, position


DATA = [
    *("BatchNormalization", "Conv", "ConvInteger", "ConvTranspose", "DeformConv"),
    *("DequantizeLinear", "InstanceNormalization", "QLinearConv", "QuantizeLinear"),
    *("SoftmaxCrossEntropyLoss", "Tanh"),
]
"""Operators that compute with operands of restricted rank: `prove_safe` asks about these."""


def test_operands_of_restricted_rank_are_those_of_the_specification():
    assert not {
        (name, position)
        for name, position in _of_spec()
        if position not in rules_of(ir.Operator(name)).operand_ranks and name not in DATA
    }


def test_onnxruntime_takes_operands_of_every_rank_that_is_allowed():
    refused = set()
    for case in CASES:
        for rank, model in case.models.items():
            try:
                run_in_onnxruntime(model, {"x": np.ones(2, np.float32)})
            except Exception:  # noqa: BLE001 - onnxruntime has many classes for it
                refused.add((case.op_type, case.position, rank))
    allowed = {(case.op_type, case.position, rank) for case in CASES for rank in case.allowed}
    assert not refused & allowed
    assert {"Squeeze", "Split", "Range", "ReduceMax"} <= {op_type for op_type, _, _ in refused}
    described_ranks = {(n, p) for n, known in described().items() for p in known.operand_ranks}
    assert {(case.op_type, case.position) for case in CASES} == described_ranks


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_sign_of_zero_that_is_ignored_changes_signs_of_zeros_only():
    ignoring = {
        name: range(min(each.ignores_zero_sign, MOST_OPERANDS))
        for name, each in described().items()
        if each.ignores_zero_sign
    }
    compared = set()
    for case, (one, other) in zeros.twins(4, 4, ignoring):
        kind = case.node.op_type
        if kind == "Cast" and case.node.attribute[0].i == onnx.TensorProto.STRING:
            continue
        assert (one is None) == (other is None), case
        for a, b in zip(one or (), other or (), strict=True):
            np.testing.assert_array_equal(zeros.values(a), zeros.values(b), err_msg=str(case))
            compared.add(kind)
    assert ignoring.keys() - compared == {"BitwiseNot", "CastLike"}, "no floats; drawn as Cast"


@pytest.mark.parametrize(("name", "place"), SENSITIVE.items())
def test_a_sign_of_zero_that_is_not_ignored_tells_values_apart(name, place):
    runs = [each.results for each in zeros.twins(9, 4, {name: range(place, place + 1)})]
    assert described()[name].ignores_zero_sign <= place
    assert any(
        not np.array_equal(zeros.values(a), zeros.values(b), equal_nan=True)
        for one, other in runs
        for a, b in zip(one or (), other or (), strict=True)
    )


def other_elements(array):
    """Elements of the same type and shape, most of them others."""
    if array.dtype == object:
        return np.array([f"{text} b" for text in array.flat], object).reshape(array.shape)
    if array.dtype == np.bool_:
        return ~array
    with np.errstate(all="ignore"):
        return np.flip(array + np.ones((), array.dtype))


@pytest.mark.sample(10)
@pytest.mark.parametrize("name", sorted({n for n in described() if "::" not in n} & set(FAMILIES)))
def test_sizes_of_outputs_follow_from_the_inputs_that_give_sizes(name):
    sized_by = described()[name].sized_by
    for case in drawn_cases(3, 11, only={name}):
        model = model_of(case)
        others = [
            a if a is None or index in sized_by else other_elements(a)
            for index, a in enumerate(case.operands)
        ]
        shapes = []
        for operands in (case.operands, others):
            feeds = {f"i{n}": a for n, a in enumerate(operands) if a is not None}
            with contextlib.suppress(Exception):
                shapes.append([np.shape(each) for each in reference.run(model, feeds)])
        assert len(shapes) < 2 or shapes[0] == shapes[1], str(case)
