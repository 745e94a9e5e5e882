"""Bodies of new Loops and Scans: each output is made by a node of its own."""

import onnx
from harness import as_model
from straightline import ir
from straightline.passes.iteration.splice import all_labels, clean, set_own_outputs
from tables import table

TEXT = """g (float[N, 3] x, float[3] w) => (float[N, 3] y, float[N, 3] z) {
    y, z = Scan <num_scan_inputs = 1, body = b (float[3] e) => (float[3] r, float[3] q)
        <float[3] k = {1, 2, 3}, float[3] l = {4, 5, 6}> {
        u = Neg (w) v = Exp (u) r = Add (e, k) q = Sub (e, w) }> (x) }"""


def body():
    model = ir.load(as_model(TEXT))
    return model, next(iter(model.graph.nodes())).body("body")


def test_each_output_has_a_node_of_its_own():
    model, graph = body()
    (element,) = graph.inputs
    made = graph.outputs[0]
    for values, identities in (
        ([made, graph.outputs[1]], 0),
        ([made, made], 1),
        ([element, element], 2),
    ):
        set_own_outputs(graph, values, graph.output_infos)
        producers = [value.producer for value in graph.outputs]
        assert len(set(producers)) == 2 and None not in producers
        assert sum(node.is_op("Identity") for node in producers) == identities
    ir.verify(model)


def test_the_first_slots_may_be_given_as_they_are():
    model, graph = body()
    set_own_outputs(graph, [graph.inputs[0], graph.outputs[0]], graph.output_infos, first=1)
    assert graph.outputs[0] is graph.inputs[0]
    ir.verify(model)


def test_unread_nodes_of_a_body_go():
    model, graph = body()
    clean(graph)
    assert sorted(node.op_type for node in graph.nodes()) == ["Add", "Sub"]
    assert [value.name for value in graph.initializers] == ["k"]
    ir.verify(model)


def test_outputs_that_are_omitted_have_labels():
    text = TEXT.replace("float[N, 3] y, float[N, 3] z", "float[N, 3] z").replace("y, z =", ", z =")
    model = ir.load(as_model(text))
    node = next(iter(model.graph.nodes()))
    assert all_labels(node, node.body("body").outputs, "_scan") == ["r", "z_scan"]


@table((13, []), (14, ["Identity"]))
def test_a_sequence_stays_the_output_where_no_identity_takes_it(opset, nodes):
    header = f'<ir_version: 8, opset_import: ["" : {opset}]> '
    text = """g (int64 n, seq(float) s) => (seq(float) y) <bool go = {1}> { y = Loop (n, go, s)
        <body = b (int64 i, bool c, seq(float) t) => (bool c, seq(float) t) {}> }"""
    model = ir.load(as_model(header + text))
    graph = next(iter(model.graph.nodes())).body("body")
    set_own_outputs(graph, graph.outputs, graph.output_infos, first=1)
    assert [node.op_type for node in graph.nodes()] == nodes
    onnx.checker.check_model(ir.to_proto(model), full_check=True)
