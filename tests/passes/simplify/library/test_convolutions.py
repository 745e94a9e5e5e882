"""Rules for convolutions with what follows them."""

import numpy as np
import onnx
import pytest
from harness import run_passes
from sessions import outputs
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
    return [node.op_type for node in after.graph.node]


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("spatial", [1, 2, 3])
def test_sums_and_products_by_channel(spatial, bias):
    numbers = RNG.standard_normal((6, *[1] * spatial))
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
    text = f"""<ir_version: 8, opset_import: ["" : 17]> g (float[n, 4, 5, 6] x) => (y) {{
        t = ConvTranspose <group = {groups} {attributes}> (x, w{", b" if bias else ""})
        {after} }}"""
    proto = onnx.parser.parse_model(text)
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
