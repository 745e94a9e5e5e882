import numpy as np
import pytest
from conversions import assert_refuses, assert_writes, convert_version, converted, model
from sessions import open_session
from straightline import reference
from tables import cases, table

test_nodes_of_each_step = cases(
    assert_writes,
    ("y = DFT <axis = 2> (x)", 19, 20, ["DFT (x, , 2)"], "float[1, 2, 3, 1] x"),
    ("y = DFT (x)", 19, 20, ["DFT (x, , 1)"], "float[1, 2, 3, 1] x"),
    ("a = Constant <value_int = 2> () y = DFT (x, , a)", 20, 19, ["DFT <axis = 2> (x)"],
     "float[1, 2, 3, 1] x"),
    ("y = DFT (x)", 20, 19, ["DFT <axis = -2> (x)"], "float[1, 2, 3, 1] x"))  # fmt: skip


def test_a_product_with_a_matrix():
    nodes = converted("y = DFT <axis = 1> (x)", 17, 16, "float[N, 2, 1] x")
    assert nodes[0] == "Reshape (x, [0, 2])"
    assert nodes[1].startswith("MatMul (")
    assert nodes[2].endswith("(y_product, [0, 2, 2])")


@pytest.mark.sample(8)
@pytest.mark.parametrize("parts", [1, 2])
@pytest.mark.parametrize("axis", [1, 2])
@pytest.mark.parametrize("how", ["", "inverse = 1", "onesided = 1"])
@pytest.mark.parametrize("size", [None, 3, 8])
@pytest.mark.parametrize("element", ["float", "double"])
def test_numbers(parts, axis, how, size, element):
    if parts == 2 and "onesided" in how:
        return
    dtype = np.float32 if element == "float" else np.float64
    x = np.random.default_rng(0).normal(size=(2, 5, 6, parts)).astype(dtype)
    constant = "" if size is None else f"n = Constant <value_int = {size}> ()"
    attributes = f"axis = {axis}" + (f", {how}" if how else "")
    body = f"{constant} y = DFT <{attributes}> (x{'' if size is None else ', n'})"
    before = model(body, 17, f"{element}[N, 5, 6, {parts}] x")
    (wanted,) = reference.run(before, {"x": x})
    close = 1e-5 if element == "float" else 1e-12
    for target in (16, 8):
        after = convert_version(before, target)
        for (found,) in (reference.run(after, {"x": x}), open_session(after).run(None, {"x": x})):
            assert found.dtype == wanted.dtype
            np.testing.assert_allclose(found, wanted, close, close)


@table(
    ("y = DFT (x)", "float[2, T, 1] x", "the matrix of a DFT needs the length of its axis"),
    ("y = DFT (x)", "float[2, 5, C] x", "real or complex numbers"),
    ("y = DFT (x, n)", "float[2, 5, 1] x, int64 n", "its length of it is computed at run time"),
    ("y = DFT (x)", "float[2, 5000, 1] x", "of length 5000 is empty, or too large"),
    ("y = DFT <onesided = 1> (x)", "float[2, 5, 2] x", "of the transform of real numbers only"),
    ("v = Reshape (x, s) y = DFT (v)", "float[4] x, int64[K] s", "DFT before opset 17 needs"),
)
def test_transforms_without_a_matrix(body, signature, reason):
    assert_refuses(body, 17, 16, reason, signature)
