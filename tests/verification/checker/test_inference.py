"""Facts of values: from declared inputs, and from nothing else that a model says."""

import pytest
from proofs import model
from straightline.verification.checker.inference import fact_of, infer
from straightline.verification.checker.terms import CertificateError, Fact


def facts(text, opset=18, side="before"):
    proto = model(text, opset)
    return infer(proto, {info.name: info.type for info in proto.graph.input}, side)


def test_sizes_follow_from_inputs():
    values = facts(
        "g (float[n, 3] x) => (y, z) <int64[1] a = {0}>"
        " { y = Unsqueeze (x, a) k = NonZero (x) z = Cast <to = 1> (k) }"
    )
    assert values["y"] == Fact(1, (1, "n", 3))
    assert values["z"].shape[0] == 2 and values["z"].shape[1].startswith("before:")
    assert values["none"] == Fact()


def test_what_a_model_declares_of_its_values_counts_for_nothing():
    values = facts("g (float[n] x) => (float[7] y) <float[5] v> { v = Abs (x) y = Neg (v) }")
    assert (values["v"], values["y"]) == (Fact(1, ("n",)), Fact(1, ("n",)))


def test_names_of_inputs_do_not_collide_with_those_of_the_inference():
    values = facts('g (float["before:unk__0"] x) => (y) { k = NonZero (x) y = Neg (k) }')
    assert values["x"].shape == ("before:unk__0",)
    assert values["y"].shape[1].startswith("before':")


def test_elements_of_sequences_have_no_shapes():
    values = facts(
        "g (float[n] x, int64 i) => (y) { s = SequenceConstruct (x, x) y = SequenceAt (s, i) }"
    )
    assert values["y"] == Fact(1)


def test_sizes_of_a_body_that_no_input_names_are_unknown():
    values = facts("""g (float[n] x, int64 t) => (y) { y = Loop (t, , x) <body = b
        (int64 i, bool c, float[4] s) => (bool d, float[4] u) {
            d = Identity (c) k = NonZero (s) a = Abs (x) u = Abs (s) }> }""")
    body = values.body(0, "body")
    assert body["a"] == Fact(1, ("n",)) and body["k"].shape in (None, (1, None), (None, None))
    assert body["u"] == Fact(1), "the declared size of a state may not hold"


@pytest.mark.parametrize(
    "nodes",
    [
        "y = Add (x, d)",
        "y = Neg (b)",
        "y = If (b) <then_branch = a () => (u) { u = Neg (b) },"
        " else_branch = e () => (v) { v = Abs (x) }>",
    ],
)
def test_nodes_of_wrong_types_are_refused(nodes):
    with pytest.raises(CertificateError, match="onnx refuses a node"):
        facts(f"g (float[n] x, double[n] d, bool b) => (y) {{ {nodes} }}")


def test_facts_of_types():
    proto = model("g (float[n, 3] x, seq(float[n]) s) => (float y) { y = Abs (x) }")
    assert fact_of(proto.graph.input[0].type) == Fact(1, ("n", 3))
    assert fact_of(proto.graph.input[1].type) == Fact()
    assert fact_of(proto.graph.output[0].type).elem_type == 1
