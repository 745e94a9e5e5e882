import itertools

import straightline as sl
from certificates import assert_derived, assert_none
from proofs import model
from straightline.verification.derivation import derive

CHAIN = "g (float[n, 4] x) => (y) { %s }"


def chain(count, node):
    names = ["x", *[f"v{n}" for n in range(1, count)], "y"]
    return CHAIN % " ".join(f"{b} = {node % a}" for a, b in itertools.pairwise(names))


def test_a_deep_model_needs_no_recursion():
    before, after = chain(1500, "Softmax (%s)"), chain(1500, "Softmax <axis = 1> (%s)")
    assert assert_derived(before, after, "plain-attributes").steps == 1500


def test_parts_that_are_equal_need_no_steps():
    equal = "a = ReduceMax (x, last) b = Reshape (a, flat)"
    text = "g (float[n, 4] x) => (y) <int64[1] last = {-1}, int64[1] flat = {-1}> { %s y = %s (b) }"
    assert assert_derived(text % (equal, "Abs"), text % (equal, "Abs")).steps == 0


def test_operands_of_commutative_operators_are_matched():
    text = "g (float[n] x) => (y) { i = Identity (x) a = Abs (i) b = Neg (i) y = Add (%s) }"
    plain = "g (float[n] x) => (y) { b = Neg (x) a = Abs (x) y = Add (b, a) }"
    assert_derived(text % "a, b", plain, "identity")


def test_the_reason_names_what_has_no_rule():
    text = "g (float[n] x) => (y) { y = %s (x) }"
    assert_none(text % "Abs", text % "Neg", "no rule by which Abs and Neg are equal")


def test_a_conversion_and_a_rewrite_are_derived():
    before = model(
        """g (float[n, 3] x) => (y, z) <int64[1] s = {1}, bool c = {1}> {
        a = ReduceMean <axes = [-1]> (x)
        b = Softmax <axis = 1> (a)
        y = Squeeze <axes = [1]> (b)
        z = If (c) <then_branch = t () => (u) { u = Abs (x) },
                    else_branch = e () => (v) { v = Neg (x) }>
        }""",
        11,
    )
    for after in (sl.convert_version(before, 18), sl.rewrite(before)):
        assert sl.prove(before, after).proved
        assert_derived(before, after, *derive(before, after, {})["rules"])
