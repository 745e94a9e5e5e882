from collections.abc import Callable

import numpy as np
import onnx
import onnx.backend.test.loader
import pytest
from depth import examples, some
from hypothesis import HealthCheck, given, settings
from onnx import AttributeProto, TensorProto, helper, numpy_helper
from straightline import ir
from straightline.ir import Model, Operator, Tensor
from strategies import models

MATRIX = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])


def saved(model: onnx.ModelProto) -> onnx.ModelProto:
    loaded = ir.load(model)
    ir.verify(loaded)
    return ir.to_proto(loaded)


def simple() -> onnx.ModelProto:
    return onnx.parser.parse_model("""<ir_version: 10, opset_import: ["": 21]>
        main (float[2, 3] x) => (float[2, 3] y) <float[3] b = {1, 2, 3}> {
            s = Add(x, b)
            y = Relu(s) }""")


def with_if() -> onnx.ModelProto:
    return onnx.parser.parse_model("""<ir_version: 10, opset_import: ["": 21]>
        main (bool c, float[3] x) => (float[3] y) {
            y = If (c) <
                then_branch = yes () => (float[3] p) <float[3] w = {1, 2, 3}> { p = Add(x, w) },
                else_branch = no () => (float[3] q) <float[3] w = {4, 5, 6}> { q = Mul(x, w) } >
        }""")


def with_function() -> onnx.ModelProto:
    return onnx.parser.parse_model("""<ir_version: 10, opset_import: ["": 21, "own": 1]>
        main (float[3] x) => (float[3] y) { y = own.scaled <alpha = 2.0> (x) }
        <domain: "own", opset_import: ["": 21]>
        scaled <alpha> (x) => (y) {
            a = Constant <value_float: float = @alpha> ()
            y = Mul(x, a) }""")


