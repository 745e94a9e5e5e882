"""Slices of opset 10 are declared with sizes of their own, so that onnxruntime keeps them apart."""

import numpy as np
import pytest
import straightline as sl
from onnx import parser
from sessions import outputs

MODEL = """<ir_version: 8, opset_import: ["" : 12]>
g (float[n, 1] x, bool p) => (float[n, 1] y, float[q, 1] z) <int64[1] s = {1},
    int64[1] e = {9223372036854775807}, int64[1] a = {0}, float k = {3}, bool[1] c = {1}> {
    t = Slice (x, s, e, a) w = Where (c, k, t) v = Sqrt (x) y = Sqrt (v)
    z = If (p) <then_branch = th () => (float[q1, 1] th1) { th1 = Neg (w) },
                else_branch = el () => (float[q2, 1] el1) { el1 = Abs (w) }> }"""
FEEDS = {"x": np.ones((3, 1), np.float32), "p": np.array(True)}


def declared(model):
    return {
        info.name: [dim.dim_param or dim.dim_value for dim in info.type.tensor_type.shape.dim]
        for info in model.graph.value_info
    }


@pytest.mark.parametrize("optimized", [False, True])
def test_a_converted_model_runs(optimized):
    model = sl.convert_version(parser.parse_model(MODEL), 10)
    assert declared(model) == {"t": ["sliced_1", 1]}
    expected = outputs(parser.parse_model(MODEL), FEEDS)
    for one, other in zip(outputs(model, FEEDS, optimized=optimized), expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_other_opsets_and_static_sizes_need_none():
    for opset in (9, 11):
        assert not declared(sl.convert_version(parser.parse_model(MODEL), opset))
    static = MODEL.replace("float[n, 1]", "float[3, 1]").replace("[q,", "[m,")
    assert not declared(sl.convert_version(parser.parse_model(static), 10))


def test_a_name_that_is_taken_is_left_alone():
    model = sl.convert_version(parser.parse_model(MODEL.replace("[q,", "[sliced_1,")), 10)
    assert declared(model) == {"t": ["sliced_2", 1]}
