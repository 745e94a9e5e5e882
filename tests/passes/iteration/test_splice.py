from harness import as_model
from straightline.analysis.shapes.inference import ShapeInference
from straightline.ir import load
from straightline.passes.iteration.batched_inputs import Feeding
from straightline.passes.iteration.loop_view import read
from straightline.passes.iteration.splice import propagate_facts, splice


def test_only_what_is_asked_for_is_copied():
    text = """g (float[N, 3] x) => (float[N, 3] y) { y = Scan <num_scan_inputs = 1,
        body = b (float[3] e) => (float[3] r) { r = Exp (e) }> (x) }"""
    model = load(as_model(text))
    (scan,) = model.graph.nodes()
    feeding = Feeding(read(scan), ShapeInference(model))
    source = feeding.same(scan.inputs[0]).value
    wanted = feeding.emit.add("Exp", [source], "wanted")
    feeding.emit.add("Neg", [source], "unread")
    placed = splice(feeding, [None, wanted], model.graph)
    assert placed[0] is None and placed[1].producer.is_op("Exp")
    assert {node.op_type for node in model.graph.nodes()} == {"Scan", "Exp"}
    assert not model.graph.initializers


LOOP = """g (float[M, 4] a, int64 n, float[M] h) => (float[M] last, float[?, M] y, float[?, K] z)
    <bool yes = {1}, int64 zero = {0}> { s = Shape (a) k = Gather (s, zero)
    last, y = Loop (k, yes, h) <body = b (int64 i, bool c, float[M] u)
        => (bool d, float[M] v, float[M] r) { d = Identity (c) v = Neg (u) r = Exp (u) }>
    _, z = Loop (n, yes, h) <body = b2 (int64 i2, bool c2, float[M] u2)
        => (bool d2, float[M] v2, float[M] r2) { d2 = Identity (c2) v2 = Neg (u2) r2 = Exp (u2) }>
    }"""


def test_facts_of_outputs_pass_to_their_replacements():
    model = load(as_model(LOOP))
    found = []
    for loop in [node for node in model.graph.nodes() if node.is_op("Loop")]:
        inference = ShapeInference(model)
        feeding = Feeding(read(loop), inference)
        placed = [model.graph.add_input(name) for name in ("p", "q")]
        propagate_facts(feeding, placed)
        facts = [inference.fact(value) for value in placed]
        found.append([fact.shape and [str(dim) for dim in fact.shape] for fact in facts])
    # Of a number of iterations that is known only at run time, what was made may tell more.
    assert found == [[["M"], None], [["M"], None]]  # without an iteration nothing has M columns
