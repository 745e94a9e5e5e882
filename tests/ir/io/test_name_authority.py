import numpy as np
import onnx
from onnx import helper
from straightline import ir
from straightline.ir import Operator, Tensor, Value
from straightline.ir.io.name_authority import assign_names
from tables import table

RELU = Operator("Relu")
TWO = """<ir_version: 10, opset_import: ["": 21]>
main (bool c, float[3] x) => (float[3] y) <float[3] w = {1, 2, 3}> {
    h = Add(x, w)
    y = If (c) <
        then_branch = yes () => (float[3] t) { u = Relu(h) t = Relu(u) },
        else_branch = no () => (float[3] t) { u = Neg(h) t = Neg(u) } > }"""


def written(model: ir.Model) -> onnx.ModelProto:
    proto = ir.to_proto(model)
    onnx.checker.check_model(proto, full_check=True)
    assert ir.to_proto(ir.load(proto)) == proto
    return proto


def test_labels_that_are_free_are_kept_and_others_numbered() -> None:
    model = ir.parse(TWO)
    graph = model.graph
    last = graph.inputs[1]
    for _ in range(3):
        last = graph.add_node(RELU, [last], ["h"]).output()
    graph.add_initializer("x", Tensor(array=np.ones(3, np.float32)))
    assert [n.output[0] for n in written(model).graph.node] == ["h", "y", "h_1", "h_2", "h_3"]
    assert [t.name for t in written(model).graph.initializer] == ["w", "x_1"]


def test_inputs_and_outputs_keep_their_names_whatever_the_labels() -> None:
    model = ir.parse(TWO)
    graph = model.graph
    second = graph.add_node(RELU, [graph.add_node(RELU, [graph.inputs[1]], ["y"]).output()], ["x"])
    graph.set_outputs([second.output()])
    proto = written(model)
    assert [v.name for v in proto.graph.input] == ["c", "x"]
    assert [v.name for v in proto.graph.output] == ["y"]


def test_an_unchanged_model_keeps_names_that_stand_twice() -> None:
    text = TWO.replace("(float[3] y) <", "(float[3] z) <")
    text = text.replace("} > }", "} > u = Neg(y) t = Abs(u) z = Abs(t) }")
    proto = onnx.parser.parse_model(text)
    assert ir.to_proto(ir.load(proto)) == proto
    model = ir.load(proto)
    model.graph.add_initializer("new", Tensor(array=np.ones(1)))
    names = assign_names(model).all()
    assert len(set(names)) == len(names) == 13


def test_the_inner_name_wins_and_a_changed_model_has_no_hidden_names() -> None:
    proto = onnx.parser.parse_model(TWO.replace("t = Relu(u)", "h2 = Relu(u) t = Relu(h2)"))
    branch = proto.graph.node[1].attribute[0].g
    branch.node[1].output[0] = branch.node[2].input[0] = "h"
    branch.node[0].input[0] = "x"
    model = ir.load(proto)
    assert ir.to_proto(model) == proto
    model.graph.add_initializer("new", Tensor(array=np.ones(1, np.float32)))
    inner = written(model).graph.node[1].attribute[0].g
    assert [n.output[0] for n in inner.node] == ["u", "h_1", "t"]
    assert inner.node[2].input[0] == "h_1"


def test_node_names_stand_once_in_a_changed_model() -> None:
    model = ir.parse(TWO)
    for _ in range(2):
        model.graph.add_node(RELU, [model.graph.inputs[1]], ["r"], name="relu")
    assert [n.name for n in written(model).graph.node] == ["", "", "relu", "relu_1"]


def test_new_values_avoid_every_name_around() -> None:
    model = ir.parse(TWO)
    model.graph.nodes()[1].body("then_branch").add_node(RELU, [model.graph.inputs[1]], ["y"])
    assert written(model).graph.node[1].attribute[0].g.node[-1].output[0] == "y_1"


