import numpy as np
import onnx
import pytest
import straightline as sl
from depth import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from proofs import assert_open, assert_proved, is_proved, model
from sessions import by_reference
from straightline.reference.signature import type_text
from straightline.verification.proof import prove
from tables import table


def test_a_default_that_a_caller_may_override_is_the_same():
    text = "g (float[2] x, float[1] w) => (float[2] z) <float[1] w = {%s}> { z = Add (x, w) }"
    assert_open(text % 1, text % 2, "input 'w' has another default")
    assert_proved(text % 1, text % 1)


def test_a_default_may_be_overridden():
    text = "g (float[2] x, float[1] w) => (float[2] z) <float[1] w = {1}> { z = %s }"
    assert_open(
        text % "Add (x, w)",
        """g (float[2] x, float[1] w) => (float[2] z) <float[1] w = {1}> {
            c = Constant <value_floats = [1.0]> () z = Add (x, c) }""",
    )


@pytest.mark.parametrize("place", ["input", "output"])
def test_opaque_types_of_other_names_are_other_types(place):
    models = []
    for domain, name in (("A", ""), ("", "A")):
        proto = model("g (float[2] x) => (float[2] y) { y = local.Read (x) }")
        opaque = getattr(proto.graph, place)[0].type.opaque_type
        opaque.domain, opaque.name = domain, name
        models.append(proto)
    answer = prove(*models)
    assert answer.status == "open"
    assert "opaque(A)" in answer.reason


def test_a_size_called_like_a_product_is_none():
    text = """g (float["a*b"] x, float[a] y, float[b] w, float[1] c) => (float[1] z) {
        sx = Size (x) sy = Size (y) sw = Size (w) n = Mul (sy, sw)
        z = Loop (%s, , c) <body = d (int64 j, bool e, float[1] p) => (bool e2, float[1] q)
        { e2 = Identity (e) q = Sin (p) }> }"""
    assert_open(text % "sx", text % "n")
    assert_proved(text % "n", text % "n")


def test_sizes_of_one_name_are_one_size():
    text = "g (float[n] x, float[n] y) => (int64[1] z) { z = Shape (%s) }"
    assert_proved(text % "x", text % "y")
    assert_open(
        (text % "x").replace("float[n] y", "float[m] y"),
        (text % "y").replace("float[n] y", "float[m] y"),
    )


def test_signatures_that_differ_stay_open():
    assert_open(
        "g (float[2] x) => (float[2] z) { z = Neg (x) }",
        "g (float[2] x) => (float[2] y) { y = Neg (x) }",
        "signatures differ",
    )


@table(("float[n]", "float[3]"), ("float[]", "float[n]"), ("seq(float[n])", "seq(float[3])"))
def test_a_declared_input_of_the_rewrite_is_an_assumption(declared, told):
    text = "g (%s x) => (%s y) { y = Identity (x) }"
    before, after = (model(text % (kind, kind)) for kind in (declared, told))
    proof = prove(before, after)
    assert proof.assumptions == (
        f"input 'x' is {type_text(after.graph.input[0].type)}, as the rewrite declares it",
    )
    assert "if input 'x' is" in proof.claim
    assert prove(after, before).assumptions == ()
    assert prove(before, before).assumptions == ()


def test_shapes_that_a_caller_states_are_told_once():
    text = "g (float[%s] x) => (float[%s] y) { y = Neg (x) }"
    before, after = model(text % ("n", "n")), model(text % (3, 3))
    assert prove(before, after, shapes={"x": (3,)}).assumptions == ("input 'x' is float[3]",)
    assert prove(before, before, shapes={"x": (None,)}).assumptions == ()
    assert prove(after, after, shapes={"x": (3,)}).assumptions == ()
    assert prove(after, after, sizes={"x": (3,)}).assumptions == ()


@table(
    (np.array(3.0, np.float32), "is 3.0"),
    (np.array([1, -1], np.float32), "is [1.0, -1.0]"),
    (np.zeros(17, np.float32), "has the value that was set"),
)
def test_a_value_that_is_set_is_a_condition(value, told):
    sizes = ",".join(map(str, value.shape))
    before = model(f"g (float[n] x, float[{sizes}] k) => (y) {{ y = Add (x, k) }}")
    after = model("g (float[n] x) => (y) { y = Add (x, k) }")
    after.graph.initializer.append(onnx.numpy_helper.from_array(value, "k"))
    assert prove(before, after, bound={"k": value}).claim == (
        f"equal for every input, if input 'k' {told}"
    )
    kept = prove(before, before, bound={"k": value})
    assert kept.assumptions == (f"input 'k', which the rewrite still has, {told}",)


def test_many_long_values_are_one_clause():
    names = [f"k{n}" for n in range(5)]
    inputs = ", ".join(f"float[17] {name}" for name in names)
    same = model(f"g (float[17] x, {inputs}) => (y) {{ y = Sum (x, {', '.join(names)}) }}")
    after = model(f"g (float[17] x) => (y) {{ y = Sum (x, {', '.join(names)}) }}")
    values = {name: np.zeros(17, np.float32) for name in names}
    for name, value in values.items():
        after.graph.initializer.append(onnx.numpy_helper.from_array(value, name))
    claim = "input 'k0', input 'k1' and 3 others have the value that was set"
    assert prove(same, after, bound=values).claim == f"equal for every input, if {claim}"


