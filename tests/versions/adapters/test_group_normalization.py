"""GroupNormalization: a scale for each group becomes one for each channel."""

import numpy as np
import onnx.checker
import onnx.parser
import pytest
from conversions import assert_becomes, converted
from straightline import convert_version, reference


def test_the_scale_of_a_group_is_said_for_each_channel():
    assert_becomes(
        "y = GroupNormalization <num_groups = 2> (x, s, b)",
        20,
        21,
        """
        column_s = Reshape (s, [-1, 1])
        rows_s = Expand (column_s, [1, 2])
        scale = Reshape (rows_s, [-1])
        column_b = Reshape (b, [-1, 1])
        rows_b = Expand (column_b, [1, 2])
        bias = Reshape (rows_b, [-1])
        y = GroupNormalization <num_groups = 2, stash_type = 1> (x, scale, bias)
        """,
        "float[1, 4, 3] x, float[2] s, float[2] b",
    )


@pytest.mark.parametrize(("channels", "code", "type_"), [("4", 1, "float"), ("C", 10, "float16")])
def test_group_normalization_computes_in_the_type_it_did(channels, code, type_):
    body = "y = GroupNormalization <num_groups = 2> (x, s, s)"
    found = converted(body, 20, 21, f"{type_}[1, {channels}, 3] x, {type_}[2] s")
    assert f"stash_type = {code}>" in found[-1]
    assert ("Div (y_channels, [2])" in found) == (channels == "C")


@pytest.mark.parametrize("channels", ["4", "C"])
def test_the_scale_of_a_group_is_repeated_for_its_channels(channels: str) -> None:
    """onnx's own converter changes the version and leaves the scale as it is."""
    before = onnx.parser.parse_model(f"""
        <ir_version: 8, opset_import: ["": 18]>
        g (float[1, {channels}, 3] x) => (float[1, {channels}, 3] y) <float[2] s = {{1, 2}}>
        {{ y = GroupNormalization <num_groups = 2> (x, s, s) }}
    """)
    after = convert_version(before, 21)
    onnx.checker.check_model(after, full_check=True)
    x = np.arange(12, dtype=np.float32).reshape(1, 4, 3)
    rows = x.reshape(1, 2, 6)
    rows = (rows - rows.mean(-1, keepdims=True)) / np.sqrt(rows.var(-1, keepdims=True) + 1e-5)
    scale = np.array([1, 2], np.float32).reshape(1, 2, 1)
    wanted = (rows * scale + scale).reshape(x.shape)
    np.testing.assert_allclose(reference.run(after, {"x": x})[0], wanted, rtol=1e-4, atol=1e-5)
    for target in (9, 13, 17):  # by its function
        older = convert_version(before, target)
        np.testing.assert_allclose(reference.run(older, {"x": x})[0], wanted, rtol=1e-4, atol=1e-5)
