import itertools

import pytest
import straightline as sl
from certificates import assert_derived, assert_none
from proofs import model
from straightline.verification.certificate_check import replayed
from straightline.verification.checker.scans import loop_of
from straightline.verification.derivation import Search, copy_of, derive


def chain(count, node):
    names = ["x", *[f"v{n}" for n in range(1, count)], "y"]
    text = "g (float[n, 4] x) => (y) { %s }"
    return text % " ".join(f"{b} = {node % a}" for a, b in itertools.pairwise(names))


def test_a_deep_model_needs_no_recursion():
    before, after = chain(1500, "Split (%s)"), chain(1500, "Split <num_outputs = 1> (%s)")
    assert assert_derived(before, after, "equal-parts", opsets=(13, 18)).steps == 1500


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


def test_a_search_grows_with_the_number_of_equal_sizes():
    """Sizes in each step of a written-out decoder become constants."""
    step = """t{1} = Tanh (x{0}) s{1} = Shape (t{1}) g{1} = Gather (s{1}, one)
        a{1} = Add (g{1}, one) d{1} = Div (a{1}, three) e{1} = Mul (d{1}, two)
        f{1} = Mul (d{1}, three) l{1} = Slice (t{1}, zero, d{1}, one)
        m{1} = Slice (t{1}, d{1}, e{1}, one) r{1} = Slice (t{1}, e{1}, f{1}, one)
        x{1} = Concat <axis = 1> (m{1}, r{1}, l{1}) """
    numbers = "int64[1] zero = {0}, int64[1] one = {1}, int64[1] two = {2}, int64[1] three = {3}"
    for count in (8, 20):
        steps = "".join(step.format(n, n + 1) for n in range(count))
        before = model(f"g (float[n, 6] x0) => (x{count}) <{numbers}> {{ {steps} }}")
        # Without the law "a constant says all of its class" 32 steps need over 32,000 attempts.
        assert isinstance(derive(before, sl.rewrite(before), {}, most=100 * count), dict)


def test_a_loop_is_compared_with_its_twin_by_what_determines_its_variables():
    """Rows of inferred sizes keep both loops apart, but not what their bodies compute."""
    before = model(
        """g (float[n, m] x, float[k, 2] h, int64 count) => (z) <bool go = {1}> {
        y, z = Loop (count, go, h) <body = b (int64 i, bool c, s) => (d, t, r) {
          d = Identity (c) p, q, o = Split <axis = 1> (x) t = Mul (s, q) r = Add (t, p) }> }""",
        13,
    )
    search = Search(replayed(before, sl.convert_version(before, 18), {}))
    logs = [side.log for side in search.replay.models[1:3]]
    loops = [next(each for each in log if each.node.op_type == "Loop") for log in logs]
    assert len({loop_of(search.terms, each.term) for each in loops}) == 2
    search._pair(*loops)
    assert len({loop_of(search.terms, each.term) for each in loops}) == 1


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


@pytest.mark.parametrize("equality", ["bits", "reals"])
def test_a_copy_shares_nothing_that_a_search_changes(equality):
    before = model(
        """g (float[n, 4] x) => (y) <int64[1] one = {1}, float[4, 4] w = {1, 2, 3, 4, 5, 6, 7, 8,
        9, 10, 11, 12, 13, 14, 15, 16}> {
        s = Shape (x) n = Gather (s, one) i = Identity (x) m = MatMul (i, w) h = HardSwish (m)
        y = Reshape (h, n) }"""
    )
    question = before, sl.rewrite(before), {}, None, equality
    executed = replayed(*question)
    search = Search(copy_of(executed))
    assert search.run() and search.steps
    one, other = (vars(replay.terms) for replay in (executed, replayed(*question)))
    assert one.keys() == other.keys()
    for name in one.keys() - {"constants", "define", "elements"}:
        assert one[name] == other[name], name
    for name in ("constants", "elements"):
        assert one[name].keys() == other[name].keys()
    assert executed.terms.define.texts == replayed(*question).terms.define.texts


@pytest.mark.parametrize("rows", [3, 80])
def test_a_loop_that_became_operators_is_not_unrolled(rows):
    """A certificate is as long for 80 rows as for 3."""
    before = model(
        f"""g (float[n, 5] x, float[{rows}, 5] w) => (y)
        <int64 count = {{{rows}}}, bool go = {{1}}> {{
        s, y = Loop (count, go, x) <body = b (int64 i, bool c, t) => (d, u, r) {{
          d = Identity (c) u = Identity (t) v = Gather (w, i) f = Sub (t, v)
          r = ReduceSumSquare <axes = [1], keepdims = 0> (f) }}> }}""",
        13,
    )
    after = sl.rewrite(before)
    assert not any(node.op_type == "Loop" for node in after.graph.node)
    steps = derive(before, after, {})["steps"]
    assert "iterations" not in {rule for rule, *_ in steps}
    assert len(steps) < 40
