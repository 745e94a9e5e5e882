import pytest
from harness import HEAD, as_model
from straightline import ir
from straightline.facts.obstacle import Obstacle
from straightline.passes.iteration.loop_view import LoopView, read
from tables import table

LOOP = """g (int64 n, bool go, float[3] x, float[2] u) => (float[3] y, float[?, 2] z) {
    y, q, z, h = Loop (n, go, x, x) <body = b (int64 i, bool c, float[3] a, float[3] d)
            => (bool c2, float[3] e, float[3] f, float[2] r, float[2] s) {
        c2 = Identity (c) e = Neg (a) f = Exp (d) r = Neg (u) s = Exp (u) }> }"""
SCAN = """g (float[3] x, float[3, N] s, float[N, 3] t) => (float[3] y, float[2, ?] z) {
    y, z = Scan <num_scan_inputs = 2, scan_input_axes = [-1, 0], scan_input_directions = [0, 1],
            scan_output_axes = [1, 0], scan_output_directions = [1, 0],
            body = b (float[3] a, float[3] e, float[3] f) => (float[3] o, float[2] r, float[3] k) {
        o = Add (a, e) k = Exp (f) i = Constant <value_ints = [0, 1]> () r = Gather (f, i)
    }> (x, s, t) }"""


def first(text, head=HEAD):
    model = ir.load(as_model(head + text))
    return next(node for node in model.graph.nodes() if node.bodies)


def test_a_loop():
    node = first(LOOP)
    found = read(node)
    assert isinstance(found, LoopView)
    assert (found.maximum, found.start) == node.inputs[:2]
    assert (found.iteration, found.condition) == found.body.inputs[:2]
    assert [(s.initial.name, s.argument.name, s.result.name) for s in found.states] == [
        ("x", "a", "e"),
        ("x", "d", "f"),
    ]
    assert [state.final for state in found.states] == list(node.outputs[:2])
    assert [(one.result.name, one.output) for one in found.scan_outputs] == [
        ("r", node.outputs[2]),
        ("s", node.outputs[3]),
    ]
    assert not found.scan_inputs


def test_a_scan():
    node = first(SCAN)
    found = read(node)
    assert isinstance(found, LoopView)
    assert found.maximum is found.start is found.iteration is found.condition is None
    assert [(s.initial.name, s.argument.name, s.result.name) for s in found.states] == [
        ("x", "a", "o")
    ]
    assert [(s.source.name, s.argument.name, s.axis, s.backward) for s in found.scan_inputs] == [
        ("s", "e", -1, False),
        ("t", "f", 0, True),
    ]
    assert [(s.result.name, s.output, s.axis, s.backward) for s in found.scan_outputs] == [
        ("r", node.outputs[1], 1, True),
        ("k", None, 0, False),
    ]


@table(
    (
        LOOP.replace("c2 = Identity (c)", "k = Constant <value_int = 2> () c2 = Less (i, k)"),
        "its body decides",
    ),
    (LOOP.replace("Loop (n, go", "Loop (, go"), "it has no maximum"),
)
def test_nodes_that_are_no_repetition(text, reason):
    with pytest.raises(Obstacle, match=reason):
        read(first(text))


def test_a_scan_of_opset_8_is_none():
    text = """g (float[2, 3] s) => (float[2, 3] z) {
        z = Scan <num_scan_inputs = 1, body = b (float e) => (float r) { r = Neg (e) }> (, s) }"""
    with pytest.raises(Obstacle, match="opset 8"):
        read(first(text, '<ir_version: 3, opset_import: ["" : 8]>'))


def test_pinned_outputs_stay():
    node = first(LOOP)
    node.outputs[0].pinned = True
    with pytest.raises(Obstacle, match="named from outside"):
        read(node)
