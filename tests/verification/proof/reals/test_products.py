import itertools

import numpy as np
import onnx
import pytest
from proofs import is_proved, over_reals
from sessions import by_reference
from straightline.reference import run
from tables import table


def model(signature, nodes, constants=""):
    text = f'<ir_version: 8, opset_import: ["" : 17]> g {signature} {constants} {{ {nodes} }}'
    return onnx.parser.parse_model(text)


@pytest.mark.sample(6)
@table(*itertools.product((0, 1), (0, 1), ("[5]", "[4, 1]", "")))
def test_gemm_is_a_sum_of_products(a, b, c):
    shapes = [("[4, 3]", "[3, 4]")[a], ("[3, 5]", "[5, 3]")[b]]
    third = f", float{c} c" if c else ""
    signature = f"(float{shapes[0]} a, float{shapes[1]} b{third}) => (float[4, 5] y)"
    gemm = f"y = Gemm <alpha = 0.1, beta = 3.0, transA = {a}, transB = {b}> (a, b%s)"
    before = model(signature, gemm % (", c" if c else ""))
    sides = [
        f"{x}t = {'Transpose' if turned else 'Identity'} ({x})"
        for x, turned in (("a", a), ("b", b))
    ]
    nodes = " ".join(sides) + " s = Mul (tenth, at) p = MatMul (s, bt) "
    nodes += "d = Mul (c, three) y = Add (d, p)" if c else "y = Identity (p)"
    after = model(signature, nodes, "<float tenth = {0.1}, float three = {3}>")
    assert over_reals(before, after) and over_reals(after, before)
    wrong = model(signature, nodes, "<float tenth = {0.2}, float three = {3}>")
    assert not over_reals(before, wrong)
    if c:
        wrong = model(signature, nodes, "<float tenth = {0.1}, float three = {2}>")
        assert not over_reals(before, wrong)


JOINED = "(float[n, 2] x, float[n, 3] z, float[5, 4] w) => (float[n, 4] y)"
PLACES = "<int64[2] sizes = {2, 3}, int64[2] wrong = {3, 2}>"
WHOLE = "c = Concat <axis = 1> (x, z) y = MatMul (c, w)"
PARTS = "u, v = Split <axis = 0> (w, sizes) p = MatMul (x, u) q = MatMul (z, v) y = Add (q, p)"


def test_a_product_along_a_concat_is_a_sum():
    before, after = model(JOINED, WHOLE, PLACES), model(JOINED, PARTS, PLACES)
    assert over_reals(before, after) and over_reals(after, before)
    other = model(
        JOINED,
        WHOLE.replace("MatMul (c, w)", "MatMul (c, k)").replace("c = ", "k = Neg (w) c = "),
        PLACES,
    )
    assert not over_reals(other, after)
    rows = "u, v = Split <axis = 0> (w, wrong) p = MatMul (z, u) q = MatMul (x, v) y = Add (q, p)"
    assert not over_reals(before, model(JOINED, rows, PLACES))


def test_a_product_with_stacked_rows_is_a_sum():
    signature = "(float[2, 4] u, float[3, 4] v, float[n, 5] x) => (float[n, 4] y)"
    before = model(signature, "w = Concat <axis = 0> (u, v) y = MatMul (x, w)", PLACES)
    parts = "a, b = Split <axis = 1> (x, sizes) p = MatMul (a, u) q = MatMul (b, v) y = Add (p, q)"
    assert over_reals(before, model(signature, parts, PLACES))
    assert not over_reals(before, model(signature, parts.replace("(b, v)", "(b, b)"), PLACES))


def test_columns_of_a_product_are_products_of_columns():
    signature = "(float[n, 3] x, float[3, 4] w) => (float[n, 2] y)"
    sizes = "<int64[2] half = {2, 2}>"
    before = model(
        signature, "p = MatMul (x, w) a, b = Split <axis = 1> (p, half) y = Mul (a, b)", sizes
    )
    after = "u, v = Split <axis = 1> (w, half) a = MatMul (x, u) b = MatMul (x, v) y = Mul (b, a)"
    assert over_reals(before, model(signature, after, sizes))
    assert not over_reals(
        before, model(signature, after.replace("Mul (b, a)", "Mul (a, a)"), sizes)
    )


