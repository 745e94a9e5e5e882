import numpy as np
import pytest
from conversions import assert_carried, assert_refuses, convert_version, converted, model
from sessions import open_session


@pytest.mark.sample(3)
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("exclusive", [0, 1])
@pytest.mark.parametrize("reverse", [0, 1])
@pytest.mark.parametrize("sizes", ["3, 4, 2", "A, B, C"])
def test_numbers(axis, exclusive, reverse, sizes):
    x = np.random.default_rng(0).normal(size=(3, 4, 2)).astype(np.float32)
    x[0, 1, 0], x[1, 0, 1] = np.inf, np.nan
    body = f"a = Constant <value_int = {axis}> ()"
    body += f" y = CumSum <exclusive = {exclusive}, reverse = {reverse}> (x, a)"
    assert_carried(body, 12, (10, 9, 8, 7), {"x": x}, f"float[{sizes}] x", rtol=1e-6)
    feeds, signature = {"x": x}, f"float[{sizes}] x"
    before = model(body, 12, signature)
    runs = [
        open_session(proto).run(None, feeds)[0]
        for proto in (before, *[convert_version(before, target) for target in (10, 8, 7)])
    ]
    np.testing.assert_array_equal(runs[1], runs[0])
    np.testing.assert_array_equal(runs[2], runs[0])
    np.testing.assert_array_equal(runs[3], runs[0])


@pytest.mark.parametrize("exclusive", [0, 1])
@pytest.mark.parametrize("axis", [0, 1])
def test_signs_of_zero(exclusive, axis):
    body = f"a = Constant <value_int = {axis}> () y = CumSum <exclusive = {exclusive}> (x, a)"
    before = model(body, 12, "float[A, B] x")
    x = np.array([[-0.0, 0.0], [-0.0, -0.0]], np.float32)
    models = before, *[convert_version(before, target) for target in (10, 8, 7)]
    runs = [open_session(proto).run(None, {"x": x})[0].tobytes() for proto in models]
    assert len(set(runs)) == 1


def test_integers_in_one_axis():
    body = "a = Constant <value_int = 0> () y = CumSum (x, a)"
    assert_carried(body, 12, (10, 9, 7), {"x": np.arange(5)}, "int64[N] x")


def test_an_axis_without_elements_is_left():
    """onnxruntime runs no Scan along such an axis."""
    body = "a = Constant <value = int64 {0}> () y = CumSum (x, a)"
    assert converted(body, 11, 10, "float[0, 3] x") == ["Identity (x)"]


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_an_empty_batch_has_sums_along_another_axis(axis):
    """A Scan of onnxruntime along another axis than the first ends the process there."""
    body = f"a = Constant <value_int = {axis}> () y = CumSum (x, a)"
    after = convert_version(model(body, 12, "float[A, B, C] x"), 10)
    shape = (2, 3, 0) if axis == 0 else (0, 3, 3)
    (sums,) = open_session(after).run(None, {"x": np.zeros(shape, np.float32)})
    assert sums.shape == shape


def test_opset_7_has_no_scan():
    body = "a = Constant <value = int64 {0}> () y = CumSum (x, a)"
    assert_refuses(body, 14, 8, "CumSum 'y', opset 14 to 13: .*bfloat16", "bfloat16[3] x")
    nodes = converted(body, 11, 7, "float[n] x")
    assert "Loop" in " ".join(nodes) and "Scan" not in " ".join(nodes)


def test_running_products_and_sums_of_half_floats_are_scans():
    x = np.array([[2, -3, 0.5], [4, 0.25, -1]], np.float32)
    for how in ("exclusive = 0", "exclusive = 1, reverse = 1"):
        body = f"a = Constant <value_int = 1> () y = CumProd <{how}> (x, a)"
        assert_carried(body, 26, (25, 18), {"x": x}, "float[2, 3] x")
    body = "a = Constant <value_int = 0> () y = CumSum (x, a)"
    assert_carried(body, 14, (13,), {"x": x.astype(np.float16)}, "float16[2, 3] x")
