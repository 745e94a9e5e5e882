import random

import numpy as np
import pytest
from reference_oracle import assert_same, one_node, onnxruntime_outputs
from straightline import reference
from straightline.reference import EvaluationError
from tables import table


def drawn(opset: int, mode: str, seed: int, dtype: type = np.float32) -> tuple:
    """A Pad and its feeds; what is left of each axis has at least two elements."""
    pick = random.Random(seed)
    shape = [pick.randint(4, 7) for _ in range(pick.choice([1, 2, 2, 3]))]
    rank = len(shape)
    x = np.random.default_rng(seed).integers(0, 50, shape).astype(dtype)
    heads = [pick.choice([-1, -1, 0, 1]) for _ in shape]
    tails = [pick.choice([-1, 0, 0, 1, 1]) for _ in shape]
    if opset < 11:
        attributes = {"pads": heads + tails, "mode": mode}
        if mode == "constant":
            attributes["value"] = 2.5
        return one_node("Pad", [x], opset, **attributes)
    inputs: list[np.ndarray | None] = [x, np.array(heads + tails, np.int64)]
    value = np.array(9, dtype) if pick.random() < 0.5 else None
    if opset >= 18 and pick.random() < 0.5:
        axes = pick.sample(range(rank), pick.randint(1, rank))
        named = [axis - rank * pick.randint(0, 1) for axis in axes]
        inputs[1] = np.array([heads[a] for a in axes] + [tails[a] for a in axes], np.int64)
        inputs += [value, np.array(named, np.int64)]
    elif value is not None:
        inputs.append(value)
    return one_node("Pad", inputs, opset, mode=mode)


MODES = [(o, m) for o in (7, 10, 11, 13, 18, 19, 21, 25) for m in ("constant", "reflect", "edge")]


@pytest.mark.sample(6)
@pytest.mark.parametrize(("opset", "mode"), [*MODES, (19, "wrap"), (21, "wrap"), (25, "wrap")])
def test_as_onnxruntime(opset: int, mode: str) -> None:
    for seed in range(40):
        model, feeds = drawn(opset, mode, seed)
        assert_same(reference.run(model, feeds), onnxruntime_outputs(model, feeds))


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.int64, np.float16, np.float64, np.bool_])
@pytest.mark.parametrize("mode", ["constant", "reflect", "edge", "wrap"])
def test_other_types(dtype: type, mode: str) -> None:
    for seed in range(8):
        model, feeds = drawn(21, mode, seed, dtype)
        assert_same(reference.run(model, feeds), onnxruntime_outputs(model, feeds))


def test_strings() -> None:
    x = np.array([["a", "b"], ["c", "d"]], object)
    pads = np.array([0, -1, 1, 1], np.int64)
    model, feeds = one_node("Pad", [x, pads], 13)
    (found,) = reference.run(model, feeds)
    assert found.tolist() == [["b", ""], ["d", ""], ["", ""]]
    model, feeds = one_node("Pad", [x, pads, np.array("q", object)], 13)
    assert reference.run(model, feeds)[0].tolist() == [["b", "q"], ["d", "q"], ["q", "q"]]


@table(([-2, -2], "remove more than the 3 elements of the axis"), ([1], "1 entries, 2 are needed"))
def test_misfitting_pads(pads: list[int], what: str) -> None:
    model, feeds = one_node("Pad", [np.zeros(3, np.float32), np.array(pads, np.int64)], 13)
    with pytest.raises(EvaluationError, match=what):
        reference.run(model, feeds)
