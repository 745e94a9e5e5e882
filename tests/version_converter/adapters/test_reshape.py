import itertools

import numpy as np
import onnx
import pytest
from conversions import (
    assert_becomes,
    assert_carried_everywhere,
    assert_refuses,
    convert_version,
    converted,
    known_model,
    model,
    placed,
)
from harness import assert_equal_outputs
from sessions import outputs
from straightline import prove, transform
from straightline.version_converter import ConversionError
from tables import table

NODE = "y = Reshape <allowzero = 1> (x, s)"


def test_a_shape_without_zeros_says_the_same():
    body = f"s = Constant <value_ints = [3, -1]> () {NODE}"
    assert converted(body, 14, 13, "float[6] x")[-1] == "Reshape (x, s)"
    assert converted("y = Reshape (x, s)", 14, 13, "float[6] x, int64[2] s") == ["Reshape (x, s)"]


def test_a_zero_in_the_place_of_a_zero_copies_it():
    body = f"s = Constant <value_ints = [0, 3]> () {NODE}"
    assert converted(body, 14, 13, "float[0, 4] x")[-1] == "Reshape (x, s)"


def test_a_size_in_its_own_place_may_be_zero():
    """As exporters write it: the batch comes from a Shape."""
    body = f"""
        sizes = Shape <end = 1> (x)
        rest = Constant <value_ints = [2, 3]> ()
        s = Concat <axis = 0> (sizes, rest)
        {NODE}
    """
    assert converted(body, 15, 14, "float[N, 6] x")[-1] == "Reshape <allowzero = 1> (x, s)"
    assert converted(body, 15, 13, "float[N, 6] x")[-1] == "Reshape (x, s)"
    moved = body.replace("end", "start").replace("[2, 3]", "[6]")
    assert "Reshape (x, s)" not in converted(moved, 15, 13, "float[6, N] x")


@table(
    ("N, 6", "n, rest, three", "0, 2, 3"),
    ("N, T, 6", "n, t, rest, three", "0, 0, 2, 3"),
    ("N, T, 6", "n, rest, six", "0, 0, 6"),
    ("N, T, 6", "n, t, rest", "0, 0, 6"),
    ("N, T", "n, rest, three", None),  # a third of T
    ("N, T, 6", "n, rest, three", None),  # twice T
    ("N, T, 6", "rest, six", None),
)
def test_the_rest_of_a_shape_with_a_size_that_may_be_zero_is_a_number(sizes, target, after):
    """Runtimes without allowzero stop at -1 in an empty tensor."""
    body = f"""
        n = Shape <end = 1> (x)
        t = Shape <start = 1, end = 2> (x)
        rest = Constant <value_ints = [-1]> ()
        three = Constant <value_ints = [3]> ()
        six = Constant <value_ints = [6]> ()
        s = Concat <axis = 0> ({target})
        {NODE}
    """
    last = converted(body, 15, 13, f"float[{sizes}] x")[-1]
    assert last == (f"Reshape (x, [{after}])" if after else "Reshape (x, s)")


SIZES = """
    n = Shape <end = 1> (x)
    t = Shape <start = 2, end = 3> (x)
    four = Constant <value_ints = [4]> ()
    six = Constant <value_ints = [6]> ()
    rest = Constant <value_ints = [-1]> ()
"""
HEADS = SIZES + "heads = Mul (n, four) h = Concat <axis = 0> (heads, t, six) "
JOINED = HEADS + "y = Reshape <allowzero = 1> (x, h)"
SPLIT = HEADS + "j = Reshape <allowzero = 1> (x, h) s = Concat <axis = 0> (n, four, t, six) "


@table(
    ("float[N, 1, T, 6] x", SIZES
        + f"two = Constant <value_ints = [2]> () s = Concat <axis = 0> (n, t, rest, two) {NODE}",
     ["Reshape (x, [0, 1, 0, 3, 2])", "Squeeze (y_reshaped, [1])"]),
    ("float[N, 4, T, 6] x", JOINED,
     ["Concat <axis = 0> (h, [1])", "Gather <axis = 0> (y_pool, [0, 3, 1, 2])"]),
    ("float[N, 4, T, 6] x ", SPLIT + "y = Reshape <allowzero = 1> (j, s)",
     ["Unsqueeze (j, [1])", "Reshape (y_Unsqueeze, s)"]))  # fmt: skip
def test_sizes_that_may_be_zero_stand_at_the_places_of_the_inputs(signature, body, after):
    nodes = converted(body, 15, 13, signature)
    assert "Slice" not in " ".join(nodes[-4:])
    assert [n for n in nodes if n in after] == after
    before = onnx.parser.parse_model(f"""<ir_version: 8, opset_import: ["": 15]>
        g ({signature}) => (float[{", ".join("ABCD"[: 3 if body is JOINED else 4])}] y) {{ {body} }}
    """)
    model = convert_version(before, 13)
    assert prove(before, model)
    for sizes in itertools.product((0, 2), (0, 3)):
        shape = (sizes[0], 4 if "4" in signature else 1, sizes[1], 6)
        if all(sizes) or "rest" not in body.split("Concat")[1]:
            x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
            assert_equal_outputs(before, model, {"x": x})


def test_sizes_in_another_order_are_cut_off():
    body = SIZES + f"s = Concat <axis = 0> (t, n, four, six) {NODE}"
    assert any(n.startswith("Slice") for n in converted(body, 15, 13, "float[N, 4, T, 6] x")[-1:])


