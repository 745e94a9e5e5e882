import pytest
from proofs import assert_open, assert_proved

TEXT = "g (float[2, 3, n] x) => (float[2, 3, n] y) {{ %s }}"
SHORT = TEXT % "y = {} <axis = 1> (x)"
LONG = TEXT % (
    "t = Transpose <perm = [0, 2, 1]> (x) s = {} <axis = {}> (t) "
    "y = Transpose <perm = [0, 2, 1]> (s)"
)


def test_softmax_of_the_transposed():
    for name in ("Softmax", "LogSoftmax"):
        proof = assert_proved(SHORT.format(name), LONG.format(name, 2))
        assert proof.assumptions == (f"{name} of some rows gives the same bits as of all rows",)
        assert_proved(LONG.format(name, 2), SHORT.format(name))
        assert_open(SHORT.format(name), LONG.format(name, 1))


def test_an_order_that_moves_other_axes_as_well():
    long = TEXT % (
        "t = Transpose <perm = [2, 0, 1]> (x) s = Softmax <axis = 2> (t) "
        "y = Transpose <perm = [1, 2, 0]> (s)"
    )
    long = long.format()
    assert_proved(SHORT.format("Softmax"), long)
    assert_open(SHORT.format("Softmax"), long.replace("axis = 2", "axis = 1"))


def test_another_operator_is_another():
    assert_open(SHORT.format("Softmax"), LONG.format("LogSoftmax", 2))


def test_hardmax_is_exact():
    proof = assert_proved(SHORT.format("Hardmax"), LONG.format("Hardmax", 2))
    assert proof.assumptions in ((), ("Hardmax of some rows gives the same bits as of all rows",))


STRAIGHT = "g (float[n, m, k] x) => (float[n, m, k] y) <int64 a = {%d}> { y = CumSum %s (x, a) }"


@pytest.mark.parametrize("flags", ["", "<exclusive = 1>", "<reverse = 1>"])
@pytest.mark.parametrize(("axis", "turned"), [(0, 1), (1, 2), (2, 0), (-1, -3)])
def test_sums_along_any_axis_are_those_of_the_transposed_values(axis, turned, flags):
    before = STRAIGHT % (axis, flags)
    text = """g (float[n, m, k] x) => (float[n, m, k] y) <int64 a = {%d}> {
        t = Transpose <perm = [2, 0, 1]> (x)
        s = CumSum %s (t, a)
        y = Transpose <perm = [1, 2, 0]> (s) }"""
    assert_proved(before, text % (turned, flags))
    assert_open(before, text % ((turned + 1) % 3, flags))
    assert_open(before, text.replace("perm = [1, 2, 0]", "perm = [0, 2, 1]") % (turned, flags))
