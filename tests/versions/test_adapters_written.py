"""Adapters: what each of them writes, and what it refuses, one row for each case of its own.

`test_versions_adapters.py` compares the numbers.
"""

from __future__ import annotations

import pytest
from conversions import converted, model
from straightline.versions import ConversionError, convert_version

IMAGE = "float[1, 1, 2, 2] x"
REGION = "float[1, 1, 2, 2] x, float[8] r, float[4] s"
ROIS = "float[1, 1, 6, 6] x, float[1, 4] r, int64[1] b"
STATISTICS = "float[2, 3] x, float[3] s"
REDUCTIONS = (
    ("ReduceL1", "Abs (x)"),
    ("ReduceL2", "Abs (x)"),
    ("ReduceLogSum", "Log (x)"),
    ("ReduceLogSumExp", "Identity (x)"),
    ("ReduceMax", "Identity (x)"),
    ("ReduceMean", "Identity (x)"),
    ("ReduceMin", "Identity (x)"),
    ("ReduceProd", "Identity (x)"),
    ("ReduceSumSquare", "Mul (x, x)"),
)


def assert_writes(body, source, target, nodes, signature="float[2, 3] x"):
    assert converted(body, source, target, signature) == nodes


def assert_refuses(body, source, target, reason, signature="float[2, 3] x"):
    with pytest.raises(ConversionError, match=reason):
        converted(body, source, target, signature)


# axes ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "op_type",
    ["ArgMax", "ArgMin", "Compress", "Concat", "Flatten", "Hardmax", "LogSoftmax", "Softmax"],
)
def test_a_negative_axis_is_counted_from_the_front(op_type):
    inputs = {"Compress": "x, c", "Concat": "x, x"}.get(op_type, "x")
    body = f"y = {op_type} <axis = -2> ({inputs})"
    wanted = [f"{op_type} <axis = 1> ({inputs})"]
    assert_writes(body, 11, 10, wanted, "float[2, 3, 4] x, bool[2] c")


def test_a_split_is_counted_from_the_front():
    assert_writes("y, z = Split <axis = -1> (x)", 11, 10, ["Split <axis = 1> (x)"], "float[2, 4] x")


@pytest.mark.parametrize("op_type", ["Squeeze", "ReduceSum", *(name for name, _ in REDUCTIONS)])
def test_negative_axes_are_counted_from_the_front(op_type):
    wanted = [f"{op_type} <axes = [2, 0, 1]> (x)"]
    body = f"y = {op_type} <axes = [-2, 0, 1]> (x)"
    assert_writes(body, 11, 10, wanted, "float[1, 1, 1, 4] x")


def test_axes_of_a_result_count_those_that_it_adds():
    assert_writes(
        "y = Unsqueeze <axes = [-1, 0, -2]> (x)", 11, 10, ["Unsqueeze <axes = [4, 0, 3]> (x)"]
    )
    for axis, counted in ((-2, 1), (-1, -1), (0, 0)):
        signature = "uint8[2, 2] i, int64 d, float[2] v"
        wanted = [f"OneHot <axis = {counted}> (i, d, v)"]
        assert_writes(f"y = OneHot <axis = {axis}> (i, d, v)", 11, 10, wanted, signature)


def test_axes_of_a_slice_are_counted_from_the_front():
    body = (
        "b = Constant <value_ints = [1, 1]> () a = Constant <value_ints = [-1, 0]> ()"
        " y = Slice (x, b, e, a)"
    )
    (line,) = converted(body, 13, 10, "float[2, 3] x, int64[2] e")[-1:]
    assert line == "Slice (x, b, e, [1, 0])"


