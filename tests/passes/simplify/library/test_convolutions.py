import numpy as np
import onnx
import pytest
from harness import as_model, op_types, run_passes
from sessions import outputs
from simplified import operators
from straightline.passes import ApplyRules

RNG = np.random.default_rng(4)


def model(after, groups=1, spatial=2, bias=True, **constants):
    """A Conv of four channels to six, and nodes after it."""
    kernel = (3, 2, 2)[:spatial]
    arrays = {"w": RNG.standard_normal((6, 4 // groups, *kernel)), "b": RNG.standard_normal(6)}
    arrays |= {name: np.asarray(array) for name, array in constants.items()}
    image = ["n", 4, *(9, 8, 7)[:spatial]]
    shape = ", ".join(map(str, image))
    conv = f"t = Conv <group = {groups}> (x, w{', b' if bias else ''})"
    text = (
        f'<ir_version: 8, opset_import: ["" : 17]> g (float[{shape}] x) => (y) {{ {conv} {after} }}'
    )
    proto = onnx.parser.parse_model(text)
    tensors = [onnx.numpy_helper.from_array(a.astype(np.float32), n) for n, a in arrays.items()]
    proto.graph.initializer.extend(t for t in tensors if t.name != "b" or bias)
    return onnx.shape_inference.infer_shapes(proto), [2, *image[1:]]


def left(source, exactness="reals"):
    """The operators that rules leave; runs agree."""
    proto, shape = source
    after = run_passes(proto, ApplyRules(exactness=exactness)).model
    feeds = {"x": RNG.standard_normal(shape).astype(np.float32)}
    pairs = zip(outputs(proto, feeds), outputs(after, feeds), strict=True)
    assert all(np.allclose(a, b, rtol=1e-4, atol=1e-5) for a, b in pairs)
    return op_types(after)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("spatial", [1, 2, 3])
def test_sums_and_products_by_channel(spatial, bias):
    numbers = RNG.random((6, *[1] * spatial)) + 0.5  # a division by almost 0 rounds more
    for op_type in ("Add", "Mul", "Div"):
        source = model(f"y = {op_type} (t, s)", spatial=spatial, bias=bias, s=numbers)
        assert left(source) == ["Conv"]
        assert left(source, "values") == ["Conv", op_type]


@pytest.mark.parametrize("groups", [1, 2])
def test_normalizations(groups):
    vectors = {name: RNG.random(6) + 0.5 for name in ("f", "o", "mu", "va")}
    node = "y = BatchNormalization <epsilon = 0.01> (t, f, o, mu, va)"
    assert left(model(node, groups=groups, **vectors)) == ["Conv"]
    assert left(model(node, groups=groups, bias=False, **vectors)) == ["Conv"]


def test_numbers_of_another_axis_stay():
    assert left(model("y = Mul (t, s)", s=RNG.standard_normal((1, 1, 7)))) == ["Conv", "Mul"]
    assert left(model("y = Add (t, s)", s=RNG.standard_normal((7, 1)))) == ["Conv", "Add"]


def test_a_convolution_with_another_reader_stays():
    source = model("u = Add (t, s) y = Mul (u, t)", s=RNG.standard_normal((6, 1, 1)))
    assert left(source) == ["Conv", "Add", "Mul"]


def transposed(after, groups, bias, attributes="", **constants):
    """A ConvTranspose of four channels to eight, and nodes after it."""
    arrays = {"w": RNG.standard_normal((4, 8 // groups, 3, 2)), "b": RNG.standard_normal(8)}
    arrays |= constants
    text = f"""g (float[n, 4, 5, 6] x) => (y) {{
        t = ConvTranspose <group = {groups} {attributes}> (x, w{", b" if bias else ""})
        {after} }}"""
    proto = as_model(text)
    tensors = [onnx.numpy_helper.from_array(a.astype(np.float32), n) for n, a in arrays.items()]
    proto.graph.initializer.extend(t for t in tensors if t.name != "b" or bias)
    return onnx.shape_inference.infer_shapes(proto), [2, 4, 5, 6]


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("groups", [1, 4])
def test_transposed_convolutions(groups, bias):
    strides = ", strides = [2, 3], pads = [1, 0, 0, 1], output_padding = [1, 1]"
    for op_type in ("Add", "Mul", "Div"):
        numbers = RNG.random((8, 1, 1)) + 0.5
        source = transposed(f"y = {op_type} (t, s)", groups, bias, strides, s=numbers)
        assert left(source) == ["ConvTranspose"]
        assert left(source, "values") == ["ConvTranspose", op_type]
    vectors = {name: RNG.random(8) + 0.5 for name in ("f", "o", "mu", "va")}
    source = transposed("y = BatchNormalization (t, f, o, mu, va)", groups, bias, **vectors)
    assert left(source) == ["ConvTranspose"]


def test_transposed_convolutions_of_groups_with_several_channels_stay():
    source = transposed("y = Mul (t, s)", 2, True, s=RNG.random((8, 1, 1)))
    assert left(source) == ["ConvTranspose", "Mul"]


IMAGE = "(float[n, 2, 4, 4] x) => (y)"
WEIGHTS = "<float[1, 2, 1, 2] w = {1, 2, 3, -4}, float[1] b = {2}, float s = {0.5}, %s> {"


@pytest.mark.parametrize("op_type", ["Add", "Sub", "Mul", "Div"])
@pytest.mark.parametrize("bias", ["", ", b"])
def test_a_number_for_all_channels(op_type, bias):
    text = WEIGHTS % "float one = {1}"
    text += f"t = Conv (x, w{bias}) y = {op_type} (t, s) }}"
    assert operators(text, IMAGE, "reals") == ["Conv"]
    assert operators(text, IMAGE) == ["Conv", op_type]
    other = text.replace("float[1, 2, 1, 2] w = {1, 2, 3, -4}", "float[1, 2, 1, 2] w")
    swapped = other.replace("(t, s)", "(s, t)") if op_type in ("Sub", "Div") else None
    if swapped is not None:  # a number less the result, or divided by it
        signature = "(float[n, 2, 4, 4] x, float[1, 2, 1, 2] w) => (y)"
        swapped = swapped.replace("float[1, 2, 1, 2] w, ", "")
        assert operators(swapped, signature, "reals") == ["Conv", op_type]


@pytest.mark.parametrize("op_type", ["Mul", "Div"])
@pytest.mark.parametrize("pads", ["", "<pads = [0, 1, 1, 0]>"])
def test_factors_of_the_image(op_type, pads):
    text = WEIGHTS % "float[2, 1, 1] c = {2, 4}"
    text += f" t = {op_type} (x, %s) y = Conv {pads} (t, w, b) }}"
    assert operators(text % "s", IMAGE, "reals") == ["Conv"]
    assert operators(text % "c", IMAGE, "reals") == ["Conv"]
    assert operators(text % "c", IMAGE, "values") == [op_type, "Conv"]
    turned = text.replace("[1, 2, 1, 2] w", "[2, 1, 1, 2] w").replace("Conv", "ConvTranspose")
    assert operators(turned % "c", IMAGE, "reals") == ["ConvTranspose"]
    rows = text.replace("[2, 1, 1] c", "[2, 1] c").replace("[n, 2, 4, 4]", "[n, 2, 2, 4]")
    assert operators(rows % "c", "(float[n, 2, 2, 4] x) => (y)", "reals") == [op_type, "Conv"]


def test_factors_of_channels_in_groups_stay():
    text = """<float[2, 1, 1, 2] w = {1, 2, 3, -4}, float s = {0.5}, float[2, 1, 1] c = {2, 4}> {
        t = Mul (x, %s) y = Conv <group = 2> (t, w) }"""
    assert operators(text % "s", IMAGE, "reals") == ["Conv"]
    assert operators(text % "c", IMAGE, "reals") == ["Mul", "Conv"]


def test_a_factor_of_a_gelu_stays():
    text = """<float[1, 2, 1, 2] w = {1, 2, 3, -4}, float one = {1}, float s = {0.5}> {
        u = Erf (x) v = Add (u, one) h = Mul (x, v) t = Mul (h, s) y = Conv (t, w) }"""
    assert operators(text, IMAGE, "reals") == ["Erf", "Add", "Mul", "Mul", "Conv"]


@pytest.mark.parametrize("opset", [9, 17])
def test_a_convolution_pads(opset):
    pad = ("Pad <pads = [%s]> (x)", "Pad (x, p)")[opset > 10]
    text = f"<float[1, 2, 1, 2] w = {{1, 2, 3, -4}}, int64[8] p = {{%s}}> {{ t = {pad}"
    text += " y = Conv <strides = [2, 1], pads = [0, 1, 1, 0]> (t, w) }"
    if opset < 11:
        text = text.replace(", int64[8] p = {%s}", "")
    sizes = "0, 0, 1, 0, 0, 0, 2, 1"
    assert operators(text % sizes, IMAGE, "reals", opset) == ["Conv"]
    assert operators(text % sizes, IMAGE, "values", opset) == ["Pad", "Conv"]
    for other in ("0, 0, -1, 0, 0, 0, 2, 1", "1, 0, 1, 0, 0, 0, 2, 1"):
        assert operators(text % other, IMAGE, "reals", opset) == ["Pad", "Conv"]
    open_ = "(float[n, 2, h, 4] x) => (y)"
    assert operators(text % sizes, open_, "reals", opset) == ["Pad", "Conv"]


def test_pads_of_other_elements_stay():
    text = """<float[1, 2, 1, 2] w = {1, 2, 3, -4}, int64[8] p = {0, 0, 1, 0, 0, 0, 1, 0},
        float v = {%s}> { t = Pad %s (x, p, v) y = Conv %s (t, w) }"""
    assert operators(text % (0, "", ""), IMAGE, "reals") == ["Conv"]
    assert operators(text % (1, "", ""), IMAGE, "reals") == ["Pad", "Conv"]
    for mode, auto in (('<mode = "edge">', ""), ("", '<auto_pad = "SAME_UPPER">')):
        assert operators(text % (0, mode, auto), IMAGE, "reals") == ["Pad", "Conv"]


@pytest.mark.parametrize("opset", [10, 19])
def test_a_mean_over_windows_pads(opset):
    pad = ("Pad <pads = [%s]> (x)", "Pad (x, p)")[opset > 10]
    text = f"<int64[8] p = {{%s}}> {{ t = {pad} y = AveragePool <kernel_shape = [2, 2] %s> (t) }}"
    if opset < 11:
        text = "{ " + text.partition("{ ")[2]
    sizes, counted = "0, 0, 1, 0, 0, 0, 1, 1", ", pads = [0, 0, 0, 1], count_include_pad = 1"
    for more in ("", ", strides = [2, 1]"):
        assert operators(text % (sizes, more), IMAGE, "reals", opset) == ["AveragePool"]
    # As many pads as a window has pixels are refused, and other pads are not counted.
    for more in (counted, ", pads = [0, 0, 0, 1]", ", ceil_mode = 1"):
        assert operators(text % (sizes, more), IMAGE, "reals", opset) == ["Pad", "AveragePool"]
    assert operators(text % (sizes, ""), IMAGE, "values", opset) == ["Pad", "AveragePool"]