def test_an_empty_batch_runs_below_allowzero():
    before = onnx.parser.parse_model(f"""<ir_version: 8, opset_import: ["": 15]>
        g (float[N, 6] x) => (float[N, 2, 3] y) <int64[1] rest = {{-1}}, int64[1] three = {{3}}> {{
            n = Shape <end = 1> (x)
            s = Concat <axis = 0> (n, rest, three)
            {NODE} }}""")
    after = convert_version(before, 13, verify=False)
    assert prove(before, after)
    for batch in (0, 2):
        x = np.ones((batch, 6), np.float32)
        (y,) = outputs(after, {"x": x})
        np.testing.assert_array_equal(y, x.reshape(batch, 2, 3))


def test_zeros_that_may_copy_sizes_keep_the_operator():
    """A target without shapes of run time."""
    before = model("y = Reshape (x, s)", 17, "float[2, 3] x, int64[2] s")
    (left,) = transform(before, (), target="ncnn", verify=False).untaken
    assert "a zero of its shape may copy a size" in left.reason


def test_zeros_at_run_time_are_cut_off():
    assert_becomes(f"""14 to 13, float[6] x, int64[2] s: {NODE} =>
        is_zero = Equal (s, [0])
        ones = Where (is_zero, [1], s)
        product = ReduceProd <axes = [0]> (ones)
        all = ReduceProd <axes = [0]> (s)
        is_empty = Equal (all, [0])
        missing = Where (is_empty, product, [0])
        filling = Expand ([0.0], missing)
        flat = Reshape (x, [-1])
        whole = Concat <axis = 0> (flat, filling)
        is_open = Less (s, [0])
        ends = Where (is_open, [9223372036854775807], s)
        starts = Sub (s, s)
        filled = Reshape (whole, ones)
        y = Slice (filled, starts, ends)""")


@pytest.mark.parametrize("target", [13, 11, 9])
@table(
    ((6,), [2, 3]),
    ((6,), [3, -1]),
    ((2, 3), [6, 1]),
    ((0,), [0, 3]),
    ((0,), [4, 0]),
    ((0, 5), [0, 0]),
    ((3, 0), [7, 0]),
    ((0,), [-1, 3]),
)
def test_whatever_the_shape_is_at_run_time(sizes, shape, target):
    dims = ", ".join("AB"[: len(sizes)])
    before = onnx.parser.parse_model(f"""<ir_version: 8, opset_import: ["": 14]>
        g (float[{dims}] x, int64[2] s) => (float[C, D] y) {{ {NODE} }}""")
    after = convert_version(before, target)
    onnx.checker.check_model(after, full_check=True)
    x = np.arange(np.prod(sizes), dtype=np.float32).reshape(sizes)
    assert_equal_outputs(before, after, {"x": x, "s": np.array(shape)})


@pytest.mark.parametrize("target", [13, 10])
@pytest.mark.parametrize("length", ["0", "K"])
def test_a_shape_without_elements_makes_a_scalar(length, target):
    """onnxruntime slices no scalar."""
    before = onnx.parser.parse_model(f"""<ir_version: 8, opset_import: ["": 14]>
        g (float[A] x, int64[{length}] s) => (float y) {{
            z = Reshape <allowzero = 1> (x, s) y = ReduceSum <keepdims = 0> (z) }}""")
    after = convert_version(before, target)
    onnx.checker.check_model(after, full_check=True)
    for shape in [[], [2, 3], [-1, 1]][: 3 if length == "K" else 1]:
        x = np.arange(abs(int(np.prod(shape))), dtype=np.float32)
        assert_equal_outputs(before, after, {"x": x, "s": np.array(shape, np.int64)})


@pytest.mark.parametrize("name", ["string", "bool", "float16", "uint8", "double"])
def test_every_type_has_something_to_fill_the_place_of_zeros(name):
    before = onnx.parser.parse_model(f"""<ir_version: 8, opset_import: ["": 14]>
        g ({name}[A] x, int64[2] s) => ({name}[C, D] y) {{ {NODE} }}""")
    after = convert_version(before, 13)
    onnx.checker.check_model(after, full_check=True)
    kind = (
        object
        if name == "string"
        else onnx.helper.tensor_dtype_to_np_dtype(getattr(onnx.TensorProto, name.upper()))
    )
    for x, shape in (([], [0, 3]), (list("101101"), [2, -1])):
        given = np.array(x, object if name == "string" else np.int64).astype(kind)
        assert_equal_outputs(before, after, {"x": given, "s": np.array(shape)})


def test_a_type_that_is_not_known_cannot_fill_the_place_of_zeros():
    body = f"x = com.example.Odd (w) {NODE}"
    assert_refuses(body, 14, 13, "needs the one element type of input 0", "float w, int64[2] s")


def test_a_shape_that_is_computed_from_a_known_one_has_no_zeros():
    proto = known_model("s = Shape (x) y = Reshape <allowzero = 1> (x, s)", "float[2, 3]", 14)
    onnx.checker.check_model(convert_version(proto, 13), full_check=True)


@pytest.mark.sample(1)
@pytest.mark.parametrize("shape", [(2, 3), (0, 4), (3, 0)])
def test_down_to_opset_7_in_every_place(shape):
    """Constants of functions too, which are floats below opset 9: one is the largest integer."""
    feeds = {"x": np.arange(np.prod(shape), dtype=np.float32), "s": np.array(shape)}
    assert_carried_everywhere(NODE, 14, (13, 9, 8, 7), feeds, "float[N] x, int64[2] s")


def test_a_function_has_no_text_below_opset_9():
    before = placed(NODE, 14, "string[N] x, int64[2] s", "function")
    with pytest.raises(ConversionError, match="opset 8 no Constant of the type object"):
        convert_version(before, 8)
