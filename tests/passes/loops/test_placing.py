"""Copying what was made beside a loop into the graph around it."""

from harness import as_model
from loops import HEAD
from straightline.analysis.shapes.inference import ShapeInference
from straightline.ir import load
from straightline.passes.loops.feeding import Feeding
from straightline.passes.loops.placing import put_in_place
from straightline.passes.loops.repetition import read

TEXT = """g (float[N, 3] x) => (float[N, 3] y) { y = Scan <num_scan_inputs = 1,
    body = b (float[3] e) => (float[3] r) { r = Exp (e) }> (x) }"""


def test_only_what_is_asked_for_is_copied():
    model = load(as_model(HEAD + TEXT))
    (scan,) = model.graph.nodes()
    feeding = Feeding(read(scan), ShapeInference(model))
    source = feeding.same(scan.inputs[0]).value
    wanted = feeding.emit.add("Exp", [source], "wanted")
    feeding.emit.add("Neg", [source], "unread")
    placed = put_in_place(feeding, [None, wanted], model.graph)
    assert placed[0] is None and placed[1].producer.is_op("Exp")
    assert {node.op_type for node in model.graph.nodes()} == {"Scan", "Exp"}
    assert not model.graph.initializers