# moves --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "source", "nodes", "signature"),
    [
        ("y = Pad <pads = [0, 1, 0, 1], value = 2.5> (x)", 10, ["Pad (x, [0, 1, 0, 1], 2.5)"], ""),
        ("y = Pad <pads = [0, 1, 0, 1]> (x)", 10, ["Pad (x, [0, 1, 0, 1])"], ""),
        ("y = DFT <axis = 2> (x)", 19, ["DFT (x, , 2)"], "float[1, 2, 3, 1] x"),
        ("y = DFT (x)", 19, ["DFT (x, , 1)"], "float[1, 2, 3, 1] x"),
        ("y = Dropout <ratio = 0.25> (x)", 11, ["Dropout (x, 0.25)"], ""),
        ("y = Dropout (x)", 11, ["Dropout (x)"], ""),
        ("y, i = TopK <k = 2> (x)", 9, ["TopK (x, [2])"], ""),
        ("y = Squeeze <axes = [0]> (x)", 12, ["Squeeze (x, [0])"], "float[1, 3] x"),
        ("y = Unsqueeze <axes = [0]> (x)", 12, ["Unsqueeze (x, [0])"], ""),
        ("y = ReduceSum <axes = [1]> (x)", 12, ["ReduceSum (x, [1])"], ""),
        ("y, z = Split <split = [1, 2], axis = 1> (x)", 12, ["Split <axis = 1> (x, [1, 2])"], ""),
        (
            "y = Slice <starts = [1], ends = [2], axes = [1]> (x)",
            9,
            ["Slice (x, [1], [2], [1])"],
            "",
        ),
        (
            'y = Upsample <scales = [1.0, 2.0], mode = "linear"> (x)',
            8,
            ["Upsample <mode = linear> (x, [1.0, 2.0])"],
            "",
        ),
        *(
            (f"y = {op_type} <axes = [0]> (x)", 17, [f"{op_type} (x, [0])"], "")
            for op_type, _ in REDUCTIONS
        ),
    ],
)
def test_attributes_become_inputs(body, source, nodes, signature):
    signature = signature or "float[2, 3] x"
    assert_writes(body, source, source + 1, nodes, signature)


@pytest.mark.parametrize(
    ("body", "source", "nodes", "signature"),
    [
        ("a = Constant <value_int = 2> () y = DFT (x, , a)", 20, ["DFT <axis = 2> (x)"], ""),
        ("y = DFT (x)", 20, ["DFT <axis = -2> (x)"], ""),
        ("k = Constant <value = int64[1] {2}> () y, i = TopK (x, k)", 10, ["TopK <k = 2> (x)"], ""),
        (
            "r = Constant <value_float = 0.25> () y = Dropout (x, r)",
            12,
            ["Dropout <ratio = 0.25> (x)"],
            "",
        ),
        ("y = Dropout (x)", 12, ["Dropout <ratio = 0.5> (x)"], ""),
        (
            "p = Constant <value_ints = [1, 1]> () v = Constant <value_float = 2.5> ()"
            " y = Pad (x, p, v)",
            11,
            ["Pad <pads = [1, 1], value = 2.5> (x)"],
            "float[2] x",
        ),
        *(
            (
                f"a = Constant <value_ints = [1]> () y = {op_type} (x, a)",
                18,
                [f"{op_type} <axes = [1]> (x)"],
                "",
            )
            for op_type, _ in REDUCTIONS
        ),
    ],
)
def test_inputs_become_attributes_where_they_are_constant(body, source, nodes, signature):
    found = converted(body, source, source - 1, signature or "float[1, 2, 3, 1] x")
    assert [line for line in found if not line.startswith("Constant")] == nodes


def test_bounds_of_a_clip_have_the_type_of_the_data():
    lowest, largest = "-1.0", "3.4028234663852886e+38"
    for type_, high in (("float", largest), ("double", largest), ("float16", "inf")):
        wanted = [f"Clip (x, {lowest}, {high})"]
        assert_writes("y = Clip <min = -1.0> (x)", 10, 11, wanted, f"{type_}[2] x")
    assert_refuses("y = Clip <min = -1.0> (x)", 10, 11, "the type of 'min'", "x")


def test_numbers_that_an_attribute_cannot_hold_are_refused():
    body = "v = Constant <value = double {0.1}> () y = Clip (x, v)"
    assert_refuses(body, 12, 10, "'min' = 0.1 is not exact as a 32-bit float", "double[2] x")
    exact = "v = Constant <value = double {0.5}> () y = Clip (x, v)"
    found = converted(exact, 12, 10, "double[2] x")
    assert found[-1] == "Clip <max = inf, min = 0.5> (x)"


