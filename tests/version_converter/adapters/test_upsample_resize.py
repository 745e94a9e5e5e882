import numpy as np
import onnx
import pytest
from conversions import (
    assert_becomes,
    assert_carried,
    assert_carried_everywhere,
    assert_refuses,
    assert_writes,
    converted,
    known_model,
    model,
    written,
)
from harness import as_model
from reference_oracle import onnxruntime_outputs
from sessions import open_session
from straightline import convert_version, reference
from tables import cases, table

OLD_PLACES = "coordinate_transformation_mode = asymmetric, nearest_mode = floor"
IMAGE = "float[1, 1, 2, 2] x"
REGION = "float[1, 1, 2, 2] x, float[8] r, float[4] s"


OLD_LINEAR = OLD_PLACES.replace("nearest_mode", "mode = linear, nearest_mode")


test_nodes_of_each_step = cases(
    assert_writes,
    ('y = Upsample <scales = [1.0, 2.0], mode = "linear"> (x)', 8, 9,
     ["Upsample <mode = linear> (x, [1.0, 2.0])"], "float[2, 3] x"),
    ("y = Upsample (x, s)", 9, 10, ["Resize (x, s)"], "float[2, 3] x, float[2] s"),
    ('y = Resize <mode = "linear"> (x, s)', 10, 11, [f"Resize <{OLD_LINEAR}> (x, [], s)"],
     "float[2, 3] x, float[2] s"))  # fmt: skip


SMALL = "float[1, 1, 5, 7] x"


SIZES = "z = Constant <value_ints = [1, 1, 4, 6]> () "


UNEVEN = "z = Constant <value_ints = [1, 1, 4, 5]> () "


OLD = 'coordinate_transformation_mode = "asymmetric"'


@table(
    # What is resized, its mode, its places, what comes of it.
    ("", 'mode = "linear", ' + OLD, "x, r, s", ["Resize <mode = linear> (x, s)"]),
    (SIZES, 'mode = "linear", ' + OLD, "x, r, e, z", ["Resize <mode = linear> (x, @)"]),
    (SIZES, 'mode = "nearest"', "x, r, e, z", ["Resize <mode = nearest> (x, @)"]),
    (SIZES,
     'coordinate_transformation_mode = "pytorch_half_pixel", nearest_mode = "round_prefer_ceil"',
     "x, r, e, z", ["Resize (x, @)"]),
    ("", 'nearest_mode = "floor", ' + OLD, "x, r, s", "nearest_mode = 'floor' does not"),
    ("", 'nearest_mode = "ceil", ' + OLD, "x, r, s", "nearest_mode = 'ceil' does not"),
    (SIZES, 'nearest_mode = "floor"', "x, r, e, z", "'half_pixel' and nearest_mode = 'floor'"),
    (UNEVEN, 'mode = "nearest"', "x, r, e, z", "'half_pixel' and nearest_mode"),
    ("", 'mode = "nearest"', "x, r, s", "'half_pixel' and nearest_mode"),
    ("", 'coordinate_transformation_mode = "align_corners", nearest_mode = "floor"', "x, r, e, t",
     "'align_corners' and nearest_mode = 'floor' does not exist in opset 10"))  # fmt: skip
def test_a_resize_goes_to_opset_10_where_pixels_keep_their_places(before, how, inputs, wanted):
    body = f"{before}y = Resize <{how}> ({inputs})"
    signature = "float[1, 1, 2, 2] x, float[8] r, float[4] s, float[0] e, int64[4] t"
    if isinstance(wanted, str):
        # With known lengths it is said pixel by pixel.
        unknown = signature.replace("2, 2] x", "H, W] x")
        assert_refuses(body, 11, 10, f"{wanted}.*another form: pixel by pixel needs", unknown)
    else:
        nodes = [line.replace("@", "[1.0, 1.0, 2.0, 3.0]") for line in wanted]
        found = converted(body, 11, 10, signature)
        assert [line for line in found if not line.startswith("Constant")] == nodes


def test_a_resize_that_keeps_every_size_goes_to_opset_10_however_it_places_pixels():
    body = (
        "s = Constant <value = float[4] {1, 1, 1, 1}> ()"
        ' y = Resize <mode = "linear", coordinate_transformation_mode = "align_corners"> (x, r, s)'
    )
    signature = "float[1, 1, 2, 2] x, float[0] r"
    assert converted(body, 11, 10, signature)[-1] == "Resize <mode = linear> (x, s)"