SUM = "(float[n, 4] x, float[n, 4] z) => (float[n, 4] y)"
ONE = np.array([0.1, -0.7, 0.3, 0.25], np.float32)
TWO = np.array([1.7, 0.9, -0.2, 0.5], np.float32)


def listed(array):
    return "{" + ", ".join(map(repr, map(float, array))) + "}"


@pytest.mark.parametrize("sign", [1, -1])
def test_constants_that_are_added_are_one(sign):
    """Two biases, and their sum rounded once."""
    constants = f"<float[4] a = {listed(ONE)}, float[4] b = {listed(TWO)}>"
    add = "Add" if sign == 1 else "Sub"
    before = model(
        SUM,
        f"s = Add (x, a) t = {add} (z, b) y = {add} (s, t)".replace(f"t = {add}", "t = Add"),
        constants,
    )
    one = ONE + sign * TWO
    after = model(SUM, f"s = {add} (x, z) y = Add (s, c)", f"<float[4] c = {listed(one)}>")
    assert over_reals(before, after)
    feeds = {name: np.ones((2, 4), np.float32) for name in "xz"}
    np.testing.assert_allclose(run(before, feeds)[0], run(after, feeds)[0], rtol=1e-5)
    far = one * np.float32(1.001)
    wrong = model(SUM, f"s = {add} (x, z) y = Add (s, c)", f"<float[4] c = {listed(far)}>")
    assert not over_reals(before, wrong)


def test_a_negative_constant_is_the_constant_subtracted():
    before = model(SUM, "s = Add (x, a) y = Add (s, z)", f"<float[4] a = {listed(-ONE)}>")
    after = model(SUM, "s = Sub (x, a) y = Add (s, z)", f"<float[4] a = {listed(ONE)}>")
    other = model(SUM, "s = Sub (x, a) y = Add (s, z)", f"<float[4] a = {listed(TWO)}>")
    assert over_reals(before, after)
    assert not over_reals(before, other)


def test_a_product_along_a_view_of_a_concat_is_a_sum():
    """Vectors that are joined and become a row."""
    signature = "(float[2] x, float[3] z, float[5, 4] w) => (float[1, 4] y)"
    shapes = PLACES.replace(">", ", int64[2] row = {1, 5}, int64[2] other = {1, -1}>")
    before = model(
        signature, "c = Concat <axis = 0> (x, z) k = Reshape (c, row) y = MatMul (k, w)", shapes
    )
    parts = "u, v = Split <axis = 0> (w, sizes) a = Reshape (x, other) b = Reshape (z, other) "
    after = parts + "p = MatMul (a, u) q = MatMul (b, v) y = Add (q, p)"
    assert over_reals(before, model(signature, after, shapes))
    assert not over_reals(before, model(signature, after.replace("(q, p)", "(q, q)"), shapes))


@pytest.mark.parametrize("factor", [2.0, -0.25, 1024.0, 3.0])
def test_powers_of_2_leave_a_constant(factor):
    """Exact factors alone: three times a rounded constant is another one, rounded again."""
    scaled = listed(ONE * np.float32(factor))
    constants = f"<float[4] a = {listed(ONE)}, float[4] b = {scaled}, float f = {{{factor}}}>"
    before = model(SUM, "s = Mul (x, b) y = Add (s, z)", constants)
    after = model(SUM, "t = Mul (x, a) s = Mul (t, f) y = Add (s, z)", constants)
    assert (over_reals(before, after)) is (factor != 3.0)
    assert not over_reals(before, model(SUM, "s = Mul (x, a) y = Add (s, z)", constants))