def test_inputs_that_are_computed_at_run_time_are_refused():
    reason = "computed at run time, and opset 12 wants it constant"
    assert_refuses("y = ReduceSum (x, a)", 13, 12, reason, "float[2, 3] x, int64[1] a")


# reduction ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("op_type", "without"), REDUCTIONS)
def test_a_reduction_over_no_axes_is_done_element_by_element(op_type, without):
    assert_writes(f"y = {op_type} <noop_with_empty_axes = 1> (x)", 18, 17, [without])
    assert_writes(f"y = {op_type} (x)", 18, 17, [f"{op_type} (x)"])


# resize -------------------------------------------------------------------------------------------

SIZES = "z = Constant <value_ints = [1, 1, 4, 6]> () "
UNEVEN = "z = Constant <value_ints = [1, 1, 4, 5]> () "
OLD = 'coordinate_transformation_mode = "asymmetric"'
TO_OPSET_10 = [
    # What is resized, its mode, its places, what comes of it.
    ("", 'mode = "linear", ' + OLD, "x, r, s", ["Resize <mode = linear> (x, s)"]),
    (SIZES, 'mode = "linear", ' + OLD, "x, r, e, z", ["Resize <mode = linear> (x, @)"]),
    (SIZES, 'mode = "nearest"', "x, r, e, z", ["Resize <mode = nearest> (x, @)"]),
    (
        SIZES,
        'coordinate_transformation_mode = "pytorch_half_pixel", nearest_mode = "round_prefer_ceil"',
        "x, r, e, z",
        ["Resize (x, @)"],
    ),
    ("", 'nearest_mode = "floor", ' + OLD, "x, r, s", ["Resize (x, s)"]),
    ("", 'nearest_mode = "ceil", ' + OLD, "x, r, s", "nearest_mode = 'ceil' cannot"),
    (SIZES, 'nearest_mode = "floor"', "x, r, e, z", "'half_pixel' and nearest_mode = 'floor'"),
    (SIZES, 'mode = "linear"', "x, r, e, z", "mode = 'half_pixel' cannot be said in opset 10"),
    (UNEVEN, 'mode = "nearest"', "x, r, e, z", "'half_pixel' and nearest_mode"),
    ("", 'mode = "nearest"', "x, r, s", "'half_pixel' and nearest_mode"),
    (SIZES, 'mode = "cubic"', "x, r, e, z", "'cubic' does not exist in opset 10"),
    (
        "",
        'mode = "linear", ' + OLD,
        "x, r, e, t",
        "wants scales, and those of the given sizes are not exact",
    ),
]


@pytest.mark.parametrize(("before", "how", "inputs", "wanted"), TO_OPSET_10)
def test_a_resize_goes_to_opset_10_where_pixels_keep_their_places(before, how, inputs, wanted):
    body = f"{before}y = Resize <{how}> ({inputs})"
    signature = "float[1, 1, 2, 2] x, float[8] r, float[4] s, float[0] e, int64[4] t"
    if isinstance(wanted, str):
        assert_refuses(body, 11, 10, wanted, signature)
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


def test_sizes_that_are_no_exact_multiple_are_refused():
    body = (
        "z = Constant <value_ints = [1, 1, 5, 3]> ()"
        f' y = Resize <mode = "linear", {OLD}> (x, r, e, z)'
    )
    signature = "float[1, 1, 3, 3] x, float[0] r, float[0] e"
    assert_refuses(body, 11, 10, "those of the given sizes are not exact", signature)


