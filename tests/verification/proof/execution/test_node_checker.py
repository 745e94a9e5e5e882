import numpy as np
import onnx
import pytest
from harness import assert_equal_outputs, run_in_onnxruntime
from proofs import is_proved
from proofs import model as parsed
from spelled import model
from straightline.verification.proof import prove
from tables import table

INTEGERS = "(int64[3] x) => (int64[3] y)"


@table(
    ("y = Max (x, x)", 11, INTEGERS, "does not accept int64 in opset 11"),
    ("y = Cast <to = 7, saturate = 0> (x)", 13, INTEGERS, "has no 'saturate' in opset 13"),
    ("c = Cast <to = 1> (x) y = Add (x, c)", 13, INTEGERS, "inputs of different types"),
    ("a = Add (x, x) c = Cast <to = 1> (a) y = Add (x, c)", 13, INTEGERS, "different types"),
)
def test_they_are_open(nodes, opset, signature, reason):
    bad = model(nodes, opset, signature)
    proof = prove(bad, bad)
    assert proof.status == "open" and reason in proof.reason


def test_inputs_of_other_types_may_stand_side_by_side():
    nodes = "<int64[1] a = {0}> { c = Unsqueeze (x, a) y = Gather (c, a) }"
    good = model(nodes, 13, "(float[3] x) => (float[1,3] y)")
    assert is_proved(good, good)


@table(
    ("Upsample", "y = Upsample (x, s)", 9, 13),
    ("Scatter", "y = Scatter (x, i, x)", 9, 13),
    ("Split", "y, q = Split (x)", 13, 18),
    ("Gelu", "y = Gelu (x)", 20, 18),
    ("Flatten", "y = Flatten <axis = -1> (x)", 11, 10),
    ("Cast", "t = Cast <to = 8> (x) y = Neg (x)", 9, 8),
    ("GridSample", 'y = GridSample <mode = "cubic"> (x, x)', 20, 16),
    ("Scale", "y = Neg <scale = 3.0> (x)", 18, 18),
    ("no value", "k = Constant () y = Add (x, k)", 18, 18),
    ("two values", "k = Constant <value_float = 1.0, value_int = 1> () y = Add (x, k)", 18, 18),
    ("Gelu of what", 'y = Gelu <approximate = "sinh"> (x)', 20, 20),
    ("Resize", 'y = Resize <mode = "lineal"> (x, , s)', 18, 18),
    ("Transpose", "y = Transpose <perm = [2, 0, 1, 1]> (x)", 18, 18),
    ("flag", "y = Mod <fmod = -1> (x, x)", 18, 18),
    ("keepdims", "y = ReduceMax <axes = [1], keepdims = 2> (x)", 13, 13),
)
def test_a_rewrite_that_is_no_valid_model_is_refuted(what, nodes, old, new):
    text = """g (float[2, 1, 2, 2] x, int64[2, 1, 2, 2] i) => (float[a, b, c, d] y)
        <float[4] s = {1, 1, 1, 1}> { %s }"""
    after = parsed(text % nodes, new)
    before = parsed(text % (nodes if old != new else "y = Neg (x)"), old)
    proof = prove(before, after)
    assert proof.status == "refuted"
    assert "not a valid model" in proof.reason
    assert prove(after, before).status == "open"


def test_a_domain_that_is_not_imported_is_refuted():
    before = parsed("g (float[n] x) => (float[n] y) { y = local.Strange (x) }")
    after = onnx.ModelProto.FromString(before.SerializeToString())
    del after.opset_import[1:]
    assert is_proved(before, before)
    assert prove(before, after).status == "refuted"


def test_none_of_the_largest_cannot_be_said_before_opset_10():
    text = "g (float[2, n] x) => (float[2, k] y, int64[2, k] i) %s"
    after = parsed(text % "{ y, i = TopK <k = 0> (x) }", 9)
    before = parsed(text % "<int64[1] k = {0}> { y, i = TopK (x, k) }", 10)
    assert prove(before, after).status == "refuted" and is_proved(before, before)


