"""Operators outside of ONNX that loops apply to each row: one node for all rows."""

import numpy as np
import onnx
import pytest
import straightline as sl
from kernels import assert_equal, normal, run_kernel
from onnx import helper
from tables import table

DRAW = np.random.default_rng(0)
MS = "com.microsoft."
floats = normal(DRAW)


def info(name, array, axes=None):
    kind = helper.np_dtype_to_tensor_dtype(array.dtype)
    return helper.make_tensor_value_info(name, kind, array.shape if axes is None else axes)


def scanning(operator, operands, rows, outputs="1", opset=17, constants=(), **attributes):
    """A model that applies an operator to the rows of some operands.

    Args:
        operator: its name.
        operands: its operands; those of rows have one more axis in front.
        rows: their positions.
        outputs: as of `kernels.one_node`.
        opset: the opset of ONNX's own domain.
        constants: the positions of operands that are initializers.
        attributes: the attributes.
    """
    domain, _, op_type = operator.rpartition(".")
    names = ["" if array is None else f"x{i}" for i, array in enumerate(operands)]
    results = [f"y{i}" if flag == "1" else "" for i, flag in enumerate(outputs)]
    present = [name for name in results if name]
    inner = [f"row_{name}" if i in rows else name for i, name in enumerate(names)]
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    node = helper.make_node(op_type, inner, results, domain=domain, **attributes)
    first = {f"row_x{i}": operands[i][0] for i in rows}
    shared = {f"x{i}": a for i, a in enumerate(operands) if i not in rows and a is not None}
    tensors = [onnx.numpy_helper.from_array(operands[i], f"x{i}") for i in constants]
    fed = {n: a for n, a in {**first, **shared}.items() if int(n[-1]) not in constants}
    infos = [info(name, array) for name, array in fed.items()]
    outs = [onnx.ValueInfoProto(name=name) for name in present]
    alone = helper.make_graph([node], "g", infos, outs, tensors)
    rows_of_outputs = run_kernel(helper.make_model(alone, opset_imports=imports, ir_version=8), fed)
    declared = [info(n, y) for n, y in zip(present, rows_of_outputs, strict=True)]
    body = helper.make_graph([node], "body", infos[: len(rows)], declared)
    scan = helper.make_node(
        "Scan", [f"x{i}" for i in rows], [f"all_{n}" for n in present], body=body,
        num_scan_inputs=len(rows),
    )  # fmt: skip
    feeds = {f"x{i}": a for i, a in enumerate(operands) if a is not None and i not in constants}
    outer = [
        info(n, a, ["n", *a.shape[1:]] if int(n[1:]) in rows else None) for n, a in feeds.items()
    ]
    outs = [onnx.ValueInfoProto(name=f"all_{name}") for name in present]
    graph = helper.make_graph([scan], "g", outer, outs, tensors)
    return helper.make_model(graph, opset_imports=imports, ir_version=8), feeds


def assert_one_node(operator, operands, rows, outputs="1", proved=True, **settings):
    """Compare the rewritten loop with the loop, in which the operator stays, once."""
    model, feeds = scanning(operator, operands, rows, outputs, **settings)
    rewritten = sl.transform(model, verify="proof" if proved else False)
    assert not proved or rewritten.verdict.proved, rewritten.verdict
    kinds = [node.op_type for node in rewritten.model.graph.node]
    assert kinds.count(operator.rpartition(".")[2]) == 1 and "Scan" not in kinds
    assert_equal(run_kernel(model, feeds), run_kernel(rewritten.model, feeds))
    return rewritten.model


SCALE, ZERO = np.array(0.1, np.float32), np.array(3, np.uint8)
BYTES = DRAW.integers(0, 255, (5, 1, 16)).astype(np.uint8)
SUMMAND = DRAW.integers(0, 255, (3, 2, 4)).astype(np.uint8)
QUERY = floats(3, 2, 4, 16)


