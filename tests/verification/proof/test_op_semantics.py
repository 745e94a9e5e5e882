"""What an operator means, apart from how an opset spells it."""

from straightline.ir import Operator
from straightline.verification.proof.function_symbols import Heads
from straightline.verification.proof.op_semantics import has_any_outputs, is_known, meaning_of


def test_an_operator_means_the_same_in_opsets_that_did_not_change_it():
    one, other = (meaning_of(Operator("Add"), opset, 1) for opset in (7, 21))
    assert (one.since, one.opset) == (other.since, other.opset) == (14, 28)


def test_a_default_that_is_written_is_no_other_meaning():
    heads = Heads()
    bare = heads.of(Operator.make("LeakyRelu"), {"": 6})
    said = heads.of(Operator.make("LeakyRelu", alpha=0.01), {"": 16})
    assert heads.of(Operator.make("LeakyRelu"), {"": 16}) is bare
    assert said is not heads.of(Operator.make("LeakyRelu", alpha=0.02), {"": 16})


def test_domains_have_versions_of_their_own():
    meant = meaning_of(Operator.make("Normalizer", "ai.onnx.ml"), 2, 1)
    assert (meant.since, meant.op.attribute("norm")) == (1, b"MAX")


def test_what_onnx_does_not_know_means_itself():
    meant = meaning_of(Operator("Frobnicate", domain="local"), 3, 1)
    assert (meant.since, meant.opset) == (3, 3)
    assert not is_known(Operator("Frobnicate"), 13)


def test_some_operators_have_as_many_outputs_as_their_node_writes():
    assert has_any_outputs(Operator("Split"), 13)
    assert not has_any_outputs(Operator("TopK"), 13)
