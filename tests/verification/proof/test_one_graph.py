import importlib
import itertools

import onnx
import pytest
import straightline as sl
from straightline.verification.proof import one_graph
from straightline.verification.proof.execution.compile_graph import Compiler
from straightline.verification.proof.execution.node_checker import InvalidError
from straightline.verification.proof.one_graph import counts_by_kinds, is_one_graph
from straightline.verification.proof.terms.budget import Budget
from straightline.verification.proof.terms.term_manager import Terms
from tables import table

PROVE = importlib.import_module("straightline.verification.proof.prove")
COPIES = 130
HEADER = '<ir_version: 8, opset_import: ["" : {}, "own" : 1]>'


def model(opset, node, types="float[2, N] v0", result="float[A, B]", weights=""):
    """A chain of copies of a node, whose operand is `{}`."""
    steps = [f"v{k + 1} = {node.format(f'v{k}')}" for k in range(COPIES)]
    text = f"g ({types}) => ({result} v{COPIES}) {weights} {{ {' '.join(steps)} }}"
    return onnx.parser.parse_model(HEADER.format(opset) + text)


def by_kinds(before, after):
    assert is_one_graph(before, after)
    terms = Terms(Budget())
    try:
        program = Compiler(terms.heads, before).main
    except InvalidError:  # a fault of the original
        return None
    return counts_by_kinds(program, (before, after), terms, None)


def test_each_value_counts_for_the_first_output_that_needs_it():
    text = """g (float v, float k, float z) => (float a, float b, float w, float v) {
        c = Neg (v) a = Add (c, k) d = Exp (a) e = Sum (d, c) b = Clip (e, , k)
        unread = Abs (z) w = Abs (v) }"""
    made = onnx.parser.parse_model(HEADER.format(13) + text)
    assert one_graph.counts_of(Compiler(Terms(Budget()).heads, made).main) == [4, 3, 1, 0]


@pytest.fixture
def in_full(monkeypatch):
    """Prove by a comparison of all nodes."""
    monkeypatch.setattr(PROVE._Question, "_by_one_graph", lambda question: None)


@table(
    ("Neg ({})", (13, 21), True),
    ("Add ({0}, {0})", (7, 13), True),
    ("Transpose <perm = [0, 1]> ({})", (13, 21), True),
    ("Softmax ({})", (12, 13), False),  # the meaning of the axis changed
    ("Softmax ({})", (13, 21), True),
    ("Softmax ({})", (21, 13), True),
    ("ReduceMax ({})", (13, 18), False),  # axes became an input
    ("ReduceSum <axes = [1]> ({})", (11, 13), False),  # no attribute from opset 13 on
    ("BatchNormalization ({}, w, w, w, w)", (9, 14), True),
    ("RandomUniformLike ({})", (13, 21), False),
    ("own.Op ({})", (13, 21), False),
    ("Gelu ({})", (17, 21), False),  # from opset 20 on
    ("Constant <value = float[2, 1] {{1, 2}}> ()", (13, 21), True),
)
def test_each_kind_must_mean_the_same(node, opsets, is_proved):
    types = "float[2, 3, N] v0, float[3] w" if "w," in node else "float[2, N] v0"
    result = "float[A, B, C]" if "w," in node else "float[A, B]"
    before, after = (model(opset, node, types, result) for opset in opsets)
    assert (by_kinds(before, after) is not None) is is_proved


def test_a_proof_of_kinds_is_remembered_for_their_types(monkeypatch):
    monkeypatch.setattr(one_graph, "_equal", set())
    pair = [model(opset, "Softmax ({})") for opset in (13, 21)]
    assert by_kinds(*pair) == by_kinds(*pair)
    ((_, before, _),) = one_graph._equal
    assert {n.op_type for n in onnx.ModelProto.FromString(before).graph.node} == {"Softmax"}
    # The same graph, of another type and in other opsets.
    assert by_kinds(model(12, "Softmax ({})"), pair[1]) is None and len(one_graph._equal) == 1
    assert by_kinds(*[model(n, "Softmax ({})", "float[4, N] v0") for n in (13, 21)])
    assert len(one_graph._equal) == 2


UNARY = """Abs Acos Asin Atan Ceil Cos Cosh Elu Erf Exp Floor GlobalAveragePool HardSigmoid Hardmax
    Identity IsNaN LeakyRelu Log LogSoftmax LpNormalization Neg Reciprocal ReduceL1 ReduceMax
    ReduceMean ReduceMin ReduceProd ReduceSum Relu Round Selu Sigmoid Sign Sin Sinh Size Softmax
    Softplus Softsign Sqrt Tan Tanh ThresholdedRelu Transpose Flatten Dropout Shape Squeeze
    ArgMax Cast NonZero"""
PAIRS = [(7, 9), (9, 11), (11, 12), (12, 13), (13, 15), (17, 18), (18, 21), (21, 22), (13, 11)]


@pytest.mark.sample(12)
@pytest.mark.parametrize("op_type", UNARY.split())
def test_a_comparison_of_all_nodes_proves_as_much(op_type, in_full):
    attributes = "<to = 1>" if op_type == "Cast" else ""
    for one, other in PAIRS:
        before, after = (
            model(opset, f"{op_type} {attributes} (v0)", "float[2, 3] v0", "float[A, B]")
            for opset in (one, other)
        )
        if by_kinds(before, after) is not None:
            proof = sl.prove(before, after, search=False)
            assert proof.proved and proof.equality == "bits", (one, other, proof)


def test_defaults_that_a_caller_may_override_are_compared_in_full(monkeypatch):
    """Below IR version 4 nobody can set an initializer."""
    asked = []
    monkeypatch.setattr(PROVE, "counts_by_kinds", lambda *arguments: asked.append(arguments))
    monkeypatch.setattr(f"{__name__}.COPIES", 2)
    text = "Add ({}, w)"
    pair = [
        model(n, text, "float[2] v0, float[2] w", "float[2]", "<float[2] w = {1, 2}>")
        for n in (13, 21)
    ]
    assert sl.prove(*pair, search=False).proved
    pair[0].ir_version = 3
    sl.prove(*pair, search=False)
    assert not asked


def test_conversions_are_proved_by_their_kinds(monkeypatch):
    def fail(*arguments):
        raise AssertionError

    monkeypatch.setattr(PROVE._Question, "_executions", fail)
    original = model(13, "Neg ({})")
    for number, node in enumerate(original.graph.node):
        node.name = f"n{number}"
    converted = sl.convert_version(original, 21)
    assert converted.opset_import[0].version == 21
    proof = sl.prove(original, converted)
    assert proof.proved and proof.outputs == {f"v{COPIES}": COPIES + 1}


def test_graphs_that_differ_or_call_functions_are_not_one():
    one, other = model(13, "Neg ({})"), model(21, "Neg ({})")
    assert is_one_graph(one, other)
    other.graph.node[3].name = "named"
    assert not is_one_graph(one, other)
    function = onnx.helper.make_function("own", "f", ["x"], ["y"], [], [])
    called = [model(opset, "own.f ({})") for opset in (13, 21)]
    assert is_one_graph(*called)
    called[1].functions.append(function)
    assert not is_one_graph(*called)


def test_outputs_count_what_they_add():
    before, after = (model(opset, "Neg ({})") for opset in (13, 21))
    for each, k in itertools.product((before, after), (3, 9)):
        each.graph.output.add(name=f"v{k}").type.CopyFrom(each.graph.output[0].type)
    assert by_kinds(before, after) == [COPIES + 1, 0, 0]
