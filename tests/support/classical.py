"""Models of one node of ai.onnx.ml, and what replaces it for a target without them."""

import numpy as np
import onnx
from harness import run_in_onnxruntime
from onnx import TensorProto, helper
from straightline import ir, transform

from targets import lacking, operators

NAMES = (
    *("ArrayFeatureExtractor", "Binarizer", "Imputer", "LabelEncoder", "LinearClassifier"),
    *("LinearRegressor", "Normalizer", "OneHotEncoder", "SVMClassifier", "SVMRegressor", "Scaler"),
    *("TreeEnsembleClassifier", "TreeEnsembleRegressor", "ZipMap"),
)
PLAIN = lacking(*(f"ai.onnx.ml.{name}" for name in NAMES), domains=frozenset({"ai.onnx.ml"}))
ROWS = np.array(
    [[1.5, -0.0, 3, -4], [np.nan, 2, -3, 0.25], [0, 0, 0, 0], [1, 1, 1, 1], [-2, 7, np.inf, 1]],
    np.float32,
)


def one_node(op_type, x, outputs=1, *, opset=17, version=3, shape=None, more=(), **attributes):
    """A model of one node, whose input 0 is like an array; its last output holds floats."""
    inputs = [("x", x, shape or [None, *x.shape[1:]]), *more]
    infos = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), dims)
        for name, array, dims in inputs
    ]
    names = [f"y{index}" for index in range(outputs)]
    node = helper.make_node(
        op_type, [info.name for info in infos], names, domain="ai.onnx.ml", **attributes
    )
    types = _types(node, infos[0].type.tensor_type.elem_type)
    rank = max(len(inputs[0][2]), 2 if op_type == "ArrayFeatureExtractor" else 0)
    ranks = [1, rank] if outputs > 1 else [rank + (op_type == "OneHotEncoder")]
    results = [
        helper.make_tensor_value_info(name, type_, [None] * rank)
        for name, type_, rank in zip(names, types, ranks, strict=True)
    ]
    graph = helper.make_graph([node], "g", infos, results)
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("ai.onnx.ml", version)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


def _types(node, elem_type):
    """The types of the outputs."""
    if node.op_type in ("Binarizer", "Imputer", "ArrayFeatureExtractor"):
        return [elem_type]
    names = {attribute.name for attribute in node.attribute}
    if node.op_type == "LabelEncoder":
        texts, floats = (f"values_{end}" in names for end in ("strings", "floats"))
        return [TensorProto.STRING if texts else TensorProto.FLOAT if floats else TensorProto.INT64]
    label = TensorProto.STRING if "classlabels_strings" in names else TensorProto.INT64
    return [label, TensorProto.FLOAT] if len(node.output) > 1 else [TensorProto.FLOAT]


def replaced(model, feeds):
    """The model for the target, compared with the original in onnxruntime."""
    outcome = transform(model, (), target=PLAIN, verify=False, hints=False)
    assert not outcome.untaken, outcome.untaken
    ir.verify(outcome.ir)
    onnx.checker.check_model(outcome.model, full_check=True)
    assert not any(name.startswith("ai.onnx.ml") for name in operators(outcome))
    expected = run_in_onnxruntime(model, feeds)
    for one, other in zip(run_in_onnxruntime(outcome.model, feeds), expected, strict=True):
        assert one.dtype == other.dtype and one.shape == other.shape
        if one.dtype == np.float32:
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
        else:
            assert (one == other).all()
    return outcome


def refused(model, reason):
    """Check that a node stays, for a reason."""
    outcome = transform(model, (), target=PLAIN, verify=False, hints=False)
    (remark,) = outcome.untaken
    assert reason in str(remark.reason), remark.reason
    assert len(outcome.model.graph.node) == 1
