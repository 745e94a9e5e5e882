import numpy as np
import onnx
import pytest
import straightline as sl
from harness import as_model
from kernels import assert_equal, run_kernel
from tables import table

ANGLES = """half = Mul (places, rates)  both = Concat <axis = -1> (half, half)
    cos = Cos (both)  sin = Sin (both)  one = Constant <value_ints = [1]> ()
    c = Unsqueeze (cos, one)  z = Unsqueeze (sin, one)"""
ROTATED = """zero = Constant <value_ints = [0]> ()  four = Constant <value_ints = [4]> ()
    all = Constant <value_ints = [9223372036854775807]> ()
    axis = Constant <value_ints = [3]> ()  first = Slice (x, zero, four, axis)
    second = Slice (x, four, all, axis)  minus = Neg (second)
    turned = Concat <axis = -1> (minus, first)  real = Mul (x, c)  imag = Mul (turned, z)
    y = Add (real, imag)"""
BY_ANGLES = f""" g (float[B, 2, S, 8] x, float[1, S, 1] places) => (float[B, 2, S, 8] y)
    <float[1, 1, 4] rates = {{1, 0.5, 0.25, 0.125}}> {{ {ANGLES} {ROTATED} }}"""


def raised(model, **settings):
    result = sl.transform(model, target="onnxruntime", **settings)
    return result, [node.op_type for node in result.model.graph.node if node.domain]


def draw(batch, length):
    x = np.random.default_rng(0).standard_normal((batch, 2, length, 8)).astype(np.float32)
    return {"x": x, "places": np.arange(3, 3 + length, dtype=np.float32).reshape(1, length, 1)}


def test_a_rotation_is_one_node_and_proved():
    model = as_model(BY_ANGLES)
    result, operators = raised(model)
    assert operators == ["RotaryEmbedding"] and result.verdict.proved
    assert any("by the rule rotary-embedding" in remark.reason for remark in result.remarks)
    for feeds in (draw(3, 5), draw(1, 1), draw(2, 0), draw(0, 4)):
        assert_equal(run_kernel(model, feeds), run_kernel(result.model, feeds))


def tables(angles):
    cosines, sines = (np.concatenate([f(angles)] * 2, 3) for f in (np.cos, np.sin))
    model = as_model(f""" g (float[B, 2, 3, 8] x) => (float[B, 2, 3, 8] y)
        <float[1, 1, 3, 8] c, float[1, 1, 3, 8] z> {{ {ROTATED} }}""")
    for name, array in (("c", cosines), ("z", sines)):
        model.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    return model


def test_a_rotation_by_tables():
    model = tables(np.arange(12, dtype=np.float32).reshape(1, 1, 3, 4))
    result, operators = raised(model)
    assert operators == ["RotaryEmbedding"] and result.verdict.proved
    feeds = {"x": draw(2, 3)["x"]}
    assert_equal(run_kernel(model, feeds), run_kernel(result.model, feeds))


@table(
    ("Concat <axis = -1> (minus, first)", "Concat <axis = -1> (first, minus)"),
    ("Mul (turned, z)", "Mul (turned, c)"),
    ("[1, S, 1] places", "[B, S, 1] places"),
    ("minus = Neg (second)", "minus = Abs (second)"),
)
def test_other_rotations_stay(old, new):
    assert old in BY_ANGLES
    _, operators = raised(as_model(BY_ANGLES.replace(old, new)), verify=False)
    assert not operators


def test_tables_of_other_halves_stay():
    model = tables(np.arange(12, dtype=np.float32).reshape(1, 1, 3, 4))
    array = onnx.numpy_helper.to_array(model.graph.initializer[0]).copy()
    array[0, 0, 1, 6] += 1
    model.graph.initializer[0].CopyFrom(onnx.numpy_helper.from_array(array, "c"))
    assert not raised(model, verify=False)[1]


@pytest.mark.parametrize("target", ["openvino", "onnx", None])
def test_no_other_target_gets_it(target):
    result = sl.transform(as_model(BY_ANGLES), target=target, verify=False)
    assert not any(node.domain for node in result.model.graph.node)


HEADS = """q0 = Reshape (query, parts)  q = Transpose <perm = [0, 2, 1, 3]> (q0)
    k0 = Reshape (key, parts)  k = Transpose <perm = [0, 2, 3, 1]> (k0)
    v0 = Reshape (value, parts)  v = Transpose <perm = [0, 2, 1, 3]> (v0)
    plain = MatMul (q, k)  scaled = Mul (plain, factor)  scores = Add (scaled, bias)
    weights = Softmax <axis = -1> (scores)  heads = MatMul (weights, v)
    together = Transpose <perm = [0, 2, 1, 3]> (heads)  y = Reshape (together, whole)"""
