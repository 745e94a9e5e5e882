import numpy as np
import onnx
import pytest
from conversions import assert_refuses, convert_version, converted
from sessions import open_session
from straightline import reference

PLACES = ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"]
MODES = [
    'mode = "linear"',
    'mode = "cubic"',
    'mode = "cubic", exclude_outside = 1, cubic_coeff_a = -0.5',
]


def resize(attributes, wanted, element="float"):
    by_size = isinstance(wanted[-1], int)
    listed = ", ".join(map(str, wanted))
    held = f"int64[4] s = {{{listed}}}" if by_size else f"float[4] s = {{{listed}}}"
    return onnx.parser.parse_model(f"""<ir_version: 6, opset_import: ["": 11]>
        g ({element}[A, B, C, D] x) => ({element}[E, F, G, H] y) <float[0] e = {{}}, {held}>
        {{ y = Resize <{attributes}> ({"x, e, e, s" if by_size else "x, e, s"}) }}""")


@pytest.mark.sample(5)
@pytest.mark.parametrize("places", PLACES)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "wanted",
    [(1, 2, 10, 7), (1, 2, 1, 3), (1, 2, 1, 1), (1.0, 1.0, 0.6, 1.7), (1.0, 1.0, 1.0, 2.0)],
)
@pytest.mark.parametrize("element", ["float", "double", "float16"])
def test_numbers(places, mode, wanted, element):
    x = np.random.default_rng(0).normal(size=(1, 2, 5, 6)).astype(np.float32)
    x = x.astype({"float": np.float32, "double": np.float64, "float16": np.float16}[element])
    before = resize(f'{mode}, coordinate_transformation_mode = "{places}"', wanted, element)
    for target in (10, 9):
        after = convert_version(before, target)
        onnx.checker.check_model(after, full_check=True)
        close = 1e-2 if element == "float16" else 1e-5
        expected = reference.run(before, {"x": x})[0]
        np.testing.assert_allclose(reference.run(after, {"x": x})[0], expected, close, close)
        if element == "float":
            runs = [open_session(proto).run(None, {"x": x})[0] for proto in (before, after)]
            np.testing.assert_allclose(*runs, 1e-5, 1e-5)


def test_an_infinity_in_the_last_pixel():
    x = np.ones((1, 1, 3, 3), np.float32)
    x[..., -1] = np.inf
    before = resize('mode = "linear"', (1, 1, 6, 6))
    runs = [open_session(p).run(None, {"x": x})[0] for p in (before, convert_version(before, 10))]
    np.testing.assert_array_equal(*runs)


@pytest.mark.sample(6)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("places", PLACES)
def test_an_image_that_keeps_its_size_is_copied(mode, places):
    """Also beside infinities, of which a weight of 0 would make NaN."""
    x = np.random.default_rng(0).normal(size=(1, 2, 3, 4)).astype(np.float32)
    x[0, 0, 1, 1], x[0, 1, 0, 0], x[0, 1, 2, 3] = np.inf, -np.inf, np.nan
    before = resize(f'{mode}, coordinate_transformation_mode = "{places}"', (1, 2, 3, 4))
    after = convert_version(before, 10)
    np.testing.assert_array_equal(open_session(after).run(None, {"x": x})[0], x)
    np.testing.assert_array_equal(open_session(before).run(None, {"x": x})[0], x)


def test_axes_that_stay_are_left_alone():
    body = """e = Constant <value = float[0] {}> () s = Constant <value_floats = [1.0, 2.0]> ()
        y = Resize <mode = "linear"> (x, e, s)"""
    nodes = converted(body, 11, 10, "float[A, B] x")
    assert {line.partition(" (")[0] for line in nodes if "Gather <" in line} == {
        "Gather <axis = 0>",
        "Gather <axis = 1>",
    }
    unknown = "v = Reshape (x, t) " + body.replace("(x, e", "(v, e")
    assert_refuses(unknown, 11, 10, "pixel by pixel needs the rank", "float[4] x, int64[K] t")
    body = 'y = Resize <mode = "linear"> (x, e, e, t)'
    signature = "float[2, 0] x, float[0] e, int64[2] t"
    assert_refuses(body, 11, 10, "there are no pixels along axis 1", signature)
