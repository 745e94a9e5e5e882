import numpy as np
from proofs import assert_open, assert_proved
from straightline.facts.fact import Fact
from straightline.ir import Operator
from straightline.verification.proof.terms.budget import Budget
from straightline.verification.proof.terms.op_semantics import with_changes
from straightline.verification.proof.terms.term import Heads, descendants
from straightline.verification.proof.terms.term_manager import Terms


def test_the_order_of_attributes_does_not_matter_but_their_values_do():
    pooled = "g (float[1, 1, 8] x) => (float[1, 1, n] z) { z = AveragePool <%s> (x) }"
    ordered = pooled % "kernel_shape = [2], strides = [2]"
    assert_proved(ordered, pooled % "strides = [2], kernel_shape = [2]")
    assert_proved(ordered, pooled % "strides = [2], kernel_shape = [2], ceil_mode = 0")
    assert_open(ordered, pooled % "kernel_shape = [2], strides = [3]")
    assert_open(ordered, pooled % "kernel_shape = [2]")


def test_attributes_tell_heads_apart():
    heads, imports = Heads(), {"": 18}
    one = heads.of(Operator.make("LRN", size=3, alpha=0.5), imports)
    assert heads.of(Operator.make("LRN", alpha=0.5, size=3), imports) is one
    assert heads.of(Operator.make("LRN", size=3, alpha=0.25), imports) is not one
    assert heads.of(Operator.make("LRN", size=5, alpha=0.5), imports) is not one
    assert heads.of(Operator.make("LRN", "other", size=3, alpha=0.5), {"other": 1}) is not one


def test_words_for_people_are_no_part_of_the_meaning():
    heads = Heads()
    said, bare = (Operator.make("Softmax", axis=0) for _ in range(2))
    said.attributes["axis"].doc_string = "rows"
    assert heads.of(said, {"": 18}) is heads.of(bare, {"": 18})
    assert said.attributes["axis"].doc_string == "rows"


def test_the_number_of_outputs_counts_where_the_meaning_depends_on_it():
    heads = Heads()

    def of(op_type, outputs, **attributes):
        return heads.of(Operator.make(op_type, **attributes), {"": 17}, outputs)

    assert of("Split", 2) is not of("Split", 3)
    assert (of("Split", 2).outputs, of("TopK", 2).outputs) == (2, 0)
    assert of("TopK", 1) is of("TopK", 2)


def test_own_heads_differ_by_their_key():
    heads = Heads()
    assert heads.own("narrow", 0) is heads.own("narrow", 0)
    assert heads.own("narrow", 0) is not heads.own("narrow", 1)
    assert heads.own("narrow", 0) is not heads.own("view", 0)
    assert heads.own("view").attribute("axis", 7) == 7
    assert heads.own("view").opset == 0


def test_attributes_are_changed_and_left_out():
    heads = Heads()
    head = heads.of(Operator.make("ReduceSum", keepdims=0, noop_with_empty_axes=1), {"": 18})
    changed = heads.with_attributes(head, keepdims=1)
    assert changed is heads.of(Operator.make("ReduceSum", noop_with_empty_axes=1), {"": 18})
    assert head.attribute("keepdims") == 0
    assert not with_changes(head.op, keepdims=None, noop_with_empty_axes=None).attributes


def test_another_operator_is_made_for_the_opsets_of_a_head():
    heads = Heads()
    like = heads.of(Operator("Neg"), {"": 18})
    assert heads.like("Concat", like, axis=1) is heads.of(
        Operator.make("Concat", axis=1), like.imports
    )
    padded = heads.of(Operator.make("Pad", mode="edge"), {"": 18})
    assert (padded.text("mode"), padded.text("absent")) == ("edge", "")


def test_arguments_come_first_and_each_once():
    terms = Terms(Budget())
    x = terms.leaf("input", "x", Fact(1))
    pair = terms.keep(terms.heads.own("pair"), (x, x), Fact(1))
    both = terms.keep(terms.heads.own("pair"), (pair, x), Fact(1))
    assert list(descendants([both, pair])) == [x, pair, both]
    assert terms.keep(terms.heads.own("pair"), (x, x), Fact(1)) is pair


def test_a_long_chain_needs_no_recursion():
    terms = Terms(Budget())
    term = terms.leaf("input", "x", Fact(1))
    for _ in range(20_000):
        term = terms.keep(terms.heads.own("next"), (term,), Fact(1))
    assert sum(1 for _ in descendants([term])) == 20_001


def test_constants_are_one_only_with_the_same_bits():
    terms = Terms(Budget())
    zero = terms.constant(np.array(0.0, np.float32))
    assert terms.constant(np.array(0.0, np.float32)) is zero
    assert terms.constant(np.array(-0.0, np.float32)) is not zero
    assert terms.constant(np.array(0.0, np.float64)) is not zero
    assert terms.constant(np.array([0.0], np.float32)) is not zero
    assert terms.constant(np.array(["a", "b"])) is not terms.constant(np.array(["ab"]))
