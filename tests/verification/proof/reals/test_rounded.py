import numpy as np
import onnx
import pytest
from depth import some
from onnx import numpy_helper
from proofs import is_proved, over_reals
from straightline.verification.proof import prove
from straightline.verification.proof.reals.rounded import ROUNDED

RANDOM = np.random.default_rng(0)
W = RANDOM.normal(size=(4, 6)).astype(np.float32)
S = RANDOM.normal(size=4).astype(np.float32)
T = RANDOM.normal(size=6).astype(np.float32)
KERNEL = RANDOM.normal(size=(6, 3, 2, 2)).astype(np.float32)
PIXEL, TURNED = KERNEL[..., :1, :1], np.ascontiguousarray(KERNEL.swapaxes(0, 1))
C = np.float32(0.1234567)
D = np.float32(2.7725887)
HALF, THREE = np.float32(0.5), np.float32(3)
BEFORE = RANDOM.normal(size=4).astype(np.float32)
AFTER = RANDOM.normal(size=6).astype(np.float32)
VARIANCE = np.abs(RANDOM.normal(size=6)).astype(np.float32)
SCALE = T / np.sqrt(VARIANCE + np.float32(1e-5))


def product(nodes, **constants):
    return model(f"g (float[n, 3, 4] x) => (float[n, 3, 6] y) {{ {nodes} }}", constants)


def convolution(nodes, side=4, **constants):
    text = f"g (float[n, 3, 5, 5] x) => (float[n, 6, {side}, {side}] y) {{ {nodes} }}"
    return model(text, constants)


def model(text, constants):
    result = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]> {text}')
    for name, value in constants.items():
        result.graph.initializer.append(numpy_helper.from_array(np.asarray(value), name))
    return result


FOLDS = {
    "a factor along the contracted axis": (product("a = Mul (x, s) y = MatMul (a, w)", s=S, w=W),
     product("y = MatMul (x, w)", w=S[:, None] * W)),
    "a factor along the output axis": (product("a = MatMul (x, w) y = Mul (t, a)", t=T, w=W),
     product("y = MatMul (x, w)", w=W * T)),
    "a number": (product("a = MatMul (x, w) y = Mul (a, c)", c=C, w=W),
     product("y = MatMul (x, w)", w=W * C)),
    "a divisor": (product("a = MatMul (x, w) y = Div (a, c)", c=C, w=W),
     product("y = MatMul (x, w)", w=W * (np.float32(1) / C))),
    "a root": (product("a = MatMul (x, w) y = Div (a, c)", c=np.float32(8**0.5), w=W),
     product("y = MatMul (x, w)", w=W * np.float32(8**-0.5))),
    "a bias": (product("a = MatMul (x, w) b = Add (a, t) y = Mul (b, c)", c=C, w=W, t=T),
     product("a = MatMul (x, w) y = Add (a, t)", w=W * C, t=T * C)),
    "output channels": (convolution("a = Conv (x, k) y = Mul (a, t)", k=KERNEL, t=T.reshape(6, 1,
     1)), convolution("y = Conv (x, k)", k=KERNEL * T.reshape(6, 1, 1, 1))),
    "output channels of a kernel of one pixel": (convolution("a = Conv (x, k) y = Mul (a, t)", 5,
     k=PIXEL, t=T.reshape(6, 1, 1)),
     convolution("y = Conv (x, k)", 5, k=PIXEL * T.reshape(6, 1, 1, 1))),
    "output channels of a transposed convolution": (
        convolution("a = ConvTranspose (x, k) y = Mul (a, t)", 6, k=TURNED, t=T.reshape(6, 1, 1)),
        convolution("y = ConvTranspose (x, k)", 6, k=TURNED * T.reshape(6, 1, 1)),
    ),
    "factors along both axes": (product("a = Mul (x, s) b = MatMul (a, w) y = Mul (b, t)", s=S, w=W,
     t=T), product("y = MatMul (x, w)", w=S[:, None] * W * T)),
    "two vectors": (product("a = MatMul (x, w) b = Mul (a, t) y = Div (b, u)", w=W, t=T, u=AFTER),
     product("y = MatMul (x, w)", w=W * T / AFTER)),
    "numbers": (product("a = MatMul (x, w) b = Div (a, d) y = Mul (b, c)", w=W, c=C, d=D),
     product("y = MatMul (x, w)", w=W * (C / D))),
}  # fmt: skip

