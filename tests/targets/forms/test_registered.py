from straightline import ir
from straightline.targets import forms
from straightline.targets.forms import decompositions_of, registered
from straightline.version_converter.types import Types


def test_a_condition_chooses_among_nodes(monkeypatch):
    monkeypatch.setattr(registered, "DECOMPOSITIONS", {})
    every = forms.decomposes("Neg")(lambda draft: [])
    flat = forms.decomposes("Neg", where=lambda node, types: types.rank(node.inputs[0]) == 1)(len)
    text = """<ir_version: 8, opset_import: ["" : 17]> g (float[4] x, float[1, 2] z) => (y, w)
        { y = Neg (x) w = Neg (z) }"""
    model = ir.parse(text)
    first, second = (
        list(decompositions_of("Neg", node, Types(model))) for node in model.graph.nodes()
    )
    assert first == [every, flat] and second == [every]
