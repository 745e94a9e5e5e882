import numpy as np
import onnx
import pytest
from conversions import model
from straightline import ir
from straightline.analysis.constants.folding import Folder
from straightline.version_converter.constants import Constants
from straightline.version_converter.errors import Refused
from straightline.version_converter.node_draft import NodeDraft
from straightline.version_converter.types import Types

BODY = "s = Constant <value_ints = [3, 2]> () y = Reshape <allowzero = 0> (x, s)"


def draft_of(body=BODY, op_type="Reshape", source=14, target=13, signature="float[2, 3] x"):
    """The draft of a model's only node of a type."""
    loaded = ir.load(model(body, source, signature))
    (node,) = [node for node in loaded.graph.nodes() if node.op_type == op_type]
    types = Types(loaded)
    return NodeDraft(node, source, target, types, Constants(types, Folder(loaded)))


def test_drafts_begin_as_the_node():
    draft = draft_of()
    assert draft.op_type == "Reshape" and list(draft.attributes) == ["allowzero"]
    assert draft.inputs == list(draft.node.inputs) and draft.added == []
    assert (
        not draft.is_upgrade
        and draft_of(source=13, target=14, body="y = Relu (x)", op_type="Relu").is_upgrade
    )
    assert draft.schema.since_version == 14


def test_absent_attributes_have_the_values_of_the_schema():
    draft = draft_of("y, i = TopK <k = 2> (x)", "TopK", 9, 10)
    assert draft.attribute("k") == 2 and draft.attribute("axis") == -1
    assert draft_of("y = Pad <pads = [0, 0, 0, 0]> (x)", "Pad", 10, 11).text("mode") == "constant"


def test_attributes_are_set_and_dropped_on_the_draft_only():
    draft = draft_of()
    draft.set("axes", [], onnx.AttributeProto.INTS)
    draft.drop("allowzero", "no_such_attribute")
    assert draft.attributes["axes"].type == onnx.AttributeProto.INTS
    assert list(draft.attributes) == ["axes"] and list(draft.node.op.attributes) == ["allowzero"]


def test_an_attribute_that_calls_give_is_refused():
    draft = draft_of()
    reference = onnx.AttributeProto(name="allowzero", ref_attr_name="zero", type=2)
    draft.attributes["allowzero"] = reference
    with pytest.raises(Refused, match="'allowzero' comes from the calls of the function"):
        draft.attribute("allowzero")


def test_inputs_are_filled_up_to_the_one_that_is_set():
    draft = draft_of("y = Relu (x)", "Relu")
    value = draft.input(0)
    assert draft.input(3) is None
    draft.set_input(2, value)
    assert draft.inputs == [value, None, value]


def test_constants_are_read_through_what_computes_them():
    draft = draft_of("n = Shape (x) y = Reshape (x, n)")
    assert draft.constant(1).tolist() == [2, 3]
    assert draft.constant(0) is None and draft.constant(5) is None
    with pytest.raises(Refused, match="the data of it is computed at run time, and opset 13"):
        draft.required_constant(0, "the data")


def test_facts_of_an_input():
    draft = draft_of()
    assert draft.shape() == [2, 3] and draft.rank() == 2 and draft.required_rank("it") == 2
    assert draft.elem_type() == onnx.TensorProto.FLOAT
    assert draft.required_dtype(1, "it") == np.int64
    unknown = draft_of("y = Relu (x)", "Relu", signature="x")
    assert unknown.shape() is None and unknown.rank() is None and unknown.elem_type() is None
    with pytest.raises(Refused, match="a flip needs the rank of input 0, which is not known"):
        unknown.required_rank("a flip")
    with pytest.raises(Refused, match="a flip needs the one element type of input 0"):
        unknown.required_dtype(0, "a flip")


def test_outputs_are_used_where_they_are_read_or_given_out():
    draft = draft_of("y, i = TopK (x, k) j = Neg (y)", "TopK", 11, 10, "float[3] x, int64[1] k")
    assert draft.is_used(0) and not draft.is_used(1) and not draft.is_used(2)


def test_the_shape_that_a_version_infers():
    """Opset 22 leaves out the window that starts in the padding."""
    how = "ceil_mode = 1, kernel_shape = [2], pads = [0, 1], strides = [3]"
    draft = draft_of(f"y = MaxPool <{how}> (x)", "MaxPool", 21, 22, "float[1, 1, 6] x")
    assert draft.inferred_shape(21) == [1, 1, 3] and draft.inferred_shape(22) == [1, 1, 2]


def test_new_nodes_stand_beside_the_node_and_are_typed():
    draft = draft_of()
    value = draft.emit("Transpose", [draft.input(0)], "turned", perm=[1, 0])
    assert value.name == "y_turned" and draft.added == [value.producer]
    assert draft.types.shape(value) == [3, 2]
    assert value.producer.graph is draft.graph
    first, second = draft.emit_all("TopK", [value, draft.ints([1], "k")], ["values", "places"])
    assert draft.types.elem_type(second) == onnx.TensorProto.INT64
    assert first.producer is second.producer


def test_constants_are_cast_at_once_and_others_by_a_node():
    draft = draft_of()
    small = draft.cast(draft.ints([1, 2], "two"), onnx.TensorProto.INT8)
    assert small.constant.numpy().dtype == np.int8 and draft.added == []
    assert draft.cast(draft.input(0), onnx.TensorProto.INT8).producer.op_type == "Cast"


@pytest.mark.parametrize(("target", "inputs"), [(12, 1), (13, 2)])
def test_axes_are_said_as_the_version_says_them(target, inputs):
    draft = draft_of("y = Relu (x)", "Relu", target + 1, target)
    node = draft.unsqueeze(draft.input(0), [0]).producer
    assert len(node.inputs) == inputs
    assert draft.types.shape(node.output()) == [1, 2, 3]


def test_a_function_of_opset_8_has_constants_by_way_of_floats():
    text = """<ir_version: 8, opset_import: ["": 9, "f": 1]>
        g (float[2] x) => (float[2] y) { y = f.same (x) }
        <domain: "f", opset_import: ["": 9]> same (a) => (b) { b = Relu (a) }"""
    loaded = ir.load(onnx.parser.parse_model(text))
    (function,) = loaded.functions.values()
    (node,) = function.graph.nodes()
    types = Types(loaded)
    draft = NodeDraft(node, 9, 8, types, Constants(types, Folder(loaded)))
    assert draft.const(np.ones(2, np.float32), "ones").constant is not None
    assert draft.ints([1, 2], "two").producer.op_type == "Cast"
    assert draft.ints([1 - 2**53], "exact").producer.op_type == "Cast"
    for odd in (2**53 + 1, -(2**53) - 1, 2**63 - 1):
        assert draft.ints([odd], "odd").producer.op_type == "Add"
    with pytest.raises(Refused, match="opset 8 no Constant of the type complex64"):
        draft.const(np.zeros(2, np.complex64), "odd")