_LAYER_NORM = "n = LayerNormalization (x, s, b) m = MatMul (n, w) y = Add (m, t)"
_BATCH_NORM = "y = BatchNormalization (a, f, o, m, v)"

SUMS = {
    "a bias before": (product("a = Add (x, b) y = MatMul (a, w)", b=BEFORE, w=W),
     product("a = MatMul (x, w) y = Add (a, c)", w=W, c=BEFORE @ W)),
    "a number before": (product("a = Add (x, c) y = MatMul (a, w)", w=W, c=C),
     product("a = MatMul (x, w) y = Add (a, t)", w=W, t=C * W.sum(0))),
    "biases before and after": (product("a = Add (x, b) m = MatMul (a, w) y = Add (m, t)", b=BEFORE,
     w=W, t=T), product("a = MatMul (x, w) y = Add (a, c)", w=W, c=BEFORE @ W + T)),
    "a layer normalization": (product(_LAYER_NORM, s=S, b=BEFORE, w=W, t=T),
     product("n = LayerNormalization (x, o) m = MatMul (n, w) y = Add (m, c)", o=np.ones(4,
     np.float32), w=S[:, None] * W, c=BEFORE @ W + T)),
    "a batch normalization": (convolution(f"a = Conv (x, k, c) {_BATCH_NORM}", k=KERNEL, c=T, f=T,
     o=AFTER, m=-T, v=VARIANCE),
     convolution("y = Conv (x, k, b)", k=KERNEL * SCALE.reshape(6, 1, 1, 1),
     b=(T + T) * SCALE + AFTER)),
    "a batch normalization after a transposed convolution": (
        convolution(f"a = ConvTranspose (x, k) {_BATCH_NORM}", 6,
         **{"k": TURNED, "f": T, "o": AFTER, "m": -T, "v": VARIANCE}),
        convolution("y = ConvTranspose (x, k, b)", 6, k=TURNED * SCALE.reshape(6, 1, 1),
         b=T * SCALE + AFTER),
    ),
    "two biases": (product("a = MatMul (x, w) b = Add (a, t) y = Add (b, u)", w=W, t=T, u=AFTER),
     product("a = MatMul (x, w) y = Add (a, t)", w=W, t=T + AFTER)),
    "a number times biases": (
        product("a = MatMul (x, w) b = Add (a, t) c = Add (b, u) y = Mul (c, k)",
         **{"w": W, "t": T, "u": AFTER, "k": C}),
        product("a = MatMul (x, w) y = Add (a, t)", w=W * C, t=(T + AFTER) * C),
    ),
    "a number of numbers": (product("a = MatMul (x, w) b = Mul (a, c) y = Div (b, d)", w=W, c=C,
     d=D), product("a = MatMul (x, w) y = Mul (a, c)", w=W, c=C / D)),
}  # fmt: skip
"""Rewrites with constants that are sums, or no arrays."""


@pytest.mark.sample(8)
@pytest.mark.parametrize("name", [*FOLDS, *SUMS])
def test_constants_fold(name):
    pair = (FOLDS | SUMS)[name]
    answer = prove(*pair, equality="reals")
    assert answer.proved
    assert ROUNDED in answer.assumptions
    assert any("of the rewrite is within" in each for each in answer.assumptions)
    assert not is_proved(*pair, equality="values")


def mutants(array, distances):
    """Constants with one element, or all, beyond the bound of the rounding."""
    for distance in distances:
        mutant = array.copy()
        mutant.flat[-1] += distance
        yield mutant
    for value in (0, np.inf, np.nan, -array.flat[-1]):
        mutant = array.copy()
        mutant.flat[-1] = value
        yield mutant
    yield array * np.float32(1.00001)
    yield -array
    yield np.zeros_like(array)
    if array.ndim:
        yield np.ascontiguousarray(array[::-1])
        yield np.roll(array, 1, 0)


def with_constant(model, place, array):
    wrong = onnx.ModelProto()
    wrong.CopyFrom(model)
    tensor = wrong.graph.initializer[place]
    tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
    return wrong


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", [*FOLDS, *SUMS])
def test_a_constant_beyond_its_rounding_is_open(name):
    before, after = (FOLDS | SUMS)[name]
    for place, tensor in enumerate(after.graph.initializer):
        array = numpy_helper.to_array(tensor)
        last = np.abs(array.flat[-1])
        unit = 8 * np.spacing(last) if name in FOLDS else np.float32(1e-5) * last
        for mutant in some(mutants(array, (-unit, unit)), 6):
            is_changed = not np.array_equal(mutant, array)
            assert not (is_changed and over_reals(before, with_constant(after, place, mutant)))


