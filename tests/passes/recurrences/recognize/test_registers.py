import numpy as np
import pytest
from recurred import LENGTHS, assert_same, loop, numbers, raised, reason
from tables import table

NEW = "zero = Constant <value = int64[1] {0}> () rows = Unsqueeze (e, zero) "
CUT = """from = Constant <value = int64[1] {%s}> () to = Constant <value = int64[1] {%s}> ()
    cut = Slice (s, from, to, zero) """
LAST = 2**63 - 1
AT_END = NEW + CUT % (1, LAST) + "s2 = Concat <axis = 0> (cut, rows) "
AT_FRONT = NEW + CUT % (0, -1) + "s2 = Concat <axis = 0> (rows, cut) "
S0 = np.array([[7, 8, 9], [4, 5, 6], [1, 2, 3]], np.float32)


@pytest.mark.parametrize("body", [AT_END, AT_FRONT, AT_END.replace(str(LAST), "3")])
@pytest.mark.parametrize("value", ["s", "s2"])
def test_windows(body, value):
    """The rows before an iteration, or after it, and the last ones."""
    text = loop(f"{body} r = Identity ({value})", "float[3,3] s s0", "float[3,3] r")
    model = raised(text)
    for length in LENGTHS:
        assert_same(text, model, numbers(length, [np.nan, np.inf]), exact=True, s0=S0)


def test_readers_of_registers():
    body = f"{AT_END} r = ReduceMax <keepdims = 0, axes = [0]> (s2)"
    text = loop(body, "float[3,3] s s0", "float[3] r")
    model = raised(text)
    for length in LENGTHS:
        assert_same(text, model, numbers(length), s0=S0)


def test_another_axis_and_several_rows():
    """Columns come last: two of them, of four."""
    add = "shape = Constant <value = int64[2] {-1, 1}> () one_col = Reshape (e, shape) "
    add += "other = Exp (one_col) rows = Concat <axis = 1> (one_col, other) "
    cut = "axis = Constant <value = int64[1] {1}> () from = Constant <value = int64[1] {2}> () "
    cut += f"to = Constant <value = int64[1] {{{LAST}}}> () cut = Slice (s, from, to, axis) "
    text = loop(
        add + cut + "s2 = Concat <axis = -1> (cut, rows) r = ReduceSum (s2)",
        "float[3,4] s s0",
        "float[1,1] r",
    )
    model = raised(text)
    for length in LENGTHS:
        assert_same(text, model, numbers(length), s0=np.ones((3, 4), np.float32))


@table(
    NEW + CUT % (0, 2) + "s2 = Concat <axis = 0> (cut, rows)",
    NEW + CUT % (2, LAST) + "s2 = Concat <axis = 0> (cut, rows)",
    AT_END.replace("s2 = Concat", "t2 = Concat") + "s2 = Exp (t2)",
)
def test_near_misses(body):
    """Rows that stay, fewer rows, rows that change."""
    kind = "float[A,3]" if "{2}" in body else "float[3,3]"
    assert "carries 's'" in reason(loop(body, f"{kind} s s0"))
