import numpy as np
import pytest
from conversions import assert_becomes, assert_refuses, assert_there_and_back, model
from straightline import convert_version, reference
from tables import table


def test_squares_of_deviations():
    signature = "float[2, 3, 4] x, float[4] s, float[4] b"
    assert_becomes(f"""17 to 16, {signature}: y = LayerNormalization (x, s, b) =>
        mean = ReduceMean <axes = [-1]> (x)
        deviations = Sub (x, mean)
        squares = Mul (deviations, deviations)
        variance = ReduceMean <axes = [-1]> (squares)
        more = Add (variance, 9.999999747378752e-06)
        size = Sqrt (more)
        inverse = Reciprocal (size)
        normalized = Mul (deviations, inverse)
        scaled = Mul (normalized, s)
        y = Add (scaled, b)""")


def by_definition(x, scale, bias, axis):
    axes = tuple(range(axis % x.ndim, x.ndim))
    wide = x.astype(np.float64)
    deviations = wide - wide.mean(axes, keepdims=True)
    inverse = 1 / np.sqrt((deviations**2).mean(axes, keepdims=True) + np.float32(1e-5))
    return deviations * inverse * scale + bias, wide.mean(axes, keepdims=True), inverse


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", ["float", "float16", "double"])
@pytest.mark.parametrize("offset", [0, 3000])
@pytest.mark.parametrize("axis", [-1, 1, 2])
@pytest.mark.parametrize("width", [1, 4])
def test_numbers_on_a_large_mean_and_with_a_scale_that_is_broadcast(name, offset, axis, width):
    signature = f"{name}[2, 3, 4] x, {name}[{width}] s, {name}[{width}] b"
    outputs = "y, m, d"
    before = model(
        f"{outputs} = LayerNormalization <axis = {axis}> (x, s, b)", 17, signature, outputs
    )
    dtype = {"float": np.float32, "float16": np.float16, "double": np.float64}[name]
    x = (np.random.default_rng(1).normal(size=(2, 3, 4)) * 8 + offset).astype(dtype)
    scale, bias = np.arange(1, 1 + width).astype(dtype), np.ones(width, dtype)
    wanted = by_definition(x, scale.astype(np.float64), bias.astype(np.float64), axis)
    for target in (16, 12, 9):
        found = reference.run(convert_version(before, target), {"x": x, "s": scale, "b": bias})
        assert [a.dtype for a in found] == [dtype, np.float32, np.float32]
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one, other, 5e-3 if name == "float16" else 1e-4, 2e-3)


def test_a_positive_axis_needs_the_rank():
    body = "r = Reshape (x, n) y = LayerNormalization <axis = AXIS> (r, s)"
    signature = "float[4] x, int64[k] n, float[4] s"
    assert_refuses(body.replace("AXIS", "1"), 17, 16, "needs the rank of input 0", signature)
    assert len(convert_version(model(body.replace("AXIS", "-1"), 17, signature), 16).graph.node) > 2


def test_there_and_back():
    assert_there_and_back("y = LayerNormalization (x, w)", "float[2, 3]", 17, (7, 9, 13, 16))


@table(("float[5] s, float[1] b", "Scale"), ("float[1] s, float[1, 3, 1] b", "B"))
def test_a_factor_that_is_larger_than_the_data_is_refused(sizes, name):
    """The specification and onnxruntime take none; onnx's checker does."""
    reason = f"'{name}' of shape"
    assert_refuses("y = LayerNormalization (x, s, b)", 17, 16, reason, f"float[3, 1] x, {sizes}")
