import numpy as np
import pytest
from onnx import TensorProto, helper
from straightline import ir
from straightline.ir import Operator, Tensor, Value
from tables import table

FLOAT = TensorProto.FLOAT


def test_nothing_declared() -> None:
    value = Value("v")
    assert value.type is value.shape is value.elem_type is value.graph is None
    assert repr(value) == "value 'v'"


def test_dimensions() -> None:
    value = Value("v", helper.make_tensor_value_info("v", FLOAT, [2, "N", None]))
    assert (value.elem_type, value.shape) == (FLOAT, (2, "N", None))
    assert Value("v", helper.make_tensor_value_info("v", FLOAT, None)).shape is None
    assert Value("v", helper.make_tensor_value_info("v", FLOAT, [])).shape == ()


def test_sequences_have_neither_shape_nor_element_type() -> None:
    sequence = helper.make_sequence_type_proto(helper.make_tensor_type_proto(FLOAT, [2]))
    value = Value("v", helper.make_value_info("v", sequence))
    assert value.type == sequence
    assert value.shape is value.elem_type is None


def test_constants_have_the_type_of_their_tensor() -> None:
    value = Value("v", constant=Tensor(array=np.ones((2, 3), np.int8)))
    assert (value.elem_type, value.shape) == (TensorProto.INT8, (2, 3))


def test_setting_a_type_leaves_what_clones_share() -> None:
    info = helper.make_tensor_value_info("v", FLOAT, [2], "text")
    first, second = Value("v", info), Value("w", info)
    first.type = helper.make_tensor_type_proto(FLOAT, [3])
    assert (first.shape, second.shape) == ((3,), (2,))
    assert first.info is not None and first.info.doc_string == "text"
    second.type = None
    assert second.type is None and info.HasField("type")


def test_the_graph_is_that_of_the_definition() -> None:
    model = ir.parse(
        '<ir_version: 10, opset_import: ["": 21]> g (float[3] x) => (float[3] y) { y = Neg(x) }'
    )
    graph = model.graph
    assert graph.inputs[0].graph is graph.outputs[0].graph is graph
    node = graph.add_node(Operator("Neg"), graph.inputs, ["n"])
    graph.remove(node)
    assert node.output().graph is None


TEXT = """<ir_version: 10, opset_import: ["": 21, "own": 1]>
main (bool c, float[3] x) => (float[3] y) {
    [outer] y = If (c) <
        then_branch = yes () => (float[3] p) {
            p = If (c) <
                then_branch = a () => (float[3] d) { [deep] d = own.f <axis = 2> (x, , c) },
                else_branch = b () => (float[3] e) { e = Neg(x) } >
        },
        else_branch = no () => (float[3] q) { q = Neg(x) } > }
<domain: "own", opset_import: ["": 21]> f (x, n, c) => (y) { [inside] y = Neg(x) }"""


def test_paths_name_the_nodes_around() -> None:
    model = ir.parse(TEXT)
    paths = [node.path for graph in model.graphs() for node in graph.nodes()]
    assert paths == ["outer", "outer/p", "outer/p/deep", "outer/p/e", "outer/q", "own::f/inside"]


def test_attributes_of_a_node() -> None:
    model = ir.parse(TEXT)
    node = next(n for g in model.graphs() for n in g.nodes() if n.name == "deep")
    assert (node.op_type, node.domain) == ("f", "own")
    assert node.is_op("Neg", "own::f") and not node.is_op("f")
    assert (node.attribute("axis"), node.attribute("none", 5)) == (2, 5)
    assert [None if v is None else v.name for v in node.inputs] == ["x", None, "c"]
    assert node.input(0) is model.graph.inputs[1]
    assert node.input(1) is None and node.input(7) is None
    assert node.output().name == "d"
    assert repr(node) == "own::f 'outer/p/deep'"
    assert list(node.graphs()) == []


def test_the_label_is_the_first_output_where_there_is_no_name() -> None:
    graph = ir.parse(TEXT).graph
    assert graph.add_node(ir.Operator("F"), [], ["", "second"]).label == "second"
    assert graph.add_node(ir.Operator("F"), [], [""]).label == ""


def test_a_node_in_a_removed_body_is_detached() -> None:
    model = ir.parse(TEXT)
    outer = model.graph.nodes()[0]
    deep = outer.body("then_branch").nodes()[0].body("then_branch").nodes()[0]
    assert outer.stands and deep.stands
    assert outer.parent is model.graph and deep.parent is not outer.parent and deep.root is model
    model.graph.set_outputs([model.graph.inputs[1]])
    model.graph.remove(outer)
    assert deep.graph is not None
    assert not outer.stands and not deep.stands
    with pytest.raises(AssertionError, match="is in no graph"):
        outer.parent  # noqa: B018


@table(
    ("inputs", (), "Graph.set_input or Graph.resize_inputs"),
    ("outputs", (), "Graph.set_node_outputs"),
    ("op", ir.Operator("Neg"), "Graph.set_operator"),
)
def test_tracked_fields_cannot_be_assigned(attribute: str, given: object, mutator: str) -> None:
    node = ir.parse(TEXT).graph.nodes()[0]
    before = getattr(node, attribute)
    with pytest.raises(ir.GraphError, match=f"If 'outer': its {attribute}.*{mutator}"):
        setattr(node, attribute, given)
    assert getattr(node, attribute) is before