def test_inputs_of_a_resize_that_are_empty_become_absent_and_back():
    signature = "float[1, 1, 2, 2] x, float[0] r, float[4] s"
    assert_writes("y = Resize (x, r, s)", 12, 13, ["Resize (x, , s)"], signature)
    assert_writes("y = Resize (x, r, s)", 12, 13, ["Resize (x, r, s)"], REGION)
    assert_writes("y = Resize (x, , s)", 13, 12, ["Resize (x, [], s)"], REGION)
    sizes = "float[1, 1, 2, 2] x, int64[4] t"
    assert_writes("y = Resize (x, , , t)", 13, 12, ["Resize (x, [], [], t)"], sizes)
    reason = "'tf_half_pixel_for_nn' ends with opset 12"
    mode = 'coordinate_transformation_mode = "tf_half_pixel_for_nn"'
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
    reason = "the others have no known length"
    body = f"{sizes}y = Resize <axes = [3, -2]> (x, , , s)"
    assert_refuses(body, 18, 17, reason, "float[1, N, 2, 2] x")


def test_a_resize_of_opset_18_that_17_cannot_say():
    signature = "float[1, 1, 2, 2] x, float[4] s, int64[4] t"
    body = "y = Resize <antialias = 1> (x, , s)"
    assert_refuses(body, 18, 17, "antialias = 1 does not exist in opset 17", signature)
    body = 'y = Resize <keep_aspect_ratio_policy = "not_larger"> (x, , , t)'
    assert_refuses(body, 18, 17, "'not_larger' does not exist in opset 17", signature)
    body = 'y = Resize <keep_aspect_ratio_policy = "not_larger", antialias = 0> (x, , s)'
    assert_writes(body, 18, 17, ["Resize (x, , s)"], signature)
    body = 'y = Resize <keep_aspect_ratio_policy = "stretch"> (x, , , t)'
    assert_writes(body, 18, 17, ["Resize (x, , , t)"], signature)


def test_resize_and_upsample():
    assert_refuses("y = Resize (x, s)", 10, 9, "input 'scales' of it is computed", REGION)
    smaller = "s = Constant <value = float[4] {1, 1, 0.5, 2}> () y = Resize (x, s)"
    assert_refuses(smaller, 10, 9, "takes no scale below 1", IMAGE)
    same = "s = Constant <value = float[4] {1, 1, 1, 2}> () y = Resize (x, s)"
    assert converted(same, 10, 9, IMAGE)[-1] == "Upsample (x, s)"
    assert_writes("y = Upsample (x, s)", 9, 10, ["Resize (x, s)"], REGION)


# quantization -------------------------------------------------------------------------------------


@pytest.mark.parametrize("op_type", ["QuantizeLinear", "DequantizeLinear"])
def test_before_opset_13_there_is_one_scale(op_type):
    data = "float" if op_type == "QuantizeLinear" else "int8"
    body = f"y = {op_type} <axis = 0> (x, s)"
    for scale in ("float s", "float[1] s"):
        assert_writes(body, 13, 12, [f"{op_type} (x, s)"], f"{data}[2, 3] x, {scale}")
    for scale in ("float[2] s", "float[N] s"):
        assert_refuses(body, 13, 12, "and this one has more", f"{data}[2, 3] x, {scale}")
    assert_refuses(body, 13, 12, "the shape of this one is not known", f"{data}[2, 3] x, s")


def test_the_type_of_a_quantized_tensor_is_that_of_its_zero_point():
    signature = "float[2, 3] x, float{} s, int8 z"
    body = "y = QuantizeLinear <output_dtype = {}> ({})"
    for shape, zero in (("", "0"), ("[3]", "[0, 0, 0]")):
        wanted = [f"QuantizeLinear (x, s, {zero})"]
        assert_writes(body.format(3, "x, s"), 21, 20, wanted, signature.format(shape))
    reason = "zero point of the shape of the scale, which is not known"
    assert_refuses(body.format(3, "x, s"), 21, 20, reason, signature.format("[N]"))
    for given in ("2", "0"):
        wanted = ["QuantizeLinear (x, s)"]
        assert_writes(body.format(given, "x, s"), 21, 20, wanted, signature.format("[N]"))
    wanted = ["QuantizeLinear (x, s, z)"]
    assert_writes(body.format(3, "x, s, z"), 21, 20, wanted, signature.format(""))


