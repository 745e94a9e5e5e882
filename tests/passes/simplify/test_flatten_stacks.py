import numpy as np
import pytest
from harness import run_passes
from simplified import assert_exact
from straightline.passes import EliminateDeadNodes, FlattenStacks
from tables import table

PASSES = (FlattenStacks(), EliminateDeadNodes())
FEED = {name: np.random.default_rng(0).random((3, 4), np.float32) for name in "xz"}
STACK = """<int64[1] k = {%d}, int64[%d] shape = {%s}, int64 i = {-1}> {
    a = Unsqueeze (x, k) b = Unsqueeze (z, k) c = Unsqueeze (x, k)
    s = Concat <axis = %d> (a, b, c) """


def flattens(before, after):
    assert_exact(PASSES, before, after, FEED)


@pytest.mark.parametrize("axis", [1, -2])
def test_a_stack_that_is_flattened(axis):
    flattens(
        "g (float[N, 4] x, float[N, 4] z) => (float[N, 12] y) "
        + STACK % (1, 2, "-1, 12", axis)
        + "y = Reshape (s, shape) }",
        "g (float[N, 4] x, float[N, 4] z) => (float[N, 12] y) { y = Concat <axis = 1> (x, z, x) }",
    )


def test_a_stack_along_the_first_axis():
    flattens(
        "g (float[3, N] x, float[3, N] z) => (float[9, N] y) "
        + STACK % (0, 2, "9, -1", 0)
        + "y = Reshape (s, shape) }",
        "g (float[3, N] x, float[3, N] z) => (float[9, N] y) { y = Concat <axis = 0> (x, z, x) }",
    )


def test_one_of_the_tensors():
    flattens(
        "g (float[N, 4] x, float[N, 4] z) => (float[N, 4] y, float[N, 3, 4] w) "
        + STACK % (1, 1, "1", 1)
        + "t = Gather <axis = 1> (s, i) y = Neg (t) w = Exp (s) }",
        "g (float[N, 4] x, float[N, 4] z) => (float[N, 4] y, float[N, 3, 4] w) "
        + STACK.partition(", int64[%d]")[0] % 1
        + "> { a = Unsqueeze (x, k) b = Unsqueeze (z, k) c = Unsqueeze (x, k)"
        + " s = Concat <axis = 1> (a, b, c) y = Neg (x) w = Exp (s) }",
    )


@table(
    ("another order", 2, "-1, 12", 2, "y = Reshape (s, shape)"),
    ("other axes", 1, "-1, 6", 1, "y = Reshape (s, shape)"),
    ("another reader", 1, "-1, 12", 1,
     "r = Reshape (s, shape) v = Exp (s) y = Reshape (v, shape)"),
    ("another axis", 1, "1, 1", 1, "y = Gather <axis = 0> (s, i)"),
    ("an index that is out of range", 1, "1, 1", 1,
     "n = Mul (i, five) y = Gather <axis = 1> (s, n)"),
    ("an output", 1, "1, 1", 1, "y = Gather <axis = 1> (s, i)"))  # fmt: skip
def test_others_stay(name, axis, shape, along, nodes):
    constants = STACK.replace("int64 i", "int64 five = {5}, int64 i") % (axis, 2, shape, along)
    text = f"g (float[3, 4] x, float[3, 4] z) => (float[N, M] y) {constants} {nodes} }}"
    assert not run_passes(text, FlattenStacks()).changed
