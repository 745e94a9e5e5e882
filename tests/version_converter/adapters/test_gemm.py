import numpy as np
import pytest
from conversions import (
    assert_carried_everywhere,
    assert_refuses,
    assert_there_and_back,
    assert_writes,
)
from tables import cases

from targets import fitted, lacking, one_node, operators


def test_a_product_without_a_sum_gets_one_of_zeros():
    signature = "float16[2, 2] x"
    assert_writes("y = Gemm (x, x)", 11, 10, ["Gemm (x, x, [-0.0])"], signature)
    assert_writes("y = Gemm (x, x, x)", 11, 10, ["Gemm (x, x, x)"], signature)


test_there_and_back = cases(
    assert_there_and_back, ("y = Gemm (x, v)", "float[2, 2]", 13, (7, 10, 11))
)


@pytest.mark.sample(6)
@pytest.mark.parametrize("element", ["int32", "int64", "uint32", "uint64"])
@pytest.mark.parametrize("turned", ["", "transA = 1", "transB = 1, transA = 1"])
def test_integers(element, turned):
    feeds = {"x": np.arange(4, dtype=element).reshape(2, 2), "b": np.array([[5, 7]], element)}
    feeds["z"] = feeds["x"][::-1] + np.array(3, element)
    body = f"y = Gemm {f'<{turned}>' if turned else ''} (x, z, b)"
    signature = f"{element}[A, B] x, {element}[C, D] z, {element}[E, F] b"
    assert_carried_everywhere(body, 9, (8, 7), feeds, signature, ["graph"])


def test_factors_of_integers_are_refused():
    signature = "int64[2, 2] x, int64[2, 2] z, int64[2] b"
    reason = "factors of integers other than 1 have no agreed meaning"
    assert_refuses("y = Gemm <alpha = 0.5> (x, z, b)", 9, 8, reason, signature)


def test_floats_are_left_alone():
    """Targets that lack the operator ask for the form in any opset."""
    outcome = fitted(
        one_node("y = Gemm (x, z, b)", "float[2, 2] x, float[2, 2] z, float[2] b"),
        lacking("Gemm"),
        passes=(),
    )
    assert not {"Cast", "ReduceSum", "MatMul"} & ({*operators(outcome)} - {"Gemm"})
