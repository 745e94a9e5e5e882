import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator
from straightline.definitions.case import Signature
from straightline.definitions.of_onnx import function_of
from straightline.ir import MAX_OPSET, Operator

FLOAT = onnx.TensorProto.FLOAT
NODES = {
    "Gelu": ({"approximate": "none"}, [(2, 3)]),
    "Gelu tanh": ({"approximate": "tanh"}, [(2, 3)]),
    "Mish": ({}, [(2, 3)]),
    "Gemm": ({"alpha": 1.0, "beta": 1.0, "transA": 0, "transB": 1}, [(2, 3), (4, 3)]),
    "Gemm with a bias": (
        {"alpha": 1.0, "beta": 1.0, "transA": 1, "transB": 0},
        [(3, 2), (3, 4), (4,)],
    ),
    "LayerNormalization": ({"axis": -1, "epsilon": 0.5, "stash_type": 1}, [(2, 3), (3,), (3,)]),
    "LayerNormalization of all": ({"axis": 0, "epsilon": 0.5, "stash_type": 1}, [(2, 3), (2, 3)]),
    "RMSNormalization": ({"axis": 1, "epsilon": 0.5, "stash_type": 1}, [(2, 3), (3,)]),
    "Attention": ({"q_num_heads": 2, "kv_num_heads": 2}, [(1, 3, 4), (1, 5, 4), (1, 5, 6)]),
    "Attention with a mask": (
        {"q_num_heads": 2, "kv_num_heads": 2, "scale": 0.25},
        [(1, 3, 4), (1, 5, 4), (1, 5, 6), (3, 5)],
    ),
}
OTHERS = {
    "Gemm": ({"alpha": 2.0, "beta": 1.0, "transA": 0, "transB": 0}, [(2, 3), (3, 4)]),
    "LayerNormalization": ({"axis": 2, "epsilon": 0.5, "stash_type": 1}, [(2, 3), (3,)]),
    "Attention": ({"q_num_heads": 2, "kv_num_heads": 1}, [(1, 3, 4), (1, 5, 2), (1, 5, 2)]),
    "Attention with a cap": (
        {"q_num_heads": 2, "kv_num_heads": 2, "softcap": 2.0},
        [(1, 3, 4), (1, 5, 4), (1, 5, 6)],
    ),
    "Relu": ({}, [(2, 3)]),
}


def function(name, attributes, shapes, elem_type=FLOAT):
    messages = {key: onnx.helper.make_attribute(key, value) for key, value in attributes.items()}
    operator = Operator(name.split(" ")[0], messages)
    kinds = [elem_type] * len(shapes)
    return function_of(Signature(operator, kinds, [*map(list, shapes)], [True]))


def run(node, shapes, feeds, functions=()):
    inputs = [
        onnx.helper.make_tensor_value_info(n, FLOAT, s) for n, s in zip(feeds, shapes, strict=True)
    ]
    graph = onnx.helper.make_graph([node], "g", inputs, [onnx.ValueInfoProto(name="out")])
    opsets = [onnx.helper.make_opsetid("", MAX_OPSET), onnx.helper.make_opsetid("local", 1)]
    proto = onnx.helper.make_model(graph, opset_imports=opsets, functions=functions)
    return ReferenceEvaluator(proto).run(None, feeds)[0]


@pytest.mark.parametrize("name", NODES)
def test_a_function_computes_the_operator(name):
    attributes, shapes = NODES[name]
    dice = np.random.default_rng(3)
    feeds = {f"i{k}": dice.normal(size=s).astype(np.float32) for k, s in enumerate(shapes)}
    expected = run(
        onnx.helper.make_node(name.split(" ")[0], [*feeds], ["out"], **attributes), shapes, feeds
    )
    proto = function(name, attributes, shapes)
    del proto.input[len(shapes) :]
    call = onnx.helper.make_node(proto.name, [*feeds], ["out"], domain=proto.domain)
    np.testing.assert_allclose(run(call, shapes, feeds, [proto]), expected, atol=1e-5)


@pytest.mark.parametrize("name", OTHERS)
def test_another_form_has_no_function(name):
    assert function(name, *OTHERS[name]) is None


def test_half_precision_is_computed_in_another_type():
    attributes, shapes = NODES["LayerNormalization"]
    assert function("LayerNormalization", attributes, shapes, onnx.TensorProto.FLOAT16) is None
