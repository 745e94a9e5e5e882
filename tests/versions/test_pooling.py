"""Pools with ceil_mode, whose windows opset 22 counts anew."""

import numpy as np
import onnx.parser
import pytest
import straightline as sl
from harness import assert_equal

TEXT = """
<ir_version: 8, opset_import: ["" : 13]>
g (float[B,1,6,W] x) => (float[B,1,E,F] y) { y = %s (x) }"""


@pytest.mark.parametrize(
    "pool",
    [
        "MaxPool <kernel_shape = [3,3], strides = [2,2], ceil_mode = 1>",
        "AveragePool <kernel_shape = [3,3], strides = [2,2], pads = [1,1,1,1], ceil_mode = 1>",
    ],
)
def test_sizes_need_not_be_known_where_no_window_starts_in_the_padding(pool):
    model = onnx.parser.parse_model(TEXT % pool)
    x = np.random.default_rng(0).random((2, 1, 6, 7), np.float32)
    (expected,) = sl.reference.run(model, {"x": x})
    (got,) = sl.reference.run(sl.convert_version(model, 22), {"x": x})
    assert_equal(got, expected)


def test_a_window_that_may_start_in_the_padding_is_refused():
    pool = "MaxPool <kernel_shape = [2,2], strides = [3,3], pads = [1,1,1,1], ceil_mode = 1>"
    with pytest.raises(sl.versions.ConversionError, match="may count windows in another way"):
        sl.convert_version(onnx.parser.parse_model(TEXT % pool), 22)


@pytest.mark.parametrize("target", ["13", None, True, 13.0])
def test_the_target_is_a_whole_number(target):
    model = onnx.parser.parse_model(TEXT % "Relu")
    with pytest.raises(sl.versions.ConversionError, match="target_opset is a whole number"):
        sl.convert_version(model, target)


def test_small_external_tensors_are_read_for_inference(tmp_path):
    model = onnx.parser.parse_model(
        """<ir_version: 8, opset_import: ["" : 13]>
        g (float[1,2,3] x) => (float[2,3] y) <int64[1] axes = {0}> {
           s = Squeeze (x, axes)
           y = Softmax <axis = 0> (s)
        }"""
    )
    path = tmp_path / "m.onnx"
    model.graph.initializer[0].raw_data = np.zeros(1, np.int64).tobytes()
    model.graph.initializer[0].ClearField("int64_data")
    onnx.save_model(model, path, save_as_external_data=True, size_threshold=0)
    converted = sl.convert_version(path, 11)
    assert converted.opset_import[0].version == 11