class TestLossless:
    @pytest.mark.filterwarnings("ignore::RuntimeWarning:onnx.backend")
    def test_backend_node_tests(self) -> None:
        cases = onnx.backend.test.loader.load_model_tests(kind="node")
        chosen = some(cases, 300)
        different = [case.name for case in chosen if saved(case.model) != case.model]
        assert len(cases) > 1500
        assert different == []

    @settings(max_examples=examples(25), deadline=None, suppress_health_check=list(HealthCheck))
    @given(models())
    def test_drawn_models(self, model: onnx.ModelProto) -> None:
        assert saved(model) == model

    @pytest.mark.parametrize("make", [simple, with_if, with_function])
    def test_ordinary_models(self, make: Callable[[], onnx.ModelProto]) -> None:
        assert saved(make()) == make()

    def test_loading_leaves_the_message_as_it_was(self) -> None:
        model = with_if()
        ir.to_text(ir.load(model))
        assert model == with_if()

    def test_header(self) -> None:
        model = simple()
        model.producer_name, model.producer_version = "someone", ""
        model.domain, model.model_version, model.doc_string = "org.own", 7, "of the model"
        model.metadata_props.add(key="author", value="me")
        assert saved(model) == model
        assert saved(model).HasField("producer_version")

    def test_graph_metadata_and_doc_strings(self) -> None:
        model = with_if()
        graphs = [model.graph, *(a.g for a in model.graph.node[0].attribute)]
        for index, graph in enumerate(graphs):
            graph.doc_string = f"graph {index}" if index else ""
            graph.metadata_props.add(key="level", value=str(index))
        assert saved(model) == model

    def test_node_metadata_and_doc_string(self) -> None:
        model = simple()
        model.graph.node[0].doc_string = "adds"
        model.graph.node[1].metadata_props.add(key="namespace", value="a/b")
        assert saved(model) == model

    def test_value_info_metadata(self) -> None:
        model = simple()
        info = model.graph.value_info.add()
        info.CopyFrom(helper.make_tensor_value_info("s", TensorProto.FLOAT, ["N", 3], "the sum"))
        for declared in (info, model.graph.input[0], model.graph.output[0]):
            declared.metadata_props.add(key="layout", value="NC")
        assert saved(model) == model

    def test_function_metadata(self) -> None:
        model = with_function()
        function = model.functions[0]
        function.doc_string = "scales"
        function.metadata_props.add(key="from", value="module")
        function.node[0].metadata_props.add(key="line", value="3")
        function.attribute_proto.append(helper.make_attribute("beta", 0.5))
        function.value_info.append(helper.make_tensor_value_info("a", TensorProto.FLOAT, []))
        function.value_info.append(helper.make_tensor_value_info("x", TensorProto.FLOAT, [3]))
        assert saved(model) == model

    def test_overloads(self) -> None:
        model = with_function()
        other = model.functions.add()
        other.CopyFrom(model.functions[0])
        other.overload = "second"
        other.node[1].op_type = "Add"
        call = model.graph.node.add()
        call.CopyFrom(model.graph.node[0])
        call.overload = "second"
        call.output[0] = "z"
        model.graph.output.append(helper.make_tensor_value_info("z", TensorProto.FLOAT, [3]))
        assert saved(model) == model
        assert len(ir.load(model).functions) == 2

    def test_quantization_annotation(self) -> None:
        model = simple()
        model.graph.initializer.append(numpy_helper.from_array(np.float32(0.5), "s_scale"))
        annotation = model.graph.quantization_annotation.add(tensor_name="s")
        annotation.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="s_scale")
        annotation.quant_parameter_tensor_names.add(key="ZERO_POINT_TENSOR", value="nowhere")
        model.graph.quantization_annotation.add(tensor_name="long gone")
        assert saved(model) == model

    def test_sparse_initializers(self) -> None:
        model = simple()
        values = helper.make_tensor("b", TensorProto.FLOAT, [1], [2.0])
        indices = helper.make_tensor("", TensorProto.INT64, [1], [1])
        del model.graph.initializer[:]
        model.graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, [3]))
        assert saved(model) == model
        (tensor,) = ir.load(model).graph.initializers.values()
        assert tensor.numpy().tolist() == [0, 2, 0]

    def test_training_info(self) -> None:
        model = simple()
        info = model.training_info.add()
        info.algorithm.CopyFrom(
            helper.make_graph(
                [helper.make_node("Add", ["b", "s"], ["b_new"])],
                "step",
                [],
                [helper.make_tensor_value_info("b_new", TensorProto.FLOAT, [2, 3])],
            )
        )
        info.update_binding.add(key="b", value="b_new")
        assert saved(model) == model
        graph = ir.load(model).graph
        assert all(v.pinned for v in graph.initializers)
        assert graph.nodes()[0].output().pinned, "only the training graph's nodes name it"

    def test_order_of_value_info_with_entries_for_nothing(self) -> None:
        model = simple()
        for name in ("ghost", "s", "y", "b", "s", "x"):
            model.graph.value_info.append(helper.make_tensor_value_info(name, 1, [2, 3]))
        assert saved(model) == model

    def test_device_configurations(self) -> None:
        assert saved(sharded()) == sharded()

    def test_empty_optional_fields_that_are_written_out(self) -> None:
        model = with_if()
        node = model.graph.node[0]
        node.name = node.domain = node.overload = node.doc_string = ""
        node.attribute[0].g.node[0].domain = ""
        node.attribute[0].doc_string = ""
        node.attribute[0].ref_attr_name = ""
        model.graph.name = ""
        result = saved(model)
        assert result == model
        assert result.graph.node[0].HasField("overload")

    def test_opset_entries_as_they_were_written(self) -> None:
        model = simple()
        del model.opset_import[:]
        model.opset_import.add(version=21)
        model.opset_import.add(domain="own", version=0)
        model.opset_import.add(domain="ai.onnx", version=21)
        model.opset_import.add(version=21)
        assert saved(model) == model
        assert not saved(model).opset_import[0].HasField("domain")

    def test_attributes_of_graphs_and_other_domains(self) -> None:
        branch = with_if().graph.node[0].attribute[0].g
        node = helper.make_node("Choose", ["", "x", ""], ["", "y"], domain="own", limit=3)
        node.attribute.append(helper.make_attribute("cases", [branch, branch]))
        node.attribute.append(helper.make_attribute("other", branch))
        node.attribute.append(helper.make_attribute("none", [], attr_type=AttributeProto.GRAPHS))
        output = helper.make_tensor_value_info("y", TensorProto.FLOAT, [3])
        graph = helper.make_graph([node], "g", [MATRIX], [output])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("own", 1)])
        branch_op = model.opset_import.add(domain="", version=21)
        assert saved(model) == model, branch_op
        (loaded,) = ir.load(model).graph.nodes()
        assert [len(graphs) for graphs in loaded.bodies.values()] == [2, 1]
        assert loaded.inputs[0] is None and loaded.outputs[0] is None

    def test_overridable_initializers(self) -> None:
        model = simple()
        model.graph.input.append(helper.make_tensor_value_info("b", TensorProto.FLOAT, [3]))
        assert saved(model) == model
        assert [v.constant for v in ir.load(model).graph.initializers] == [None]

    def test_outputs_that_repeat_or_pass_through(self) -> None:
        model = simple()
        for name in ("y", "x", "b"):
            model.graph.output.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, None))
        assert saved(model) == model

    def test_names_that_hide_others(self) -> None:
        model = with_if()
        for attribute in model.graph.node[0].attribute:
            attribute.g.initializer[0].name = "x"
            attribute.g.node[0].input[:] = ["x", "x"]
        assert saved(model) == model

    def test_initializers_of_a_branch_in_a_function(self) -> None:
        model = with_function()
        node = helper.make_node("If", ["c"], ["u"])
        node.attribute.extend(with_if().graph.node[0].attribute)
        model.functions[0].input.append("c")
        model.functions[0].node.append(node)
        model.graph.node[0].input.append("c")
        model.graph.input.append(helper.make_tensor_value_info("c", TensorProto.BOOL, []))
        assert saved(model) == model


