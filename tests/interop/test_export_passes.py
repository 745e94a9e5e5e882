import subprocess
import sys

import numpy as np
import onnx
import onnx_ir
import pytest
import straightline as sl
from harness import as_model
from onnx_ir.passes import common
from straightline.interop import export_passes
from wrong_passes import Negating


@pytest.fixture
def proto():
    text = """g (float[600] x, int64 n) => (float[600] y) {
        i = Identity (x)
        h = Loop (n, , i) <body = b (int64 k, bool g, float[600] a) => (bool d, float[600] e) {
            d = Identity (g)
            e = Add (a, w) }>
        y = Relu (h) }"""
    model = as_model(text)
    weights = np.arange(600, dtype=np.float32)
    model.graph.initializer.append(onnx.numpy_helper.from_array(weights, "w"))
    return model


@pytest.fixture
def model(proto):
    return onnx_ir.from_proto(proto)


def ops(model):
    return [node.op_type for node in model.graph]


def test_pipelines_in_a_sequence_beside_foreign_passes(model, proto):
    theirs = onnx_ir.passes.Sequential(
        common.IdentityEliminationPass(),
        export_passes.as_onnx_ir_pass("unroll-loops", values={"n": 2}),
        common.RemoveUnusedNodesPass(),
    )
    assert theirs.in_place
    result = theirs(model)
    assert result.modified and result.model is model
    assert ops(model) == ["Add", "Add", "Relu"]
    bound = {"n": np.int64(2)}
    assert sl.verify(proto, onnx_ir.to_proto(model), bound=bound).proved
    assert sl.verify(proto, model, bound=bound, prove=False, samples=1).equal


def test_the_contract_of_a_pass_in_place(model):
    step = export_passes.as_onnx_ir_pass(values={"n": 3})
    assert isinstance(step, onnx_ir.passes.InPlacePass)
    assert step.in_place and step.changes_input and not step.destructive
    weights = model.graph.initializers["w"].const_value
    model.metadata_props["author"] = "me"
    model.doc_string = "mine"
    assert step(model).model is model
    assert model.graph.initializers["w"].const_value is weights
    assert (model.metadata_props, model.doc_string) == ({"author": "me"}, "mine")
    assert [value.name for value in model.graph.inputs] == ["x"]
    assert [value.name for value in model.graph.outputs] == ["y"]
    assert [remark.op_type for remark in step.remarks if remark.action == "rewritten"] == ["Loop"]


def test_a_functional_form_leaves_the_original(model):
    made = onnx_ir.passes.functionalize(export_passes.as_onnx_ir_pass(values={"n": 1}))(model)
    assert made.model is not model
    assert "Loop" in ops(model) and "Loop" not in ops(made.model)


def test_nothing_to_do_leaves_every_object(model):
    graph, nodes = model.graph, [*model.graph]
    assert not export_passes.as_onnx_ir_pass("inline-ifs")(model).modified
    assert model.graph is graph and [*graph] == nodes


def test_a_model_that_does_not_fit_is_as_it_was(model):
    graph = model.graph
    with pytest.raises(sl.BindingError):
        export_passes.as_onnx_ir_pass(values={"q": 1})(model)
    with pytest.raises(onnx_ir.passes.PassError) as caught:
        onnx_ir.passes.Sequential(export_passes.as_onnx_ir_pass(values={"q": 1}))(model)
    assert isinstance(caught.value.__cause__, sl.BindingError)
    assert model.graph is graph and "Loop" in ops(model)
    with pytest.raises(sl.PassOptionError):
        export_passes.as_onnx_ir_pass("no-such-pass")


def test_verification_before_any_change(model):
    graph = model.graph
    with pytest.raises(sl.MismatchError):
        export_passes.as_onnx_ir_pass([Negating()], verify=True)(model)
    assert model.graph is graph and ops(model)[-1] == "Relu"
    assert export_passes.as_onnx_ir_pass(values={"n": 2}, verify=True)(model).modified


def test_passes_that_try_copies_can_read_the_weights(model):
    result = export_passes.as_onnx_ir_pass("accelerate", values={"n": 4})(model)
    assert result.modified and "Loop" not in ops(model)


def test_repr_names_the_passes():
    assert repr(export_passes.as_onnx_ir_pass("inline-ifs")) == "StraightlinePass(inline-ifs)"


def test_onnxscript_is_loaded_only_when_it_is_asked_for():
    program = "import sys; from straightline import interop; assert 'onnxscript' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)