@pytest.mark.sample(3)
@pytest.mark.parametrize("seed", range(60))
def test_long_sums_are_told_from_near_ones(seed):
    random, size = np.random.default_rng(seed), 256
    w = random.normal(size=(size, 6)).astype(np.float32)
    b = random.normal(size=size).astype(np.float32)
    text = f"g (float[n, {size}] x) => (float[n, 6] y) {{ %s }}"
    before = model(text % "a = Add (x, b) y = MatMul (a, w)", {"b": b, "w": w})
    after = text % "a = MatMul (x, w) y = Add (a, c)"
    one_by_one = np.zeros(6, np.float32)
    for row, factor in zip(w, b, strict=True):
        one_by_one += row * factor
    for bias in (b @ w, one_by_one):
        assert over_reals(before, model(after, {"w": w, "c": bias}))
    for wrong in (b @ w * np.float32(1.00003), np.roll(b, 1) @ w, b[1:] @ w[1:]):
        assert not over_reals(before, model(after, {"w": w, "c": wrong}))


def test_biases_beside_a_long_sum_fold():
    names = [f"x{number}" for number in range(14)]
    sums = " ".join(f"t{n + 1} = Add (t{n}, {name})" for n, name in enumerate(names))
    inputs = ", ".join(f"float[n, 6] {name}" for name in names)
    header = f"g (float[n, 6] t0, {inputs}) => (float[n, 6] y)"
    first, last = "u = Add (t0, t)", "y = Add (t14, w)"
    separate = f"{header} {{ {first} {sums.replace('(t0,', '(u,')} {last} }}"
    together = f"{header} {{ {sums} {last} }}"
    before = model(separate, {"t": T, "w": AFTER})
    after, wrong = (model(together, {"w": bias}) for bias in (T + AFTER, T))
    assert over_reals(before, after)
    assert not over_reals(before, wrong)


def test_a_constant_that_repeats_another_is_equal():
    text = "g (float[2, 6] x) => (float[2, 6] y) { a = Add (x, t) y = Add (a, x) }"
    before, after = model(text, {"t": T}), model(text, {"t": np.stack([T, T])})
    assert over_reals(before, after)
    assert not over_reals(before, model(text, {"t": np.stack([T, -T])}))


def test_a_number_beside_a_computed_one_that_floats_hold_is_open():
    before = product("a = MatMul (x, w) b = Mul (a, c) y = Mul (b, d)", w=W, c=HALF, d=THREE)
    after = product("a = MatMul (x, w) y = Mul (a, c)", w=W, c=HALF * THREE)
    near = product("a = MatMul (x, w) y = Mul (a, c)", w=W, c=np.nextafter(HALF * THREE, THREE))
    assert over_reals(before, after)
    assert not over_reals(before, near)
    scaled = product("y = MatMul (x, w)", w=np.nextafter(2 * W, THREE))
    assert not over_reals(product("a = MatMul (x, w) y = Add (a, a)", w=W), scaled)


def test_two_constants_are_not_one_function():
    before = product("a = MatMul (x, w) b = Mul (a, c) y = Sub (b, b)", c=C, w=W)
    near = np.nextafter(W * C, np.float32(9))
    nodes = "a = MatMul (x, w) b = MatMul (x, v) y = Sub (a, b)"
    assert not over_reals(before, product(nodes, w=W * C, v=near))


def test_a_constant_within_the_bound_of_another_model_is_open():
    wrong = SUMS["two biases"][1], SUMS["two biases"][0]
    assert not over_reals(*wrong)  # constants of the original are exact


def test_a_constant_within_its_rounding_is_proved():
    before, after = FOLDS["a number"]
    weights = numpy_helper.to_array(after.graph.initializer[0]).copy()
    weights.flat[5] = np.nextafter(weights.flat[5], np.float32(9))
    assert over_reals(before, product("y = MatMul (x, w)", w=weights))


def test_a_zero_stays_a_zero():
    holes = np.where(np.arange(24).reshape(4, 6) % 5 == 1, np.float32(0), W)
    before = product("a = MatMul (x, w) y = Mul (a, c)", c=C, w=holes)
    assert over_reals(before, product("y = MatMul (x, w)", w=holes * C))
    for place in ((0, 1), (0, 0)):
        wrong = holes * C
        wrong[place] = 1e-30 if place == (0, 1) else 0
        assert not over_reals(before, product("y = MatMul (x, w)", w=wrong))