@pytest.mark.parametrize("attributes", ["", "<axis = 0>"])
def test_an_absent_input_of_sizes_is_seen_beside_a_node_that_has_them(attributes):
    split = f"Split {attributes} (x, s)"
    outputs = "(float[2] a, float[2] b, float[2] c, float[2] d) <int64[2] s = {2, 2}>"
    nodes = f"{{ a, b = {split} c, d = {split} }}"
    before, after = (parsed(f"g (float[4] x) => {outputs} {nodes}", 18) for _ in range(2))
    after.graph.node[1].input[1] = ""
    proof = prove(before, after)
    assert proof.status == "refuted" and "neither sizes nor their number" in proof.reason


@table(
    ("y = Loop (k, t, x) <body = b (i, w, s) => (c, s2) { s2 = Neg (s) }>", "absent output"),
    ("y, q = Loop (k, t, x) <body = b (i, w, s) => (w, s, c) {}>", "absent output"),
    ("y = If (t) <then_branch = b () => (c) {}, else_branch = e () => (x) {}>", "absent"),
    ("y = Loop (k, t, x) <body = b (i, w, s) => (w2, s2) { w2 = Identity (w) s2 = If (c) "
     "<then_branch = d () => (a) { a = Neg (s) }, else_branch = e () => (s) {}> }>",
     "lacks input 0"))  # fmt: skip
def test_a_body_that_needs_an_absent_argument_stays_open(nodes, reason):
    constants = "k = Constant <value_int = 2> () t = Constant <value = bool {1}> ()"
    pair = [
        onnx.parser.parse_model(
            '<ir_version: 8, opset_import: ["" : 18, "f" : 1]>'
            f"g (float[3] x) => (float[3] z) {{ y = f.f (x) z = {last} (y) }}"
            f'<opset_import: ["" : 18], domain: "f"> f (x, c) => (y) {{ {constants} {nodes} }}'
        )
        for last in ("Abs", "Relu")
    ]
    proof = prove(*pair)
    assert proof.status == "open" and reason in proof.reason


@table(
    ("a value", "g (float[3] x, bool c) => (float[3] y) <float[3] z> { z = Neg (x) y = Abs (z) }"),
    ("an output", "g (float[3] x, bool c) => (float[3] y) { y = Neg (x) }"),
    ("an output of a body", """g (float[3] x, bool c) => (int64 y) { d = If (c) <
        then_branch = t () => (float[3] u) { u = Neg (x) },
        else_branch = e () => (float[3] v) { v = Abs (x) }> y = Size (d) }"""))  # fmt: skip
def test_a_value_of_another_type_than_its_graph_declares_is_refuted(what, text):
    declared = {"a value": "float[3] z", "an output": "float[3] y"}.get(what, "float[3] u")
    before = parsed(text)
    after = parsed(text.replace(declared, declared.replace("float", "double")))
    assert is_proved(before, before)
    if what == "an output":
        assert not is_proved(before, after)
    else:
        proof = prove(before, after)
        assert proof.status == "refuted"
        assert proof.reason.endswith("is declared as double and is float")


@pytest.mark.parametrize("iterations", [1, 3, 100])
def test_a_sequence_is_not_the_tensor_that_a_body_declares(iterations):
    """Read by no output: the loop fails on its second iteration."""
    state = """g (float[2] x) => (float[2] y) <int64 n = {%s}> {
        s = SequenceConstruct (x)
        a, b = Loop (n, "", x, s) <body = t (int64 i, bool c, float[2] p, seq(float[2]) q)
            => (bool d, float[2] %s, seq(float[2]) r) {
            d = Identity (c) o = Neg (p) r = SequenceInsert (q, x) }>
        y = Identity (x) }"""
    before, after = (parsed(state % (iterations, output), 21) for output in "or")
    assert is_proved(before, before)
    proof = prove(before, after)
    assert proof.status == "refuted"
    reason = "state 0 of Loop 'a' is float at first and seq(tensor(float)) after an iteration"
    assert reason in proof.reason


