import numpy as np
import onnx
import pytest
from conversions import assert_becomes, assert_refuses, convert_version, converted
from sessions import open_session
from straightline import reference
from straightline.version_converter import ConversionError

SCALES = [(1, 1, 2, 2), (1, 1, 0.5, 0.5), (1, 1, 1.5, 0.7), (1, 1, 3, 2.25)]
SIZES = [(1, 2, 10, 7), (1, 2, 3, 2), (1, 2, 1, 1), (1, 2, 5, 6), (1, 2, 7, 13)]
PLACES = ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_half_pixel_for_nn"]
ROUNDINGS = ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]


def resize(attributes, wanted, by_size, element="float", shape="1, 2, 5, 6"):
    listed = ", ".join(map(str, wanted))
    held = f"int64[4] s = {{{listed}}}" if by_size else f"float[4] s = {{{listed}}}"
    inputs = "x, e, e, s" if by_size else "x, e, s"
    return onnx.parser.parse_model(f"""<ir_version: 6, opset_import: ["": 11]>
        g ({element}[{shape}] x) => ({element}[A, B, C, D] y) <float[0] e = {{}}, {held}>
        {{ y = Resize <{attributes}> ({inputs}) }}""")


def run(proto, x):
    return open_session(proto).run(None, {"x": x})[0]


@pytest.mark.sample(3)
@pytest.mark.parametrize("places", PLACES)
@pytest.mark.parametrize(
    "mode",
    [
        *[f'mode = "nearest", nearest_mode = "{rounding}"' for rounding in ROUNDINGS],
        'mode = "linear"',
        'mode = "cubic"',
        'mode = "cubic", exclude_outside = 1, cubic_coeff_a = -0.5',
    ],
)
def test_numbers(places, mode):
    x = np.random.default_rng(0).normal(size=(1, 2, 5, 6)).astype(np.float32)
    ran = 0
    for wanted, by_size in [*((s, False) for s in SCALES), *((s, True) for s in SIZES)]:
        before = resize(f'{mode}, coordinate_transformation_mode = "{places}"', wanted, by_size)
        try:
            after = convert_version(before, 10)
        except ConversionError as error:
            assert "so close to the middle" in str(error) and "nearest" in mode
            continue
        ran += 1
        onnx.checker.check_model(after, full_check=True)
        wanted_numbers = run(before, x)
        np.testing.assert_allclose(run(after, x), wanted_numbers, 1e-4, 1e-5)
        if [node.op_type for node in after.graph.node] != ["Resize"]:  # the reference lacks 10
            (found,) = reference.run(after, {"x": x})
            np.testing.assert_allclose(found, wanted_numbers, 1e-4, 1e-5)
    assert ran > 4


@pytest.mark.parametrize("places", PLACES[:4])
def test_an_infinity_in_the_last_pixel(places):
    places = f'mode = "linear", coordinate_transformation_mode = "{places}"'
    before = resize(places, (1, 1, 1.5, 2), False)
    after = convert_version(before, 10)
    for place in ((1, 4, 5), (0, 4, 2), (0, 0, 5)):
        x = np.random.default_rng(0).normal(size=(1, 2, 5, 6)).astype(np.float32)
        x[0][place] = np.inf
        np.testing.assert_allclose(run(after, x), run(before, x), 1e-4, 1e-5)


@pytest.mark.parametrize("element", ["float16", "double", "uint8"])
def test_types(element):
    dtype = np.dtype(element)
    x = np.arange(60).reshape(1, 2, 5, 6).astype(dtype)
    nearest = resize('nearest_mode = "ceil"', (1, 1, 1.5, 2), False, element)
    (found,) = reference.run(convert_version(nearest, 10), {"x": x})
    assert found.dtype == dtype
    floats = resize('nearest_mode = "ceil"', (1, 1, 1.5, 2), False)
    assert (found == run(floats, x.astype(np.float32))).all()
    linear = resize('mode = "linear"', (1, 1, 1.5, 2), False, element)
    if element == "uint8":
        with pytest.raises(ConversionError, match="needs floats"):
            convert_version(linear, 10)
        return
    (found,) = reference.run(convert_version(linear, 10), {"x": x})
    floats = resize('mode = "linear"', (1, 1, 1.5, 2), False)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, run(floats, x.astype(np.float32)), 1e-2)


