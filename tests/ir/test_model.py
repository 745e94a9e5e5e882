import gc

import onnx
import pytest
from straightline import ir
from straightline.ir import Operator, normal_domain

TEXT = """<ir_version: 10, opset_import: ["ai.onnx": 21, "own": 3]>
main (bool c, float[3] x) => (float[3] y) {
    y = If (c) <
        then_branch = yes () => (float[3] p) { p = own.f(x) },
        else_branch = no () => (float[3] q) { q = Neg(x) } > }
<domain: "own", opset_import: ["": 20]> f (x) => (y) { y = Neg(x) }"""


def test_opsets_of_a_model_and_its_functions() -> None:
    model = ir.parse(TEXT)
    (function,) = model.functions.values()
    assert (model.opset(), model.opset("ai.onnx"), model.opset("own")) == (21, 21, 3)
    assert (function.opset(), function.opset("own")) == (20, 0)
    assert normal_domain("ai.onnx") == "" and normal_domain("own") == "own"


def test_every_graph_is_found_from_the_model_and_knows_its_root() -> None:
    model = ir.parse(TEXT)
    (function,) = model.functions.values()
    assert [graph.name for graph in model.graphs()] == ["main", "yes", "no", "f"]
    assert [graph.root for graph in model.graphs()] == [model, model, model, function]
    assert function.key == ("own", "f", "")
    assert [repr(root) for root in model.roots()] == ["model 'main'", "function 'own::f'"]


def test_a_change_anywhere_is_noticed() -> None:
    model = ir.parse(TEXT)
    ir.verify(model)
    ir.to_proto(model)
    assert model.is_as_loaded
    (function,) = model.functions.values()
    function.graph.add_node(Operator("Relu"), function.graph.inputs, ["r"])
    assert not model.is_as_loaded
    model = ir.parse(TEXT)
    (holder,) = model.graph.nodes()
    holder.body("else_branch").add_node(Operator("Relu"), [model.graph.inputs[1]], ["r"])
    assert not model.is_as_loaded


def test_a_model_takes_over_what_another_one_holds() -> None:
    model, other = ir.parse(TEXT), ir.parse(TEXT.replace("main", "second", 1))
    graph = other.graph
    model.become(other)
    ir.verify(model)
    assert model.graph is graph and graph.root is model
    assert model.is_as_loaded
    trained = ir.parse(TEXT)
    trained.training_info.append(onnx.TrainingInfoProto())
    with pytest.raises(ir.ModelError, match="training information"):
        model.become(trained)


def test_a_released_model_frees_its_nodes_without_a_collection() -> None:
    def count() -> int:
        return sum(isinstance(one, ir.Node | ir.Value) for one in gc.get_objects())

    gc.collect()
    gc.disable()
    try:
        before, model = count(), ir.parse(TEXT)
        model.graph.nodes()
        model.graph.nodes_of("If")  # caches
        assert count() > before
        model.release()
        assert count() == before and not len(model.graph)
    finally:
        gc.enable()
