"""Adapters: what each carries over gives the same outputs, valid at every version on the way."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from straightline import reference
from straightline.versions import ConversionError, convert_version

X = np.array([[0.5, -2.0, 3.5], [1.0, 7.0, -4.25]], np.float32)
"""What 'float[2, 3] x' is fed with."""

CASES = [
    # Constants that move between inputs and attributes, and what depends on their type.
    ("y = Clip (x)", "float[2, 3]", 13, (7, 10, 11, 12, 18)),
    ("m = Constant <value_float = -1.0> () y = Clip (x, m)", "float[2, 3]", 13, (7, 10, 21)),
    ("m = Constant <value_float = -1.0> () y = Clip (x, , m)", "float[2, 3]", 13, (7, 10, 21)),
    ("p = Constant <value_ints = [0, 1, 1, 0]> () y = Pad (x, p)", "float[3, 4]", 13, (7, 10, 19)),
    (
        "p = Constant <value_ints = [1, 0]> () a = Constant <value_ints = [-1]> ()"
        " y = Pad (x, p, , a)",
        "float[2, 4]",
        18,
        (7, 13, 17, 21),
    ),
    ("r = Constant <value_float = 0.25> () y, m = Dropout (x, r)", "float[2, 3]", 13, (7, 11, 22)),
    ("y, i = TopK <k = 2> (x)", "float[2, 2]", 9, (7, 10, 11, 24)),
    (
        "k = Constant <value_ints = [2]> () y, i = TopK <largest = 0, axis = 1> (x, k)",
        "float[2, 2]",
        13,
        (7, 9, 10, 24),
    ),
    ("y, z = Split <axis = 1, num_outputs = 2> (x)", "float[2, 2]", 18, (7, 11, 13, 17)),
    ("y, z = Split <axis = 0> (x)", "float[1, 3]", 13, (7, 12, 18, 21)),
    ("y = Squeeze <axes = [0]> (u) ", "float[2, 3]", 11, (7, 9, 13, 21)),
    ("y = ReduceMax <axes = [-1], keepdims = 0> (x)", "float[2]", 13, (7, 10, 18, 20)),
    ("y = ReduceL2 (x)", "float[1, 1]", 18, (7, 13, 17)),
    ("y = ReduceSumSquare <noop_with_empty_axes = 1> (x)", "float[2, 3]", 18, (7, 13, 17)),
    ("y = ReduceSum <noop_with_empty_axes = 1> (x)", "float[2, 3]", 13, (7, 12)),
    # Slices: with bounds known, bounds computed, and steps.
    ("y = Slice <axes = [1], starts = [-2], ends = [9]> (x)", "float[2, 2]", 9, (7, 10, 13)),
    (
        "s = Constant <value_ints = [5]> () e = Constant <value_ints = [-9]> ()"
        " a = Constant <value_ints = [-1]> () t = Constant <value_ints = [-2]> ()"
        " y = Slice (x, s, e, a, t)",
        "float[2, 2]",
        13,
        (9, 10, 21),
    ),
    (
        "h = Shape (x) s = Constant <value_ints = [1]> () z = Constant <value_ints = [0]> ()"
        " t = Constant <value_ints = [2]> () e = Slice (h, s, t, z) y = Slice (x, z, e, s)",
        "float[2, N]",
        13,
        (9, 10, 21),
    ),
    # Operators whose meaning changed.
    ("y = Softmax <axis = 0> (x)", "float[2, 3]", 13, (7, 11, 12, 21)),
    ("y = Softmax <axis = 0> (x)", "float[2, 3]", 11, (7, 13, 21)),
    ("y = LogSoftmax (x)", "float[2, 3]", 11, (7, 10, 13)),
    ("y = Hardmax <axis = 0> (x)", "float[2, 3]", 13, (7, 12)),
    ("y = ArgMax <axis = 1, keepdims = 0, select_last_index = 1> (x)", "int64[2]", 13, (9, 11)),
    ("y = Shape <start = 1> (x)", "int64[1]", 15, (13, 14, 9, 21)),
    ("y = Gemm (x, v)", "float[2, 2]", 13, (7, 10, 11)),
    ("y = Concat <axis = -1> (x, x)", "float[2, 6]", 13, (7, 10)),
    ("y = Flatten <axis = -1> (x)", "float[2, 3]", 13, (7, 9, 10)),
    # Types by way of others, and operators out of older ones.
    ("a = Cast <to = 3> (x) b = Cast <to = 3> (n) y = Equal (a, b)", "bool[2, 3]", 13, (7, 10)),
    ("y = Equal (x, n)", "bool[2, 3]", 13, (9, 10, 19)),
    ("a = Cast <to = 6> (x) b = Cast <to = 6> (n) y = Less (a, b)", "bool[2, 3]", 13, (7, 8)),
    ("a = Cast <to = 7> (x) b = Cast <to = 7> (n) y = Max (a, b)", "int64[2, 3]", 13, (9, 11)),
    (
        "a = Cast <to = 6> (x) l = Constant <value = int32 {-1}> ()"
        " h = Constant <value = int32 {2}> ()"
        " y = Clip (a, l, h)",
        "int32[2, 3]",
        13,
        (9, 11),
    ),
    ("a = Cast <to = 6> (x) y = Relu (a)", "int32[2, 3]", 14, (9, 13)),
    ("e = Constant <value_ints = [2]> () y = Pow (x, e)", "float[2, 3]", 13, (7, 11)),
    ("y = Trilu (x)", "float[2, 3]", 14, (9, 13)),
    ("k = Constant <value_int = -1> () y = Trilu <upper = 0> (x, k)", "float[2, 3]", 14, (9, 13)),
    ("c = Greater (x, n) y = Where (c, x, n)", "float[2, 3]", 13, (8, 9)),
    ("y = IsNaN (x)", "bool[2, 3]", 13, (7, 8)),
    ("y = IsInf <detect_negative = 0> (x)", "bool[2, 3]", 10, (9, 8)),
    (
        "a = Cast <to = 7> (x) t = Constant <value_int = 3> () y = Mod (a, t)",
        "int64[2, 3]",
        13,
        (9,),
    ),
    ("s = Shape (x) y = ConstantOfShape (s)", "float[2, 3]", 13, (8, 20)),
    ("s = Cast <to = 7> (x) y = CastLike (s, x)", "float[2, 3]", 15, (13, 14)),
    # Functions in the place of operators.
    ("y = HardSwish (x)", "float[2, 3]", 14, (7, 11, 13, 22)),
    ("y = Gelu (x)", "float[2, 3]", 20, (9, 13, 19)),
    ("y = Mish (x)", "float[2, 3]", 18, (9, 13, 17)),
    ("y = LayerNormalization (x, w)", "float[2, 3]", 17, (9, 13, 16)),
    ("a = Cast <to = 7> (x) y = Range (zero, seven, two)", "int64[4]", 13, (9, 10)),
]


def model(body: str, output: str, opset: int) -> onnx.ModelProto:
    return onnx.parser.parse_model(f"""
        <ir_version: 8, opset_import: ["": {opset}]>
        g (float[2, 3] x, float[2, 3] n, float[1, 2, 3] u) => ({output} y)
        <float[3, 2] v = {{1, 2, 3, 4, 5, 6}}, float[3] w = {{1, 2, 3}},
         int64 zero = {{0}}, int64 seven = {{7}}, int64 two = {{2}}, float three = {{3}}>
        {{ {body} }}
    """)


def feeds() -> dict[str, Any]:
    n = X[:, ::-1].copy()
    n[0, 0] = X[0, 0]
    return {"x": X, "n": n, "u": X[None]}


@pytest.mark.parametrize(
    ("body", "output", "opset", "targets"), CASES, ids=[f"{c[0][-40:]} {c[2]}" for c in CASES]
)
def test_it_gives_the_same(body: str, output: str, opset: int, targets: tuple[int, ...]) -> None:
    before = model(body, output, opset)
    wanted = reference.run(before, feeds())
    for target in targets:
        after = convert_version(before, target)
        onnx.checker.check_model(after, full_check=True)
        (found,) = reference.run(after, feeds())
        np.testing.assert_allclose(found, wanted[0], rtol=1e-6)
        assert found.dtype == wanted[0].dtype
        back = convert_version(after, opset)
        onnx.checker.check_model(back, full_check=True)
        np.testing.assert_allclose(reference.run(back, feeds())[0], wanted[0], rtol=1e-6)


@pytest.mark.parametrize("target", [7, 9, 10])
def test_clipping_nothing_lets_infinities_pass(target: int) -> None:
    before = model("y = Clip (x)", "float[2, 3]", 13)
    fed = {**feeds(), "x": np.array([[np.inf, -np.inf, 1], [0, 1, 2]], np.float32)}
    (found,) = reference.run(convert_version(before, target), fed)
    np.testing.assert_array_equal(found, fed["x"])


def test_equality_of_floats_knows_nan_and_infinity() -> None:
    before = model("y = Equal (x, n)", "bool[2, 3]", 13)
    x = np.array([[np.nan, np.inf, 0.0], [np.inf, 1, 2]], np.float32)
    n = np.array([[np.nan, np.inf, -0.0], [-np.inf, 2, 2]], np.float32)
    (found,) = reference.run(convert_version(before, 10), {**feeds(), "x": x, "n": n})
    assert found.tolist() == [[False, True, True], [False, False, True]]


def test_roi_align_keeps_the_places_of_its_pixels() -> None:
    before = onnx.parser.parse_model("""
        <ir_version: 8, opset_import: ["": 10]>
        g (float[1, 1, 6, 6] x, float[1, 4] r, int64[1] b) => (float[1, 1, 2, 2] y)
        { y = RoiAlign <output_height = 2, output_width = 2> (x, r, b) }
    """)
    (node,) = convert_version(before, 16).graph.node
    assert b"output_half_pixel" in [a.s for a in node.attribute]
    assert convert_version(convert_version(before, 16), 10).graph.node == before.graph.node


def test_resize_10_places_pixels_as_before() -> None:
    """onnx's own converter lets Resize 11 place them at half pixels, which gives other numbers."""
    before = onnx.parser.parse_model("""
        <ir_version: 8, opset_import: ["": 10]>
        g (float[1, 1, 2, 2] x) => (float[1, 1, 4, 4] y) <float[4] s = {1, 1, 2, 2}>
        { y = Resize <mode = "linear"> (x, s) }
    """)
    x = np.arange(4, dtype=np.float32).reshape(1, 1, 2, 2)
    for target in (11, 13, 18, 21):
        after = convert_version(before, target)
        onnx.checker.check_model(after, full_check=True)
        (found,) = reference.run(after, {"x": x})
        assert found[0, 0, 0].tolist() == [0, 0.5, 1, 1]
        assert convert_version(after, 9).graph.node[0].op_type == "Upsample"