def test_types_of_opset_23_that_22_cannot_say():
    body = "y = QuantizeLinear <precision = {}> (x, s)"
    signature = "float[2, 3] x, float s"
    assert_writes(body.format(1), 23, 22, ["QuantizeLinear (x, s)"], signature)
    assert_refuses(body.format(10), 23, 22, "it divides in another type", signature)
    body = "y = DequantizeLinear <output_dtype = {}> (x, s)"
    signature = "int8[2, 3] x, float s"
    assert_writes(body.format(1), 23, 22, ["DequantizeLinear (x, s)"], signature)
    assert_refuses(body.format(10), 23, 22, "another type than its scale", signature)


# normalization ------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", [8, 13])
def test_training_statistics_are_refused_where_they_are_used(source):
    node = "BatchNormalization (x, s, s, s, s)"
    assert_writes(f"y = {node}", source, source + 1, [node], STATISTICS)
    assert_writes(f"y, a = {node}", source, source + 1, [node], STATISTICS)
    assert_refuses(f"a, y = {node}", source, source + 1, "training statistics", STATISTICS)


def test_a_training_mode_is_refused_before_opset_14():
    node = "BatchNormalization <training_mode = {}> (x, s, s, s, s)"
    reason = "training_mode = 1 does not exist in opset 13"
    assert_refuses(f"y, a, b = {node.format(1)}", 14, 13, reason, STATISTICS)
    wanted = ["BatchNormalization (x, s, s, s, s)"]
    assert_writes(f"y = {node.format(0)}", 14, 13, wanted, STATISTICS)


def test_a_dropout_that_may_train_is_refused_before_opset_12():
    signature = "float[2, 3] x, float r, bool t"
    training = "t = Constant <value = bool {{{}}}> () y = Dropout (x, r, t)"
    plain = "float[2, 3] x, float r"
    found = converted(training.format(0), 12, 11, plain)
    assert found[-1] == "Dropout <ratio = 0.5> (x)"
    assert_refuses(training.format(1), 12, 11, "draws at random", plain)
    assert_refuses("y = Dropout (x, r, t)", 12, 11, "the training mode of it", signature)
    assert_writes("y = Dropout <seed = 3> (x)", 12, 11, ["Dropout <ratio = 0.5> (x)"])


def test_a_mask_that_is_used_is_refused():
    for source, target in ((9, 10), (10, 9)):
        assert_writes("y, m = Dropout (x)", source, target, ["Dropout (x)"])
        assert_refuses("m, y = Dropout (x)", source, target, "its mask is used")


def test_half_pixels_of_roi_align():
    mode = 'coordinate_transformation_mode = "output_half_pixel"'
    old, new = (
        "RoiAlign <output_width = 2> (x, r, b)",
        f"RoiAlign <{mode}, output_width = 2> (x, r, b)",
    )
    assert_writes(f"y = {new}", 16, 15, [old], ROIS)
    assert_writes(f"y = {old}", 15, 16, [new.replace('"', "")], ROIS)
    assert_refuses(f"y = {old}", 16, 15, "mode = 'half_pixel' does not exist in opset 15", ROIS)


@pytest.mark.parametrize(("channels", "code", "type_"), [("4", 1, "float"), ("C", 10, "float16")])
def test_group_normalization_computes_in_the_type_it_did(channels, code, type_):
    body = "y = GroupNormalization <num_groups = 2> (x, s, s)"
    found = converted(body, 20, 21, f"{type_}[1, {channels}, 3] x, {type_}[2] s")
    assert f"stash_type = {code}>" in found[-1]
    assert ("Div (y_channels, [2])" in found) == (channels == "C")


# pooling ------------------------------------------------------------------------------------------


def test_modes_of_grid_sample():
    signature = "float[1, 1, 4, 4] x, float[1, 2, 2, 2] g"
    for old, new in (("bilinear", "linear"), ("bicubic", "cubic"), ("nearest", "nearest")):
        up = [f"GridSample <mode = {new}> (x, g)"]
        down = [f"GridSample <mode = {old}> (x, g)"]
        assert_writes(f'y = GridSample <mode = "{old}"> (x, g)', 19, 20, up, signature)
        assert_writes(f'y = GridSample <mode = "{new}"> (x, g)', 20, 19, down, signature)
    volume = "float[1, 1, 4, 4, 4] x, float[1, 2, 2, 2, 3] g"
    assert_refuses("y = GridSample (x, g)", 20, 19, "samples inputs of rank 4 only", volume)


