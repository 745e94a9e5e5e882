import numpy as np
from proofs import assert_open, assert_proved, model
from sessions import by_reference
from tables import table

TEXT = "g (float[n, 4, m] x, float[n, 4, m] w) => (float[n, m, 4] y) {{ {} }}"
TURN = "Transpose <perm = [0, 2, 1]>"


@table(
    ("elementwise", (f"a = {TURN} (x) y = Exp (a)", f"a = Exp (x) y = {TURN} (a)")),
    ("two operands", (f"a = {TURN} (x) b = {TURN} (w) y = Sub (a, b)",
     f"a = Sub (x, w) y = {TURN} (a)")),
    ("a named axis", (f"a = {TURN} (x) y = Softmax <axis = 2> (a)",
     f"a = Softmax <axis = 1> (x) y = {TURN} (a)")),
    ("below and above", (
        f"a = {TURN} (x) b = {TURN} (w) c = Mul (a, b) d = Exp (c) y = Softmax <axis = 2> (d)",
        f"a = Mul (x, w) b = Exp (a) c = Softmax <axis = 1> (b) y = {TURN} (c)",
    )))  # fmt: skip
def test_movement_passes_operators(name, case):
    one, other = (TEXT.format(nodes) for nodes in case)
    proof = assert_proved(one, other)
    assert_proved(other, one)
    assert set(proof.assumptions) <= {
        f"{op} of some rows gives the same bits as of all rows" for op in ("Exp", "Softmax")
    }
    feeds = {k: np.random.default_rng(0).normal(size=(2, 4, 3)).astype(np.float32) for k in "xw"}
    (a,), (b,) = (by_reference(model(text), feeds) for text in (one, other))
    np.testing.assert_array_equal(a, b)


def test_shared_values_are_not_cut():
    """A product below takes no part in the movement, and needs no assumption."""
    text = "g (float[n, 4] x, float[4, 4] w) => (float[4, n] y) {{ p = MatMul (x, w) {} }}"
    turned = "a = Transpose (p) y = Relu (a)"
    proof = assert_proved(text.format(turned), text.format("a = Relu (p) y = Transpose (a)"))
    assert proof.assumptions == ()


@table(
        ("a = Transpose (x) y = Sub (a, x)", "a = Transpose (x) y = Sub (x, a)"),
        ("a = Transpose (x) y = Softmax (a)", "a = Softmax (x) y = Transpose (a)"),
        ("y = Transpose (x)", "y = Identity (x)"),
        ("y = CumSum (x, one)", "y = CumSum (x, zero)"),
        ("a = Transpose (x) y = ReduceSum (a, both)", "y = ReduceSum (x, both)"))  # fmt: skip
def test_other_positions_stay_open(one, other):
    constants = "<int64 zero = {0}, int64 one = {1}, int64[2] both = {0, 1}>"
    out = "float[1, 1] y" if "both" in one else "float[n, n] y"
    text = f"g (float[n, n] x) => ({out}) {constants} "
    assert_open(f"{text}{{ {one} }}", f"{text}{{ {other} }}")


def test_an_unknown_index_is_one_position():
    text = "g (float[n, m] x, int64[k] i) => (float[k, m] y) {{ {} }}"
    one, other = "a = Exp (x) y = Gather (a, i)", "a = Gather (x, i) y = Exp (a)"
    assert_proved(text.format(one), text.format(other))
    assert_open(text.format(one), text.format("a = Gather (x, i) y = Exp (x)"))


def test_indices_that_are_picked_are_among_all():
    """Gather of some indices is defined where that of all is, and not the other way round."""
    text = "g (float[n] x, int64[k] i, int64[l] j) => (float[l] y) {{ {} }}"
    of_all = text.format("a = Gather (x, i) y = Gather (a, j)")
    of_some = text.format("a = Gather (i, j) y = Gather (x, a)")
    assert_proved(of_all, of_some)
    assert_open(of_some, of_all, "'i' may be out of range")
