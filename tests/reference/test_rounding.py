"""Bounds of the error of computing functions of constants in their type."""

import numpy as np
import pytest
from straightline.reference.rounding import exact, function_of, rows_of

FUNCTIONS = {
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Div": np.divide,
    "MatMul": np.matmul,
    "Sqrt": np.sqrt,
    "Exp": np.exp,
}


def function(name, *operands):
    return function_of(name, 0, operands, lambda arrays: [FUNCTIONS[name](*arrays)])


def test_a_movement_rounds_nothing():
    moved = function_of(
        "Transpose", 0, [exact(drawn(2, 3))], lambda arrays: [arrays[0].T], moves=True
    )
    assert moved.roundings == 0 and not list(rows_of(drawn(2, 3).T, moved))


def drawn(*shape, seed=1):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


@pytest.mark.parametrize("seed", range(20))
def test_computing_in_another_order_is_within_the_bound(seed):
    b, k, c, d = (drawn(6, 5, seed=4 * seed + n) for n in range(4))
    v = abs(drawn(6, 5, seed=seed)) + 1
    root = function("Sqrt", exact(v))
    whole = function(
        "Add", function("Mul", exact(b), exact(k)), function("Sub", exact(c), exact(d))
    )
    whole = function("Mul", whole, exact(k))
    (row,) = rows_of((b * k - d + c) * k, whole)
    assert row[:2] == (0, 0) and len(row[2]) == 1
    assert not list(rows_of((b * k - d + c) * k * np.float32(1 + 1e-4), whole))
    assert list(rows_of(k / np.sqrt(v), function("Div", exact(k), root)))
    product = function("MatMul", exact(b.T), exact(k))
    assert list(rows_of(np.einsum("ab,ac->bc", b, k), product))


def test_rows_of_a_constant():
    w, v = drawn(4, 3), drawn(4, 2, seed=2)
    scaled = function("Mul", exact(w), exact(np.float32(0.3)))
    parts = [v, w * np.float32(0.3), v]
    ((axis, place, rows),) = rows_of(np.concatenate(parts, 1), scaled)
    assert (axis, place) == (1, 1)
    assert all(np.array_equal(*pair) for pair in zip(rows, parts, strict=True))
    ((axis, place, rows),) = rows_of(np.concatenate([parts[1], v], 1)[None], scaled)
    assert (axis, place, len(rows)) == (2, 0, 2)
    assert not list(rows_of(np.concatenate([v, parts[1][:, :2]], 1), scaled))
    assert not list(rows_of(drawn(4, 3, seed=5), scaled))


def test_functions_without_a_bound_and_without_a_rounding():
    a, b = np.float32([1, 2]), np.float32([0.99999994, 1])
    near = function("Sub", exact(a), exact(b))
    assert not list(rows_of(np.float32([5e-8, 1]), near))
    assert function("Exp", near) is None and function("Exp", exact(a)) is not None
    sums = function("Sub", function("Mul", exact(b), exact(b)), exact(b))
    assert function("Div", exact(a), sums) is None
    assert function("Add", exact(a), None) is None
    assert not list(rows_of(a, exact(a)))  # which rounds nothing