def test_a_product_without_a_sum_gets_one_of_zeros():
    signature = "float16[2, 2] x"
    assert_writes("y = Gemm (x, x)", 11, 10, ["Gemm (x, x, [0.0])"], signature)
    assert_writes("y = Gemm (x, x, x)", 11, 10, ["Gemm (x, x, x)"], signature)


def test_the_order_of_indices_that_are_not_given():
    node = "MaxPool <kernel_shape = [2, 2]> (x)"
    ordered = "MaxPool <storage_order = 1, kernel_shape = [2, 2]> (x)"
    assert_writes(f"y = {ordered}", 8, 7, [node], "float[1, 1, 4, 4] x")
    reason = "'storage_order' = 1 does not exist"
    assert_refuses(f"z, y = {ordered}", 8, 7, reason, "float[1, 1, 4, 4] x")


@pytest.mark.parametrize("op_type", ["Sum", "Mean", "Max", "Min"])
def test_opset_7_broadcasts_no_sums(op_type):
    assert_writes(f"y = {op_type} (x, x)", 8, 7, [f"{op_type} (x, x)"])
    assert_writes(f"y = {op_type} (x)", 8, 7, [f"{op_type} (x)"], "float[N, 3] x")
    for signature in (
        "float[2, 3] x, float[1, 3] z",
        "float[N, 3] x, float[N, 3] z",
        "float[2, 3] x, z",
        "x, float[2, 3] z",
    ):
        reason = "opset 7 does not broadcast here"
        assert_refuses(f"y = {op_type} (x, z)", 8, 7, reason, signature)


INSIDE = "ceil_mode = 1, kernel_shape = [3], pads = [1, 1], strides = [2]"
OUTSIDE = "ceil_mode = 1, kernel_shape = [2], pads = [0, 1], strides = [3]"


@pytest.mark.parametrize(
    ("op_type", "source", "target"),
    [
        (op_type, *versions)
        for op_type in ("AveragePool", "LpPool", "MaxPool")
        for versions in ((21, 22), (22, 21), (18, 19), (19, 18))
    ],
)
def test_last_windows_that_start_in_the_padding_are_refused(op_type, source, target):
    inside = [f"{op_type} <{INSIDE}> (x)"]
    assert_writes(f"y = {op_type} <{INSIDE}> (x)", source, target, inside, "float[1, 1, 6] x")
    body = f"y = {op_type} <{OUTSIDE}> (x)"
    if op_type != "AveragePool" and 18 in (source, target):
        assert_writes(body, source, target, [f"{op_type} <{OUTSIDE}> (x)"], "float[1, 1, N] x")
    else:
        reason = f"may count windows in another way in opset {target}"
        assert_refuses(body, source, target, reason, "float[1, 1, N] x")


def test_windows_that_reach_as_far_as_the_padding_are_inside():
    """The last window starts before in + pad - reach + stride: with pad + stride = reach inside."""
    for more, inside in (
        ("kernel_shape = [2], strides = [2]", True),
        ("kernel_shape = [2], strides = [3]", False),
        ("kernel_shape = [2], strides = [2], pads = [0, 1]", False),
        ("kernel_shape = [2], strides = [2], pads = [1, 0]", True),
        ("kernel_shape = [2], strides = [3], dilations = [2]", True),
        ("kernel_shape = [2], strides = [4], dilations = [2]", False),
        ("kernel_shape = [2], pads = [0, 1]", True),
        ('kernel_shape = [2], strides = [2], auto_pad = "VALID"', True),
        ('kernel_shape = [2], strides = [2], auto_pad = "SAME_UPPER"', False),
    ):
        body = f"y = MaxPool <ceil_mode = 1, {more}> (x)"
        if inside:
            assert len(converted(body, 21, 22, "float[1, 1, N] x")) == 1, more
        else:
            assert_refuses(body, 21, 22, "may count windows in another way", "float[1, 1, N] x")


