import onnx
import proof_mutants
import pytest
from proofs import assert_open, assert_proved
from sessions import by_reference
from straightline.verification.proof.execution.compile_graph import Compiler
from straightline.verification.proof.execution.inputs import input_terms
from straightline.verification.proof.execution.symbolic_execution import (
    CONSTRUCTS,
    Execution,
    construct,
)
from straightline.verification.proof.terms.budget import Budget, OpenError
from straightline.verification.proof.terms.term_manager import Terms
from term_values import evaluated, terms_of


@pytest.mark.sample(1)
@pytest.mark.parametrize("number", range(20, 26))
def test_terms_are_worth_what_the_reference_gives(number):
    checked = 0
    for origin in proof_mutants.origins(number, 1):
        for model in (origin.model, origin.rewritten):
            for feeds in origin.feeds:
                try:
                    got = evaluated(model, feeds)
                except OpenError:
                    continue
                expected = by_reference(model, dict(feeds))
                assert proof_mutants.bits(got) == proof_mutants.bits(expected), origin.name
                checked += 1
    assert checked >= 8


def test_functions_are_entered_whatever_they_are_called():
    called = """<ir_version: 10, opset_import: ["" : 18, "local" : 1]>
    g (float[2] x, float[2] y) => (float[2] z) { a = local.f (x, y) z = local.f (a, y) }
    <domain: "local", opset_import: ["" : 18]> f (p, q) => (r) { r = %s (p, q) }"""
    assert_proved(
        called % "Sub",
        "g (float[2] x, float[2] y) => (float[2] z) { a = Sub (x, y) z = Sub (a, y) }",
    )
    assert_open(called % "Sub", called % "Add")


def test_operators_that_nobody_knows_correspond_one_to_one():
    head = '<ir_version: 10, opset_import: ["" : 18, "other" : %d]>\n'
    text = head % 1 + "g (float[2] x) => (float[2] z) { a = other.F %s (x) z = Neg (a) }"
    assert_proved(text % "", text % "")
    assert_open(text % "", text % "<k = 1>")
    twice = (
        head % 1
        + "g (float[2] x) => (float[2] z) { a = other.F (x) b = other.F (x) z = Add (a, %s) }"
    )
    assert_open(twice % "b", twice % "a")
    assert_proved(twice % "b", twice % "b")


def test_unnamed_outputs_are_unread():
    text = """g (float[2] x, float m) => (float[2] z) {
        a = Neg (x) b = Neg (x) c = Neg (a) z = Clip (c, , m) }"""
    proto = onnx.parser.parse_model('<ir_version: 10, opset_import: ["" : 18]>' + text)
    proto.graph.node[1].output[0] = ""
    _, (z,) = terms_of(proto)
    assert [None if arg is None else arg.head.name for arg in z.args] == [
        "Neg",
        "constant",
        "input",
    ]


def test_they_are_found_by_the_operator():
    assert {"If", "Loop", "Optional", "Scan", "SequenceMap"} <= CONSTRUCTS.keys()


def test_an_operator_has_one():
    with pytest.raises(AssertionError):
        construct("Loop")(CONSTRUCTS["Loop"])


def test_only_nodes_whose_operands_may_not_fit_are_demanded():
    """Rules may rewrite products, which are asked by their facts all the same."""
    text = """g (float[N] x, float[M] w) => (float[N] y, float[K] z) {
        a = Mul (x, x) b = Mul (a, x) c = Mul (x, b) y = Mul (c, a) z = Mul (y, w) }"""
    proto = onnx.parser.parse_model('<ir_version: 10, opset_import: ["" : 18]>' + text)
    terms = Terms(Budget())
    inputs = input_terms(terms, proto, proto, {})
    execution = Execution(terms, "before")
    execution.run(Compiler(terms.heads, proto).main, [inputs["x"], inputs["w"]])
    (demand,) = execution.log
    assert inputs["w"] in demand.args
