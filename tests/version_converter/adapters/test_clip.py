import numpy as np
import onnx
import pytest
from conversions import (
    INTEGERS,
    assert_becomes,
    assert_carried,
    assert_refuses,
    assert_writes,
    model,
)
from sessions import open_session, outputs
from straightline import convert_version, reference
from tables import cases

test_nodes_of_each_step = cases(
    assert_writes,
    ("y = Clip <min = -1.0> (x)", 10, 11, ["Clip (x, -1.0, 3.4028234663852886e+38)"],
     "float[2, 3] x"),
    ("y = Clip (x)", 11, 10, ["Clip (x)"], "float[2, 3] x"),
    ("y = Clip (x)", 11, 10, ["Clip <max = inf, min = -inf> (x)"], "x"),
    ("y = Clip (x)", 11, 10, ["Clip <max = 65504.0, min = -65504.0> (x)"], "float16[2, 3] x"),
    ("m = Constant <value_float = 0.5> () y = Clip (x, , m)", 12, 10, ["Clip <max = 0.5> (x)"],
     "float[2, 3] x"),
    ("y = Clip (x)", 12, 11, ["Clip (x)"], "float[2, 3] x"),
    ("y = Clip (x)", 12, 11, ["Identity (x)"], "int32[2] x"))  # fmt: skip


def test_clips_of_integers_are_choices():
    assert_becomes("""12 to 11, int32[2] x, int32 l, int32 h: y = Clip (x, l, h) =>
        above = Greater (x, l)
        low = Where (above, x, l)
        below = Less (low, h)
        y = Where (below, low, h)""")


def test_bounds_of_a_clip_have_the_type_of_the_data():
    lowest, largest = "-1.0", "3.4028234663852886e+38"
    for type_, high in (("float", largest), ("double", largest), ("float16", "inf")):
        wanted = [f"Clip (x, {lowest}, {high})"]
        assert_writes("y = Clip <min = -1.0> (x)", 10, 11, wanted, f"{type_}[2] x")
    assert_refuses("y = Clip <min = -1.0> (x)", 10, 11, "the type of 'min'", "x")


@pytest.mark.parametrize("inputs", ["x", "x, l", "x, , h", "x, l, h"])
@pytest.mark.parametrize("bounds", [(-1, 2), (2, -1)])
def test_clips_of_integers_end_at_the_upper_bound(inputs, bounds):
    low, high = (np.array(bound, np.int32) for bound in bounds)
    fed = {"x": INTEGERS, "l": low, "h": high}
    before = model(f"y = Clip ({inputs})", 12, "int32[2, 3] x, int32 l, int32 h")
    wanted = INTEGERS
    if "l" in inputs:
        wanted = np.maximum(wanted, low)
    if "h" in inputs:
        wanted = np.minimum(wanted, high)
    (found,) = reference.run(convert_version(before, 11), fed)
    np.testing.assert_array_equal(found, wanted)
    assert found.dtype == np.int32


@pytest.mark.parametrize("name", ["float", "float16", "double"])
@pytest.mark.parametrize("inputs", ["x", "x, low", "x, , low"])
def test_absent_bounds_are_the_last_finite_numbers(name: str, inputs: str) -> None:
    """So the specification says of all versions, and so does onnxruntime."""
    dtype = {"float": np.float32, "float16": np.float16, "double": np.float64}[name]
    before = model(f"y = Clip ({inputs})", 13, f"{name}[6] x")
    before.graph.initializer.append(onnx.numpy_helper.from_array(np.array(-1, dtype), "low"))
    x = np.array([-np.inf, -2, 0, np.finfo(dtype).max, np.inf, np.nan], dtype)
    (wanted,) = ort_run(before, x)
    assert np.isfinite(wanted[:-1]).all() and np.isnan(wanted[-1])
    for target in (13, 10, 8):
        after = convert_version(before, target)
        np.testing.assert_array_equal(reference.run(after, {"x": x})[0], wanted)
        np.testing.assert_array_equal(ort_run(after, x)[0], wanted)


