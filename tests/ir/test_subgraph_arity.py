import onnx
import pytest
from onnx import helper
from straightline import ir
from straightline.ir import ModelError
from tables import table

LOOP = """<ir_version: 10, opset_import: ["": 21]>
main (int64 M, bool c, float[3] x) => (float[3] y, float[n, 3] z) {
    y, z = Loop (M, c, x) <
        body = b (int64 i, bool go, float[3] s) => (bool more, float[3] t, float[3] u) {
            more = Identity(go)  t = Neg(s)  u = Relu(s) } > }"""
SCAN = """<ir_version: 10, opset_import: ["": 21]>
main (float[3] s, float[4, 3] x) => (float[3] y, float[4, 3] z) {
    y, z = Scan <
        num_scan_inputs = 1, body = b (float[3] a, float[3] e) => (float[3] t, float[3] u) {
            t = Add(a, e)  u = Relu(e) }
    > (s, x) }"""
SCAN_8 = """<ir_version: 3, opset_import: ["": 8]>
main (float[2, 3] s, float[2, 4, 3] x) => (float[2, 3] y) {
    y = Scan <num_scan_inputs = 1, body = b (float[3] a, float[3] e) => (float[3] t) {
        t = Add(a, e)
    }> (, s, x) }"""
IF = """<ir_version: 10, opset_import: ["": 21]> main (bool c, float[3] x) => (float[3] y) {
    y = If (c) <
        then_branch = yes () => (float[3] p) { p = Relu(x) },
        else_branch = no () => (float[3] q) { q = Neg(x) } > }"""


@pytest.mark.parametrize("text", [LOOP, SCAN, SCAN_8, IF])
def test_fitting_subgraphs(text: str) -> None:
    ir.verify(ir.parse(text))


@table(
    (LOOP, "(M, c, x)", "(M, c)", "has 3 inputs; the node feeds 2"),
    (LOOP, "(M, c, x)", "(M, c, x, x)", "has 3 inputs; the node feeds 4"),
    (LOOP, ", float[3] u)", ")", "has 2 outputs; the node needs 3"),
    (SCAN, "(s, x)", "(s, s, x)", "has 2 inputs; the node feeds 3"),
    (SCAN, "num_scan_inputs = 1", "num_scan_inputs = 3", "2 inputs and num_scan_inputs = 3"),
    (SCAN, "num_scan_inputs = 1, ", "", "lacks its attribute 'num_scan_inputs'"),
    (SCAN, "(float[3] t, float[3] u)", "(float[3] t)", "has 1 outputs; the node"),
    (SCAN_8, "(, s, x)", "(s, x)", "has 2 inputs; the node feeds 1"),
    (IF, "If (c)", "If (c, x)", "has 2 inputs; If accepts 1"),
    (IF, "If (c)", "If ()", "has 0 inputs; If accepts 1"),
    (IF, "no ()", "no (float[3] n)", "has 1 inputs; the node feeds 0"),
    (IF, "else_branch", "other_branch", "lacks its graph attribute 'else_branch'"),
)
def test_misfitting_subgraphs(text: str, old: str, new: str, what: str) -> None:
    assert old in text
    with pytest.raises(ModelError, match=what):
        ir.parse(text.replace(old, new))


def test_other_domains_are_nobody_s_business() -> None:
    proto = onnx.parser.parse_model(IF)
    node = proto.graph.node[0]
    node.domain = "own"
    node.attribute[0].g.input.append(onnx.ValueInfoProto(name="n"))
    proto.opset_import.append(helper.make_opsetid("own", 1))
    ir.verify(ir.load(proto))


def test_graphs_that_come_from_the_function_around() -> None:
    proto = onnx.parser.parse_model("""<ir_version: 10, opset_import: ["": 21, "own": 1]>
        main (bool c) => (y) { y = Identity(c) }
        <domain: "own", opset_import: ["": 21]> f (c) => (y) { y = Identity(c) }""")
    node = proto.functions[0].node[0]
    node.op_type = "If"
    for name in ("then_branch", "else_branch"):
        node.attribute.add(name=name, ref_attr_name=name, type=onnx.AttributeProto.GRAPH)
    model = ir.load(proto)
    ir.verify(model)
    assert ir.to_proto(model) == proto
