import onnx
from straightline import ir
from straightline.reduction.draft import Draft
from straightline.reduction.loop_slots import remove_slots, slots
from tables import table

HEAD = '<ir_version: 8, opset_import: ["" : %d]>\n'
SCAN = (HEAD % 17) + (
    "g (float[2] x, float[K,2] r) => (float[2] y, float[K,2] z, float[2,K] w) {"
    " y, z, w = Scan <num_scan_inputs = 1, scan_output_axes = [0, 1], scan_output_directions ="
    " [1, 0], body = b (float[2] s, float[2] e) => (float[2] t, float[2] u, float[2] v)"
    " { t = Add (s, e) u = Exp (t) v = Neg (e) }> (x, r) }"
)


@table(([0], [0, 1], [1, 0]), ([1], [1], [0]), ([2], [0], [1]), ([1, 2], None, None))
def test_axes_follow_their_scan_outputs(numbers, axes, directions):
    draft = Draft(ir.load(onnx.parser.parse_model(SCAN)))
    (node,) = draft.model.graph.nodes()
    remove_slots(draft, node, numbers)
    draft.finish()
    assert node.attribute("scan_output_axes") == axes
    assert node.attribute("scan_output_directions") == directions
    assert len(node.outputs) == 3 - len(numbers)
    onnx.checker.check_model(ir.to_proto(draft.model), full_check=True)


def test_other_nodes_have_none():
    model = ir.parse((HEAD % 17) + "g (float[2] x) => (float[2] y) { y = Neg (x) }")
    assert slots(model.graph.nodes()[0]) is None


def test_a_scan_of_opset_8_has_none():
    model = ir.parse(
        (HEAD % 8)
        + "g (float[1,2] x, float[1,K,2] r) => (float[1,2] y) { y = Scan <num_scan_inputs = 1,"
        " body = b (float[2] s, float[2] e) => (float[2] t) { t = Add (s, e) }> (, x, r) }"
    )
    assert slots(model.graph.nodes()[0]) is None