@table(
    ("n, m", True), ("?, ?", True), ("n, ?", True), ("n, 3", True), ("n, n", False), ("3, 3", False)
)
def test_a_name_that_two_axes_have_in_the_rewrite_only_is_told(sizes, ties):
    """onnxruntime reuses memory where names of sizes are equal."""
    one, other = sizes.split(", ")
    text = "g (float[%s] x, float[%s] y) => (float[k] z) { z = Neg (x) }"
    proof = prove(model(text % (one, other)), model(text % ("s", "s")))
    assert proof.proved and bool(proof.assumptions) is ties
    assert not prove(model(text % ("s", "s")), model(text % ("a", "b"))).assumptions


def sized(sizes, before, after):
    return prove(model(before), model(after), sizes=sizes)


def test_a_claim_about_some_sizes_names_them():
    before = "g (float[n, m] x, float[m] w) => (float[n, m] y) { y = Add (x, w) }"
    after = """g (float[n, m] x, float[m] w) => (float[n, m] y) <int64[2] s = {4, -1}> {
        r = Reshape (x, s) y = Add (r, w) }"""
    assert not is_proved(before, after)
    proof = sized({"x": [4, None]}, before, after)
    assert proof.assumptions == ("input 'x' is float[4,m]",)
    assert proof.proved
    assert not sized({"x": [5, None]}, before, after).proved
    assert not sized({"w": [4]}, before, after).proved


def test_a_size_holds_wherever_its_name_stands():
    text = """g (float[n] x, float[n] w) => (float[m] y) <int64[1] s = {3}> { y = %s }"""
    assert sized({"x": [3]}, text % "Identity (w)", text % "Reshape (w, s)").proved


def test_sizes_of_an_unknown_rank_and_of_no_name():
    before = "g (float[?] x) => (float[?] y) { y = Identity (x) }".replace("?", "k")
    after = "g (float[?] x) => (float[?] y) <int64[1] s = {3}> { y = Reshape (x, s) }"
    models = [model(before), model(after.replace("?", "k"))]
    for one in models:
        one.graph.input[0].type.tensor_type.ClearField("shape")
        one.graph.output[0].type.tensor_type.ClearField("shape")
    assert not is_proved(*models)
    assert is_proved(*models, sizes={"x": [3]})
    assert not is_proved(*models, sizes={"x": [None]})


def test_sizes_that_contradict_a_declaration_prove_nothing():
    text = "g (float[4] x) => (float[4] y) { y = Neg (x) }"
    assert not sized({"x": [5]}, text.replace("float[4] x", "float[n] x"), text).proved
    both = "g (float[n] x, float[n] w) => (float[n] y) { y = Add (x, w) }"
    assert not sized({"x": [5], "w": [4]}, both, both).proved
    assert not sized({"x": [5, 5]}, both, both).proved


UNARY = st.sampled_from(["Neg", "Exp", "Relu", "Abs", "Identity"])
NODES = {
    "loop": """s = Shape <start = 0, end = 1> (x) k = Squeeze (s) iterations = Add (k, c)
        y = Loop <body = b (int64 i, bool d, float[n, m] v) => (bool e, float[n, m] w) {
            e = Identity (d) w = %s (v) }> (iterations, t, x)""",
    "size": "s = Size (x) k = Add (s, c) f = Cast <to = 1> (k) z = %s (x) y = Mul (z, f)",
    "reshape": "s = Shape (x) r = Reshape (x, two) q = %s (r) y = Reshape (q, s)",
    "slice": "e = Unsqueeze (c, zero) p = Slice (x, zero, e, zero) y = %s (p)",
    "gather": "g = Gather (x, c) y = %s (g)",
}
CONSTANTS = "int64 c = {%d}, bool t = {1}, int64[2] two = {%d, -1}, int64[1] zero = {0}"
TEXTS = st.builds(
    lambda kind, op, c, rows: (
        f"g (float[n, m] x) => (float[] y) <{CONSTANTS % (c, rows)}> {{ {NODES[kind] % op} }}"
    ),
    *(st.sampled_from(sorted(NODES)), UNARY, st.integers(-3, 5), st.integers(1, 3)),
)
SIZES = st.sampled_from([None, 1, 2, 3, 4])


@settings(max_examples=examples(30), deadline=None)
@given(TEXTS, TEXTS, st.booleans(), st.tuples(SIZES, SIZES))
def test_proofs_for_some_sizes_hold_for_them(one, other, same_nodes, sizes):
    if same_nodes:  # only constants differ, so that more is proved
        other = other.partition("> {")[0] + "> {" + one.partition("> {")[2]
    before, after = model(one), model(other)
    if not is_proved(before, after, sizes={"x": sizes}):
        return
    for open_size in (1, 2, 5):
        shape = [open_size if size is None else size for size in sizes]
        feeds = {"x": np.random.default_rng(0).normal(size=shape).astype(np.float32)}
        try:
            expected = by_reference(before, feeds)
        except sl.EvaluationError:
            continue
        np.testing.assert_array_equal(by_reference(after, feeds)[0], expected[0])
