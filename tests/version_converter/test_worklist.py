import numpy as np
import onnx
import pytest
from backend import collected
from conversions import convert_version
from depth import DEEP
from harness import as_model
from straightline import ir
from straightline.version_converter import ConversionError, worklist
from straightline.version_converter.engine import Engine
from straightline.version_converter.form import OperatorForm
from straightline.version_converter.schemas import changes
from straightline.version_converter.types import Types
from straightline.version_converter.worklist import Worklist, stays, types_stay
from tables import table

HEAD = '<ir_version: 8, opset_import: ["" : {}]>\n'
FLOAT, INT32 = onnx.TensorProto.FLOAT, onnx.TensorProto.INT32


def steps(nodes: str, source: int, target: int, inputs: str = "float[2,3] x") -> dict[str, int]:
    """The version behind which each operator has work to do first; not those that have none."""
    model = ir.load(as_model(f"{HEAD.format(source)} g ({inputs}) => (y) {{ {nodes} }}"))
    plan = Worklist(model, target, model, Types(model))
    due = {version: plan.due(version) for version in range(7, 29)}
    return {node.op_type: version for version, nodes in due.items() for node in nodes}


@table(
    ("a = Relu (x) y = Mul (a, a)", 13, 28, {}),
    ("a = Relu (x) y = Mul (a, a)", 28, 9, {}),
    ("y = ReduceMax <axes = [0]> (x)", 13, 28, {"ReduceMax": 17}),
    ("y = ReduceMax (x)", 28, 13, {"ReduceMax": 18}),
    ("y = Softmax <axis = 0> (x)", 28, 9, {"Softmax": 13}),
    ("y = Concat <axis = 0> (x, x)", 28, 9, {"Concat": 11}),
    ("y = Dropout (x)", 11, 13, {"Dropout": 11}),
    ("y = Gelu (x)", 28, 9, {"Gelu": 20}),
    ("y = NoSuchOperator (x)", 17, 21, {"NoSuchOperator": 17}),
)
def test_a_node_is_due_where_its_version_differs(nodes, source, target, expected):
    assert steps(nodes, source, target) == expected


@table(
    ("float[2] x", {}),
    ("int32[2] x", {"Relu": 14}),
    ("bfloat16[2] x", {"Relu": 13}),
    ("x", {"Relu": 14}),
)
def test_going_down_the_types_decide(inputs, expected):
    """Of integers there is no Relu below 14, of bfloat16 none below 13."""
    assert steps("y = Relu (x)", 21, 9, inputs) == expected


def test_a_node_of_the_model_is_no_operator():
    text = """<ir_version: 8, opset_import: ["" : 17, "own" : 1]>
        g (float[2] x) => (y) { y = own.Softmax (x) }
        <domain: "own", opset_import: ["" : 17]> Softmax (a) => (b) { b = Gelu (a) }"""
    model = ir.load(as_model(text))
    assert not Worklist(model, 9, model, Types(model)).due(17)


def test_new_nodes_come_up_at_their_own_step():
    """What stands for LayerNormalization has a ReduceMean, which changes at 18, and below 11 axes
    count from the front."""
    text = HEAD.format(17) + "g (float[N,4] x, float[4] s) => (y) { y = LayerNormalization (x, s) }"
    model = ir.load(as_model(text))
    engine = Engine(model)
    engine.convert(model, 10)
    assert engine.failures == []
    axes = [n.attribute("axes") for n in model.graph.nodes() if n.op_type == "ReduceMean"]
    assert axes and all(min(a) >= 0 for a in axes)


def test_nodes_of_a_removed_body_are_skipped():
    """Gelu in branches at 20; each branch is in the worklist with its nodes."""
    text = HEAD.format(20) + (
        "g (float[2] x, bool c) => (y) { y = If (c) <then_branch = t () => (p) { p = Gelu (x) },"
        " else_branch = e () => (q) { q = Identity (x) }> }"
    )
    model = ir.load(as_model(text))
    plan = Worklist(model, 13, model, Engine(model).types)
    (gelu,) = plan.due(20)
    assert gelu.stands
    (branching,) = model.graph.nodes()
    model.graph.replace_uses(branching.output(), model.graph.inputs[0])
    model.graph.remove(branching)
    assert not gelu.stands
    plan.step_done(19, [gelu])
    assert not plan.due(19)


def test_forms_that_stay():
    assert stays(OperatorForm("Reshape", (), 2, 1), 14, 13)
    assert not stays(OperatorForm("Reshape", ("allowzero",), 2, 1), 14, 13)
    assert not stays(OperatorForm("Gemm", (), 2, 1), 11, 10)
    assert stays(OperatorForm("Gemm", (), 3, 1), 11, 10)
    assert not stays(OperatorForm("Clip", (), 3, 1, (2,)), 13, 12)  # the last one is cut off
    relu = OperatorForm("Relu", (), 1, 1)
    assert stays(relu, 14, 13) and not types_stay(relu, 14, 13, None)
    assert types_stay(relu, 14, 13, ((FLOAT,), (FLOAT,)))
    assert not types_stay(relu, 14, 13, ((INT32,), (INT32,)))


@pytest.fixture(scope="module")
def cases() -> list[onnx.ModelProto]:
    return [case.model for case in collected()]


@pytest.mark.sample(1)
@pytest.mark.parametrize("target", [8, 12, 17, 22])
def test_skipped_nodes_would_not_change(target, cases, monkeypatch):
    """onnx's own test models, converted as it is and with a look at every change of a schema."""
    places = np.random.default_rng(target).permutation(len(cases))
    chosen = [cases[i] for i in places[: 80 if DEEP else 30]]
    passed_over = [_converted(model, target) for model in chosen]
    monkeypatch.setattr(worklist, "stays", lambda form, *step: not changes(form.op_type, *step))
    looked_at = [_converted(model, target) for model in chosen]
    assert passed_over == looked_at


@pytest.mark.parametrize("target", [9, 22])
def test_a_form_decided_once_is_decided_as_each_node_alone(target, cases):
    models = [ir.load(cases[i]) for i in np.random.default_rng(target).permutation(len(cases))[:80]]
    for model in models:
        types, version = Types(model), model.opset()
        plan, alone = (Worklist(model, target, model, types) for _ in range(2))
        for node in [n for graph in model.graphs() for n in graph.nodes()] * 2:
            alone._steps.clear()
            assert plan.is_due(node, version) == alone.is_due(node, version)


def _converted(model, target):
    try:
        return convert_version(model, target).SerializeToString(deterministic=True)
    except ConversionError as error:
        return {(failure.op_type, failure.reason) for failure in error.failures}
