import itertools

import numpy as np
import pytest
from harness import run_in_onnxruntime
from proofs import assert_open, assert_proved, model
from straightline import reference
from tables import table


def reshaped(nodes):
    """Model whose output is the shape of the last value of these nodes."""
    text = """g (float[N, 4, 4, 8] x, float[K] w) => (int64[4] y) {
        one = Constant <value_ints = [-1]> () eight = Constant <value_ints = [8]> ()
        n = Shape <start = 0, end = 1> (x) k = Shape (w)
        both = Concat <axis = 0> (n, one, k, eight) swapped = Concat <axis = 0> (k, one, n, eight)
        a = Reshape (x, both) %s y = Shape (z) }"""
    return text % nodes


SAME = reshaped("e = Exp (x) z = Reshape (e, both)")
EARLIER = reshaped("z = Identity (a)")


def test_reshapes_of_one_shape_by_the_same_sizes_have_the_same_sizes():
    assert_proved(SAME, EARLIER)


@table(
    "z = Reshape (x, swapped)",
    "e = Transpose <perm = [0, 1, 3, 2]> (x) z = Reshape (e, both)",
    "e = Concat <axis = 2> (x, x) z = Reshape (e, both)",
)
def test_other_shapes_or_sizes_are_other_sizes(nodes):
    assert_open(reshaped(nodes), EARLIER)


def test_a_zero_may_copy_an_axis_where_minus_one_beside_it_does_not_divide():
    zeros = reshaped("z = Reshape <allowzero = 1> (x, both)")
    assert_open(EARLIER, zeros)
    assert_proved(zeros, EARLIER)  # which fails if a size is zero


def test_the_number_of_elements_determines_the_rest_where_no_axis_is_copied():
    zeros = "b = Reshape <allowzero = 1> (x, both) "
    turned = "e = Transpose <perm = [0, 1, 3, 2]> (x) z = Reshape <allowzero = 1> (e, both)"
    assert_proved(reshaped(zeros + turned), reshaped(zeros + "z = Identity (b)"))
    twice = turned.replace(
        "e = Transpose <perm = [0, 1, 3, 2]> (x)", "e = Concat <axis = 2> (x, x)"
    )
    assert_open(reshaped(zeros + twice), reshaped(zeros + "z = Identity (b)"))


def outcome(run, text, n, k):
    """Shape that a runtime computes; None where it fails."""
    feeds = {"x": np.ones((n, 4, 4, 8), np.float32), "w": np.ones(k, np.float32)}
    try:
        return run(model(text), feeds)[0].tolist()
    except Exception:  # noqa: BLE001 - the kinds of failure differ
        return None


@pytest.mark.parametrize("run", [reference.run, run_in_onnxruntime])
def test_runs_agree_also_where_sizes_are_zero(run):
    other, differences = reshaped("z = Reshape (x, swapped)"), 0
    for n, k in itertools.product((0, 1, 2), (0, 1, 4)):
        results = [outcome(run, text, n, k) for text in (SAME, EARLIER, other)]
        assert results[0] == results[1]
        differences += results[1] != results[2]
    assert differences


def test_sizes_of_run_time_are_those_of_one_vector():
    given = """g (float[24] x, int64[3] s, int64[3] t) => (int64[3] y) {
        a = Reshape (x, s) e = Exp (x) b = Reshape (e, %s) y = Shape (%s) }"""
    assert_proved(given % ("s", "b"), given % ("s", "a"))
    assert_open(given % ("t", "b"), given % ("t", "a"))


def pooled(nodes):
    return f"""g (float[1, 4, H, W] x, float[1, 4, W, H] v) => (int64[4] y) {{
        p = MaxPool <kernel_shape = [3, 3], strides = [2, 2]> (x) {nodes} y = Shape (z) }}"""


def test_windows_of_one_shape_have_one_size():
    first = pooled("z = Identity (p)")
    again = "e = Exp (x) z = MaxPool <kernel_shape = [3, 3], strides = [2, 2]> (e)"
    assert_proved(pooled(again), first)
    for nodes in (
        "z = MaxPool <kernel_shape = [3, 3], strides = [2, 2]> (v)",
        "z = MaxPool <kernel_shape = [3, 3], strides = [2, 1]> (x)",
        "z = MaxPool <kernel_shape = [3, 3], strides = [2, 2], ceil_mode = 1> (x)",
    ):
        assert_open(pooled(nodes), first)


TRANSFORMED = """g (float[4, N, M, 1] x, int64 i, int64 k) => (int64[4] y) {
    a = DFT <onesided = 1> (x, , i) e = Neg (x) b = DFT <onesided = 1> (e, , %s) y = Shape (%s) }"""


def test_an_axis_of_run_time_decides_which_axis_is_halved():
    assert_proved(TRANSFORMED % ("i", "b"), TRANSFORMED % ("i", "a"), 20)
    assert_open(TRANSFORMED % ("k", "b"), TRANSFORMED % ("k", "a"), opset=20)


@table(
    (2, "", "NonZero"),
    (2, ", m", "StringSplit"),
    (1, "", 'StringNormalizer <stopwords = ["a"]>'),
    (1, "", "Unique"),
)
def test_sizes_that_elements_decide_differ(rank, others, operator):
    text = """g (string[3] x, string[3] z) => (int64[%s] y) {
        a %s = %s (x) b %s = %s (z) y = Shape (%s) }"""
    texts = text.replace("string", "bool") if operator == "NonZero" else text
    parts = rank, others, operator, others.replace("m", "l"), operator
    assert_open(texts % (*parts, "b"), texts % (*parts, "a"), opset=21)


def looped(start):
    return f"""g (float[9] x) => (int64[K, 1] y) {{
        iterations = Constant <value_int = 3> () yes = Constant <value = bool {{1}}> ()
        two = Constant <value_ints = [2]> () zero = Constant <value_ints = [0]> ()
        at = Constant <value_ints = [0, 1]> ()
        y = Loop <body = b (int64 i, bool c) => (bool c2, int64[1] s) {{
            c2 = Identity (c) j = Unsqueeze (i, zero) k = Add ({start}, two)
            part = Slice (x, zero, k) w = Unsqueeze (part, at)
            p = MaxPool <kernel_shape = [2], strides = [2]> (w)
            s = Shape <start = 2> (p) }}> (iterations, yes) }}"""


def test_a_size_in_a_loop_is_that_of_its_iteration():
    assert_proved(looped("j"), looped("j"))
    assert_open(looped("j"), looped("zero"))
