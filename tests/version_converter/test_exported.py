"""Graphs as exporters write them are carried as far as their operators exist."""

import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from sessions import open_session
from straightline import convert_version
from straightline.version_converter import ConversionError

FOLDER = Path(__file__).parents[2] / "dev" / "benchmarks"
sys.path.insert(0, str(FOLDER))
import exported  # noqa: E402

sys.path.remove(str(FOLDER))


def run(proto: onnx.ModelProto, image: np.ndarray) -> np.ndarray:
    return open_session(proto).run(None, {"image": image})[0]


@pytest.mark.parametrize("side", [16, 32])
def test_a_detector(side: int) -> None:
    """NonMaxSuppression and RoiAlign came with opset 10."""
    proto = exported.detector(1)
    image = np.random.default_rng(0).normal(size=(1, 3, side, side)).astype(np.float32)
    wanted = run(proto, image)
    for target in (21, 16, 13, 11, 10):
        converted = convert_version(proto, target)
        onnx.checker.check_model(converted, full_check=True)
        np.testing.assert_array_equal(run(converted, image), wanted)
    with pytest.raises(ConversionError, match=r"reaches is 10;.*NonMaxSuppression, RoiAlign, TopK"):
        convert_version(proto, 9)


def test_windows_that_are_shifted() -> None:
    proto = exported.swin(2, side=14)
    image = np.random.default_rng(0).normal(size=(1, 3, 56, 56)).astype(np.float32)
    wanted = run(proto, image)
    for target in (21, 13, 9):
        found = run(convert_version(proto, target), image)
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)
