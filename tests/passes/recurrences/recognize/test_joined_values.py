import numpy as np
import pytest
from recurred import LENGTHS, assert_same, loop, numbers, raised, reason
from tables import table

STACK = "at = Constant <value = int64[1] {AXIS}> () a = Unsqueeze (s, at) d = Unsqueeze (e, at) "
STACK += "p = Concat <axis = AXIS> (a, d) "


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize(
    "reduction",
    [
        "ReduceSum <keepdims = 0> (p, at)",
        "ReduceMax <axes = [AXIS], keepdims = 0> (p)",
        "ReduceMin <axes = [AXIS], keepdims = 0> (p)",
        "ReduceLogSumExp <axes = [AXIS], keepdims = 0> (p)",
    ],
)
def test_one_element_of_each(axis, reduction):
    body = f"{STACK} s2 = {reduction} r = Identity (s2)".replace("AXIS", str(axis))
    text = loop(body, "float[3] s s0", "float[3] r")
    model = raised(text, kept=["Scan"])
    for length in LENGTHS:
        assert_same(text, model, numbers(length), s0=np.array([0.5, -1, 2], np.float32))


@table("ReduceMean <axes = [0], keepdims = 0> (p)", "ReduceL2 <axes = [0], keepdims = 0> (p)")
def test_others_stay(reduction):
    text = loop(f"{STACK.replace('AXIS', '0')} s2 = {reduction}", "float[3] s s0")
    assert "carries 's'" in reason(text)