@pytest.mark.parametrize("name", ["float", "float16"])
@pytest.mark.parametrize(("low", "high"), [(3, 1), (3, -np.inf), (np.inf, 1)])
def test_bounds_that_cross_are_two_clips(name, low, high):
    """A runtime refuses attributes of which `min` is the larger; inputs it takes."""
    dtype = np.float32 if name == "float" else np.float16
    before = model("y = Clip (x, low, high)", 13, f"{name}[6] x")
    before.graph.initializer.extend(
        onnx.numpy_helper.from_array(np.array(value, dtype), label)
        for label, value in (("low", low), ("high", high))
    )
    x = np.array([-np.inf, 0, 2, 4, np.inf, np.nan], dtype)
    (wanted,) = ort_run(before, x)
    assert wanted[:5].tolist() == [high] * 5
    for target in (10, 7):
        after = convert_version(before, target)
        assert [node.op_type for node in after.graph.node] == ["Clip", "Clip"]
        np.testing.assert_array_equal(ort_run(after, x)[0], wanted)
        np.testing.assert_array_equal(reference.run(after, {"x": x})[0], wanted)
    assert [node.op_type for node in convert_version(before, 11).graph.node] == ["Clip"]


@pytest.mark.parametrize("name", ["float", "double", "float16"])
def test_bounds_from_run_time(name):
    """Runtimes agree on the order: the lower bound first."""
    signature = f"{name}[N] x, {name} low, {name} high"
    dtype = {"float": np.float32, "double": np.float64, "float16": np.float16}[name]
    x = np.array([-np.inf, 0, 2, 4, np.inf, np.nan], dtype)
    for low, high in ((1, 3), (3, 1), (-np.inf, np.inf), (np.nan, 3), (1, np.nan)):
        feeds = {"x": x, "low": np.array(low, dtype), "high": np.array(high, dtype)}
        assert_carried("y = Clip (x, low, high)", 13, (10, 8), feeds, signature)
        before = model("y = Clip (x, low, high)", 13, signature)
        wanted, found = (
            open_session(proto).run(None, feeds)[0]
            for proto in (before, convert_version(before, 10))
        )
        np.testing.assert_array_equal(found, wanted)


def test_bounds_at_run_time():
    assert_becomes("""11 to 10, float[2] x, float low, float high: y = Clip (x, low, high) =>
        least = Reshape (low, [])
        above = Greater (least, -inf)
        bound = Where (above, least, -inf)
        raised = Max (x, bound)
        most = Reshape (high, [])
        below = Less (most, inf)
        bound_2 = Where (below, most, inf)
        y = Min (raised, bound_2)""")
    assert_becomes("""11 to 10, float[2] x, float high: y = Clip (x, , high) =>
        raised = Max (x, -3.4028234663852886e+38)
        most = Reshape (high, [])
        below = Less (most, inf)
        bound = Where (below, most, inf)
        y = Min (raised, bound)""")


def ort_run(proto, x):
    return open_session(proto).run(None, {"x": x})


@pytest.mark.parametrize(("low", "high"), [("nan", 2.0), (0.0, "nan"), ("nan", "nan")])
def test_a_bound_that_is_no_number_is_none(low, high):
    """onnxruntime ignores it from opset 11 on, and refuses it before."""
    head = '<ir_version: 8, opset_import: ["" : 13]> '
    clip = onnx.parser.parse_model(head + "g (float[5] x) => (float[5] y) { y = Clip (x, l, h) }")
    for name, bound in (("l", low), ("h", high)):
        tensor = onnx.numpy_helper.from_array(np.array(bound, np.float32), name)
        clip.graph.initializer.append(tensor)
    feeds = {"x": np.array([1, np.nan, -1, np.inf, 5], np.float32)}
    (expected,) = outputs(clip, feeds)
    for opset in (10, 7):
        (found,) = outputs(convert_version(clip, opset), feeds)
        np.testing.assert_array_equal(found, expected)
