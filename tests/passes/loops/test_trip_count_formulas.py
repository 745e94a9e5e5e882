import itertools

import numpy as np
import onnx
import pytest
from harness import run_passes
from straightline.passes import CountLoops
from straightline.reference import run
from tables import table

LAST, FIRST = np.iinfo(np.int32).max, np.iinfo(np.int32).min
HORIZON = 1 << 19
"""Iterations after which a Loop counts as endless."""


def emitted(condition, step, kind="int32", start="s"):
    """A model of the trip count alone, of a counter from `s` to `n`."""
    asked = (
        condition.replace("j,", f"{start},")
        .replace("d =", "go =")
        .replace("h =", "f =")
        .replace("(h)", "(f)")
    )
    model = run_passes(
        f"""g ({kind} s, {kind} n) => (float[END] p) <{kind} three = {{3}}> {{
            {asked}
            e, p = Loop (, go, {start}) <body = b (int64 k, bool c, {kind} i)
                    => (bool d, {kind} j, float q) <{kind} by = {{{step}}}> {{
                j = Add (i, by) q = Cast <to = 1> (k) {condition} }}> }}""",
        CountLoops(),
    ).model
    node = next(node for node in model.graph.node if node.op_type == "Loop")
    assert node.input[0]
    model.graph.node.remove(node)
    del model.graph.output[:]
    model.graph.output.append(onnx.helper.make_tensor_value_info(node.input[0], 7, None))
    return model


def simulated(relation, start, bound, step):
    """The iterations of a counter of 32 bits that wraps."""
    values = start + step * np.arange(HORIZON, dtype=np.int64)
    values = (values - FIRST) % (1 << 32) + FIRST
    ends = np.flatnonzero(~relation(values, bound))
    return int(ends[0]) if ends.size else HORIZON


@pytest.mark.sample(6)
@pytest.mark.parametrize("step", [1 << 16, 3 << 14])
@table(
    ("d = Less (j, n)", np.less),
    ("d = LessOrEqual (j, n)", np.less_equal),
    ("d = Greater (j, n)", np.greater),
    ("d = GreaterOrEqual (j, n)", np.greater_equal),
    ("h = Equal (j, n) d = Not (h)", np.not_equal),
)
def test_counters_of_32_bits_wrap(condition, relation, step):
    """Far from its bound, or in a later lap, as the machine does it."""
    step = -step if relation in (np.greater, np.greater_equal) else step
    model = emitted(condition, step)
    numbers = LAST, LAST - 40000, 70000, -70000, FIRST + 40000, FIRST
    for start, bound in itertools.product(numbers, numbers):
        (iterations,) = run(model, {"s": np.array(start, np.int32), "n": np.array(bound, np.int32)})
        assert min(int(iterations), HORIZON) == simulated(relation, start, bound, step), (
            start,
            bound,
        )


@pytest.mark.parametrize("relation", ["Less", "LessOrEqual"])
@pytest.mark.parametrize("step", [1, 2, 5])
def test_nothing_overflows_64_bits(relation, step):
    model = emitted(f"d = {relation} (j, n)", step, "int64", "three")
    far = np.iinfo(np.int64)
    for bound in (far.min, far.min + 1, -1, 2, 3, 4, 5, 11, far.max - 3, far.max - 1, far.max):
        (iterations,) = run(model, {"s": np.array(0), "n": np.array(bound)})
        distance = int(bound) - 3 + (relation == "LessOrEqual")
        exact = max(0, -(-distance // step))
        assert int(iterations) == exact or (exact > 1 << 60 and exact - 3 <= iterations)
