import numpy as np
import pytest
from conversions import assert_carried_everywhere, assert_writes

from targets import fitted, lacking, one_node, operators


def test_a_product_without_a_sum_gets_one_of_zeros():
    signature = "float16[2, 2] x"
    assert_writes("y = Gemm (x, x)", 11, 10, ["Gemm (x, x, [-0.0])"], signature)
    assert_writes("y = Gemm (x, x, x)", 11, 10, ["Gemm (x, x, x)"], signature)


@pytest.mark.sample(6)
@pytest.mark.parametrize("element", ["int32", "int64", "uint32", "uint64"])
@pytest.mark.parametrize("turned", ["", "transA = 1", "transB = 1, transA = 1"])
def test_integers(element, turned):
    feeds = {"x": np.arange(4, dtype=element).reshape(2, 2), "b": np.array([[5, 7]], element)}
    feeds["z"] = feeds["x"][::-1] + np.array(3, element)
    body = f"y = Gemm {f'<{turned}>' if turned else ''} (x, z, b)"
    signature = f"{element}[A, B] x, {element}[C, D] z, {element}[E, F] b"
    assert_carried_everywhere(body, 9, (8, 7), feeds, signature, ["graph"])


def test_floats_are_left_alone():
    """Targets that lack the operator ask for the form in any opset."""
    outcome = fitted(
        one_node("y = Gemm (x, z, b)", "float[2, 2] x, float[2, 2] z, float[2] b"),
        lacking("Gemm"),
        passes=(),
    )
    assert not {"Cast", "ReduceSum", "MatMul"} & ({*operators(outcome)} - {"Gemm"})
