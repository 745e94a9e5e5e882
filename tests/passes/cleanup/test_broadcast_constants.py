import numpy as np
import pytest
from harness import assert_equal_outputs, op_types, run_passes
from straightline.passes import EliminateDeadNodes, FoldConstants
from straightline.passes.cleanup.broadcast_constants import smallest
from tables import table

MODEL = """<ir_version: 8, opset_import: ["" : %d]> g (float[%s] x, float[90] z) => (float[M, 90] y)
    <float[1, 90] row = {%s}, int64[2] reps = {300, 1}, int64[2] shape = {300, 90}> { %s }"""
ROW = ", ".join(map(str, range(90)))
NODES = (
    "t = Tile (row, reps)",
    "t = Expand (row, shape)",
    "t = ConstantOfShape <value = float[1] {2.0}> (shape)",
    "u = Expand (row, shape) v = Neg (u) t = Abs (v)",
)
READERS = ("y = Add (x, t)", "y = Sub (t, x)", "a = Mul (x, t) y = Max (a, t, x)")


def fold(text):
    result = run_passes(text, FoldConstants(), EliminateDeadNodes()).model
    return result, op_types(result), sum(len(t.raw_data) or 4 for t in result.graph.initializer)


@pytest.mark.sample(4)
@pytest.mark.parametrize("node", NODES)
@pytest.mark.parametrize("reader", READERS)
def test_readers_broadcast_by_themselves(node, reader):
    before = MODEL % (17, "300, 90", ROW, f"{node} {reader}")
    result, kinds, size = fold(before)
    assert kinds == [word.split()[2] for word in reader.replace(") ", ");").split(";")]
    assert size <= 4 * 90
    feed = {"x": np.linspace(-2, 2, 27000, dtype=np.float32).reshape(300, 90)}
    assert_equal_outputs(before, result, {**feed, "z": np.zeros(90, np.float32)})


@table(
    (17, "1, 90", NODES[0], "y = Add (x, t)"),  # the constant gives the result its rows
    (17, "N, 90", NODES[0], "y = Add (x, t)"),  # N may be 1
    (17, "300, 90", NODES[0], "y = Add (t, z)"),
    (17, "300, 90", NODES[0], "m = Greater (x, t) y = Where (m, t, x)"),
    (17, "300, 90", NODES[0], "y = Concat <axis = 0> (x, t)"),
    (17, "300, 90", "u = Tile (row, reps) t = CumSum (u, a)", "y = Add (x, t)"),
)
def test_kept_broadcasts(opset, sizes, node, reader):
    text = MODEL % (opset, sizes, ROW, f"{node} {reader}")
    text = text.replace("> {", ", int64 a = {0}> {")
    _, kinds, _ = fold(text)
    assert node.split()[2] in kinds


@pytest.mark.parametrize("node", ["Identity", "Neg"])
def test_a_node_that_repeats_nothing(node):
    text = MODEL % (17, "300, 90", "0", f"t = {node} (w) a = Add (x, t) b = Mul (a, w) y = Neg (b)")
    ones = ", ".join(["1"] * 90)
    text = text.replace("float[1, 90] row = {0}", f"float[90] w = {{{ones}}}")
    model = run_passes(text, FoldConstants(), EliminateDeadNodes()).model
    assert all(t.dims == [90] for t in model.graph.initializer)


def test_the_least_part():
    nan = np.array([np.nan], np.float32)
    for part in (np.arange(3), np.ones((1, 1)), nan, np.array([[0.0], [-0.0]])):
        whole = np.broadcast_to(part, np.broadcast_shapes(part.shape, (2, 3)))
        small = smallest(whole)
        assert small.size == part.size
        assert np.broadcast_to(small, whole.shape).tobytes() == whole.tobytes()
    assert smallest(np.array([0.0, -0.0])).shape == (2,), "zeros of two signs"
    assert smallest(np.zeros((0, 4))).shape == (0, 1)
