"""What a Scan of any version says, and what takes the place of its outputs."""

import onnx
import pytest
from straightline import ir
from straightline.passes.iteration.loop_view import (
    add_holder,
    copy_body,
    declaration,
    map_unique,
    output_labels,
    read_scan,
    row_type,
    unreadable,
)
from straightline.passes.utils.replace_all_uses import replace_outputs
from tables import table

BODY = (
    "body = b (float[2] a, float[2] e) => (float[2] a2, float[2] r) { a2 = Add (a, e) r = Neg (e) }"
)


def scan_of(version=11, attributes="num_scan_inputs = 1", inputs="(s, x)", outputs="y, z", more=""):
    lens = ", int64[B] n" if version == 8 else ""
    text = f"""<ir_version: 8, opset_import: ["" : {version}]>
        g (float[B,2] s, float[B,L,2] x{lens}) => ({more or "y"}) {{
        {outputs} = Scan <{attributes}, {BODY}> {inputs} }}"""
    model = ir.load(onnx.parser.parse_model(text))
    return model, next(node for node in model.graph.nodes() if node.is_op("Scan"))


def names(values):
    return [None if value is None else value.name for value in values]


def test_absent_attributes_are_zero():
    _, node = scan_of()
    found = read_scan(node, 11)
    assert (names(found.states), names(found.scan_inputs)) == (["s"], ["x"])
    assert (found.input_axes, found.input_backward) == ((0,), (False,))
    assert (found.output_axes, found.output_backward) == ((0,), (False,))
    assert (names(found.final_states), names(found.scan_outputs)) == (["y"], ["z"])
    assert found.sequence_lens is None and found.body is node.body("body")


def test_version_9_and_later():
    said = """num_scan_inputs = 1, scan_input_axes = [-2], scan_input_directions = [1],
        scan_output_axes = [1], scan_output_directions = [1]"""
    found = read_scan(scan_of(attributes=said)[1], 11)
    assert (found.input_axes, found.input_backward) == ((-2,), (True,))
    assert (found.output_axes, found.output_backward) == ((1,), (True,))


@pytest.mark.parametrize(("inputs", "lens"), [("(n, s, x)", "n"), ("(, s, x)", None)])
def test_version_8(inputs, lens):
    found = read_scan(scan_of(8, "num_scan_inputs = 1, directions = [1]", inputs)[1], 8)
    assert names([found.sequence_lens]) == [lens]
    assert (names(found.states), names(found.scan_inputs)) == (["s"], ["x"])
    assert (found.input_axes, found.input_backward) == ((0,), (True,))
    assert (found.output_axes, found.output_backward) == ((0,), (False,))


def test_an_omitted_output():
    found = read_scan(scan_of(outputs=", z", more="z")[1], 11)
    assert (names(found.final_states), names(found.scan_outputs)) == ([None], ["z"])


def test_unreadable_scans():
    _, node = scan_of()
    assert unreadable(node, 11) is None
    op = node.op
    reference = onnx.AttributeProto(
        name="num_scan_inputs", ref_attr_name="n", type=onnx.AttributeProto.INT
    )
    node.graph.set_operator(node, op.with_attributes([*op.attributes.values(), reference]))
    assert "its attribute 'num_scan_inputs' comes from the function around it" in unreadable(
        node, 11
    )


def test_a_new_holder_with_the_same_body():
    model, node = scan_of()
    made = add_holder(
        model.graph, node.op, {"num_scan_inputs": 1}, ["body"], node.inputs, ["p", "q"], "new"
    )
    copy_body(node, made)
    ir.verify(model)
    assert [n.op_type for n in made.body("body").nodes()] == ["Add", "Neg"]
    assert made.body("body") is not node.body("body")
    assert (made.attribute("num_scan_inputs"), made.name) == (1, "new")


def test_results_in_the_place_of_outputs():
    model, node = scan_of(more="y, z")
    graph = model.graph
    new = graph.add_node(ir.Operator("Identity"), [graph.inputs[0]], ["kept"]).output()
    row = graph.add_node(ir.Operator("Neg"), [graph.inputs[1]], ["row"]).output()
    assert output_labels(node, "_new") == ["y_new", "z_new"]
    replace_outputs(graph, node, [new, row])
    ir.verify(model)
    assert {n.op_type for n in graph.nodes()} == {"Identity", "Neg"}
    assert list(graph.outputs) == [new, row]


def test_an_output_that_nothing_uses_needs_no_result():
    model, node = scan_of()
    result = model.graph.add_node(ir.Operator("Neg"), [model.graph.inputs[0]], ["r"]).output()
    replace_outputs(model.graph, node, [result, None])
    ir.verify(model)
    assert [n.op_type for n in model.graph.nodes()] == ["Neg"]


def test_each_is_made_once():
    model, _ = scan_of()
    s, x = model.graph.inputs
    made = []
    found = map_unique([s, x, s], lambda value: made.append(value) or value)
    assert (made, found) == ([s, x], [s, x, s])


@table((0, [2]), (1, ["L", 2]))
def test_the_type_of_a_row(index, dims):
    model, _ = scan_of()
    declared = declaration("row", row_type(model.graph.inputs[index]))
    shape = declared.type.tensor_type.shape.dim
    assert [dim.dim_param or dim.dim_value for dim in shape] == dims
    assert declared.name == "row"


def test_a_row_of_unknown_type():
    assert row_type(None) is None
    assert not declaration("row", None).HasField("type")
