import itertools

import straightline as sl
from certificates import assert_derived, assert_none
from proofs import model
from straightline.verification.derivation import derive


def chain(count, node):
    names = ["x", *[f"v{n}" for n in range(1, count)], "y"]
    text = "g (float[n, 4] x) => (y) { %s }"
    return text % " ".join(f"{b} = {node % a}" for a, b in itertools.pairwise(names))


def test_a_deep_model_needs_no_recursion():
    before, after = chain(1500, "Softmax (%s)"), chain(1500, "Softmax <axis = 1> (%s)")
    assert assert_derived(before, after, "spelling").steps == 1500


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
                    else_branch = e () => (v) { v = Neg (x) }> }""",
        11,
    )
    for after in (sl.convert_version(before, 18), sl.rewrite(before)):
        assert sl.prove(before, after).proved
        assert_derived(before, after, *derive(before, after, {})["rules"])


def test_blocks_of_a_large_model_are_bridged_one_by_one():
    """Values that both models name: a search from the outputs ends with its attempts used up."""
    count = 150
    block = "m{0} = MatMul (x{0}, w) a{0} = Abs (m{0}) s{0} = Sqrt (a{0}) "
    texts = [
        block + "r{0} = Div (o, s{0}) p{0} = Mul (m{0}, r{0}) x{1} = Mul (p{0}, k) ",
        block + "q{0} = Div (m{0}, s{0}) x{1} = Mul (q{0}, k) ",
    ]
    pair = [
        model(
            "g (float[n, 2] x0, float[2, 2] w) => (y) <float o = {1}, float k = {2}> {"
            + "".join(text.format(k, k + 1) for k in range(count))
            + f"y = Identity (x{count}) }}",
            18,
        )
        for text in texts
    ]
    steps = derive(*pair, {}, None, "reals", 1 << 15)
    assert not isinstance(steps, str) and len(steps["steps"]) < 12 * count