def test_remainders_of_floats_are_refused_before_opset_28():
    assert_refuses("y = Mod (x, x)", 28, 27, "fmod = 0 takes integers only")
    assert_writes("y = Mod <fmod = 1> (x, x)", 28, 27, ["Mod <fmod = 1> (x, x)"])
    for type_ in ("int8", "uint8", "int64"):
        assert_writes("y = Mod (x, x)", 28, 27, ["Mod (x, x)"], f"{type_}[2] x")


# casts --------------------------------------------------------------------------------------------

TYPES = {"int8": 3, "uint8": 2, "int16": 5, "uint16": 4, "int32": 6, "uint32": 12, "bool": 9}


@pytest.mark.parametrize("op_type", ["Less", "Greater"])
@pytest.mark.parametrize("type_", ["int8", "uint8", "int16", "uint16", "int32", "uint32"])
def test_comparisons_of_integers_by_way_of_doubles(op_type, type_):
    found = converted(f"y = {op_type} (x, x)", 9, 8, f"{type_}[2] x")
    assert found == ["Cast <to = 11> (x)"] * 2 + [f"{op_type} (y_cast, y_cast_1)"]


@pytest.mark.parametrize("type_", ["int8", "uint8", "int16", "uint16", "uint32"])
def test_equality_of_integers_by_way_of_long_ones(type_):
    found = converted("y = Equal (x, x)", 11, 10, f"{type_}[2] x")
    assert found == ["Cast <to = 7> (x)"] * 2 + ["Equal (y_cast, y_cast_1)"]


@pytest.mark.parametrize(
    ("node", "source", "via", "types"),
    [
        ("TopK <axis = 0> (x, k)", 11, 11, "int8 uint8 int16 uint16 int32 uint32"),
        ("MaxPool <kernel_shape = [2]> (x)", 12, 1, "int8 uint8"),
        ("ReduceMax (x)", 12, 6, "int8 uint8"),
        ("ReduceMin (x)", 12, 6, "int8 uint8"),
        ("ReduceMax (x)", 20, 2, "bool"),
        ("ReduceMin (x)", 20, 2, "bool"),
        ("Pad (x, [1, 1])", 11, 11, "int8 uint8 int16 uint16 int32 uint32"),
    ],
)
def test_selections_of_integers_by_way_of_another_type(node, source, via, types):
    pads = "p = Constant <value_ints = [1, 1]> () " if "Pad" in node else ""
    outputs = "y, i" if "TopK" in node else "y"
    shape = "[1, 1, 4]" if "Pool" in node else "[4]"
    body = f"{pads}{outputs} = {node.replace('[1, 1]', 'p')}"
    for type_ in types.split():
        found = converted(body, source, source - 1, f"{type_}{shape} x, int64[1] k")
        assert found[0] == f"Cast <to = {via}> (x)"
        assert "y_cast" in found[1] and found[1].split()[0] == node.split()[0]
        assert found[2] == f"Cast <to = {TYPES[type_]}> (y_in_0)"
        assert len(found) == 3


def test_only_outputs_that_hold_data_are_cast_back():
    body = "y, i = TopK <largest = 0> (x, k) j = Identity (i)"
    found = converted(body, 11, 10, "int32[3] x, int64[1] k")
    assert found[:2] == ["Cast <to = 11> (x)", "Neg (y_cast)"]
    assert sum(line.startswith("Cast") for line in found) == 2


# scatter ------------------------------------------------------------------------------------------


def test_scatter_has_another_name_before_opset_11():
    signature = "float[3, 3] x, int64[1, 3] i, float[1, 3] u"
    old, new = "Scatter <axis = 1> (x, i, u)", "ScatterElements <axis = 1> (x, i, u)"
    assert_writes(f"y = {old}", 10, 11, [new], signature)
    assert_writes(f"y = {new}", 11, 10, [old], signature)


