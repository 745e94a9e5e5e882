import numpy as np
import onnx
import pytest
from conversions import assert_becomes, assert_refuses, convert_version, converted, model
from harness import as_model
from straightline import reference


def test_the_scale_of_a_group_is_said_for_each_channel():
    assert_becomes("""20 to 21, float[1, 4, 3] x, float[2] s, float[2] b:
        y = GroupNormalization <num_groups = 2> (x, s, b) =>
        column_s = Reshape (s, [-1, 1])
        rows_s = Expand (column_s, [1, 2])
        scale = Reshape (rows_s, [-1])
        column_b = Reshape (b, [-1, 1])
        rows_b = Expand (column_b, [1, 2])
        bias = Reshape (rows_b, [-1])
        y = GroupNormalization <num_groups = 2, stash_type = 1> (x, scale, bias)""")


@pytest.mark.parametrize(("channels", "code", "type_"), [("4", 1, "float"), ("C", 10, "float16")])
def test_group_normalization_computes_in_the_type_it_did(channels, code, type_):
    body = "y = GroupNormalization <num_groups = 2> (x, s, s)"
    found = converted(body, 20, 21, f"{type_}[1, {channels}, 3] x, {type_}[2] s")
    assert f"stash_type = {code}>" in found[-1]
    assert ("Div (y_channels, [2])" in found) == (channels == "C")


@pytest.mark.parametrize("channels", ["4", "C"])
def test_the_scale_of_a_group_is_repeated_for_its_channels(channels: str) -> None:
    """onnx's own converter changes the version and leaves the scale as it is."""
    before = as_model(
        f"""g (float[1, {channels}, 3] x) => (float[1, {channels}, 3] y) <float[2] s = {{1, 2}}>
        {{ y = GroupNormalization <num_groups = 2> (x, s, s) }}""",
        18,
    )
    after = convert_version(before, 21)
    onnx.checker.check_model(after, full_check=True)
    x = np.arange(12, dtype=np.float32).reshape(1, 4, 3)
    rows = x.reshape(1, 2, 6)
    rows = (rows - rows.mean(-1, keepdims=True)) / np.sqrt(rows.var(-1, keepdims=True) + 1e-5)
    scale = np.array([1, 2], np.float32).reshape(1, 2, 1)
    wanted = (rows * scale + scale).reshape(x.shape)
    np.testing.assert_allclose(reference.run(after, {"x": x})[0], wanted, rtol=1e-4, atol=1e-5)
    for target in (9, 13, 17):
        older = convert_version(before, target)
        np.testing.assert_allclose(reference.run(older, {"x": x})[0], wanted, rtol=1e-4, atol=1e-5)


def test_below_21_channels_are_scaled_after_their_groups():
    assert_becomes("""21 to 20, float[1, 4, 3] x, float[4] s, float[4] b:
        y = GroupNormalization <num_groups = 2> (x, s, b) =>
        shape = Shape (x)
        groups = Reshape (x, [0, 2, -1])
        mean = ReduceMean (groups, [2])
        deviations = Sub (groups, mean)
        squares = Mul (deviations, deviations)
        variance = ReduceMean (squares, [2])
        more = Add (variance, 9.999999747378752e-06)
        size = Sqrt (more)
        normalized = Div (deviations, size)
        whole = Reshape (normalized, shape)
        channels = Reshape (whole, [0, 0, -1])
        scale = Reshape (s, [1, -1, 1])
        scaled = Mul (channels, scale)
        bias = Reshape (b, [1, -1, 1])
        moved = Add (scaled, bias)
        y = Reshape (moved, shape)""")


@pytest.mark.parametrize("name", ["float", "float16", "double"])
@pytest.mark.parametrize("offset", [0, 3000])
@pytest.mark.parametrize(("opset", "width"), [(18, 2), (21, 4)])
def test_numbers_on_a_large_mean(name, offset, opset, width):
    signature = f"{name}[N, 4, H, 3] x, {name}[{width}] s, {name}[{width}] b"
    before = model("y = GroupNormalization <num_groups = 2> (x, s, b)", opset, signature)
    dtype = {"float": np.float32, "float16": np.float16, "double": np.float64}[name]
    x = (np.random.default_rng(1).normal(size=(2, 4, 5, 3)) * 8 + offset).astype(dtype)
    scale = np.arange(1, 1 + width).astype(dtype)
    rows = x.astype(np.float64).reshape(2, 2, -1)
    rows = rows - rows.mean(-1, keepdims=True)
    rows /= np.sqrt((rows**2).mean(-1, keepdims=True) + 1e-5)
    wanted = rows.reshape(2, width, -1) * scale[:, None].astype(np.float64) + 1
    for target in (opset - 1, 17, 9):
        feeds = {"x": x, "s": scale, "b": np.ones(width, dtype)}
        (found,) = reference.run(convert_version(before, target), feeds)
        assert found.dtype == dtype
        rtol = 5e-3 if name == "float16" else 1e-4
        np.testing.assert_allclose(found, wanted.reshape(x.shape), rtol, 2e-3)


def test_the_type_must_be_known():
    reason = "the precision needs the one element type of input 0, which is not known; declare it"
    body, signature = (
        "y = GroupNormalization <num_groups = 2> (x, s, b)",
        "x, float[4] s, float[4] b",
    )
    assert_refuses(body, 21, 20, reason, signature)
