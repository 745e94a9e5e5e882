import onnx
import straightline as sl
from harness import as_model
from straightline import ir
from straightline.passes import FreezeInitializers, Pipeline

TEXT = """g (float[2] x) => (float[2] y) <bool t = {1}> {
   y = If (t) <then_branch = p () => (float[2] r) { r = Neg (x) },
               else_branch = q () => (float[2] s) { s = Abs (x) }> }"""


def trained():
    model = as_model(TEXT)
    info = model.training_info.add()
    info.algorithm.node.append(onnx.helper.make_node("Not", ["t"], ["t_new"]))
    info.update_binding.add(key="t", value="t_new")
    return model


def test_trained_initializers_are_no_constants():
    result = sl.passes.straighten().run(trained())
    (remark,) = result.kept
    assert remark.reason == "its condition depends on 't', an initializer that training updates"
    assert result.model == trained()
    ir.verify(ir.load(trained()))


def test_without_training_information_it_is():
    result = sl.passes.straighten().run(as_model(TEXT))
    assert [node.op_type for node in result.model.graph.node] == ["Neg"]


def test_trained_initializers_are_not_frozen():
    model = trained()
    model.graph.input.append(onnx.helper.make_tensor_value_info("t", onnx.TensorProto.BOOL, []))
    assert not Pipeline([FreezeInitializers()]).run(model).changed