ATTENTION = f""" g (float[B, S, 8] query, float[B, L, 8] key, float[B, L, 8] value,
    float[B, 1, S, L] bias) => (float[B, S, 8] y)
    <int64[4] parts = {{0, 0, 2, 4}}, int64[3] whole = {{0, 0, 8}}, float factor = {{0.5}}>
    {{ {HEADS} }}"""


def test_attention_is_one_node_and_proved():
    model = as_model(ATTENTION)
    result, operators = raised(model)
    assert operators == ["MultiHeadAttention"] and result.verdict.proved
    draw = np.random.default_rng(0)
    for b, s, n in ((2, 3, 5), (1, 1, 1), (0, 2, 2), (2, 0, 3)):
        shapes = {"query": (b, s, 8), "key": (b, n, 8), "value": (b, n, 8), "bias": (b, 1, s, n)}
        feeds = {k: draw.standard_normal(shape, np.float32) for k, shape in shapes.items()}
        assert_equal(run_kernel(model, feeds), run_kernel(result.model, feeds))


def test_many_queries_with_a_bias_stay():
    for count, operators in (("8", ["MultiHeadAttention"]), ("9", [])):
        assert (
            raised(as_model(ATTENTION.replace(" S,", f" {count},")), verify=False)[1] == operators
        )


@table(
    ("[B, 1, S, L] bias", "[B, 1, 1, L] bias"),  # the kernel does not stretch these axes
    ("Softmax <axis = -1>", "Softmax <axis = -2>"),
    ("factor = {0.5}", "factor = {0}"),  # the kernel takes it for the default
)
def test_other_attention_stays(old, new):
    assert old in ATTENTION
    assert not raised(as_model(ATTENTION.replace(old, new)), verify=False)[1]


PROJECTED = """float[B, S, 3] x) => (float[B, S, 8] y) { product = MatMul (x, w)
    all = Add (product, shift)  query, key, value = Split <axis = 2> (all, thirds)"""
PLAIN = "float[B, S, 8] query, float[B, S, 8] key, float[B, S, 8] value) => (float[B, S, 8] y) {"
NO_FACTOR = {"Mul (plain, factor)": "Identity (plain)"}
FACTORS = NO_FACTOR | {
    "(q, k)": "(qS, kS)",
    "plain =": "qS = Mul (q, factor)  kS = Mul (k, factor)  plain =",
}
TWO_BIASES = {
    "(scaled, bias)": "(first, bias2)",
    "scores =": "first = Add (scaled, bias)  scores =",
}
FORMS = {
    "shift": (PROJECTED, {}, "Attention"),
    "no shift": (PROJECTED.replace("Add (product, shift)", "Identity (product)"), {}, "Attention"),
    "no factor": (PROJECTED, NO_FACTOR, "Attention"),
    "common heads": (PROJECTED, FACTORS, "Attention"),  # the passes split them last
    "two biases": (PLAIN, TWO_BIASES, "MultiHeadAttention"),
    "no bias": (PLAIN, {"Add (scaled, bias)": "Identity (scaled)"}, "MultiHeadAttention"),
}
TENSORS = {
    **{"parts": np.array([0, 0, 2, 4]), "whole": np.array([0, 0, 8]), "thirds": np.array([8] * 3)},
    "factor": np.array(0.5, np.float32),
    "w": np.random.default_rng(0).random((3, 24), np.float32),
    "shift": np.random.default_rng(1).random(24, np.float32),
}


def attention(head, changes):
    nodes = HEADS
    for old, new in changes.items():
        assert old in nodes
        nodes = nodes.replace(old, new)
    biases = "float[1, 2, S, S] bias, float[B, 1, S, S] bias2,"
    model = as_model(f" g ({biases} {head} {nodes} }}")
    for name, array in TENSORS.items():
        model.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    return model


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_attention_are_one_node_and_proved(form):
    head, changes, operator = FORMS[form]
    model, draw = attention(head, changes), np.random.default_rng(0)
    result, operators = raised(model)
    assert operators == [operator] and result.verdict.proved
    for sizes in ({"B": 2, "S": 3}, {"B": 1, "S": 1}, {"B": 0, "S": 2}):
        feeds = {}
        for each in model.graph.input:
            dims = each.type.tensor_type.shape.dim
            shape = [sizes.get(dim.dim_param, dim.dim_value) for dim in dims]
            feeds[each.name] = draw.random(shape, np.float32)
        assert_equal(run_kernel(model, feeds), run_kernel(result.model, feeds))


def test_heads_of_other_sizes_stay():
    model = attention(PROJECTED, {"v0 = Reshape (value, parts)": "v0 = Reshape (value, other)"})
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.array([0, 0, 1, 8]), "other"))
    assert not raised(model, verify=False)[1]
