import numpy as np
import onnx
import pytest
import straightline as sl
from kernels import assert_equal, assert_kernel, feeds_of, normal, one_node, run_kernel

DRAW = np.random.default_rng(0)
SKIP = "com.microsoft.SkipLayerNormalization"
SIMPLE = "com.microsoft.SkipSimplifiedLayerNormalization"
floats = normal(DRAW)


@pytest.mark.parametrize(("opset", "dtype"), [(11, np.float32), (17, np.float16)])
@pytest.mark.parametrize("shape", [(2, 3, 8), (5, 8)])
def test_skip_normalizations(opset, dtype, shape):
    x, skip = floats(*shape, dtype=dtype), floats(*shape, dtype=dtype)
    gamma, beta, bias = (floats(8, dtype=dtype) for _ in range(3))
    assert_kernel(SKIP, [x, skip, gamma, beta, bias], "1001", opset=opset)
    assert_kernel(SKIP, [x, skip, gamma, None, bias], opset=opset, epsilon=1e-3)
    assert_kernel(SIMPLE, [x, skip, gamma, bias], "1011", opset=opset)
    assert_kernel(SIMPLE, [x, skip, gamma], opset=opset, dynamic=True)


def test_all_outputs_and_a_skip_that_broadcasts():
    x, gamma = floats(2, 3, 8), floats(8)
    assert_kernel(SKIP, [x, floats(3, 8), gamma], 4)
    assert_kernel(SKIP, [x, floats(1, 3, 8), gamma], 1, opset=23)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_normalizations_in_the_domain_of_onnx(dtype):
    x, gamma, beta = floats(2, 3, 8, dtype=dtype), floats(8, dtype=dtype), floats(8, dtype=dtype)
    for opset in (11, 16):
        outputs = 1 if dtype == np.float16 else 3
        assert_kernel("LayerNormalization", [x, gamma, beta], outputs, opset=opset, axis=-1)
        assert_kernel("LayerNormalization", [x, gamma], opset=opset, axis=-1, epsilon=1e-2)
    for opset in (11, 23):
        assert_kernel("SimplifiedLayerNormalization", [x, gamma], 2, opset=opset, axis=-1)
    assert_kernel("SimplifiedLayerNormalization", [x, gamma], opset=23, axis=-1)


def test_other_axes():
    x, gamma = floats(2, 3, 4), floats(3, 4)
    assert_kernel("LayerNormalization", [x, gamma, gamma], 3, opset=13, axis=1)
    assert_kernel("SimplifiedLayerNormalization", [x, gamma], 2, opset=13, axis=1)


@pytest.mark.parametrize("opset", [13, 23])
def test_a_scale_of_floats_makes_the_result_one(opset):
    inputs = [floats(2, 8, dtype=np.float16), floats(8)]
    assert_kernel("SimplifiedLayerNormalization", inputs, opset=opset, axis=-1)


def test_embeddings():
    operator = "com.microsoft.EmbedLayerNormalization"
    ids, kinds = DRAW.integers(0, 9, (2, 3)), DRAW.integers(0, 2, (2, 3))
    ids, kinds = ids.astype(np.int32), kinds.astype(np.int32)
    mask = np.array([[1, 0, 1], [1, 1, 0]], np.int32)
    tables = floats(9, 8), floats(5, 8), floats(2, 8)
    assert_kernel(operator, [ids, kinds, *tables, floats(8), floats(8), mask], 3, opset=11)
    positions = np.array([[3, 1, 2]], np.int32)
    plain = [ids, None, *tables[:2], None, floats(8), floats(8), None, positions]
    assert_kernel(operator, plain, 2, epsilon=1e-5)


@pytest.mark.parametrize("activation", ["silu", "sigmoid"])
def test_a_gated_norm_of_groups(activation):
    inputs = [floats(2, 3, 8), floats(4), floats(2, 3, 8)]
    assert_kernel("com.microsoft.GatedRMSNorm", inputs, activation=activation)


@pytest.mark.parametrize("is_last", [0, 1])
def test_group_norms_by_their_documentation(is_last):
    image, gamma, beta = floats(2, 8, 4, 4), floats(8), floats(8)
    groups = image.reshape(2, 2, -1)
    mean, deviation = groups.mean(-1, keepdims=True), groups.std(-1, keepdims=True)
    normal = ((groups - mean) / deviation).reshape(image.shape)
    expected = normal * gamma[:, None, None] + beta[:, None, None]
    fed = np.moveaxis(image, 1, -1).copy() if is_last else image
    settings = {"groups": 2, "activation": 0, "channels_last": is_last}
    model = one_node("com.microsoft.GroupNorm", [fed, gamma, beta], **settings)
    (y,) = sl.reference.run(model, feeds_of([fed, gamma, beta]))
    y = np.moveaxis(y, -1, 1) if is_last else y
    np.testing.assert_allclose(y, expected, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("sizes", ["5,5,8; 5,8", "2,5,8; 1,5,8", "2,5,8; 2,5,8", "5,8; 5,8"])
@pytest.mark.parametrize("varies", [True, False])
def test_loops_over_rows_of_a_sum(sizes, varies):
    """The rows of a skip of another rank are not those of the input."""
    one, other = (tuple(map(int, each.split(","))) for each in sizes.split(";"))
    text = ",".join(map(str, one)), ",".join(map(str, other))
    rows = f"float[{text[0]}] x" + (f", float[{text[1]}] s" if varies else "")
    more = f"float[3,{text[1]}] sAll" if varies else f"float[{text[1]}] s"
    model = onnx.parser.parse_model(f"""
        <ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>
        g (float[3,{text[0]}] xAll, {more}, float[8] w) => (float[3,{text[0]}] yAll) {{
        yAll = Scan <num_scan_inputs = {1 + varies}, body = b ({rows}) => (float[{text[0]}] y) {{
            y = com.microsoft.SkipLayerNormalization (x, s, w) }}>
            (xAll{", sAll" if varies else ""}) }}""")
    result = sl.rewrite(model, verify=False)
    assert not {"Scan", "Loop"} & {node.op_type for node in result.graph.node}
    feeds = {"xAll": floats(3, *one), "w": floats(8)}
    feeds |= {"sAll": floats(3, *other)} if varies else {"s": floats(*other)}
    assert_equal(run_kernel(model, feeds), run_kernel(result, feeds), 10)
