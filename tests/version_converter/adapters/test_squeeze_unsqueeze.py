import numpy as np
import pytest
from conversions import assert_carried_everywhere, assert_refuses, assert_writes
from tables import cases

test_nodes_of_each_step = cases(
    assert_writes,
    ("y = Squeeze <axes = [-2, 0, 1]> (x)", 11, 10, ["Squeeze <axes = [2, 0, 1]> (x)"],
     "float[1, 1, 1, 4] x"),
    ("y = Unsqueeze <axes = [-1, 0, -2]> (x)", 11, 10, ["Unsqueeze <axes = [4, 0, 3]> (x)"],
     "float[2, 3] x"),
    ("y = Squeeze <axes = [0]> (x)", 12, 13, ["Squeeze (x, [0])"], "float[1, 3] x"),
    ("y = Unsqueeze <axes = [0]> (x)", 12, 13, ["Unsqueeze (x, [0])"], "float[2, 3] x"),
    ("a = Constant <value_ints = [0]> () y = Unsqueeze (x, a)", 13, 12,
     ["Unsqueeze <axes = [0]> (x)"], "float[2, 3] x"),
    ("y = Squeeze (x)", 13, 12, ["Squeeze (x)"], "float[1, 3] x"))  # fmt: skip


@pytest.mark.sample(3)
@pytest.mark.parametrize("axes", [[0], [-2], [2, 0], [-2, 0, 1]])
@pytest.mark.parametrize("length", [0, 4])
def test_axes_from_run_time_go(axes, length):
    feeds = {"x": np.arange(length, dtype=np.float32).reshape(1, 1, 1, length)}
    feeds["a"] = np.array(axes)
    for sizes in (f"1, 1, 1, {length}", "A, B, C, D"):
        signature = f"float[{sizes}] x, int64[{len(axes)}] a"
        places = ("graph",) if length else ("graph", "body", "function")
        assert_carried_everywhere("y = Squeeze (x, a)", 13, (12, 9), feeds, signature, places)


@pytest.mark.sample(3)
@pytest.mark.parametrize("axes", [[0], [-1], [1], [3, 0], [-1, -2, 0]])
@pytest.mark.parametrize("shape", [(2, 3), (0, 3), (3, 0), ()])
def test_axes_from_run_time_come(axes, shape):
    rank = len(shape) + len(axes)
    if max(axes) >= rank:
        pytest.skip(f"there is no such axis in rank {rank}")
    feeds = {"x": np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)}
    feeds["a"] = np.array(axes)
    for sizes in (", ".join(map(str, shape)), "M, N"):
        data = f"float[{sizes}] x" if shape else "float x"
        signature = f"{data}, int64[{len(axes)}] a"
        places = ("graph",) if 0 in shape else ("graph", "body", "function")
        assert_carried_everywhere("y = Unsqueeze (x, a)", 13, (12, 9), feeds, signature, places)


@pytest.mark.parametrize("op_type", ["Squeeze", "Unsqueeze"])
def test_axes_of_a_number_that_is_not_known_are_refused(op_type):
    reason = "requires it constant.*another form: how many axes there are is not known"
    assert_refuses(f"y = {op_type} (x, a)", 13, 12, reason, "float[1, 3] x, int64[K] a")
    reason = "with run-time axes needs the rank of input 0"
    assert_refuses(f"y = {op_type} (x, a)", 13, 12, reason, "float[] x, int64[1] a")
