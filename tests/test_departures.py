"""Rewrites where onnxruntime departs from the specification: it returns what it did before."""

import numpy as np
import onnx
import pytest
import straightline as sl
from departure_examples import EXAMPLES as EXAMPLES_OF
from departure_examples import Example
from onnx import parser
from sessions import outputs
from straightline.ops import departures

EXAMPLES = [
    pytest.param(example, id=f"{row.name}-{index}")
    for row in departures.table()
    # What dissolves a construct returns what is specified.
    if "Scan" not in row.operators
    for index, example in enumerate(EXAMPLES_OF[row.name])
    if example.computed is not None
]
WAYS = {
    "default": {},
    "simplify": {"passes": "simplify"},
    "bits": {"passes": "simplify", "exactness": "bits"},
    "accelerate": {"passes": "accelerate"},
}


def read(example: Example) -> tuple[onnx.ModelProto, dict[str, np.ndarray]]:
    header = f'<ir_version: 8, opset_import: ["" : {example.opset}]>'
    feeds = {name: np.array(value, dtype) for name, (dtype, value) in example.feeds.items()}
    return parser.parse_model(f"{header} {example.text}"), feeds


def assert_kept(model: onnx.ModelProto, result: onnx.ModelProto, feeds: dict) -> None:
    for optimized in (False, True):
        before = outputs(model, feeds, optimized=optimized)
        after = outputs(result, feeds, optimized=optimized)
        for one, other in zip(before, after, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.sample(40)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("example", EXAMPLES)
def test_rewrites_change_nothing(example, way):
    model, feeds = read(example)
    assert_kept(model, sl.transform(model, verify=False, **WAYS[way]).model, feeds)


# Below opset 11 onnx's inference refuses constant indices that are negative.
KNOWN = [each for each in EXAMPLES if not each.id.startswith("negative-classes")]


@pytest.mark.sample(20)
@pytest.mark.parametrize("way", ["default", "bits"])
@pytest.mark.parametrize("example", KNOWN)
def test_known_operands_are_not_folded(example, way):
    """With its inputs as constants, a model keeps what onnxruntime computes."""
    model, feeds = read(example)
    constants = [onnx.numpy_helper.from_array(a, n) for n, a in feeds.items() if a.dtype != object]
    model.graph.initializer.extend(constants)
    names = {tensor.name for tensor in constants}
    kept = [info for info in model.graph.input if info.name not in names]
    del model.graph.input[:]
    model.graph.input.extend(kept)
    left = {name: array for name, array in feeds.items() if name not in names}
    before = outputs(model, left, optimized=False)
    result = sl.transform(model, verify=False, **WAYS[way]).model
    for one, other in zip(before, outputs(result, left, optimized=False), strict=True):
        np.testing.assert_array_equal(one, other)