def test_products_that_underflow_are_open():
    small = W * np.float32(1e-38)
    c = np.float32(1.234567e-7)
    before = product("a = MatMul (x, w) y = Mul (a, c)", c=c, w=small)
    assert not over_reals(before, product("y = MatMul (x, w)", w=small * c))


def test_constants_of_the_original_are_exact():
    near = np.nextafter(W * C, np.float32(9))
    before = product(
        "a = MatMul (x, w) b = Mul (a, c) d = MatMul (x, v) y = Sub (b, d)", c=C, w=W, v=near
    )
    assert not over_reals(before, product("a = MatMul (x, w) y = Sub (a, a)", w=W))


def test_a_factor_along_another_axis_is_open():
    square = RANDOM.normal(size=(4, 4)).astype(np.float32)
    text = "g (float[n, 3, 4] x) => (float[n, 3, 4] y) {{ {} }}"
    before = model(text.format("a = Mul (x, s) y = MatMul (a, w)"), {"s": S, "w": square})
    right = model(text.format("y = MatMul (x, w)"), {"w": S[:, None] * square})
    wrong = model(text.format("y = MatMul (x, w)"), {"w": S * square})
    assert over_reals(before, right)
    assert not over_reals(before, wrong)


@pytest.mark.parametrize(("node", "right"), [("Conv", 0), ("ConvTranspose", 1)])
def test_a_factor_along_another_axis_of_a_kernel_is_open(node, right):
    kernel, factors = RANDOM.normal(size=(3, 3, 3, 3)).astype(np.float32), T[:3]
    text = "g (float[n, 3, 5, 5] x) => (float[n, 3, 5, 5] y) {{ {} }}"
    node += " <pads = [1, 1, 1, 1]>"
    nodes = f"a = {node} (x, k) y = Mul (a, t)"
    before = model(text.format(nodes), {"k": kernel, "t": factors.reshape(3, 1, 1)})
    for axis in range(4):
        along = [3 if axis == other else 1 for other in range(4)]
        after = model(text.format(f"y = {node} (x, k)"), {"k": kernel * factors.reshape(along)})
        assert over_reals(before, after) is (axis == right)


def test_a_constant_that_nothing_rounds_is_exact():
    before = product("y = MatMul (x, w)", w=W)
    assert not over_reals(before, product("y = MatMul (x, w)", w=np.nextafter(W, np.float32(9))))


PARTS = np.array(
    [[1.1006373, 1.1231107, 4.25], [-0.31779692, -0.29637566, 2], [-0.7310326, -0.6881905, 0.5]],
    np.float32,
)


def biases(parts):
    header = "g (float[n, 3] x) => (float[n, 3] y)"
    nodes = "s = Add (x, a) t = Add (s, b) y = Add (t, c)"
    return model(f"{header} {{ {nodes} }}", dict(zip("abc", parts, strict=True)))


def bias(array):
    return model("g (float[n, 3] x) => (float[n, 3] y) { y = Add (x, a) }", {"a": array})


def test_partial_sums_are_rounded_in_some_orders():
    one, two, three = PARTS
    total = one + (two + three)
    assert (total != (one + two) + three).any()
    assert over_reals(biases(PARTS), bias(total))
    for place, distance in ((0, 1e-5), (1, -1e-5), (2, np.spacing(np.float32(6.75)))):
        wrong = total.copy()
        wrong[place] += np.float32(distance)
        assert not over_reals(biases(PARTS), bias(wrong))


def test_sums_that_nearly_cancel_fold():
    one, two = PARTS[:2]
    parts = np.stack([one, two, -(one + two) * np.float32(1.0001)])
    total = parts[0] + (parts[1] + parts[2])
    assert over_reals(biases(parts), bias(total))
    assert not over_reals(biases(parts), bias(-total))
    assert not over_reals(biases(parts), bias(total * np.float32(1.01)))


def test_sums_that_no_order_rounds_are_exact():
    parts = np.array([[3, 1, 7], [0.5, 2, 0.25], [-3.25, 5, 0.125]], np.float32)
    total = parts.sum(0)
    assert over_reals(biases(parts), bias(total))
    for place in range(3):
        wrong = total.copy()
        wrong[place] = np.nextafter(wrong[place], np.float32(9))
        assert not over_reals(biases(parts), bias(wrong))