@pytest.mark.parametrize(
    ("body", "output", "opset", "target", "reason"),
    [
        ("y = Mod <fmod = 1> (x, n)", "float[2, 3]", 13, 9, "fmod"),
        ('y = Einsum <equation = "ij->ji"> (x)', "float[3, 2]", 12, 11, "does not exist"),
        ("s = Shape (x) y = Reshape <allowzero = 1> (x, s)", "float[2, 3]", 14, 13, None),
        ("y = Upsample <scales = [1.0, 2.0]> (x)", "float[2, 6]", 8, 9, None),
        ("r, m = Dropout (x) y = Not (m)", "bool[2, 3]", 11, 9, "mask"),
    ],
)
def test_what_cannot_be_said_is_refused(
    body: str, output: str, opset: int, target: int, reason: str | None
) -> None:
    proto = model(body, output, opset)
    if reason is None:
        onnx.checker.check_model(convert_version(proto, target), full_check=True)
        return
    with pytest.raises(ConversionError, match=reason):
        convert_version(proto, target)


@pytest.mark.parametrize("channels", ["4", "C"])
def test_the_scale_of_a_group_is_repeated_for_its_channels(channels: str) -> None:
    """onnx's own converter changes the version and leaves the scale as it is."""
    before = onnx.parser.parse_model(f"""
        <ir_version: 8, opset_import: ["": 18]>
        g (float[1, {channels}, 3] x) => (float[1, {channels}, 3] y) <float[2] s = {{1, 2}}>
        {{ y = GroupNormalization <num_groups = 2> (x, s, s) }}
    """)
    after = convert_version(before, 21)
    onnx.checker.check_model(after, full_check=True)
    x = np.arange(12, dtype=np.float32).reshape(1, 4, 3)
    rows = x.reshape(1, 2, 6)
    rows = (rows - rows.mean(-1, keepdims=True)) / np.sqrt(rows.var(-1, keepdims=True) + 1e-5)
    scale = np.array([1, 2], np.float32).reshape(1, 2, 1)
    wanted = (rows * scale + scale).reshape(x.shape)
    np.testing.assert_allclose(reference.run(after, {"x": x})[0], wanted, rtol=1e-4, atol=1e-5)
    for target in (9, 13, 17):  # by its function
        older = convert_version(before, target)
        np.testing.assert_allclose(reference.run(older, {"x": x})[0], wanted, rtol=1e-4, atol=1e-5)


