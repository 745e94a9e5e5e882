import numpy as np
import pytest
from conversions import (
    INTEGERS,
    X,
    assert_becomes,
    assert_carried,
    assert_carried_everywhere,
    assert_refuses,
    assert_writes,
    converted,
)


@pytest.mark.parametrize("op_type", ["Sum", "Mean", "Max", "Min"])
def test_opset_7_takes_like_shapes(op_type):
    assert_writes(f"y = {op_type} (x, x)", 8, 7, [f"{op_type} (x, x)"])
    assert_writes(f"y = {op_type} (x)", 8, 7, [f"{op_type} (x)"], "float[N, 3] x")


def test_sums_that_broadcast_are_added_one_by_one():
    signature = "float[2, 3] x, float[3] w, float[2, 1] v"
    assert_writes("y = Sum (x, w, v)", 8, 7, ["Add (x, w)", "Add (y_sum, v)"], signature)
    mean = converted("y = Mean (x, w)", 8, 7, "float[2, 3] x, float[3] w")
    assert mean == ["Add (x, w)", "Div (y_sum, 2.0)"]
    w, v = np.array([1, -2, np.inf], np.float32), np.array([[3], [0.1]], np.float32)
    for op_type in ("Sum", "Mean"):
        feeds = {"x": X, "w": w, "v": v}
        assert_carried(f"y = {op_type} (x, w, v)", 8, (7,), feeds, signature, rtol=1e-6)
    reason = "another form: a mean needs the one element type of input 0"
    assert_refuses("y = Mean (x, z)", 8, 7, reason, "x, float[2, 3] z")


def test_operands_are_tiled_to_the_shape_of_the_sum_in_opset_7():
    repeated = """
        {0}shape = Shape ({1})
        {0}single = Equal ({0}shape, 1)
        {0}flag = Cast <to = 7> ({0}single)
        {0}more = Sub (lengths, 1)
        {0}added = Mul ({0}flag, {0}more)
        {0}repeats = Add ({0}added, 1)
        {0}tiled = Tile ({1}, {0}repeats)
        """
    assert_becomes(f"""8 to 7, float[M, N] x, float[M, 1] z: y = Max (x, z) =>
        sum = Add (x, z)
        lengths = Shape (sum)
        {repeated.format("a", "x").strip()}
        {repeated.format("b", "z").strip()}
        y = Max (atiled, btiled)""")


@pytest.mark.sample(5)
@pytest.mark.parametrize("op_type", ["Max", "Min"])
@pytest.mark.parametrize(
    "shapes", [((2, 3), (3,)), ((2, 1), (1, 3)), ((), (2, 3)), ((0, 3), (1, 1))]
)
def test_extremes_that_broadcast(op_type, shapes):
    numbers = np.array([1, -2, np.inf, np.nan, -np.inf, 0], np.float32)
    feeds = {
        name: np.resize(numbers[by:], shape)
        for name, shape, by in zip("xz", shapes, (0, 2), strict=True)
    }
    for known in (True, False):
        names = [", ".join(map(str, s) if known else "ABC"[: len(s)]) for s in shapes]
        given = [f"float[{sizes}]" if sizes else "float" for sizes in names]
        signature = f"{given[0]} x, {given[1]} z"
        body = f"y = {op_type} (x, z, x)"
        places = ("graph", "body", "function") if known else ("graph",)
        assert_carried_everywhere(body, 8, (7,), feeds, signature, places)


@pytest.mark.parametrize("op_type", ["Max", "Min"])
def test_extremes_of_inputs_of_any_rank_are_refused_in_opset_7(op_type):
    for signature in ("float[2, 3] x, z", "x, float[2, 3] z"):
        reason = "opset 7 does not broadcast here, and the ranks of its inputs, which Tile needs"
        assert_refuses(f"y = {op_type} (x, z)", 8, 7, reason, signature)


def test_extremes_of_integers_are_choices():
    assert_becomes("""12 to 11, int32[2] x, int32[2] z, int32[1] w: y = Max (x, z, w) =>
        more = Greater (x, z)
        two = Where (more, x, z)
        most = Greater (two, w)
        y = Where (most, two, w)""")
    assert_becomes("""12 to 11, int32[2] x, int32[2] z: y = Min (x, z) =>
        less = Less (x, z)
        y = Where (less, x, z)""")
    assert_becomes("""12 to 11, int32[2] x: y = Max (x) =>
        y = Identity (x)""")


@pytest.mark.parametrize("op_type", ["Max", "Min"])
@pytest.mark.parametrize("inputs", ["x", "x, z", "x, z, w"])
def test_extremes_of_integers(op_type, inputs):
    fed = {"x": INTEGERS, "z": INTEGERS[:, ::-1].copy(), "w": np.array([1], np.int32)}
    signature = "int32[2, 3] x, int32[2, 3] z, int32[1] w"
    assert_carried(f"y = {op_type} ({inputs})", 12, (11, 9), fed, signature)
    floats = signature.replace("int32", "float")
    wanted = [f"{op_type} ({inputs})"]
    assert converted(f"y = {op_type} ({inputs})", 12, 11, floats) == wanted