@pytest.mark.sample(5)
@table(
    ("t = Conv (x, w) y = Add (t, o)", "u = Reshape (o, flat) y = Conv (x, w, u)", True),
    ("y = Conv (x, w, b)", "t = Conv (x, w) y = Add (t, o)", False),
    ("t = Mul (w, s) y = Conv (x, t)", "u = Conv (x, w) y = Mul (u, o)", False),
    ("t = Mul (w, s) y = Conv (x, t)", "p = Squeeze (s, first) u = Conv (x, w) y = Mul (u, p)",
     True),
    ("t = Mul (w, i) y = Conv (x, t)", "t = Mul (x, i) y = Conv (t, w)", True),
    ("t = Mul (w, k) y = Conv (x, t)", "y = Conv (x, w)", False),
    ("t = Add (w, v) y = Conv (x, t)", "u = Conv (x, w) z = Conv (x, v) y = Add (z, u)", True),
    ("t = Mul (x, two) y = Conv (t, w)", "t = Mul (two, w) y = Conv (x, t)", True),
    ("t = Mul (x, two) y = Conv (t, w)", "y = Conv (x, w)", False),
    ("t = Mul (x, two) y = Conv (t, w, b)", "u = Conv (x, w, b) y = Mul (u, two)",
     False))  # fmt: skip
def test_convolutions(before, after, is_equal):
    constants = "<int64[1] flat = {-1}, int64[1] first = {3}, float two = {2}>"
    conv = (
        "(float[n, c, 7, 6] x, float[m, c, 3, 3] w, float[m, c, 3, 3] v, float[m] b,"
        " float[m, 1, 1, 1] s, float[1, c, 1, 1] i, float[1, 1, 3, 1] k, float[m, 1, 1] o)"
        " => (float[n, m, 5, 4] y)"
    )
    one, other = (model(conv, nodes, constants) for nodes in (before, after))
    assert (over_reals(one, other)) == is_equal
    assert (over_reals(other, one)) == is_equal
    rng = np.random.default_rng(0)
    sizes = {"n": 2, "c": 3, "m": 4}
    feeds = {
        value.name: rng.standard_normal(
            [sizes.get(dim.dim_param, dim.dim_value) for dim in value.type.tensor_type.shape.dim]
        ).astype(np.float32)
        for value in one.graph.input
    }
    close = np.allclose(*[by_reference(proto, feeds)[0] for proto in (one, other)], atol=1e-4)
    assert close or not is_equal


FACTOR = "(float[n, 3, 4] x, float[4] s, float[4, 4] w) => (float[n, 3, 4] y) <int64[1] last = {1}>"


def test_a_factor_along_the_contracted_axis_is_one_of_the_weights():
    before = model(FACTOR, "a = Mul (x, s) y = MatMul (a, w)")
    after = model(FACTOR, "c = Unsqueeze (s, last) v = Mul (w, c) y = MatMul (x, v)")
    assert over_reals(before, after) and over_reals(after, before)
    assert not over_reals(before, model(FACTOR, "v = Mul (w, s) y = MatMul (x, v)"))


def test_a_factor_passes_through_a_view():
    heads = "(float[b, t, 8] x, float[b, t, 1] r, float[8] s) => (float[b, t, 2, 4] y)"
    sizes = "<int64[4] sizes = {0, 0, 2, 4}, int64[4] one = {0, 0, 1, 1}, int64[2] pair = {2, 4}>"
    before = model(heads, "p = Mul (x, r) q = Mul (p, s) y = Reshape (q, sizes)", sizes)
    parts = "v = Reshape (x, sizes) u = Reshape (r, one) z = Reshape (s, pair) "
    after = model(heads, parts + "p = Mul (v, u) y = Mul (p, z)", sizes)
    assert over_reals(before, after) and over_reals(after, before)
    turned = parts.replace("(s, pair)", "(c, pair)").replace("z =", "c = Neg (s) z =")
    assert not over_reals(before, model(heads, turned + "p = Mul (v, u) y = Mul (p, z)", sizes))


WINDOWS = "(float[6, 2] x, float[6, 1] r, float[4] s) => (float[3, 4] y) <int64[2] sizes = {3, 4}>"


def test_a_factor_that_crosses_an_axis_of_a_view_stays():
    before = model(WINDOWS, "p = Mul (x, r) y = Reshape (p, sizes)")
    assert over_reals(before, before)
    assert not over_reals(before, model(WINDOWS, "v = Reshape (x, sizes) y = Mul (v, s)"))