def test_sizes_that_are_no_exact_multiple_are_refused_where_lengths_are_not_known():
    body = f"z = Constant <value_ints = [1, 1, 5, 3]> () y = Resize <MODE, {OLD}> (x, r, e, z)"
    signature = "float[1, 1, H, 3] x, float[0] r, float[0] e"
    linear = body.replace("MODE", 'mode = "linear"')
    known = converted(linear, 11, 10, signature.replace("H", "3"))
    assert {line.partition(" ")[0] for line in known} == {"Gather", "Mul", "Add"}
    nearest = body.replace("MODE", 'nearest_mode = "round_prefer_ceil"')
    assert_refuses(nearest, 11, 10, "'round_prefer_ceil' does not exist in opset 10", signature)
    reason = "the scales of these sizes are not exact.*mode = 'linear' needs floats"
    assert_refuses(linear, 11, 10, reason, f"int32{signature[5:]}")


def test_inputs_of_a_resize_that_are_empty_become_absent_and_back():
    signature = "float[1, 1, 2, 2] x, float[0] r, float[4] s"
    assert_writes("y = Resize (x, r, s)", 12, 13, ["Resize (x, , s)"], signature)
    assert_writes("y = Resize (x, r, s)", 12, 13, ["Resize (x, r, s)"], REGION)
    assert_writes("y = Resize (x, , s)", 13, 12, ["Resize (x, [], s)"], REGION)
    sizes = "float[1, 1, 2, 2] x, int64[4] t"
    assert_writes("y = Resize (x, , , t)", 13, 12, ["Resize (x, [], [], t)"], sizes)
    mode = 'coordinate_transformation_mode = "tf_half_pixel_for_nn"'
    reason = "pixel by pixel needs constant scales or sizes"
    assert_refuses(f"y = Resize <{mode}> (x, r, s)", 12, 13, reason, REGION)


def test_axes_of_a_resize_are_spread_over_all_of_them():
    scales = "s = Constant <value_floats = [2.0, 3.0]> () "
    sizes = "s = Constant <value_ints = [4, 6]> () "
    wanted = ["Resize (x, , [1.0, 1.0, 3.0, 2.0])"]
    found = converted(f"{scales}y = Resize <axes = [3, -2]> (x, , s)", 18, 17, IMAGE)
    assert found[-1:] == wanted
    found = converted(f"{sizes}y = Resize <axes = [3, -2]> (x, , , s)", 18, 17, IMAGE)
    assert found[-1:] == ["Resize (x, , , [1, 1, 6, 4])"]
    crop = 'coordinate_transformation_mode = "tf_crop_and_resize"'
    found = converted(
        f"{scales}r = Constant <value_floats = [0.25, 0.5, 0.75, 1.0]> ()"
        f" y = Resize <axes = [3, -2], {crop}> (x, r, s)",
        18,
        17,
        IMAGE,
    )
    region = "[0.0, 0.0, 0.5, 0.25, 1.0, 1.0, 1.0, 0.75]"
    attribute = "<coordinate_transformation_mode = tf_crop_and_resize>"
    assert found[-1:] == [f"Resize {attribute} (x, {region}, [1.0, 1.0, 3.0, 2.0])"]
    body = f"{sizes}y = Resize <axes = [3, -2]> (x, , , s)"
    assert_becomes(f"""18 to 17, float[1, N, 2, 2] x: {body} =>
        s = Constant <value_ints = [4, 6]> ()
        shape = Shape (x)
        both = Concat <axis = 0> (s, shape)
        all = Gather <axis = 0> (both, [2, 3, 1, 0])
        y = Resize (x, , , all)""")


@pytest.mark.parametrize("source", ["float[N, 2, 3, 4] x", "float[N, C, H, W] x"])
def test_sizes_of_which_some_are_those_of_the_input(source):
    x = np.random.default_rng(0).normal(size=(2, 2, 3, 4)).astype(np.float32)
    body = """
        end = Constant <value_ints = [2]> () start = Constant <value_ints = [0]> ()
        s = Constant <value_ints = [5, 6]> ()
        around = Shape (x) front = Slice (around, start, end) t = Concat <axis = 0> (front, s)
    """
    for how in ('mode = "linear"', 'mode = "cubic"', f'nearest_mode = "floor", {OLD}'):
        resize = f"{body} y = Resize <{how}> (x, , , t)"
        if "W" in source and "nearest" in how:
            assert_refuses(resize, 13, 10, "pixel by pixel needs the length of axis 2", source)
        else:
            targets = (11, 10) if "W" in source else (11, 10, 8, 7)
            assert_carried(resize, 13, targets, {"x": x}, source, rtol=1e-5)


