import numpy as np
import onnx
import straightline as sl
from harness import run_in_onnxruntime
from onnx import TensorProto, helper


def model(used=False, labels=(7, 3)):
    """A classifier with its scores as maps."""
    attributes = {
        "coefficients": [1.0, 2, 3, 4],
        "intercepts": [0.0, 1],
        "post_transform": "SOFTMAX",
    }
    nodes = [
        helper.make_node(
            "LinearClassifier",
            ["x"],
            ["label", "scores"],
            domain="ai.onnx.ml",
            classlabels_ints=list(labels),
            **attributes,
        ),
        helper.make_node(
            "ZipMap", ["scores"], ["maps"], domain="ai.onnx.ml", classlabels_int64s=list(labels)
        ),
    ]
    kind = helper.make_map_type_proto(
        TensorProto.INT64, helper.make_tensor_type_proto(TensorProto.FLOAT, None)
    )
    maps = helper.make_value_info("maps", helper.make_sequence_type_proto(kind))
    outputs = [helper.make_tensor_value_info("label", TensorProto.INT64, [None]), maps]
    if used:
        nodes.append(helper.make_node("SequenceLength", ["maps"], ["n"]))
        outputs.append(helper.make_tensor_value_info("n", TensorProto.INT64, []))
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, 2])
    graph = helper.make_graph(nodes, "g", [x], outputs)
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


def test_an_output_holds_the_numbers_of_its_maps():
    outcome = sl.transform(model(), target="openvino")
    assert not outcome.untaken and outcome.changed and outcome.verdict.status != "different"
    assert [output.name for output in outcome.model.graph.output] == ["label", "maps"]
    (remark,) = (remark for remark in outcome.remarks if remark.op_type == "ZipMap")
    assert "in the order of the labels 7, 3" in remark.reason
    x = np.array([[1, 2], [3, -4], [0, 0]], np.float32)
    _, maps = run_in_onnxruntime(model(), {"x": x})
    _, scores = run_in_onnxruntime(outcome.model, {"x": x})
    np.testing.assert_allclose(scores, [[row[7], row[3]] for row in maps], rtol=1e-6)


def test_a_file_stays_one(tmp_path):
    file = tmp_path / "model.onnx"
    onnx.save(model(), file)
    outcome = sl.transform(file, target="onnx2torch", verify=True)
    assert not outcome.untaken and outcome.verdict.status == "equal"
    outcome.save(tmp_path / "other.onnx")


def test_a_target_with_maps_keeps_them():
    outcome = sl.transform(model(), target="onnxruntime", verify=False)
    assert "ZipMap" in {node.op_type for node in outcome.model.graph.node}


def test_a_rewrite_without_a_target_keeps_them():
    assert sl.rewrite(model()) == model()


def test_a_map_that_is_read_stays():
    outcome = sl.transform(model(used=True), target="openvino", verify=False, hints=False)
    assert "zipmap=False" in {remark.op_type: remark.reason for remark in outcome.untaken}["ZipMap"]
