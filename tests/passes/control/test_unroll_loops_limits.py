"""Loops that stay, sequences and optionals, budgets: what unrolling must respect."""

import numpy as np
import onnx
import pytest
from harness import HEAD, as_model, assert_keeps, run_passes
from loops import NEGATE, X, assert_unrolls, op_types
from straightline import reference
from straightline.passes import Pipeline, UnrollLoops
from tables import table

RANDOM = "z = RandomNormal <shape = [2], seed = 1.0> () r = Add (a, z)"
IN_BRANCH = """r = If (yes) <then_branch = t () => (float[2] u) { z = RandomUniformLike (a)
    u = Add (a, z) }, else_branch = e () => (float[2] v) { v = Neg (a) }>"""


@table(
    (RANDOM, ""),
    (IN_BRANCH, ""),
    ("r, mask = Dropout (a, ratio, yes)", ""),
    ("p = Sigmoid (a) r = Bernoulli (p)", ""),
    ("r = local.f (a)", RANDOM),
    ("r = com.microsoft.BiasDropout (a, x, , ratio, yes)", ""),
)
def test_random_operators_keep_the_loop(body, function):
    text = f"""g (float[2] x) => (float[2] y) <int64 n = {{2}}, bool yes = {{1}}, float ratio =
        {{0.5}}> {{
        y = Loop (n, , x) <body = b (int64 i, bool c, float[2] a) => (bool c2, float[2] r) {{
            c2 = Identity (c) {body} }}> }}"""
    if function:
        text += f'<domain: "local", opset_import: ["" : 17]> f (a) => (r) {{ {function} }}'
    assert_keeps(UnrollLoops(), text, "it draws random numbers")


def test_dropout_that_does_not_train_is_not_random():
    assert_unrolls(
        """g (float[2] x) => (float[2] y) <int64 n = {2}, bool no = {0}, float ratio = {0.5}> {
            y = Loop (n, , x) <body = b (int64 i, bool c, float[2] a) => (bool c, float[2] r) {
                r, mask = Dropout (a, ratio, no) }> }""",
        X,
    )


def test_values_of_a_gradient_are_kept():
    outside = f"""g (float[2] x) => (float[2] y, float[2] d) <int64 n = {{2}}> {{
        y = Loop (n, , x) {NEGATE}
        d = ai.onnx.preview.training.Gradient <xs = ["x"], y = "y"> (x) }}"""
    inside = """g (float[2] x) => (float[2] y) <int64 n = {2}> {
        y = Loop (n, , x) <body = b (int64 i, bool c, float[2] a) => (bool c2, float[2] r) {
            c2 = Identity (c) q = Mul (a, a)
            r = ai.onnx.preview.training.Gradient <xs = ["a"], y = "q"> (a) }> }"""
    training = '<ir_version: 8, opset_import: ["" : 17, "ai.onnx.preview.training" : 1]>\n'
    for text, reason in ((outside, "named from outside"), (inside, "names tensors")):
        result = Pipeline([UnrollLoops()]).run(as_model(training + text))
        assert not result.changed
        assert reason in result.kept[0].reason


@pytest.mark.parametrize("opset", [13, 14])
def test_sequences(opset):
    head = f'<ir_version: 8, opset_import: ["" : {opset}]>\n'
    carried = """g (float[2] x) => (seq(float[K]) y) <int64 n = {{{n}}}> {{
        s = SequenceConstruct (x)
        y = Loop (n, , s) <body = b (int64 i, bool c, seq(float[K]) a) => (bool c2, seq(float[K])
            r) {{
            c2 = Identity (c) r = SequenceInsert (a, x) }}> }}"""
    assert_unrolls(carried.format(n=2), X, head=head)
    assert_unrolls(carried.format(n=0), X, head=head)
    given = carried.replace("float[2] x)", "float[2] x, seq(float[K]) s)").replace(
        "s = SequenceConstruct (x)", ""
    )
    feed = {**X, "s": [np.array([5], np.float32)]}
    assert_unrolls(given.format(n=2), feed, head=head)
    if opset == 13:
        assert_keeps(UnrollLoops(), head + given.format(n=0), "no Identity can name in opset 13")
    else:
        assert_unrolls(given.format(n=0), feed, head=head)


@pytest.mark.parametrize("opset", [13, 14])
def test_one_sequence_as_two_outputs(opset):
    head = f'<ir_version: 8, opset_import: ["" : {opset}]>\n'
    text = """g (float[2] x) => (seq(float[K]) y, seq(float[K]) z) <int64 n = {2}> {
        s = SequenceConstruct (x)
        y, z = Loop (n, , s, s) <body = b (int64 i, bool c, seq(float[K]) a, seq(float[K]) b)
                                     => (bool c2, seq(float[K]) r, seq(float[K]) r) {
            c2 = Identity (c) r = SequenceInsert (a, x) }> }"""
    if opset == 13:
        assert_keeps(UnrollLoops(), head + text, "no Identity can name in opset 13")
    else:
        model = assert_unrolls(text, head=head)
        assert [len(s) for s in reference.run(model, X)] == [3, 3]


def test_optionals():
    assert_unrolls(
        """g (float[2] x) => (float[2] y) <int64 n = {2}> {
            o = Optional (x)
            p = Loop (n, , o)
                <body = b (int64 i, bool c, optional(float[2]) a) => (bool c2, optional(float[2])
                    r) {
                    c2 = Identity (c) v = OptionalGetElement (a) w = Neg (v) r = Optional (w) }>
            y = OptionalGetElement (p) }""",
        X,
    )