def test_pixels_are_gathered_and_weighed_along_the_axes_that_change():
    assert_becomes("""12 to 10, float[N, 2] x:
        e = Constant <value = float[0] {}> () s = Constant <value_floats = [1.0, 2.0]> () y =
        Resize <mode = "linear"> (x, e, s) =>
        low = Gather <axis = 1> (x, [0, 0, 0, 1])
        high = Gather <axis = 1> (x, [1, 1, 1, 1])
        part = Mul (low, [1.0, 0.75, 0.25, 0.5])
        rest = Mul (high, [0.0, 0.25, 0.75, 0.5])
        y = Add (part, rest)""")


def test_unknown_facts_are_refused():
    body = "e = Constant <value = float[0] {}> () s = Constant <value_floats = [1.0, 2.0]> ()"
    body += ' y = Resize <mode = "linear"> (x, e, s)'
    nearest = body.replace("linear", "nearest").replace("2.0", "2.5")
    assert_refuses(nearest, 12, 10, "needs the length of axis 1", "float[2, N] x")
    assert_refuses(nearest, 12, 10, "by pixel needs the shape of input 0, which is not known", "x")
    assert_refuses("y = Resize (x, x, x)", 12, 10, "constant scales", "float[2] x")
    crop = body.replace("<mode", '<coordinate_transformation_mode = "tf_crop_and_resize", mode')
    reason = "its region is not two finite numbers for each of 2 axes"
    assert_refuses(crop, 12, 10, reason, "float[2, 3] x")
    assert_refuses(
        crop.replace("x, e, s", "x, r, s"), 12, 10, "input 'roi'", "float[2, 3] x, float[4] r"
    )
    crop = crop.replace("float[0] {}", "float[4] {0, 0, 1, 1}")
    other = crop.replace("tf_crop_and_resize", "other")
    assert_refuses(other, 12, 10, "other operators cannot express 'other'", "float[2, 3] x")
    shape = "float[2, N] x"
    assert_refuses(crop, 12, 10, "with mode = 'linear'.*pixel by pixel needs constant", shape)
    edge = crop.replace("{0, 0, 1, 1}", "{0, 0.08, 1, 1}").replace("2.0]", "START]")
    close = "its region ends so close to a pixel"
    assert_refuses(edge.replace("START", "2.0"), 12, 10, close, "float[2, 9] x")
    policy = "s = Constant <value_ints = [3, 3]> () y = Resize <POLICY> (x, , , s)"
    keep = 'keep_aspect_ratio_policy = "not_larger"'
    reason = "one scale for all axes needs the lengths of these, one of which is not known"
    assert_refuses(policy.replace("POLICY", keep), 18, 17, reason, "float[2, N] x")
    half = policy.replace("POLICY", keep).replace("[3, 3]", "[5, 9]")
    assert_refuses(half, 18, 17, "its lengths lie so close to a half", "float[6, 3] x")
    other = policy.replace("POLICY", keep.replace("not_larger", "largest"))
    assert_refuses(other, 18, 17, "there is no keep_aspect_ratio_policy 'largest'", "float[2, 4] x")


def test_smaller_by_no_whole_factor_is_not_left_to_opset_10():
    """There onnxruntime takes the pixel above, against the pixel below from opset 11 on."""
    body = "e = Constant <value = float[0] {}> () s = Constant <value_floats = [1.0, SCALE]> ()"
    body += ' y = Resize <coordinate_transformation_mode = "asymmetric", nearest_mode = "floor">'
    body += " (x, e, s)"
    assert converted(body.replace("SCALE", "0.5"), 12, 10, "float[2, 6] x")[-1].startswith("Resize")
    less = converted(body.replace("SCALE", "0.7"), 12, 10, "float[2, 6] x")
    assert less[-1] == "Gather <axis = 1> (x, [0, 1, 2, 4])"


def test_axes_without_pixels():
    body = "e = Constant <value = float[0] {}> () s = Constant <value_floats = [1.0, 2.0]> ()"
    body += ' y = Resize <mode = "linear"> (x, e, s)'
    assert_refuses(body, 12, 10, "there are no pixels along axis 1", "float[2, 0] x")
    assert_refuses(body, 12, 10, "it has 2 scales or sizes for 3 axes", "float[2, 3, 4] x")


