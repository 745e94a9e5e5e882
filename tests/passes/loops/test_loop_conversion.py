"""What loops-to-scans and scans-to-loops share: inner constructs first, reasons, remarks."""

from harness import as_model
from loops import HEAD
from straightline import ir
from straightline.passes import LoopsToScans
from straightline.passes.base import PassContext
from straightline.passes.loops.loop_conversion import LoopConversion

TEXT = """g (float[N, M] x, float s) => (float y, float z) {
    y = Scan <num_scan_inputs = 1, body = b (float a, float[M] e) => (float r) {
        r = Scan <num_scan_inputs = 1, body = h (float f, float u) => (float v) {
            v = Add (f, u) }> (a, e)
    }> (s, x)
    z = Scan <num_scan_inputs = 1, body = k (float a, float[M] e) => (float r) {
        q = ReduceMax <keepdims = 0> (e) r = Add (a, q) }> (s, x)
}"""


class Named(LoopConversion[list]):
    """Renames bodies, but those called k."""

    op_type = "Scan"

    def plan(self, loop_view, opset):
        assert opset == 17
        name = loop_view.body.name
        return "it is called k" if name == "k" else [loop_view.node, name]

    def rewrite(self, graph, plan):
        node, name = plan
        assert node.graph is graph
        return f"was {name}, {'certain' if self.is_certain(node) else 'perhaps'}"


def test_each_is_rewritten_or_kept_inner_ones_first():
    model = ir.load(as_model(HEAD + TEXT))
    context = PassContext()
    assert Named(model, context.inference(model)).run(LoopsToScans(), context)
    assert [(one.path, one.action, one.reason) for one in context.remarks] == [
        ("y/r", "rewritten", "was h, perhaps"),
        ("y", "rewritten", "was b, perhaps"),
        ("z", "kept", "it is called k"),
    ]


def test_what_is_no_repetition_is_kept_with_its_reason():
    old = """g (float[1, N] x) => (float[1, N] z) {
        z = Scan <num_scan_inputs = 1, body = b (float e) => (float r) { r = Neg (e) }> (, x)
    }"""
    context, model = PassContext(), ir.load(as_model(HEAD.replace('"" : 17', '"" : 8') + old))
    assert not Named(model, context.inference(model)).run(LoopsToScans(), context)
    assert [one.action for one in context.remarks] == ["kept"] and "opset 8" in context.remarks[
        0
    ].reason
