"""Models that import ai.onnx.ml alone get the import of ONNX with the first node of it."""

import numpy as np
import onnx
import pytest
import straightline as sl
from harness import check_model
from onnx import TensorProto, helper
from straightline import ir
from straightline.passes.utils.onnx_import import fitting_opset, onnx_import

from targets import lacking

X = np.arange(6, dtype=np.float32).reshape(3, 2)


def classifier(ir_version=3, ml_version=1):
    attributes = {
        "classlabels_ints": [0, 1, 2],
        "coefficients": [1.0, 2, 3, 4, 5, 6],
        "intercepts": [0.1, 0.2, 0.3],
        "post_transform": "SOFTMAX",
        "multi_class": 1,
    }
    node = helper.make_node(
        "LinearClassifier", ["x"], ["l", "s"], domain="ai.onnx.ml", **attributes
    )
    outputs = [
        helper.make_tensor_value_info("l", TensorProto.INT64, [3]),
        helper.make_tensor_value_info("s", TensorProto.FLOAT, [3, 3]),
    ]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [3, 2])]
    graph = helper.make_graph([node], "g", inputs, outputs)
    imports = [helper.make_opsetid("ai.onnx.ml", ml_version)]
    return helper.make_model(graph, opset_imports=imports, ir_version=ir_version)


@pytest.mark.parametrize(
    ("ir_version", "ml_version", "opset"), [(3, 1, 8), (8, 3, 18), (10, 5, 22)]
)
def test_the_import_fits_the_file_and_ml(ir_version, ml_version, opset):
    assert fitting_opset(ir_version, ml_version) == opset
    model = ir.load(classifier(ir_version, ml_version))
    with onnx_import(model):
        assert model.opset() == opset
    assert model.opset() == 0


def test_unknown_pairs_of_versions_fall_back_to_the_file():
    assert fitting_opset(3, 5) == 8
    assert fitting_opset(2) == 7


@pytest.mark.parametrize("target", ["openvino", "tvm", "onnx2torch"])
def test_what_a_target_lacks_is_replaced_with_the_import(target):
    outcome = sl.transform(classifier(), target=target, verify=True)
    check_model(outcome.model)
    assert not outcome.untaken and outcome.verdict.equal
    assert {entry.domain: entry.version for entry in outcome.model.opset_import}[""] >= 7


def test_what_needs_no_node_of_onnx_keeps_its_imports():
    model = classifier()
    outcome = sl.transform(model, target=lacking("Loop"), verify=True)
    assert outcome.model.opset_import == model.opset_import
    assert sl.rewrite(model, "simplify").opset_import == model.opset_import


FUNCTION = """<ir_version: 8, opset_import: ["" : 17, "own" : 1]>
g (int64[3] x) => (string[3] y, float[2] z) <float[2] w = {1, -1}> {
    y = own.words (x)
    z = Neg (w)
}
<domain: "own", opset_import: ["ai.onnx.ml" : 3]>
words (a) => (b) {
    c = ai.onnx.ml.LabelEncoder <keys_int64s = [1, 2], values_strings = ["a", "b"]> (a)
    b = ai.onnx.ml.LabelEncoder <keys_strings = ["a", "b"], values_strings = ["c", "d"]> (c)
}"""


def test_functions_get_the_import_of_their_model():
    model = ir.load(onnx.parser.parse_model(FUNCTION))
    (function,) = model.functions.values()
    with onnx_import(model):
        assert function.opset() == 17
    assert function.opset() == 0


def test_a_custom_domain_alone_is_left_alone():
    head = '<ir_version: 8, opset_import: ["own" : 1]> '
    text = head + "g (float[2] x) => (float[2] y) { y = own.F (x) }"
    model = onnx.parser.parse_model(text)
    assert sl.rewrite(model, verify=False) == model