UNREAD = """g (float[2] x, bool c) => (float[2] y, seq(float[2]) s) {
    s = SequenceConstruct (x) y = Neg (x) d = Cast <to = 11> (x) u = other.Op (x)
    w = other.Two (x) %s }"""


@table(
    ("n = Neg (s)", "Neg 'n' does not accept seq(tensor(float)) in opset 21"),
    ("n = SequenceInsert (s, d)", "does not insert double into seq(tensor(float))"),
    ("n = SequenceInsert (x, x)", "does not accept float in opset 21"),
    ("n = Neg (w)", "an operand may have a type that the operator does not accept"),
    ("n = Neg (u)", "an operand may have a type that the operator does not accept"),
    ("n = Add (x, u)", "an operand may have a type that the operator does not accept"),
    ("n = Add (u, w)", "an operand may have a type that the operator does not accept"),
)
def test_a_node_that_nothing_reads_fails_on_an_operand_of_another_type(node, reason):
    before, after = onnx_models(UNREAD % "", UNREAD % node)
    assert is_proved(before, before)
    proof = prove(before, after)
    assert not proof.proved and reason in proof.reason
    assert is_proved(after, after) is ("SequenceInsert" not in node and "(s)" not in node)


@table(
    ("n = Neg (u)", "n = Abs (u)"),
    ("n = Sin (u)", "n = Neg (u)"),
    ("n = Add (x, u)", "n = Sin (u)"),
    ("n = Add (u, w)", "n = Add (u, w) m = Add (u, w)"),
    ("", "n = Identity (u) m = Identity (w)"),
    ("n = Neg (u)", "n = Shape (u)"),
    ("n = Sub (u, x) m = Neg (n)", "n = Sub (u, x) m = Sin (n)"),
    ("n = Sub (u, x) m = Sqrt (n) k = Div (n, m)", "n = Sub (u, x) m = Sqrt (n) k = Mul (n, m)"),
    ("n = Flatten (u) m = Sin (n)", "n = Flatten (u) m = Sin (n) k = Neg (u)"),
)
def test_an_operand_has_a_type_that_the_original_asks_for(one, other):
    assert is_proved(*onnx_models(UNREAD % one, UNREAD % other))


@table(
    ("n = Neg (u)", "n = Sin (u)"),
    ("n = Shape (u)", "n = Neg (u)"),
    ("n = Sin (u)", "n = Add (x, u)"),
    ("n = Neg (u) m = Neg (w)", "n = Add (u, w)"),
    ("n = Sub (u, d) m = Add (w, x)", "n = Sub (u, d) m = Add (w, x) k = Add (u, w)"),
    ("n = Shape (u) m = Sin (n)", "n = Shape (u) m = Sin (n) k = Sin (u)"),
)
def test_another_operator_accepts_fewer_types(one, other):
    assert not is_proved(*onnx_models(UNREAD % one, UNREAD % other))


@table(
    ("0.5", "d = Dropout (x, r)", True),
    ("2.0", "d = Dropout (x, r)", False),  # onnxruntime: "ratio must be in the range [0, 1)"
    ("1.0", "d = Mod <fmod = 1> (x, r)", True),
    ("1.0", "d = Mod (x, r)", False),  # the specification and onnxruntime require fmod = 1
    ("1.0", "d = Mod <fmod = 0> (x, r)", False),
)
def test_a_rewrite_may_not_hold_a_node_whose_value_runtimes_refuse(number, node, holds):
    own = "g (float[3] x) => (float[3] y) <float r = {{{0}}}> {{ y = Neg (x) {1} }}"
    before, after = onnx_models(own.format(number, ""), own.format(number, node))
    assert is_proved(before, after) is holds
    feeds = {"x": np.float32([1, 2, 3])}
    if holds:
        assert_equal_outputs(before, after, feeds)
    else:
        with pytest.raises(Exception, match=r"ratio|fmod"):
            run_in_onnxruntime(after, feeds)
    assert is_proved(after, before) or not holds


def onnx_models(*texts):
    head = '<ir_version: 10, opset_import: ["" : 21, "other" : 1]> '
    return [onnx.parser.parse_model(head + text) for text in texts]