def test_some_axes_by_what_run_time_says():
    x = np.random.default_rng(0).normal(size=(2, 3, 4, 5)).astype(np.float32)
    signature = "float[N, C, H, W] x"
    fed = {"x": x, "t": np.array([7, 6]), "s": np.array([2, 1.5], np.float32)}
    fed["r"] = np.array([0.1, 0.2, 0.9, 0.8], np.float32)
    crop = 'coordinate_transformation_mode = "tf_crop_and_resize"'
    for how, inputs, more in [
        ("axes = [3, -2]", "x, , , t", "int64[2] t"),
        ('axes = [2, 3], mode = "linear"', "x, , s", "float[2] s"),
        (f'axes = [3, 2], mode = "linear", {crop}', "x, r, s", "float[4] r, float[2] s"),
    ]:
        body = f"y = Resize <{how}> ({inputs})"
        feeds = {"x": x, **{name: fed[name] for name in inputs[2:].replace(",", " ").split()}}
        assert_carried(body, 18, (17, 13, 11), feeds, f"{signature}, {more}")


def test_a_resize_of_opset_18_that_17_cannot_say():
    signature = "float[1, 1, 2, 2] x, float[4] s, int64[4] t"
    body = "y = Resize <antialias = 1> (x, , s)"
    assert_refuses(body, 18, 17, "'antialias' = 1 does not exist in opset 17", signature)
    body = 'y = Resize <keep_aspect_ratio_policy = "not_larger"> (x, , , t)'
    assert_refuses(body, 18, 17, "'not_larger' does not exist in opset 17", signature)
    body = 'y = Resize <keep_aspect_ratio_policy = "not_larger", antialias = 0> (x, , s)'
    assert_writes(body, 18, 17, ["Resize (x, , s)"], signature)
    body = 'y = Resize <keep_aspect_ratio_policy = "stretch"> (x, , , t)'
    assert_writes(body, 18, 17, ["Resize (x, , , t)"], signature)


def test_resize_and_upsample():
    assert_refuses("y = Resize (x, s)", 10, 9, "input 'scales' of it is computed", REGION)
    smaller = "s = Constant <value = float[4] {1, 1, 0.5, 2}> () y = Resize (x, s)"
    reason = "supports no scale below 1.*its nearest pixels lie below along one axis and above"
    assert_refuses(smaller, 10, 9, reason, IMAGE)
    for shape, how in ((IMAGE, ""), (IMAGE, "linear"), ("float[1, 1, H, W] x", "linear")):
        mode = f'mode = "{how or "nearest"}"'
        scales = "s = Constant <value = float[4] {1, 1, 0.5, 0.7}> ()"
        x = np.array([[[[1, 2], [3, 5]]]], np.float32)
        resized = f"{scales} y = Resize <{mode}> (x, s)"
        assert_carried_everywhere(resized, 10, (9, 8), {"x": x}, shape, ["graph"], rtol=1e-6)
    same = "s = Constant <value = float[4] {1, 1, 1, 2}> () y = Resize (x, s)"
    assert converted(same, 10, 9, IMAGE)[-1] == "Upsample (x, s)"
    assert_writes("y = Upsample (x, s)", 9, 10, ["Resize (x, s)"], REGION)


def test_a_policy_that_says_nothing():
    signature = "float[1, 1, 2, 2] x, int64[4] t"
    body = 'y = Resize <keep_aspect_ratio_policy = ""> (x, , , t)'
    assert_writes(body, 18, 17, ["Resize (x, , , t)"], signature)