NEWER = [
    *[
        f'mode = "{mode}", antialias = 1, {more}coordinate_transformation_mode = "{places}"'
        for mode in ("linear", "cubic")
        for places in ("half_pixel", "align_corners", "asymmetric")
        for more in ("", "exclude_outside = 1, ")
    ],
    *[
        f'mode = "{mode}", coordinate_transformation_mode = "half_pixel_symmetric"'
        for mode in ("nearest", "linear", "cubic")
    ],
    *[
        f'mode = "{mode}", keep_aspect_ratio_policy = "{policy}", axes = [2, 3]'
        for mode in ("nearest", "linear")
        for policy in ("not_larger", "not_smaller")
    ],
]


def newer(attributes, wanted, by_size, shape="1, 2, 9, 12"):
    if "axes" in attributes:
        wanted = wanted[2:]
    listed = ", ".join(map(str, wanted))
    held = f"{'int64' if by_size else 'float'}[{len(wanted)}] s = {{{listed}}}"
    return onnx.parser.parse_model(f"""<ir_version: 9, opset_import: ["": 19]>
        g (float[{shape}] x) => (float[A, B, C, D] y) <{held}>
        {{ y = Resize <{attributes}> ({"x, , , s" if by_size else "x, , s"}) }}""")


@pytest.mark.sample(8)
@pytest.mark.parametrize("attributes", NEWER)
@pytest.mark.parametrize(
    ("wanted", "by_size"),
    [((1, 1, 0.3, 0.7), False), ((1, 1, 1.5, 0.2), False), ((1, 2, 4, 5), True),
     ((1, 2, 13, 6), True)],
)  # fmt: skip
def test_filters_and_fractional_scales(attributes, wanted, by_size):
    """Filters, and scales that are not quotients of lengths."""
    x = np.random.default_rng(0).normal(size=(1, 2, 9, 12)).astype(np.float32)
    before = newer(attributes, wanted, by_size)
    try:
        expected = run(before, x)
    except Exception:  # noqa: BLE001  onnxruntime lacks some modes for an antialias
        pytest.skip("onnxruntime does not support it")
    for target in (17, 10):
        try:
            after = convert_version(before, target)
        except ConversionError as error:
            assert "so close to" in str(error)
            continue
        onnx.checker.check_model(after, full_check=True)
        np.testing.assert_allclose(run(after, x), expected, 1e-5, 1e-5)
        np.testing.assert_allclose(reference.run(after, {"x": x})[0], expected, 1e-5, 1e-5)


def test_a_filter_reads_no_pixel_beside_it():
    """A weight of 0 would make NaN of infinity."""
    x = np.ones((1, 2, 9, 12), np.float32)
    x[..., 0] = np.inf
    before = newer('mode = "linear", antialias = 1', (1, 1, 0.3, 0.3), by_size=False)
    after = run(convert_version(before, 17), x)
    np.testing.assert_array_equal(np.isfinite(after), np.isfinite(run(before, x)))
    assert not np.isnan(after).any()


def test_parts_of_an_image():
    x = np.random.default_rng(0).normal(size=(1, 2, 5, 6)).astype(np.float32)
    for mode in ("nearest", "linear", "cubic"):
        for region in ("0, 0, 0.2, 0.13, 1, 1, 0.9, 0.81", "0, 0, 0.21, 0.62, 1, 1, 1.3, -0.2"):
            before = onnx.parser.parse_model(f"""<ir_version: 6, opset_import: ["": 11]>
                g (float[1, 2, 5, 6] x) => (float[A, B, C, D] y)
                <float[8] r = {{{region}}}, float[0] e = {{}}, int64[4] s = {{1, 2, 4, 7}}>
                {{ y = Resize <mode = "{mode}", extrapolation_value = 7.5,
                   coordinate_transformation_mode = "tf_crop_and_resize"> (x, r, e, s) }}""")
            after = convert_version(before, 10)
            np.testing.assert_allclose(run(after, x), run(before, x), 1e-5, 1e-5)
