"""Constants of a rewrite that are rounded products of constants of the original."""

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from straightline.verification.proof import prove
from straightline.verification.proof.reals.rounded import ROUNDED

RANDOM = np.random.default_rng(0)
W = RANDOM.normal(size=(4, 6)).astype(np.float32)
S = RANDOM.normal(size=4).astype(np.float32)
T = RANDOM.normal(size=6).astype(np.float32)
KERNEL = RANDOM.normal(size=(6, 3, 2, 2)).astype(np.float32)
C = np.float32(0.1234567)


def product(nodes, **constants):
    text = f"g (float[n, 3, 4] x) => (float[n, 3, 6] y) {{ {nodes} }}"
    return model(text, constants)


def convolution(nodes, **constants):
    text = f"g (float[n, 3, 5, 5] x) => (float[n, 6, 4, 4] y) {{ {nodes} }}"
    return model(text, constants)


def model(text, constants):
    result = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]> {text}')
    for name, value in constants.items():
        array = np.asarray(value)
        result.graph.initializer.append(numpy_helper.from_array(array, name))
    return result


def proof(before, after):
    return prove(before, after, equality="reals")


FOLDS = {
    "a factor along the contracted axis": (
        product("a = Mul (x, s) y = MatMul (a, w)", s=S, w=W),
        product("y = MatMul (x, w)", w=S[:, None] * W),
    ),
    "a factor along the output axis": (
        product("a = MatMul (x, w) y = Mul (t, a)", t=T, w=W),
        product("y = MatMul (x, w)", w=W * T),
    ),
    "a number": (
        product("a = MatMul (x, w) y = Mul (a, c)", c=C, w=W),
        product("y = MatMul (x, w)", w=W * C),
    ),
    "a divisor": (
        product("a = MatMul (x, w) y = Div (a, c)", c=C, w=W),
        product("y = MatMul (x, w)", w=W * (np.float32(1) / C)),
    ),
    "a root": (
        product("a = MatMul (x, w) y = Div (a, c)", c=np.float32(8**0.5), w=W),
        product("y = MatMul (x, w)", w=W * np.float32(8**-0.5)),
    ),
    "a bias": (
        product("a = MatMul (x, w) b = Add (a, t) y = Mul (b, c)", c=C, w=W, t=T),
        product("a = MatMul (x, w) y = Add (a, t)", w=W * C, t=T * C),
    ),
    "output channels": (
        convolution("a = Conv (x, k) y = Mul (a, t)", k=KERNEL, t=T.reshape(6, 1, 1)),
        convolution("y = Conv (x, k)", k=KERNEL * T.reshape(6, 1, 1, 1)),
    ),
}


@pytest.mark.parametrize("name", FOLDS)
def test_a_factor_folds_into_weights(name):
    answer = proof(*FOLDS[name])
    assert answer.proved
    assert ROUNDED in answer.assumptions
    assert not prove(*FOLDS[name], equality="values").proved


def mutants(array):
    """Constants with one element, or all, beyond the bound of the rounding."""
    for units in (-8, 8):
        mutant = array.copy()
        mutant.flat[5] += units * np.spacing(np.abs(mutant.flat[5]))
        yield mutant
    for value in (0, np.inf, np.nan, -array.flat[5]):
        mutant = array.copy()
        mutant.flat[5] = value
        yield mutant
    yield array * np.float32(1.00001)
    yield -array
    yield np.ascontiguousarray(array[::-1])


@pytest.mark.parametrize("name", FOLDS)
def test_a_constant_beyond_its_rounding_is_open(name):
    before, after = FOLDS[name]
    (weights, *_) = after.graph.initializer
    for mutant in mutants(numpy_helper.to_array(weights)):
        wrong = onnx.ModelProto()
        wrong.CopyFrom(after)
        wrong.graph.initializer[0].CopyFrom(numpy_helper.from_array(mutant, weights.name))
        assert not proof(before, wrong).proved


def test_a_constant_within_its_rounding_is_proved():
    before, after = FOLDS["a number"]
    weights = numpy_helper.to_array(after.graph.initializer[0]).copy()
    weights.flat[5] = np.nextafter(weights.flat[5], np.float32(9))
    assert proof(before, product("y = MatMul (x, w)", w=weights)).proved


def test_a_zero_stays_a_zero():
    holes = np.where(np.arange(24).reshape(4, 6) % 5 == 1, np.float32(0), W)
    before = product("a = MatMul (x, w) y = Mul (a, c)", c=C, w=holes)
    assert proof(before, product("y = MatMul (x, w)", w=holes * C)).proved
    for place in ((0, 1), (0, 0)):
        wrong = holes * C
        wrong[place] = 1e-30 if place == (0, 1) else 0
        assert not proof(before, product("y = MatMul (x, w)", w=wrong)).proved


def test_products_that_underflow_are_open():
    small = W * np.float32(1e-38)
    c = np.float32(1.234567e-7)
    before = product("a = MatMul (x, w) y = Mul (a, c)", c=c, w=small)
    assert not proof(before, product("y = MatMul (x, w)", w=small * c)).proved


def test_constants_of_the_original_are_exact():
    near = np.nextafter(W * C, np.float32(9))
    before = product(
        "a = MatMul (x, w) b = Mul (a, c) d = MatMul (x, v) y = Sub (b, d)", c=C, w=W, v=near
    )
    after = product("a = MatMul (x, w) y = Sub (a, a)", w=W)
    assert not proof(before, after).proved


def test_a_factor_along_another_axis_is_open():
    square = RANDOM.normal(size=(4, 4)).astype(np.float32)
    text = "g (float[n, 3, 4] x) => (float[n, 3, 4] y) {{ {} }}"
    before = model(text.format("a = Mul (x, s) y = MatMul (a, w)"), {"s": S, "w": square})
    right = model(text.format("y = MatMul (x, w)"), {"w": S[:, None] * square})
    wrong = model(text.format("y = MatMul (x, w)"), {"w": S * square})
    assert proof(before, right).proved
    assert not proof(before, wrong).proved


def test_a_constant_that_nothing_rounds_is_exact():
    before = product("y = MatMul (x, w)", w=W)
    after = product("y = MatMul (x, w)", w=np.nextafter(W, np.float32(9)))
    assert not proof(before, after).proved
