import onnx
import pytest
from nested import MODEL, node, value
from onnx import TensorProto, helper
from straightline import ir
from straightline.ir import Annotation, Graph, Model, captured_by, copy_graph, count_nodes
from straightline.ir.copying import (
    Loosened,
    copy_annotations,
    copy_function,
    copy_model,
    dims_of,
    without_symbols,
)
from tables import table

SYMBOLIC = helper.make_tensor_type_proto(TensorProto.FLOAT, ["N", 3, None])


def copied(model: Model, loosened: Loosened | None = None) -> Model:
    if loosened is None:
        copy = copy_model(model)
        ir.verify(copy)
        return copy
    copy = Model(model.header)
    copy.opset_imports = dict(model.opset_imports)
    copy.graph.header = model.graph.header
    copy_graph(model.graph, copy.graph, {}, loosened)
    ir.verify(copy)
    return copy


def vertices(model: Model) -> set[object]:
    found: set[object] = set()
    for graph in model.graphs():
        found |= {graph, *graph.view()} - set(graph.captures())
    return found


@pytest.fixture
def model() -> Model:
    proto = ir.to_proto(ir.parse(MODEL))
    proto.graph.value_info.append(helper.make_value_info("a", SYMBOLIC))
    proto.graph.value_info.append(helper.make_value_info("nowhere", SYMBOLIC))
    message = proto.graph.quantization_annotation.add(tensor_name="a")
    message.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="w")
    message.quant_parameter_tensor_names.add(key="ZERO_POINT_TENSOR", value="unknown")
    return ir.load(proto)


def test_copies_are_written_the_same(model: Model) -> None:
    copy = copied(model)
    assert ir.to_proto(copy) == ir.to_proto(model)
    assert value(copy, "a").pinned and copy.graph.reserved == model.graph.reserved != set()


def test_copies_share_operators_and_constants_alone(model: Model) -> None:
    copy = copied(model)
    assert vertices(copy).isdisjoint(vertices(model))
    assert node(copy, "a").op is node(model, "a").op
    assert value(copy, "w").constant is value(model, "w").constant
    copy.graph.set_input(node(copy, "b"), 0, value(copy, "x"))
    assert node(model, "b").inputs == (value(model, "a"),)


def test_captured_values_become_what_they_are_mapped_to(model: Model) -> None:
    graph, branch = model.graph, node(model, "y").body("else_branch")
    b, x, w = (value(model, name) for name in "bxw")
    assert captured_by(node(model, "y"))[0] in graph.view()
    holder = graph.add_node(ir.Operator("Holder", domain="own"), [], ["h"])
    target = graph.add_body(holder, "body", onnx.GraphProto())
    copy_graph(branch, target, {b: w})
    assert target.nodes()[0].inputs == (w, x)
    assert set(target.captures()) == {w, x} == set(captured_by(holder))
    ir.verify(model)


def test_symbols_are_dropped_where_they_need_not_hold(model: Model) -> None:
    loose, plain = copied(model, Loosened()), copied(model)
    assert value(plain, "a").shape == ("N", 3, None)
    assert value(loose, "a").shape == (None, 3, None)
    assert value(model, "a").shape == ("N", 3, None)
    written = {info.name: info for info in ir.to_proto(loose).graph.value_info}
    assert [d.dim_param for d in dims_of(written["nowhere"].type)] == ["", "", ""]


@table(lambda t: t, helper.make_sequence_type_proto, helper.make_optional_type_proto)
def test_symbols_of_every_kind_of_type(wrap) -> None:  # type: ignore[no-untyped-def]
    info = helper.make_value_info("v", wrap(SYMBOLIC))
    loose = without_symbols(info)
    assert [d.dim_value for d in dims_of(loose.type)] == [0, 3, 0]
    assert not any(d.dim_param for d in dims_of(loose.type))
    assert any(d.dim_param for d in dims_of(info.type)), "the original stays"
    assert without_symbols(loose) is loose
    known = Loosened()
    assert known.of(info) is known.of(info) and known.of(info) == loose


def test_a_map_has_no_dimensions() -> None:
    assert list(dims_of(helper.make_map_type_proto(TensorProto.INT64, SYMBOLIC))) == []


