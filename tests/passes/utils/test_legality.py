import pytest
from harness import as_model
from straightline import ir
from straightline.passes.utils.legality import can_carry, externally_named, unnameable_output
from tables import table

SEQUENCES = """<ir_version: 8, opset_import: ["" : {opset}]>
g (float[2] x, seq(float[K]) s) => (seq(float[K]) y, seq(float[K]) z) {{
    a = SequenceConstruct (x)
    z = SequenceConstruct (x, x)
    y = Loop (n, , s) <body = b (int64 i, bool c, seq(float[K]) p) => (bool c2, seq(float[K]) r) {{
        c2 = Identity (c) r = SequenceInsert (p, x) }}>
    n = Constant <value_int = 2> () }}"""


def graph_and_values(opset):
    graph = ir.load(as_model(SEQUENCES.format(opset=opset))).graph
    named = {v.name: v for n in graph.nodes() for v in n.outputs if v}
    return graph, {**named, **{v.name: v for v in graph.inputs}}


@table(("a", True), ("s", False), ("z", False), ids=["made", "input", "output"])
def test_which_sequences_can_be_given_out_below_opset_14(new, carried):
    graph, named = graph_and_values(13)
    assert can_carry(graph, named["y"], named[new]) == carried
    graph, named = graph_and_values(14)
    assert can_carry(graph, named["y"], named[new])


def test_a_value_to_be_copied_may_be_an_output_once():
    graph, named = graph_and_values(13)
    loop = named["y"].producer
    (result,) = loop.body("body").outputs[1:]
    assert unnameable_output(loop, [result]) is None
    assert "opset 13" in unnameable_output(loop, [named["s"]])
    assert not can_carry(graph, named["y"], result, {result})


@pytest.mark.parametrize("inside", [False, True])
def test_names_in_attributes(inside):
    gradient = 'ai.onnx.preview.training.Gradient <xs = ["a"], y = "q"> (a)'
    body = f"q = Mul (a, a) r = {gradient}" if inside else "r = Neg (a)"
    text = f"""<ir_version: 8, opset_import: ["" : 17, "ai.onnx.preview.training" : 1]>
    g (float[2] x, int64 n) => (float[2] y) {{
        y = Loop (n, , x) <body = b (int64 i, bool c, float[2] a) => (bool c2, float[2] r) {{
            c2 = Identity (c) {body} }}> }}"""
    (loop,) = ir.load(as_model(text)).graph.nodes()
    assert (externally_named(loop) is not None) == inside
    loop.output().pinned = True
    assert "'y' is named from outside" in externally_named(loop)
