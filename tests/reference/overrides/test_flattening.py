"""Flatten, of what is empty too: compared with onnxruntime."""

import itertools

import numpy as np
import onnx
import pytest
from sessions import open_session
from straightline import reference


@pytest.mark.parametrize("axis", [0, 1, 2, 3, -1, -3])
def test_all_lengths(axis):
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["": 13]>'
        f"g (int64[A, B, C] x) => (int64[M, N] y) {{ y = Flatten <axis = {axis}> (x) }}"
    )
    session = open_session(model)
    for shape in itertools.product([0, 1, 2], repeat=3):
        feeds = {"x": np.arange(np.prod(shape)).reshape(shape)}
        (found,), (wanted,) = reference.run(model, feeds), session.run(None, feeds)
        np.testing.assert_array_equal(found, wanted)
