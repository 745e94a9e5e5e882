import onnx
import straightline as sl
from reports import DECODER
from straightline.ir.io.name_authority import assign_names
from straightline.report.model_data import NodeData, describe


def described(text=DECODER):
    return describe(sl.ir.parse(text))


def test_every_graph_is_there_outer_before_inner():
    found = [(graph.title, graph.path) for graph in described().graphs]
    assert found == [
        ("main graph", ""),
        ("body", "decode"),
        ("then_branch", "decode/h1"),
        ("else_branch", "decode/h1"),
        ("body", "wait"),
        ("then_branch", "y"),
        ("else_branch", "y"),
        ("function local::gate", "local::gate"),
    ]


def test_nodes_name_what_they_read_give_and_hold():
    data = described()
    loop = next(node for node in data.graphs[0].nodes if node.name == "decode")
    assert loop.inputs == ("steps", "", "h") and loop.outputs == ("state",) and loop.graphs == (1,)
    call = data.graphs[0].nodes[-1]
    assert call.label == "q" and data.graphs[call.graphs[0]].title == "function local::gate"


def test_counts_and_sizes_are_those_of_all_graphs():
    data = described()
    assert data.nodes == sum(data.counts.values()) == sum(len(g.nodes) for g in data.graphs)
    assert data.counts["Loop"] == 2 and data.counts["local::gate"] == 1
    assert data.constants == 4  # Constant nodes
    assert data.weights == 16 * 4 + 8 + 8 + 1


def test_types_are_as_declared():
    graph = described().graphs[0]
    assert graph.inputs[2].type == "int64" and graph.outputs[2].type == "float[T,1,4]"


def test_operators_that_are_alike_stand_once():
    text = """<ir_version: 8, opset_import: ["" : 17]> g (float[2, 3] x) => (float[2, 3] z) {
        y = Softmax <axis = 0> (x)
        a = Softmax <axis = 0> (y)
        z = Softmax <axis = 1> (a) }"""
    data = described(text)
    assert [op.attributes for op in data.operators] == [(("axis", "0"),), (("axis", "1"),)]
    assert [node.operator for node in data.graphs[0].nodes] == [0, 0, 1]


def test_names_are_those_that_the_file_gets():
    flat = sl.ir.load(sl.rewrite(sl.ir.parse(DECODER)))
    names = set(assign_names(flat).all())
    data = describe(flat)
    assert {name for _, node in data.places() for name in node.outputs} <= names


def test_a_description_has_a_limit_of_nodes():
    data = describe(sl.ir.parse(DECODER), most=10)
    assert [len(graph.nodes) for graph in data.graphs] == [7, 3, 0, 0, 0, 0, 0, 0]
    assert [graph.count for graph in data.graphs][:2] == [7, 6]
    assert data.nodes == described().nodes


def test_a_default_that_callers_may_override_is_an_input():
    text = """<ir_version: 8, opset_import: ["" : 17]>
    g (float[2] x, float[2] w = {1, 2}) => (float[2] y) <float[2] c = {3, 4}> {
        a = Add (x, w)
        y = Add (a, c) }"""
    graph = described(text).graphs[0]
    assert [v.name for v in graph.inputs] == ["x", "w"]
    (constant,) = graph.constants
    assert (constant.name, constant.type, constant.elements) == ("c", "float[2]", "[3, 4]")


def test_metadata_of_an_exporter_is_kept():
    proto = onnx.parser.parse_model(
        '<ir_version: 10, opset_import: ["" : 21]> g (float x) => (float y) { y = Abs (x) }'
    )
    proto.graph.node[0].doc_string = "from layer 3"
    proto.graph.node[0].metadata_props.add(key="namespace", value="decoder/layer3")
    (op,) = describe(sl.ir.load(proto)).operators
    assert op.notes == (("doc string", "from layer 3"), ("namespace", "decoder/layer3"))
    assert op.scopes == ("decoder", "layer3") and op.parameters == ("X",)


def test_a_node_without_a_name_is_called_by_what_it_gives():
    assert NodeData(0, "", (), ("", "b")).label == "b"
    assert NodeData(0, "", (), ()).label == ""
