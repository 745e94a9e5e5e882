import pytest
from proofs import model
from straightline import ModelError, ir
from straightline.verification.proof.sides import ModelSide, node_count

TEXT = """g (float[n] x, int64 n) => (float[n] y) {
    a = local.F (x)
    y = Loop (n, , a) <body = b (int64 i, bool c, float[n] v) => (bool d, float[n] w) {
        d = Identity (c) w = Neg (v) }> }
    <domain: "local", opset_import: ["" : 18]> F (p) => (r) { q = Neg (p) r = Abs (q) }"""


def side(proto):
    return ModelSide(proto, proto, None)


def test_sizes():
    whole = model(TEXT)
    assert node_count(whole) == 4 and side(whole).size == 6 and side(whole).holds_bodies
    flat = model("g (float[n] x) => (float[n] y) { y = Neg (x) }")
    assert node_count(flat) == side(flat).size == 1 and not side(flat).holds_bodies


def test_the_side_with_operators_that_round_otherwise():
    flat = side(model("g (float[n] x) => (float[n] y) { y = Neg (x) }"))
    text = "g (float[2] x, float[2] s) => (y) { y = SimplifiedLayerNormalization (x, s) }"
    old = side(model(text))
    norm = "y = LayerNormalization <axis = -1> (x, s)"  # of ONNX in opset 17
    norm = side(model(f"g (float[2] x, float[2] s) => (y) {{ {norm} }}"))
    assert norm.is_standard and old.rounds_before(norm) and old.rounds_before(flat)
    assert not (flat.rounds_before(old) or flat.rounds_before(flat))
    assert not old.rounds_before(side(model(TEXT)))  # a function may be one of its operators


def test_messages_are_checked_and_models_are_not():
    wrong = model(TEXT)
    del wrong.graph.node[1].input[:]
    with pytest.raises(ModelError):
        side(wrong).require_well_formed()
    side(model(TEXT)).require_well_formed()
    ModelSide(ir.load(model(TEXT)), wrong, None).require_well_formed()