@table(
    ("activation", MS + "QuickGelu", [floats(3, 2, 4)], [0], {}),
    ("a shared bias", MS + "BiasGelu", [floats(3, 2, 4), floats(4)], [0], {}),
    ("rows of a product", MS + "FusedMatMul", [floats(3, 2, 4), floats(5, 4)], [0], {"transB": 1}),
    ("both of a product", MS + "FusedMatMul", [floats(3, 2, 4), floats(3, 4, 5)], [0, 1], {}),
    ("the second", MS + "FusedMatMul", [floats(2, 4), floats(3, 4, 5)], [1], {"alpha": 0.5}),
    ("general product", MS + "FusedGemm", [floats(3, 2, 4), floats(4, 5), floats(5)], [0],
     {"activation": "Relu"}),
    ("4 bits", MS + "MatMulNBits", [floats(3, 2, 32), BYTES, floats(5, 1)], [0],
     {"constants": (1, 2), "K": 32, "N": 5, "bits": 4, "block_size": 32}),
    ("rotation", MS + "RotaryEmbedding",
     [QUERY, DRAW.integers(0, 9, (3, 2, 4)), floats(9, 4), floats(9, 4)], [0, 1],
     {"num_heads": 2}),
    ("rotation by the same positions", MS + "RotaryEmbedding",
     [QUERY, DRAW.integers(0, 9, (2, 4)), floats(9, 4), floats(9, 4)], [0], {"num_heads": 2}),
    ("heads", MS + "MultiHeadAttention", [QUERY, floats(3, 2, 5, 16), floats(3, 2, 5, 16)],
     [0, 1, 2], {"num_heads": 2}),
    ("attention", MS + "Attention", [floats(3, 2, 4, 8), floats(8, 24), floats(24)], [0],
     {"num_heads": 2}),
    ("quantized sum", MS + "QLinearAdd",
     [SUMMAND, SCALE, ZERO, SUMMAND, SCALE, ZERO, SCALE, ZERO], [0, 3], {}),
    ("convolution", MS + "FusedConv", [floats(3, 2, 4, 5, 5), floats(6, 4, 3, 3)], [0],
     {"activation": "Relu"}),
    ("old normalization", "LayerNormalization", [floats(3, 2, 4), floats(4)], [0],
     {"opset": 13, "axis": -1}))  # fmt: skip
def test_an_operator_of_rows_stays_one_node(case, operator, operands, rows, settings):
    assert_one_node(operator, operands, rows, **settings)


@pytest.mark.parametrize("shape", [(3, 2, 8), (3, 2, 4, 8)])
def test_all_outputs_of_a_normalization_have_the_rows(shape):
    operator = MS + "SkipLayerNormalization"
    assert_one_node(operator, [floats(*shape), floats(*shape), floats(8)], [0, 1], "1001")
    assert_one_node(
        operator, [floats(*shape), floats(*shape), floats(8), floats(8)], [0, 1], "1111"
    )


def test_a_cache_of_grouped_attention_has_the_rows():
    new = [floats(3, 2, 1, 16), floats(3, 2, 1, 8), floats(3, 2, 1, 8)]
    caches = [floats(3, 2, 1, 5, 8), floats(3, 2, 1, 5, 8)]
    lengths = [np.full((3, 2), 5, np.int32), np.array(6, np.int32)]
    assert_one_node(
        MS + "GroupQueryAttention", [*new, *caches, *lengths], [0, 1, 2, 3, 4, 5], "111",
        num_heads=2, kv_num_heads=1, proved=False,
    )  # fmt: skip


@table(
    (MS + "BiasGelu", [floats(2, 4), floats(3, 4)], [1], {}),
    (MS + "FusedMatMul", [floats(3, 2, 4), floats(6, 4, 5)], [0], {}),
    (MS + "FusedMatMul", [floats(3, 2, 5, 4), floats(3, 5, 4, 2)], [0, 1], {"transBatchA": 1}),
    (MS + "FusedGemm", [floats(3, 4, 2), floats(4, 5)], [0], {"transA": 1, "activation": "Relu"}),
)
def test_the_definition_stands_in_where_rows_do_not_fit(operator, operands, rows, settings):
    model, feeds = scanning(operator, operands, rows, **settings)
    rewritten = sl.transform(model, verify=False).model
    assert not any(node.domain or node.op_type == "Scan" for node in rewritten.graph.node)
    assert_equal(run_kernel(model, feeds), run_kernel(rewritten, feeds))


def test_no_rows():
    operands = [QUERY, DRAW.integers(0, 9, (3, 2, 4)), floats(9, 4), floats(9, 4)]
    model, feeds = scanning(MS + "RotaryEmbedding", operands, [0, 1], num_heads=2)
    rewritten = sl.transform(model, verify=False).model
    feeds["x0"], feeds["x1"] = feeds["x0"][:0], feeds["x1"][:0]
    for each in (rewritten, sl.transform(rewritten, target="onnx", verify=False).model):
        (y,) = run_kernel(each, feeds)
        assert y.shape == (0, 2, 4, 16)