# pooling of known sizes ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "same"),
    [("N, C, 7", True), ("1, 1, 6", False), ("1, 1, 7, 7", True), ("1, 1, 7, 6", False)],
)
def test_windows_of_known_sizes_are_counted(shape, same):
    axes = shape.count(",") - 1
    pads = [0] * axes + [1] * axes
    how = f"ceil_mode = 1, kernel_shape = {[2] * axes}, pads = {pads}, strides = {[3] * axes}"
    node = f"MaxPool <{how}> (x)"
    if same:
        assert_writes(f"y = {node}", 21, 22, [node], f"float[{shape}] x")
    else:
        reason = "may count windows in another way"
        assert_refuses(f"y = {node}", 21, 22, reason, f"float[{shape}] x")


def test_remainders_are_those_of_the_data():
    signature = "float[2] x, int8[2] z"
    assert_refuses("y = Mod (x, z)", 28, 27, "fmod = 0 takes integers only", signature)


def test_a_policy_that_says_nothing():
    signature = "float[1, 1, 2, 2] x, int64[4] t"
    body = 'y = Resize <keep_aspect_ratio_policy = ""> (x, , , t)'
    assert_writes(body, 18, 17, ["Resize (x, , , t)"], signature)


# tables -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("node", "source", "target", "fits"),
    [
        ('ScatterElements <reduction = "max"> (x, i, x)', 18, 17, False),
        ('ScatterElements <reduction = "min"> (x, i, x)', 18, 17, False),
        ('ScatterElements <reduction = "add"> (x, i, x)', 18, 17, True),
        ('ScatterND <reduction = "max"> (x, j, x)', 18, 17, False),
        ('ScatterND <reduction = "min"> (x, j, x)', 18, 17, False),
        ('ScatterND <reduction = "mul"> (x, j, x)', 18, 17, True),
        ('Pad <mode = "wrap"> (x, p)', 19, 18, False),
        ('Pad <mode = "edge"> (x, p)', 19, 18, True),
        (
            'Resize <coordinate_transformation_mode = "half_pixel_symmetric"> (x, , s)',
            19,
            18,
            False,
        ),
        ("Cast <to = 1, saturate = 0> (x)", 19, 18, True),
        ("QuantizeLinear <saturate = 0> (x, k)", 19, 18, True),
        ("CastLike <saturate = 0> (x, k)", 19, 18, True),
        ('Cast <to = 1, round_mode = "up"> (x)', 24, 23, True),
        ('CastLike <round_mode = "up"> (x, k)', 24, 23, True),
        ("Range <stash_type = 1> (k, k, k)", 27, 26, True),
    ],
)
def test_values_of_attributes_that_came_later(node, source, target, fits):
    signature = "float[2, 3] x, int64[2, 3] i, int64[2, 1] j, int64[4] p, float[2] s, float k"
    if fits:
        (line,) = converted(f"y = {node}", source, target, signature)
        assert line.split()[0] == node.split()[0]
        assert "saturate" not in line and "round_mode" not in line and "stash" not in line
    else:
        assert_refuses(f"y = {node}", source, target, f"opset {target}", signature)


def test_unsorted_results_may_be_sorted():
    signature = "float[2, 3] x, int64[1] k"
    assert_writes("y, i = TopK <sorted = 0> (x, k)", 11, 10, ["TopK (x, k)"], signature)


def test_the_smallest_in_any_order():
    signature = "float[2, 3] x, int64[1] k"
    found = converted("y, i = TopK <largest = 0, sorted = 0> (x, k)", 11, 10, signature)
    assert found == ["Neg (x)", "TopK (y_negated, k)", "Neg (y_values)"]


@pytest.mark.parametrize("name", ["scan_input_axes", "scan_output_axes"])
@pytest.mark.parametrize(("axis", "counted"), [(-1, 1), (-2, 0), (0, 0), (1, 1)])
def test_axes_of_a_scan_are_written_from_the_front(name, axis, counted):
    body = f"y = Scan (x) <num_scan_inputs = 1, {name} = [{axis}], body = b (float[2] v) =>"
    proto = convert_version(
        model(f"{body} (float[2] w) {{ w = Neg (v) }}>", 11, "float[2, 2] x"), 10
    )
    (node,) = proto.graph.node
    (axes,) = [list(a.ints) for a in node.attribute if a.name == name]
    assert axes == [counted]