def test_a_node_that_would_fail_is_not_run_by_a_loop_without_iterations():
    assert_unrolls(
        """g (float[2] x) => (float[2] y) <int64 n = {0}, float[1] w = {1}, int64[1] five = {5}> {
            y = Loop (n, , x) <body = b (int64 i, bool c, float[2] a) => (bool c, float[2] r) {
                k = Gather (w, five) r = Add (a, k) }> }""",
        X,
    )


def test_a_budget_is_counted_over_all_loops_and_before_anything_is_copied():
    loops = "".join(f"y{k} = Loop (n, , x) {NEGATE} " for k in range(3))
    text = f"""{HEAD}g (float[2] x) => (float[2] y) <int64 n = {{4}}> {{
        {loops} z = Add (y0, y1) y = Add (z, y2) }}"""
    result = Pipeline([UnrollLoops(max_nodes=12)]).run(as_model(text))
    assert len(result.kept) == 1
    assert "over max_nodes=12" in result.kept[0].reason
    assert list(op_types(result.model.graph)).count("Loop") == 1
    assert_keeps(UnrollLoops(max_nodes=3), text, "over max_nodes=3")


def test_a_weight_is_shared_by_all_copies():
    weight = np.ones((256, 256), np.float32)
    model = as_model(
        """g (float[1,256] x) => (float[1,256] y) <int64 n = {40}, float[256,256] w> {
            y = Loop (n, , x) <body = b (int64 i, bool c, float[1,256] a) => (bool c, float[1,256]
                r) {
                r = MatMul (a, w) }> }"""
    )
    del model.graph.initializer[:]
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.array(40, np.int64), "n"))
    model.graph.initializer.append(onnx.numpy_helper.from_array(weight, "w"))
    del model.graph.value_info[:]
    assert run_passes(model, UnrollLoops()).model.ByteSize() < weight.nbytes + 40 * 100


# Limits, each at its edge

COUNTED = f"""g (float[2] x) => (float[2] y) <int64 n = {{5}}> {{ y = Loop (n, , x) {NEGATE} }}"""
WHILE = """g (float[2] x) => (float[2] y, int64 last)
    <int64 zero = {0}, int64 one = {1}, int64 four = {5}, bool yes = {1}> {
    y, last = Loop (, yes, x, zero) <body = b (int64 i, bool c, float[2] a, int64 k)
                                     => (bool c2, float[2] r, int64 k2) {
        k2 = Add (k, one) r = Neg (a) c2 = Less (k2, four) }> }"""
BY_SHAPE = """g (float[2] x) => (float[2] y, float[N] last) <bool yes = {1}, int64[1] five = {6}> {
    y, last = Loop (, yes, x, x) <body = b (int64 i, bool c, float[2] a, float[N] k)
                                  => (bool c2, float[2] r, float[M] k2) {
        e = Sigmoid (x) f = Slice (e, zero, one) k2 = Concat <axis = 0> (k, f)
        r = Neg (a) s = Shape (k2) d = Less (s, five) c2 = Squeeze (d) }>
}""".replace("bool yes", "int64[1] zero = {0}, int64[1] one = {1}, bool yes")


@pytest.mark.parametrize(("text", "iterations"), [(COUNTED, 5), (WHILE, 5), (BY_SHAPE, 4)])
def test_as_many_iterations_as_are_allowed_and_not_one_more(text, iterations):
    def unrolled(most):
        return Pipeline([UnrollLoops(max_trips=most)]).run(as_model(text))

    for most in (iterations, iterations + 1):
        result = unrolled(most)
        assert result.changed, most
        assert result.remarks[0].reason == f"unrolled, {iterations} iterations"
        assert list(op_types(result.model.graph)).count("Neg") == iterations
    for most in (iterations - 1, 0):
        result = unrolled(most)
        assert not result.changed
        assert f"max_trips={most} allows" in result.kept[0].reason


def test_a_condition_is_not_computed_for_more_iterations_than_one_too_many():
    result = Pipeline([UnrollLoops(max_trips=3)]).run(as_model(WHILE))
    assert (
        "its condition still holds after 4 iterations, more than max_trips=3"
        in result.kept[0].reason
    )
    result = Pipeline([UnrollLoops(max_nodes=9)]).run(as_model(WHILE))
    assert (
        "its condition still holds after 4 iterations, more than max_nodes=9"
        in result.kept[0].reason
    )


ROWS = """g (float[2] x) => (float[K,2] y) <int64 n = {3}, bool yes = {1}> {
    y = Loop (n, yes) <body = b (int64 i, bool c) => (bool d, float[2] r) {
        d = Identity (c) r = Neg (x) }> }"""


@table(
    (COUNTED, 5 * 2),  # with a condition that is copied
    (WHILE, 5 * 3),  # what folds is counted before it is known to
    (
        ROWS,
        3 * 1 + 1 + 3 + 1,
    ),  # what is the same on each iteration once; an Unsqueeze each, a Concat
)
def test_as_many_nodes_as_are_allowed_and_not_one_fewer(text, cost):
    def result(most):
        return Pipeline([UnrollLoops(max_nodes=most)]).run(as_model(text))

    assert result(cost).changed
    assert not result(cost - 1).changed
    assert f"max_nodes={cost - 1}" in result(cost - 1).kept[0].reason
