import itertools
import operator

import numpy as np
import onnx
import pytest
from straightline.facts.magnitudes import MOST_ELEMENTS, MOST_IN_32_BITS, Magnitudes, most_of
from straightline.facts.polynomial import Dimension
from tables import table

INT32, INT64, UINT8 = onnx.TensorProto.INT32, onnx.TensorProto.INT64, onnx.TensorProto.UINT8
N, M, K = map(Dimension.symbol, "NMK")


@table(
    (N, INT64, True),
    (N + M - 7, INT64, True),
    (N * (1 << 16), INT64, True),
    (N * (1 << 17), INT64, False),
    (-N * (1 << 17), INT64, False),
    (N * M, INT64, False),
    (N * N, INT64, False),
    (N, INT32, True),
    (N + M + 1, INT32, True),
    (N * 3, INT32, False),
    (N * N + 1, INT32, False),
    (N, UINT8, False),
    (Dimension.constant(255), UINT8, True),
    (Dimension.constant(-1), UINT8, False),
)
def test_capacity_of_types(element, elem_type, holds):
    assert Magnitudes().hold(element, elem_type) is holds


def test_the_largest_number_that_a_size_may_be():
    assert most_of(N * 2 - M + 3) == 2 * MOST_ELEMENTS + 3 and most_of(N - N - 4) == -4
    assert most_of(N * M) == MOST_ELEMENTS**2
    assert most_of(Dimension.symbol("?least0")) > 1 << 64  # a number of the proof


def test_sizes_of_one_tensor_multiply_to_what_memory_holds():
    sizes = Magnitudes()
    sizes.exists((N, Dimension.constant(3), M, K + 1))
    assert sizes.hold(N * M, INT64) and sizes.hold(N * M * K * 2, INT64)
    assert not sizes.hold(N * N, INT64) and not sizes.hold(N * M, INT32)


def test_sizes_in_32_bits_are_taken_to_be_small():
    sizes = Magnitudes()
    assert sizes.hold(N, INT64) and sizes.hold(Dimension.constant(3), INT32) and not sizes.narrow
    assert sizes.hold(N, INT32) and sizes.narrow


def test_numbers_of_iterations_are_sizes_once_they_are_made():
    number = Dimension.symbol("?least0:x")
    sizes = Magnitudes()
    assert not sizes.hold(number + 1, INT64)
    sizes.exists((number,))
    assert sizes.hold(number + 1, INT64)


def test_a_bounded_number_is_no_size():
    number, sizes = Dimension.symbol("?least0:x"), Magnitudes()
    sizes.bound("?least0:x", (1 << 31) - 1)
    assert sizes.hold(number + 1, INT64) and sizes.hold(number, INT32)
    assert not sizes.hold(number + 1, INT32)
    sizes.bound("?least0:x", 9)
    sizes.bound("?least0:x", 1 << 50)
    assert sizes.hold(number + 1, INT32)


@pytest.mark.parametrize("elem_type", [INT32, INT64])
def test_capacity_agrees_with_arithmetic_up_to_the_largest_sizes(elem_type):
    """At and next to where integers wrap: 46341, 65536, 2^31, and the largest sizes."""
    most = MOST_ELEMENTS if elem_type == INT64 else MOST_IN_32_BITS
    edges = {0, 1, 3, 8000, 46340, 46341, 65535, 65536, 1 << 29, 1 << 30, 1 << 31, most}
    values = [v for v in sorted(edges) if v <= most]
    dtype = onnx.helper.tensor_dtype_to_np_dtype(elem_type)
    forms = [N, M, Dimension.constant(3), Dimension.constant(-(1 << 15))]
    steps = [operator.add, operator.sub, operator.mul]
    for (a, b, c), (f, g) in itertools.product(
        itertools.product(forms, repeat=3), itertools.product(steps, repeat=2)
    ):
        sizes, inner = Magnitudes(), f(a, b)
        if not (sizes.hold(inner, elem_type) and sizes.hold(g(inner, c), elem_type)):
            continue
        for n, m in itertools.product(values, repeat=2):
            put = {"N": Dimension.constant(n), "M": Dimension.constant(m)}
            numbers = [np.array([form.replaced(put).value], dtype) for form in (a, b, c)]
            with np.errstate(over="ignore"):
                wrapped = g(f(numbers[0], numbers[1]), numbers[2])
            assert wrapped[0] == g(inner, c).replaced(put).value


def test_a_tensor_of_very_many_open_axes_makes_no_product(monkeypatch):
    monkeypatch.setattr(
        "straightline.facts.magnitudes.product", lambda _: pytest.fail("a product was made")
    )
    Magnitudes().exists(tuple([Dimension.symbol(f"n{k}") for k in range(100)]))
