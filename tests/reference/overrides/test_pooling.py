import random

import numpy as np
import pytest
from reference_oracle import assert_same, one_node, onnxruntime_outputs, parse
from straightline import reference
from straightline.reference import EvaluationError

SINCE = {"MaxPool": (10, 10), "AveragePool": (10, 19), "LpPool": (18, 18)}
"""The opsets in which ceil_mode and dilations came."""


def drawn(op_type: str, seed: int) -> tuple:
    """A model of one pooling operator with attributes of every kind, and its feeds."""
    pick = random.Random(seed)
    ceil, dilated = SINCE[op_type]
    opset = pick.choice([8, 11, 12, 18, 19, 22][op_type == "LpPool" :])
    rank = pick.choice([1, 2, 2, 3])
    shape = [pick.choice([1, 2]), pick.choice([1, 3]), *(pick.randint(3, 8) for _ in range(rank))]
    x = np.random.default_rng(seed).permutation(np.prod(shape)).reshape(shape).astype(np.float32)
    x -= x.size // 2
    attributes: dict = {"kernel_shape": [pick.randint(1, 3) for _ in range(rank)]}
    if opset >= dilated and pick.random() < 0.4:
        attributes["dilations"] = [pick.randint(1, 2) for _ in range(rank)]
    padded = pick.choice(["", "pads", "VALID", "SAME_UPPER", "SAME_LOWER"])
    if padded.startswith("SAME"):
        # onnxruntime leaves dilations out of account there, and does not bear a stride over the
        # kernel.
        attributes.pop("dilations", None)
        attributes["strides"] = [pick.randint(1, k) for k in attributes["kernel_shape"]]
    else:
        attributes["strides"] = [pick.randint(1, 3) for _ in range(rank)]
    if padded == "pads":
        attributes["pads"] = [pick.randint(0, k - 1) for k in attributes["kernel_shape"] * 2]
    elif padded:
        attributes["auto_pad"] = padded
    if opset >= ceil and pick.random() < 0.4:
        attributes["ceil_mode"] = 1
    if op_type == "AveragePool":
        attributes["count_include_pad"] = pick.randint(0, 1)
    elif op_type == "LpPool":
        attributes["p"] = pick.randint(1, 3)
    elif pick.random() < 0.5:
        attributes["storage_order"] = 1
    count = pick.choice([1, 2]) if op_type == "MaxPool" else 1
    return one_node(op_type, [x], opset, count, **attributes)


def fits(model) -> bool:
    """Whether every window fits into what is padded: else there is nothing to compare."""
    attributes = {a.name: list(a.ints) for a in model.graph.node[0].attribute}
    sizes = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim][2:]
    pads = attributes.get("pads") or [0] * 2 * len(sizes)
    dilations = attributes.get("dilations") or [1] * len(sizes)
    reach = [(k - 1) * d for k, d in zip(attributes["kernel_shape"], dilations, strict=True)]
    ends = zip(sizes, pads[: len(sizes)], pads[len(sizes) :], reach, strict=True)
    return all(size + head + tail > far for size, head, tail, far in ends)


@pytest.mark.sample(4)
@pytest.mark.parametrize("op_type", list(SINCE))
@pytest.mark.parametrize("batch", range(4))
def test_as_onnxruntime(op_type: str, batch: int) -> None:
    compared = 0
    for seed in range(batch * 60, batch * 60 + 60):
        model, feeds = drawn(op_type, seed)
        if fits(model):
            expected = onnxruntime_outputs(model, feeds)
            assert_same(reference.run(model, feeds), expected, rtol=1e-4, atol=1e-4)
            compared += 1
    assert compared > 40


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.float16, np.float64])
def test_other_types(dtype: type) -> None:
    x = np.random.default_rng(0).integers(0, 99, (1, 2, 5, 6)).astype(dtype)
    pads = [1, 1, 0, 1]
    model, feeds = one_node("MaxPool", [x], 12, 2, kernel_shape=[2, 3], pads=pads, storage_order=1)
    assert_same(reference.run(model, feeds), onnxruntime_outputs(model, feeds))


def test_indices_in_column_major_order() -> None:
    x = np.array([[[[1, 2, 3], [4, 9, 6]]]], np.float32)
    for order, index in ((0, 4), (1, 3)):
        text = (
            "agraph (float[1, 1, 2, 3] x) => (float[1, 1, 1, 1] y, int64[1, 1, 1, 1] i)"
            f"{{ y, i = MaxPool <kernel_shape = [2, 3], storage_order = {order}> (x) }}"
        )
        largest, found = reference.run(parse(text), {"x": x})
        assert (largest.item(), found.item()) == (9, index)


def test_dilations_count_where_the_padding_follows_from_the_output() -> None:
    """onnxruntime leaves them out, against the specification, and gives 2 elements too few."""
    x = np.arange(5, dtype=np.float32).reshape(1, 1, 5)
    model, feeds = one_node(
        "MaxPool", [x], 12, kernel_shape=[3], dilations=[2], auto_pad="SAME_UPPER"
    )
    (found,) = reference.run(model, feeds)
    assert found.reshape(-1).tolist() == [2, 3, 4, 3, 4]


@pytest.mark.parametrize("op_type", list(SINCE))
def test_no_window_fits(op_type: str) -> None:
    x = np.zeros((1, 1, 4, 3), np.float32)
    model, feeds = one_node(op_type, [x], 22, kernel_shape=[2, 3], dilations=[1, 2], strides=[1, 2])
    assert reference.run(model, feeds)[0].shape == (1, 1, 3, 0)


def test_misfitting_pools() -> None:
    x = np.zeros((1, 1, 3, 3), np.float32)
    model, _ = one_node("MaxPool", [x], 12, kernel_shape=[2, 2])
    model.graph.node[0].attribute[0].ints.append(2)
    with pytest.raises(EvaluationError, match="kernel_shape is for 3 spatial axes"):
        reference.run(model, {"i0": x})
