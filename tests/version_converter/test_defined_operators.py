import numpy as np
import pytest
import straightline as sl
from straightline.version_converter.defined_operators import is_defined, rounds

OLD = """<ir_version: 8, opset_import: ["" : 11]> g (float[2, 4] x, float[4] s) => (float[2, 4] y) {
    t = SimplifiedLayerNormalization <axis = -1, epsilon = 0.001> (x, s)
    y = LayerNormalization <axis = -1, epsilon = 0.001> (t, s, s) }"""


@pytest.mark.parametrize("opset", [7, 13, 18, 23])
def test_files_of_onnxruntime_are_converted(opset):
    outcome = sl.transform(sl.ir.parse(OLD), (), opset=opset)
    model = outcome.ir
    assert outcome.verdict.proved and model.opset() == opset
    names = {node.op_type for node in model.graph.nodes()}
    assert "SimplifiedLayerNormalization" not in names
    assert ("LayerNormalization" in names) == (opset >= 17)
    assert ("RMSNormalization" in names) == (opset >= 23)


def test_outputs_that_nothing_reads_are_not_computed():
    text = OLD.replace("t = Simplified", "t, other = Simplified")
    model = sl.transform(sl.ir.parse(text), (), opset=17).ir
    assert "SimplifiedLayerNormalization" not in {node.op_type for node in model.graph.nodes()}


def test_they_are_valid_and_run_in_the_reference():
    model = sl.ir.parse(OLD)
    x, s = np.arange(8, dtype=np.float32).reshape(2, 4), np.ones(4, np.float32)
    (y,) = sl.reference.run(model, {"x": x, "s": s})
    assert abs(y.mean() - 1) < 1e-6
    assert sl.verify(model, model).proved


def test_nodes_are_told_apart():
    model = sl.ir.parse(OLD)
    assert all(is_defined(node) and rounds(node) for node in model.graph.nodes())
    other = sl.ir.parse(
        """<ir_version: 8, opset_import: ["" : 17, "a" : 1]> g (float[2] x) => (float y) {
        t = Relu (x) y = a.B (t) }"""
    )
    assert not any(is_defined(node) or rounds(node) for node in other.graph.nodes())


def test_a_node_that_no_definition_covers_is_refused_by_name():
    model = OLD.replace("<axis = -1, epsilon = 0.001> (x, s)", "<axes = 3> (x, s)")
    with pytest.raises(sl.ConversionError, match="attribute 'axes' is not in the definition"):
        sl.convert_version(sl.ir.parse(model), 13)
