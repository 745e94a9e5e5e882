import random

import numpy as np
import pytest
from reference_oracle import assert_same, one_node, onnxruntime_outputs
from straightline import reference
from straightline.reference import EvaluationError
from tables import table

TRANSFORMATIONS = [
    "half_pixel",
    "pytorch_half_pixel",
    "align_corners",
    "asymmetric",
    "tf_crop_and_resize",
]


class Draw:
    """One Resize: its shape, its axes, and the attributes that its opset has."""

    def __init__(self, opset: int, mode: str, seed: int) -> None:
        pick = self.pick = random.Random(seed)
        self.opset, self.mode = opset, mode
        rank = 4 if mode == "cubic" else pick.choice([2, 3, 4])
        self.shape = [pick.choice([1, 2]), pick.choice([1, 2])][: rank - 2 if rank == 4 else 0]
        self.fixed = len(self.shape)
        self.shape += [pick.randint(1, 6) for _ in range(rank - self.fixed)]
        self.attributes: dict = {"mode": mode}
        self.axes = list(range(rank))
        self.draw_attributes()

    def draw_attributes(self) -> None:
        pick, attributes = self.pick, self.attributes
        # Its rounding errors make onnxruntime miss ties, which decide what is nearest.
        symmetric = self.opset >= 19 and self.mode != "nearest"
        offered = TRANSFORMATIONS + ["half_pixel_symmetric"] * symmetric
        offered = offered + ["tf_half_pixel_for_nn"] * (self.opset == 11)
        attributes["coordinate_transformation_mode"] = pick.choice(offered)
        if self.mode == "nearest":
            roundings = ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]
            attributes["nearest_mode"] = pick.choice(roundings)
        if self.mode == "cubic":
            attributes["cubic_coeff_a"] = pick.choice([-0.5, -0.75])
            attributes["exclude_outside"] = pick.randint(0, 1)
        if self.opset >= 18 and self.mode != "nearest":
            attributes["antialias"] = pick.randint(0, 1)
        if self.opset >= 18 and pick.random() < 0.6:
            self.axes = self.axes[self.fixed :]
            if pick.random() < 0.3:
                pick.shuffle(self.axes)
            if pick.random() < 0.6:
                self.axes = [axis - len(self.shape) for axis in self.axes]
            attributes["axes"] = self.axes

    @property
    def crops(self) -> bool:
        return self.attributes["coordinate_transformation_mode"] == "tf_crop_and_resize"

    def resized(self) -> list[bool]:
        return [axis % len(self.shape) >= self.fixed for axis in self.axes]

    def roi(self) -> np.ndarray | None:
        if not self.crops:
            return np.zeros(0, np.float32) if self.opset < 13 else None
        self.attributes["extrapolation_value"] = 7.0
        starts = [self.pick.choice([0, 0.1, -0.2]) if r else 0 for r in self.resized()]
        ends = [self.pick.choice([1, 0.8, 1.3]) if r else 1 for r in self.resized()]
        return np.array(starts + ends, np.float32)

    def scales(self) -> np.ndarray:
        # onnxruntime does not crop along an axis whose scale is 1.
        offered = [0.5, 0.6, 1.5, 2, 2.3, 3] + [1] * (not self.crops)
        return np.array([self.pick.choice(offered) if r else 1 for r in self.resized()], np.float32)

    def sizes(self) -> np.ndarray:
        lengths = [self.shape[axis] for axis in self.axes]
        positive = all(axis >= 0 for axis in self.axes)
        if self.opset >= 18 and positive and not self.crops and self.pick.random() < 0.5:
            # onnxruntime takes no account of it where an axis is negative.
            policy = self.pick.choice(["not_larger", "not_smaller"])
            self.attributes["keep_aspect_ratio_policy"] = policy
        return np.array(
            [
                self.pick.choice([s for s in range(1, 9) if s != n or not self.crops]) if r else n
                for r, n in zip(self.resized(), lengths, strict=True)
            ],
            np.int64,
        )

    def model(self) -> tuple:
        count = np.prod(self.shape)
        x = np.random.default_rng(count).permutation(count).reshape(self.shape).astype(np.float32)
        inputs: list[np.ndarray | None] = [x, self.roi()]
        if self.pick.random() < 0.5:
            inputs.append(self.scales())
        else:
            inputs += [np.zeros(0, np.float32) if self.opset < 13 else None, self.sizes()]
        fixed = tuple(range(1, len(inputs)))
        return one_node("Resize", inputs, self.opset, 1, fixed, **self.attributes)


@pytest.mark.sample(4)
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("opset", [11, 13, 18, 19, 21])
def test_as_onnxruntime(opset: int, mode: str) -> None:
    refused = 0
    for seed in range(60):
        model, feeds = Draw(opset, mode, seed).model()
        found = reference.run(model, feeds)
        try:
            expected = onnxruntime_outputs(model, feeds)
        except Exception as error:  # noqa: BLE001 - it has no class for what it does not implement
            assert "Resize" in str(error)
            refused += 1
            continue
        assert_same(found, expected, rtol=1e-3, atol=1e-3)
    assert refused < 20


def test_a_region_is_taken_at_a_scale_of_1_too() -> None:
    """onnxruntime gives the input back, against the specification."""
    x = np.arange(3, dtype=np.float32)
    roi, scales = np.array([0.5, 1], np.float32), np.ones(1, np.float32)
    model, feeds = one_node(
        "Resize",
        [x, roi, scales],
        19,
        fixed=(1, 2),
        mode="linear",
        coordinate_transformation_mode="tf_crop_and_resize",
    )
    assert reference.run(model, feeds)[0].tolist() == [1, 1.5, 2]


def test_ties_of_the_symmetric_transformation() -> None:
    x = np.arange(5, dtype=np.float32)
    model, feeds = one_node(
        "Resize",
        [x, None, None, np.array([3], np.int64)],
        19,
        fixed=(3,),
        nearest_mode="floor",
        coordinate_transformation_mode="half_pixel_symmetric",
    )
    assert reference.run(model, feeds)[0].tolist() == [0, 2, 3]


def test_a_policy_with_negative_axes() -> None:
    """onnxruntime gives the input back, against the specification."""
    x, sizes = np.zeros((1, 2, 4), np.float32), np.array([6, 6], np.int64)
    model, feeds = one_node(
        "Resize",
        [x, None, None, sizes],
        18,
        fixed=(3,),
        axes=[-2, -1],
        keep_aspect_ratio_policy="not_larger",
    )
    assert reference.run(model, feeds)[0].shape == (1, 3, 6)


def test_an_empty_result() -> None:
    x, scales = np.zeros((1, 2), np.float32), np.array([0.5, 1], np.float32)
    model, feeds = one_node("Resize", [x, None, scales], 18, fixed=(2,))
    assert reference.run(model, feeds)[0].shape == (0, 2)


@table(
    ([None, np.ones(1, np.float32)], {}, "2 axes need as many scales"),
    ([None, np.full(2, 2, np.float32)], {"coordinate_transformation_mode": "tf_crop_and_resize"},
     "needs a roi"),
    ([None, np.full(2, 2, np.float32)], {"coordinate_transformation_mode": "elsewhere"},
     "'elsewhere' does not exist"))  # fmt: skip
def test_misfitting_sizes(inputs: list, attributes: dict, what: str) -> None:
    model, feeds = one_node("Resize", [np.zeros((2, 2), np.float32), *inputs], 18, **attributes)
    with pytest.raises(EvaluationError, match=what):
        reference.run(model, feeds)