def test_resize_10_places_pixels_as_before() -> None:
    """onnx's own converter lets Resize 11 place them at half pixels, which gives other numbers."""
    before = as_model(
        """g (float[1, 1, 2, 2] x) => (float[1, 1, 4, 4] y) <float[4] s = {1, 1, 2, 2}>
        { y = Resize <mode = "linear"> (x, s) }""",
        10,
    )
    x = np.arange(4, dtype=np.float32).reshape(1, 1, 2, 2)
    for target in (11, 13, 18, 21):
        after = convert_version(before, target)
        onnx.checker.check_model(after, full_check=True)
        (found,) = reference.run(after, {"x": x})
        assert found[0, 0, 0].tolist() == [0, 0.5, 1, 1]
        assert convert_version(after, 9).graph.node[0].op_type == "Upsample"


def test_scales_of_an_upsample_are_an_input_from_opset_9_on():
    proto = known_model("y = Upsample <scales = [1.0, 2.0]> (x)", "float[2, 6]", 8)
    onnx.checker.check_model(convert_version(proto, 9), full_check=True)


def test_axes_that_are_not_there():
    for shape in ("", "[2, 3]"):
        signature = f"float{shape} x, int64[1] t"
        reason = "input 0 has no axis 5"
        assert_refuses("y = Resize <axes = [5]> (x, , , t)", 18, 17, reason, signature)


@pytest.mark.sample(5)
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("scales", [(0.6, 0.7), (0.6, 1.5), (1.5, 2.3), (1.0, 0.6), (0.5, 1.0)])
def test_the_nearest_pixel_of_a_smaller_picture_is_the_one_above(scales, known):
    """Opset 10 takes the pixel below where a scale is above 1."""
    declared = f"<float[2] s = {{{scales[0]}, {scales[1]}}}> {{" if known else "{"
    before = as_model(
        f"""g (float[5, 7] x{"" if known else ", float[2] s"}) => (float[A, B] y) {declared}
        y = Resize <mode = "nearest"> (x, s) }}""",
        10,
    )
    feeds = {"x": np.arange(35, dtype=np.float32).reshape(5, 7)}
    feeds |= {} if known else {"s": np.array(scales, np.float32)}
    wanted = onnxruntime_outputs(before, feeds)
    for target in (11, 13, 18):
        after = convert_version(before, target)
        onnx.checker.check_model(after, full_check=True)
        np.testing.assert_array_equal(onnxruntime_outputs(after, feeds), wanted)


@table(
    ((0.6, 0.7), "ceil", True),
    ((0.6, 1.5), "ceil", False),
    ((1.5, 1.2), "floor", True),
    ((0.5, 0.25), "ceil", True),
    ((0.6, 1.0), "floor", False),
)
def test_rounding_that_opset_10_has_stays_a_resize(scales, rounding, stays):
    body = f"""s = Constant <value_floats = [{scales[0]}, {scales[1]}]> ()
        y = Resize <nearest_mode = "{rounding}", {OLD}> (x, r, s)"""
    found = converted(body, 13, 10, "float[5, 7] x, float[0] r")
    assert any(line.startswith("Resize") for line in found) == stays


@pytest.mark.parametrize("scales", [(1.0, 1.0, 2.0, 2.0), (1.0, 1.0, 0.6, 1.7), (1.0, 1.0, 3, 0.3)])
def test_pixels_placed_from_the_edge(scales):
    """'tf_half_pixel_for_nn' that rounds down is 'half_pixel' that rounds halves up."""
    listed = ", ".join(map(str, map(float, scales)))
    body = (
        f"e = Constant <value = float[0] {{}}> () s = Constant <value = float[4] {{{listed}}}> ()"
    )
    mode = 'coordinate_transformation_mode = "tf_half_pixel_for_nn", nearest_mode = "floor"'
    before = model(f"{body} y = Resize <{mode}> (x, e, s)", 11, "float[1, 1, H, W] x")
    after = convert_version(before, 13)
    assert "mode = half_pixel, nearest_mode = round_prefer_ceil" in written(after.graph)[-1]
    x = np.random.default_rng(0).normal(size=(1, 1, 5, 7)).astype(np.float32)
    pixels = [open_session(proto).run(None, {"x": x})[0] for proto in (before, after)]
    np.testing.assert_array_equal(*pixels)
    known = model(f"{body} y = Resize <{mode.replace('floor', 'ceil')}> (x, e, s)", 11, SMALL)
    pixels = [open_session(p).run(None, {"x": x})[0] for p in (known, convert_version(known, 13))]
    np.testing.assert_array_equal(*pixels)
