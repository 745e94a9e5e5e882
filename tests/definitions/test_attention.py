import numpy as np
import pytest
import straightline as sl
from kernels import assert_equal, assert_kernel, feeds_of, lowered, normal, one_node, run_kernel
from tables import table

DRAW = np.random.default_rng(0)
ATTENTION, MULTI = "com.microsoft.Attention", "com.microsoft.MultiHeadAttention"
DECODER = "com.microsoft.DecoderMaskedMultiHeadAttention"
B, S, N, D, P = 2, 3, 2, 4, 2
H = N * D
LOWEST = float(np.finfo(np.float32).min)
floats = normal(DRAW)


def whole(*numbers):
    return np.array(numbers, np.int32)


@pytest.mark.sample(8)
@table(
    ("none", lambda total: None),
    ("lengths", lambda total: whole(2, total)),
    ("empty", lambda total: whole(total, 0)),
    ("spans", lambda total: whole(2, total, 0, 1)),
    ("offsets", lambda total: whole(2, 1, 0, S, 2 * S, 0, 2, 3)),
    ("flags", lambda total: DRAW.integers(0, 2, (B, total)).astype(np.int32)),
    ("rows", lambda total: DRAW.integers(0, 2, (B, S, total)).astype(np.int32)),
)
@pytest.mark.parametrize(
    ("causal", "past", "opset"), [(0, False, 11), (1, False, 17), (0, True, 21), (1, True, 13)]
)
def test_attention(mask, call, causal, past, opset):
    cache = floats(2, B, N, P, D) if past else None
    inputs = [floats(B, S, 6), floats(6, 3 * H), floats(3 * H), call(S + P * past), cache]
    settings = {"num_heads": N, "unidirectional": causal, "opset": opset, "constants": (1,)}
    assert_kernel(ATTENTION, inputs, 2, **settings, mask_filter_value=LOWEST if causal else -1.0)


def test_a_bias_a_scale_and_other_sizes():
    x, w = floats(B, S, 6), floats(6, 3 * H)
    assert_kernel(ATTENTION, [x, w, None, None, None, floats(1, N, S, S)], num_heads=N, scale=0.3)
    inputs = [x, floats(6, 2 * H + 12), floats(2 * H + 12)]
    assert_kernel(ATTENTION, inputs, num_heads=N, qkv_hidden_sizes=[H, H, 12])


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("has_bias", [False, True])
def test_multi_head_attention(dynamic, has_bias):
    settings = {"num_heads": N, "dynamic": dynamic}
    query, bias = floats(B, S, H), floats(3 * H) if has_bias else None
    key, value = floats(B, S, H), floats(B, S, H)
    flags = DRAW.integers(0, 2, (B, S + P)).astype(np.int32)
    past = floats(B, N, P, D), floats(B, N, P, D)
    assert_kernel(MULTI, [query, floats(B, 5, H), floats(B, 5, H), bias], **settings)
    assert_kernel(MULTI, [query, key, value, bias], unidirectional=1, **settings)
    assert_kernel(MULTI, [query, key, value, bias, flags, None, *past], 3, **settings)
    assert_kernel(MULTI, [query, key, value, bias, None, floats(B, 1, S, S)], scale=0.7, **settings)


def test_keys_of_a_cross_attention_have_heads():
    query, heads = floats(B, 1, H), (floats(B, N, 5, D), floats(B, N, 5, D))
    assert_kernel(MULTI, [query, *heads, None, whole(2, 5)], num_heads=N)
    assert_kernel(MULTI, [query, *heads, None, whole(2, 5, 0, 3, 6, 0, 2, 7)], num_heads=N)
    flags = DRAW.integers(0, 2, (B, 5)).astype(np.int32)
    assert_kernel(DECODER, [query, *heads, flags], num_heads=N)


@pytest.mark.parametrize("has_bias", [False, True])
def test_one_token_goes_to_its_row_of_the_past(has_bias):
    row, bias = (floats(B, 1, H) for _ in range(3)), floats(3 * H) if has_bias else None
    past = floats(B, N, 7, D), floats(B, N, 7, D)
    flags = DRAW.integers(0, 2, (B, 4)).astype(np.int32)
    inputs = [*row, flags, None, *past, whole(3), None, None, bias]
    assert_kernel(DECODER, inputs, 3, num_heads=N, past_present_share_buffer=1)


def test_masked_scores_are_an_output():
    flags = DRAW.integers(0, 2, (B, S)).astype(np.int32)
    inputs = [floats(B, S, H), floats(B, S, H), floats(B, S, H), None, flags, floats(1, 1, S, S)]
    model = one_node(MULTI, inputs, 4, num_heads=N)
    model.graph.output[3].type.tensor_type.elem_type = 1  # onnxruntime infers no type of it
    assert_equal(run_kernel(model, feeds_of(inputs)), run_kernel(lowered(model), feeds_of(inputs)))


@table(
        (ATTENTION, [floats(1, 2, 4), floats(4, 12)], {"do_rotary": 1}, "rotates"),
        (ATTENTION, [floats(1, 2, 4), floats(4, 12), None, whole(*[1] * 8).reshape(1, 1, 2, 4)],
         {}, "'mask_index' has rank 4"),
        (MULTI, [floats(1, 2, 4), floats(1, 3, 4), floats(1, 3, 4)], {"unidirectional": 1},
         "does not mask the last row"),
        (MULTI, [floats(1, 2, 4)], {}, "packed"))  # fmt: skip
def test_kept_operators_have_a_reason(operator, inputs, settings, why):
    model = one_node(operator, inputs, num_heads=2, **settings)
    outcome = sl.transform(model, (), target="onnx", verify=False)
    (kept,) = [remark for remark in outcome.remarks if remark.action == "kept"]
    assert why in kept.reason