def bounded(constant: str, body: str, opset: int) -> onnx.ModelProto:
    return onnx.parser.parse_model(f"""
        <ir_version: 8, opset_import: ["": {opset}]>
        g (double[2] x) => (double[N] y)
        <double c = {{{constant}}}, int64[2] p = {{1, 0}}> {{ {body} }}
    """)


MOVED_FLOATS = {
    "min": ("y = Clip (x, c)", 13, 10),
    "max": ("y = Clip (x, , c)", 11, 7),
    "value": ("y = Pad (x, p, c)", 13, 10),
}


@pytest.mark.parametrize("case", MOVED_FLOATS)
@pytest.mark.parametrize("constant", ["0.1", "16777217", "1e300", "1e-300", "0.30000001192092901"])
def test_a_double_that_no_float_is_does_not_become_an_attribute(case: str, constant: str) -> None:
    body, opset, target = MOVED_FLOATS[case]
    with pytest.raises(ConversionError, match="is not exact as a 32-bit float"):
        convert_version(bounded(constant, body, opset), target)


@pytest.mark.parametrize("case", MOVED_FLOATS)
@pytest.mark.parametrize(
    "constant", ["0.5", "-16777216", "0.300000011920928955078125", "inf", "-inf", "nan", "-0.0"]
)
def test_a_double_that_is_a_float_becomes_an_attribute(case: str, constant: str) -> None:
    body, opset, target = MOVED_FLOATS[case]
    before = bounded("0", body, opset)
    value = np.array(float(constant))
    before.graph.initializer[0].CopyFrom(onnx.numpy_helper.from_array(value, "c"))
    after = convert_version(before, target)
    onnx.checker.check_model(after, full_check=True)
    (node,) = [n for n in after.graph.node if n.op_type in ("Clip", "Pad")]
    (attribute,) = [a for a in node.attribute if a.name == case]
    assert np.array(attribute.f, np.float64).tobytes() == value.tobytes()
