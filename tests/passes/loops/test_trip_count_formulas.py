import itertools

import numpy as np
import onnx
import pytest
from harness import run_passes
from sessions import by_reference
from straightline import ir
from straightline.analysis.iterations.trip_count_bound import parts
from straightline.analysis.shapes.inference import ShapeInference
from straightline.passes import CountLoops
from straightline.passes.loops.trip_count_formulas import ConditionReader, integer
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
        feeds = {"s": np.array(start, np.int32), "n": np.array(bound, np.int32)}
        (iterations,) = by_reference(model, feeds)
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
        (iterations,) = by_reference(model, {"s": np.array(0), "n": np.array(bound)})
        distance = int(bound) - 3 + (relation == "LessOrEqual")
        exact = max(0, -(-distance // step))
        assert int(iterations) == exact or (exact > 1 << 60 and exact - 3 <= iterations)


def read(condition, before="go = Less (s, n)", step=1):
    """Comparisons in a condition, and equality with the initial condition."""
    model = ir.load(
        ir.to_proto(
            ir.parse(f"""<ir_version: 8, opset_import: ["" : 17]>
                g (int32 s, int32 n, float f) => (int32 e, int32 p) {{
                    {before}
                    e, p = Loop (, go, s, n) <body = b (int64 t, bool c, int32 i, int32 m)
                            => (bool d, int32 j, int32 m2) <int32 step = {{{step}}}> {{
                        j = Add (i, step) m2 = Identity (m) {condition} }}> }}""")
        )
    )
    loop = next(iter(model.graph.nodes_of("Loop")))
    reader = ConditionReader(loop, ShapeInference(model))
    found = [reader.inside(part) for part in parts(loop.body("body").outputs[0])]
    firsts = list(parts(loop.input(1)))
    return found, [c is not None and any(reader.matches_start(p, c) for p in firsts) for c in found]


@table(
    ("d = Less (j, n)", 1, 1, "n", False),
    ("d = Less (i, n)", 1, 0, "n", False),
    ("d = Less (j, m)", 1, 1, "n", False),
    ("d = GreaterOrEqual (n, j)", 1, 1, "n", True),
    ("d = Greater (j, n)", -1, -1, "n", False),
    ("h = Less (j, n) d = Not (h)", -1, -1, "n", True),
)
def test_comparisons_of_a_counter(condition, step, offset, bound, equal):
    (found,), _ = read(condition, step=step)
    assert (found.counter.start.name, found.counter.step, found.counter.offset) == (
        "s",
        step,
        offset,
    )
    assert (found.bound.name, found.equal, found.rounded) == (bound, equal, False)


def test_rounded_comparisons():
    casts = "a = Cast <to = {0}> (j) b1 = Cast <to = {0}> (n) d = Less (a, b1)"
    assert [read(casts.format(to))[0][0].rounded for to in (1, 7, 11)] == [True, False, False]
    assert read(casts.format(10))[0] == [None]


@table("d = Less (n, j)", "d = Equal (j, n)", "x = Mul (j, j) d = Less (x, n)", "d = Less (j, j)")
def test_conditions_without_a_comparison(condition):
    assert read(condition)[0] == [None]


@table(
    ("go = Less (s, n)", True),
    ("go = Greater (n, s)", True),
    ("go = LessOrEqual (s, n)", False),
    ("go = Less (n, s)", False),
    ("x = Cast <to = 1> (s) y = Cast <to = 1> (n) go = Less (x, y)", False),
    ("x = Cast <to = 7> (s) y = Cast <to = 7> (n) go = Less (x, y)", True),
)
def test_facts_of_the_initial_condition(before, says):
    assert read("d = Less (j, n)", before)[1] == [says]
    assert read("d = Less (i, n)", before)[1] == [False]


def test_integers():
    graph = ir.parse("""<ir_version: 8, opset_import: ["" : 17]> g (float x) => (float y)
        <int32 a = {3}, float b = {0.5}, float c = {2}, int64[2] e = {1, 2}, string s = {"7"}> {
            f = Cast <to = 1> (a) h = Add (b, c) k = Cast <to = 1> (e) l = Add (f, h) y = Add (x, l)
        }""").graph
    found = {value.name: integer(value) for value in graph.initializers}
    assert found == {"a": 3, "b": None, "c": 2, "e": None, "s": None}
