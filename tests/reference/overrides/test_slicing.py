import itertools

import numpy as np
import onnx
import pytest
from sessions import open_session
from straightline import reference
from straightline.reference.errors import EvaluationError
from tables import table

# onnxruntime takes the largest number as an end for "as far as it goes" backward too.
BOUNDS = [-(2**63), -6, -5, -4, -1, 0, 1, 4, 5, 6, 2**62]


@pytest.mark.sample(8)
@pytest.mark.parametrize("step", [1, 2, 7, -1, -2, -7, 2**62, -(2**62)])
@pytest.mark.parametrize("size", [5, 1, 0])
def test_all_bounds(step, size):
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["": 13]>'
        "g (float[2, N] x, int64[1] s, int64[1] e, int64[1] a, int64[1] t) => (float[2, M] y)"
        "{ y = Slice (x, s, e, a, t) }"
    )
    session = open_session(model)
    for start, end in itertools.product(BOUNDS, repeat=2):
        feeds = {"x": np.arange(2 * size, dtype=np.float32).reshape(2, size)}
        numbers = {"s": start, "e": end, "a": 1, "t": step}
        feeds |= {name: np.array([number], np.int64) for name, number in numbers.items()}
        (found,), (wanted,) = reference.run(model, feeds), session.run(None, feeds)
        np.testing.assert_array_equal(found, wanted, err_msg=f"{start} {end}")


def test_slices_with_defaults():
    model = onnx.parser.parse_model("""
        <ir_version: 8, opset_import: ["": 9]> g (float[3, 2] x) => (float[2, 1] y) {
            y = Slice <starts = [-2, 1], ends = [9, 2]> (x) }""")
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    assert reference.run(model, {"x": x})[0].tolist() == [[3], [5]]


@pytest.mark.parametrize("size", range(7))
@table(
    (13, "y, z, v = Split (x, k)"),
    (11, "y, z, v = Split <split = [1, 2, 1]> (x)"),
    (13, "y, z, v = Split (x)"),
    (18, "y, z, v = Split <num_outputs = 3> (x)"),
)
def test_parts_are_as_long_as_the_axis(opset, node, size):
    model = onnx.parser.parse_model(
        f'<ir_version: 8, opset_import: ["": {opset}]> g (float[N] x) => (float[A] y, float[B] z,'
        f" float[C] v) <int64[3] k = {{1, 2, 1}}> {{ {node} }}"
    )
    feeds = {"x": np.arange(size, dtype=np.float32)}
    session = open_session(model)
    try:
        wanted = session.run(None, feeds)
    except Exception:  # noqa: BLE001 - onnxruntime has several classes of errors
        with pytest.raises(EvaluationError, match=f"Split of {size} elements into parts of"):
            reference.run(model, feeds)
    else:
        for part, array in zip(wanted, reference.run(model, feeds), strict=True):
            np.testing.assert_array_equal(part, array)