@table(
    ("t = Mul (w, s) y = ConvTranspose (x, t)", "u = ConvTranspose (x, w) y = Mul (u, s)", True),
    ("t = Mul (w, i) y = ConvTranspose (x, t)", "u = ConvTranspose (x, w) y = Mul (u, s)", False),
    ("t = Mul (w, k) y = ConvTranspose (x, t)", "y = ConvTranspose (x, w)", False),
    ("t = Mul (w, s) y = ConvTranspose (x, t)", "y = ConvTranspose (x, w)", False),
    ("y = ConvTranspose (x, w, b)",
     "t = ConvTranspose (x, w) o = Reshape (b, shape) y = Add (t, o)", True),
    ("y = ConvTranspose (x, w, b)", "y = ConvTranspose (x, w)", False),
    ("t = Add (w, v) y = ConvTranspose (x, t)",
     "t = ConvTranspose (x, w) u = ConvTranspose (x, v) y = Add (t, u)", True))  # fmt: skip
def test_transposed_convolutions(before, after, is_equal):
    constants = "<int64[3] shape = {-1, 1, 1}>"
    transposed = """(float[n, c, 7, 6] x, float[c, m, 3, 1] w, float[c, m, 3, 1] v, float[m] b,
        float[1, m, 1, 1] s, float[c, 1, 1, 1] i, float[1, 1, 3, 1] k) => (float[n, m, 9, 6] y)"""
    one, other = (model(transposed, nodes, constants) for nodes in (before, after))
    assert (over_reals(one, other)) == is_equal
    assert (over_reals(other, one)) == is_equal


@pytest.mark.parametrize(("channels", "is_equal"), [(4, True), (8, False)])
def test_groups_of_transposed_convolutions(channels, is_equal):
    """Only with a channel each do weights and outputs have their numbers in one order."""
    operands = f"float[n, {channels}, 5] x, float[{channels}, 2, 3] w, float[8, 1] s"
    signature = f"({operands}) => (float[n, 8, 7] y)"
    node = "ConvTranspose <group = 4>"
    before = model(signature, f"t = {node} (x, w) y = Mul (t, s)")
    constants = f"<int64[3] k = {{{channels}, {8 // channels}, 1}}>"
    after = model(signature, f"r = Reshape (s, k) v = Mul (w, r) y = {node} (x, v)", constants)
    assert (over_reals(before, after)) == is_equal


@table(
    ("Conv", "[1, 2, 1, 1]", (3, 2), True),
    ("Conv <group = 2>", "[2, 1, 1, 1]", (2, 1), False),
    ("ConvTranspose", "[2, 1, 1, 1]", (2, 3), True),
    ("ConvTranspose <group = 2>", "[2, 1, 1, 1]", (2, 3), True),
)
def test_factors_of_channels_are_those_of_weights(node, weights, sizes, is_equal):
    image = "(float[n, 2, 5, 5] x, float[{}, {}, 3, 3] w, float[{}] s) => (float[n, m, p, q] y)"
    signature = image.format(*sizes, 2)
    shapes = f"<int64[3] c = {{2, 1, 1}}, int64[4] f = {{{weights[1:-1]}}}>"
    before = model(signature, f"t = Reshape (s, c) u = Mul (x, t) y = {node} (u, w)", shapes)
    after = model(signature, f"t = Reshape (s, f) u = Mul (w, t) y = {node} (x, u)", shapes)
    assert (over_reals(before, after)) is is_equal
    squared = model(
        signature, f"t = Reshape (s, f) v = Mul (t, t) u = Mul (w, v) y = {node} (x, u)", shapes
    )
    assert not over_reals(before, squared)


def test_a_pad_before_a_convolution():
    signature = "(float[n, 2, 5, 5] x, float[3, 2, 3, 3] w) => (float[n, 3, p, q] y)"
    constants = (
        "<int64[8] p = {0, 0, 1, 0, 0, 0, 2, 1}, int64[8] c = {0, 1, 1, 0, 0, -1, 2, 1},"
        " float zero = {0}, float one = {1}>"
    )
    after = model(signature, "y = Conv <pads = [1, 1, 2, 1]> (x, w)")
    nodes = "t = Pad (x, {}) y = Conv <pads = [0, 1, 0, 0]> (t, w)"
    for operands in ("p", "p, zero"):
        before = model(signature, nodes.format(operands), constants)
        assert over_reals(before, after) and over_reals(after, before)
    for operands in ("p, one", "c, zero"):
        assert not over_reals(model(signature, nodes.format(operands), constants), after)