def test_pinned_values_come_before_others() -> None:
    model = ir.parse(TWO)
    graph = model.graph
    pinned = graph.nodes()[0].output()
    pinned.pinned = True
    constant = graph.add_initializer("h", Tensor(array=np.ones(3, np.float32)))
    names = assign_names(model)
    assert (names[pinned], names[constant]) == ("h", "h_1")


def test_names_of_declarations_without_a_value_are_not_given_to_new_ones() -> None:
    proto = onnx.parser.parse_model(TWO)
    ghost = helper.make_tensor_value_info("ghost", onnx.TensorProto.INT64, [7])
    proto.graph.value_info.append(ghost)
    proto.graph.quantization_annotation.add(tensor_name="spirit")
    model = ir.load(proto)
    new: list[Value] = []
    for label in ("ghost", "spirit"):
        new.append(model.graph.add_node(RELU, [model.graph.inputs[1]], [label]).output())
    assert [assign_names(model)[v] for v in new] == ["ghost_1", "spirit_1"]
    assert written(model).graph.value_info[0] == ghost


def test_functions_are_named_apart() -> None:
    text = """<ir_version: 10, opset_import: ["": 21, "own": 1]>
    main (float[3] x) => (float[3] y) { h = own.f(x) y = Relu(h) }
    <domain: "own", opset_import: ["": 21]> f (x) => (y) { h = Relu(x) y = Abs(h) }"""
    model = ir.parse(text)
    (function,) = model.functions.values()
    graph = function.graph
    graph.set_outputs([graph.inputs[0]])
    proto = ir.to_proto(model)
    assert list(proto.functions[0].input) == ["x"]
    assert list(proto.functions[0].output) == ["y"]
    assert proto.functions[0].node[-1].op_type == "Identity"


def test_final_functions_that_changed_before_are_named() -> None:
    """A value hoisted out of a function's body and its copy there may share a label."""
    model = ir.parse("""<ir_version: 8, opset_import: ["" : 17, "f" : 1]>
        g (float x, bool c) => (float y) { y = f.F (x, c) }
        <domain: "f", opset_import: ["" : 17]> F (x, c) => (y) { y = If (c) <then_branch = t ()
        => (u) { u = Neg (x) }, else_branch = e () => (v) { v = Abs (x) }> }""")
    (function,) = model.functions.values()
    (choice,) = function.graph.nodes()
    branch = choice.body("then_branch")
    hoisted = function.graph.add_node(Operator("Neg"), [function.graph.inputs[0]], ["u"]).output()
    copy = branch.add_node(Operator("Identity"), [hoisted], ["u"]).output()
    branch.set_outputs([copy])
    model.settled = True
    ir.load(ir.to_proto(model))


@table(
    ("Relu", "Relu_1"),
    ("/Relu/", "Relu_1"),
    ("_Relu", "Relu_1"),
    ("é.Relu", "Relu"),
    ("¿Relu", "Relu_1"),
    ("layer/Relu", "Relu"),
    ("Relu-1", "Relu"),
    ("Relux", "Relu"),
)
def test_nodes_without_a_name_avoid_all_spellings_of_others(name: str, second: str) -> None:
    """A client may keep letters, digits and underscores only."""
    text = '<ir_version: 8, opset_import: ["" : 17]> g (float x) => (float y) {'
    model = ir.parse(f"{text} a = Relu (x) b = Relu (a) c = Relu (b) y = Neg (c) }}")
    first, *others = model.graph.nodes()
    first.name = name
    assert ir.name_nodes(model) == 3
    expected = [second, "Relu_2"] if "1" in second + name else [second, "Relu_1"]
    assert [node.name for node in others] == [*expected, "Neg"]


def test_a_number_that_is_an_operator_too_names_one_node() -> None:
    text = """<ir_version: 8, opset_import: ["" : 17, "own" : 1]> g (float x) => (float y) {
        a = Add (x, x) b = Add (a, a) c = own.Add_1 (b) y = own.Add_1 (c) }"""
    model = ir.parse(text)
    assert ir.name_nodes(model) == 4
    names = [node.name for node in model.graph.nodes()]
    assert names[:3] == ["Add", "Add_1", "Add_1_1"] and len(set(names)) == 4
