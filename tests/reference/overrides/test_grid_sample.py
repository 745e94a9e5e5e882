import random

import numpy as np
import pytest
from reference_oracle import assert_same, one_node, onnxruntime_outputs
from straightline import reference
from straightline.reference import EvaluationError

CASES = [(16, m, 2) for m in ("bilinear", "bicubic", "nearest", None)]
CASES += [(o, m, 2) for o in (20, 22) for m in ("linear", "cubic", "nearest", None)]
CASES += [(o, m, 3) for o in (20, 22) for m in ("linear", "nearest")]


def drawn(opset: int, mode: str | None, rank: int, seed: int) -> tuple:
    pick, numbers = random.Random(seed), np.random.default_rng(seed)
    shape = [pick.choice([1, 2]), pick.choice([1, 3]), *(pick.randint(1, 5) for _ in range(rank))]
    x = numbers.standard_normal(shape).astype(np.float32)
    size = [shape[0], *(pick.randint(1, 4) for _ in range(rank)), rank]
    grid = (numbers.random(size) * 4 - 2).astype(np.float32)
    if pick.random() < 0.2:
        grid = np.round(grid * 4) / 4
    attributes = {
        "padding_mode": pick.choice(["zeros", "border", "reflection"]),
        "align_corners": pick.randint(0, 1),
    }
    if attributes["padding_mode"] == "reflection" and attributes["align_corners"]:
        # An axis of one element cannot be mirrored at its ends.
        x = np.repeat(x, 2, axis=2) if 1 in shape[2:] else x
        for axis in range(2, x.ndim):
            x = np.repeat(x, 2, axis=axis) if x.shape[axis] == 1 else x
    if mode is not None:
        attributes["mode"] = mode
    return one_node("GridSample", [x, grid], opset, **attributes)


@pytest.mark.sample(4)
@pytest.mark.parametrize(("opset", "mode", "rank"), CASES)
def test_as_onnxruntime(opset: int, mode: str | None, rank: int) -> None:
    for seed in range(40):
        model, feeds = drawn(opset, mode, rank, seed)
        expected = onnxruntime_outputs(model, feeds)
        assert_same(reference.run(model, feeds), expected, rtol=1e-3, atol=1e-3)


def test_other_types() -> None:
    x = np.arange(4, dtype=np.int64).reshape(1, 1, 2, 2)
    grid = np.array([[[[-1, -1], [1, 1]]]], np.float32)
    model, feeds = one_node("GridSample", [x, grid], 20, mode="nearest", align_corners=1)
    assert reference.run(model, feeds)[0].tolist() == [[[[0, 3]]]]


def test_misfitting_grids() -> None:
    x, grid = np.zeros((1, 1, 2, 2), np.float32), np.zeros((1, 1, 1, 2), np.float32)
    model, feeds = one_node("GridSample", [x, grid], 20, mode="quadratic")
    with pytest.raises(EvaluationError, match="mode 'quadratic' does not exist"):
        reference.run(model, feeds)
    model, feeds = one_node("GridSample", [x, grid], 20)
    model.graph.input[1].type.tensor_type.ClearField("shape")
    with pytest.raises(EvaluationError, match="a grid of shape"):
        reference.run(model, {**feeds, "i1": np.zeros((2, 1, 1, 2), np.float32)})