def test_annotations_pin_what_they_now_speak_of(model: Model) -> None:
    copy = copied(ir.parse(MODEL))
    a, w = value(copy, "a"), value(copy, "w")
    old = Annotation(value(model, "a"), (("SCALE", value(model, "w")), ("OTHER", "text")))
    copy_annotations([old], copy.graph, {value(model, "a"): a, value(model, "w"): w})
    assert copy.graph.annotations == [Annotation(a, (("SCALE", w), ("OTHER", "text")))]
    assert a.pinned and w.pinned


def test_counting_and_what_a_plain_node_captures(model: Model) -> None:
    assert count_nodes(node(model, "a")) == 1 and captured_by(node(model, "a")) == []
    inside = sum(len(graph) for graph in model.graph.walk()) - len(model.graph)
    assert count_nodes(node(model, "y")) == 1 + inside == 5


def test_a_default_stays_the_default_of_its_input() -> None:
    model = ir.parse("""<ir_version: 10, opset_import: ["": 21]>
        main (float[1] x, float[1] d = {2}) => (float[1] y) { y = Add (x, d) }""")
    copy: Graph = copied(model).graph
    assert list(copy.initializers) == [copy.inputs[1]] and copy.inputs[1].constant is None


def test_a_function_of_its_own() -> None:
    given = ir.parse("""<ir_version: 8, opset_import: ["": 17, "local": 1]>
        g (float[2] x) => (float[2] y) { y = local.f <k = 2> (x) }
        <domain: "local", opset_import: ["": 16, "com.e": 3]> f <k> (a) => (b) { b = Neg (a) }""")
    (function,) = given.functions.values()
    copy = copy_function(function)
    assert copy.key == function.key and copy.opset_imports == {"": 16, "com.e": 3}
    assert [node.op for node in copy.graph.nodes()] == [n.op for n in function.graph.nodes()]
    copy.graph.set_outputs(copy.graph.inputs)
    assert [value.name for value in function.graph.outputs] == ["b"]


def test_a_model_with_functions_and_listed_constants_is_written_the_same() -> None:
    called = ir.parse("""<ir_version: 8, opset_import: ["": 17, "local": 1]>
        g (float[2] x) => (float[2] y) { y = local.f (x) }
        <domain: "local", opset_import: ["": 16]> f (a) => (b) { b = Neg (a) }""")
    old = onnx.parser.parse_model("""<ir_version: 3, opset_import: ["": 8]>
        g (float[2] x, bool c) => (float[2] y) {
          y = If (c) <then_branch = t () => (float[2] a) { a = Neg (x) },
            else_branch = e () => (float[2] b) <float[1] k = {1}> { b = Add (x, k) }> }""")
    body = old.graph.node[0].attribute[1].g
    body.input.append(helper.make_tensor_value_info("k", TensorProto.FLOAT, [1]))
    for given in (called, ir.load(old)):
        copy = copied(given)
        assert ir.to_proto(copy) == ir.to_proto(given)
        copy.graph.set_outputs(copy.graph.inputs[:1])
        copy.functions.clear()
        ir.verify(given)


def test_equal_labels_of_a_changed_model_are_written_as_different_names() -> None:
    model = ir.parse("""<ir_version: 8, opset_import: ["": 17]>
        g (float[2] x, bool c) => (float[2] y) { y = If (c) <
            then_branch = t () => (float[2] v) { w = Neg (x) v = Exp (w) },
            else_branch = e () => (float[2] u) { u = Neg (x) }> }""")
    branch = node(model, "y").body("then_branch")
    label, (neg, exp) = "v", branch.nodes()
    branch.set_input(exp, 0, model.graph.add_node(neg.op, neg.inputs, [label]).output())
    branch.remove(neg)
    copy = copied(model)
    assert not copy.is_as_loaded
    ir.verify(ir.load(copy))


def test_training_refers_to_the_values_of_its_model(model: Model) -> None:
    model.training_info.append(onnx.TrainingInfoProto())
    with pytest.raises(ir.ModelError, match="training information"):
        copy_model(model)