def test_the_place_of_the_largest_element():
    signature = "(float[n, 3, 4] x) => (int64[n, m] y)"
    after = model(signature, "y = ArgMax <axis = 2, keepdims = 0> (x)")
    for op_type in ("Softmax", "LogSoftmax"):
        nodes = f"t = {op_type} <axis = %d> (x) y = %s <axis = 2, keepdims = 0> (t)"
        before = model(signature, nodes % (-1, "ArgMax"))
        assert over_reals(before, after)
        assert not is_proved(before, after)
        assert not over_reals(model(signature, nodes % (1, "ArgMax")), after)
        assert not over_reals(model(signature, nodes % (-1, "ArgMin")), after)


ROWS = "(float[n, 2, 4] x, float[4, 6] w, float[6] b) => (float[] y)"
SHAPES = (
    "<int64[2] rows = {-1, 4}, int64[2] other = {4, -1}, int64[4] heads = {-1, 2, 3, 2},"
    " int64[4] swapped = {-1, 3, 2, 2}, int64[2] out = {-1, 6}>"
)


def test_rows_of_a_product_are_one_axis_or_several():
    after = model(ROWS, "r = Reshape (x, rows) g = Gemm (r, w, b) y = Reshape (g, heads)", SHAPES)
    whole = "t = MatMul (x, w) s = Add (t, b) y = Reshape (s, {})"
    before = model(ROWS, whole.format("heads"), SHAPES)
    assert over_reals(before, after) and over_reals(after, before)
    assert not over_reals(model(ROWS, whole.format("swapped"), SHAPES), after)
    turned = "u = Transpose <perm = [1, 0, 2]> (x) t = MatMul (u, w) s = Add (t, b)"
    turned = model(ROWS, turned + " y = Reshape (s, heads)", SHAPES)
    assert not over_reals(turned, after)


def test_rows_below_functions():
    nodes = "t = MatMul (x, w) s = Add (t, b) r = Tanh (s) k = MatMul (r, v) y = Reshape (k, out)"
    signature = ROWS.replace("b) =>", "b, float[6, 6] v) =>")
    flat = "f = Reshape (x, {}) t = Gemm (f, w, b) r = Tanh (t) y = MatMul (r, v)"
    before, after = (model(signature, each, SHAPES) for each in (nodes, flat.format("rows")))
    assert over_reals(before, after) and over_reals(after, before)
    assert not over_reals(
        before, model(signature, flat.format("rows").replace("Tanh (t)", "Neg (t)"), SHAPES)
    )


@table(
    ("m = Mul (p, r) s = ReduceSum (m, last) y = Identity (s)", True),
    ("m = Mul (p, r) y = ReduceMean <axes = [1]> (m)", False),
    ("m = Add (p, r) y = ReduceSum (m, last)", False),
    ("m = Mul (p, p) y = ReduceSum (m, last)", False),
    ("y = MatMul (r, q)", False),
)
def test_a_product_of_two_vectors_is_a_sum(nodes, equal):
    constants = "<int64[1] first = {0}, int64[1] last = {1}>"
    dot = "(float[3] x, float[3] z) => (float[a, b] y)"
    unit_axes = "p = Unsqueeze (x, first) q = Unsqueeze (z, last) r = Transpose (q) "
    product, other = (
        model(dot, unit_axes + each, constants) for each in ("y = MatMul (p, q)", nodes)
    )
    assert (over_reals(product, other)) is equal


@table(("4, 1", "1, 3", True), ("3, 3", "3, 3", False))
def test_an_outer_product_is_one_of_elements(one, other, is_equal):
    signature = f"(float[B, 2, {one}] x, float[B, 2, {other}] w) => (float[B, 2, {one[0]}, 3] y)"
    before, after = (model(signature, f"y = {name} (x, w)") for name in ("MatMul", "Mul"))
    assert (over_reals(before, after)) == is_equal