def sharded() -> onnx.ModelProto:
    model = simple()
    model.ir_version = 11
    model.configuration.add(name="pair", num_devices=2, device=["cpu:0", "cpu:1"])
    node = model.graph.node[0]
    placed = node.device_configurations.add(configuration_id="pair", pipeline_stage=1)
    for name in ("x", "s"):
        spec = placed.sharding_spec.add(tensor_name=name, device=[0, 1])
        spec.sharded_dim.add(axis=0).simple_sharding.add(dim_value=2, num_shards=2)
    return model


class TestChangedModels:
    def test_sharding_follows_renamed_tensors(self) -> None:
        model = ir.load(sharded())
        graph = model.graph
        add, relu = graph.nodes()
        copy = graph.add_node(add.op, [relu.output(), add.inputs[1]], ["s"])
        graph.set_outputs([copy.output()])
        graph.set_outputs([graph.add_node(Operator("Relu"), [copy.output()], ["t"]).output()])
        node = ir.to_proto(model).graph.node[2]
        names = [s.tensor_name for s in node.device_configurations[0].sharding_spec]
        assert names == [node.input[0], node.output[0]]
        assert node.output[0] != "s"

    def test_annotation_follows_a_renamed_value(self) -> None:
        model = simple()
        model.graph.quantization_annotation.add(tensor_name="s")
        loaded = ir.load(model)
        loaded.graph.nodes()[0].output().name = "renamed"
        assert ir.to_proto(loaded).graph.quantization_annotation[0].tensor_name == "renamed"

    def test_explicit_empty_name_gives_way_to_a_new_one(self) -> None:
        model = simple()
        model.graph.node[0].name = ""
        loaded = ir.load(model)
        loaded.graph.nodes()[0].name = "sum"
        assert ir.to_proto(loaded).graph.node[0].name == "sum"

    def test_changed_opset_imports(self) -> None:
        model = simple()
        model.opset_import.add(domain="gone", version=1)
        loaded = ir.load(model)
        loaded.opset_imports = {"": 20, "own": 3}
        written = [(o.domain, o.version) for o in ir.to_proto(loaded).opset_import]
        assert written == [("", 20), ("own", 3)]

    def test_new_constants_are_initializers(self) -> None:
        proto = with_new_constant(ir.load(simple()))
        assert [t.name for t in proto.graph.initializer] == ["b", "k"]

    def test_below_ir_version_4_they_are_constant_nodes(self) -> None:
        model = simple()
        model.ir_version = 3
        model.opset_import[0].version = 8
        model.graph.input.append(helper.make_tensor_value_info("b", TensorProto.FLOAT, [3]))
        proto = with_new_constant(ir.load(model))
        assert [t.name for t in proto.graph.initializer] == ["b"]
        assert [n.op_type for n in proto.graph.node] == ["Constant", "Add", "Relu"]
        onnx.checker.check_model(proto, full_check=True)

    def test_in_a_function_they_are_constant_nodes(self) -> None:
        model = ir.load(with_function())
        (function,) = model.functions.values()
        constant = function.graph.add_initializer("k", Tensor(array=np.float32(3)))
        function.graph.set_input(function.graph.nodes()[1], 1, constant)
        proto = ir.to_proto(model)
        assert [n.op_type for n in proto.functions[0].node] == ["Constant", "Constant", "Mul"]
        onnx.checker.check_model(proto, full_check=True)

    def test_a_cycle_is_refused(self) -> None:
        model = ir.load(simple())
        add, relu = model.graph.nodes()
        model.graph.set_input(add, 0, relu.output())
        with pytest.raises(ir.ModelError, match="cycle"):
            ir.to_proto(model)


def with_new_constant(model: Model) -> onnx.ModelProto:
    graph = model.graph
    constant = graph.add_initializer("k", Tensor(array=np.ones(3, np.float32)))
    graph.set_input(graph.nodes()[0], 1, constant)
    ir.verify(model)
    return ir.to_proto(model)
