import numpy as np
import onnx
import onnx.reference
import pytest
from proofs import is_proved, model, proof_of
from straightline.verification.proof.prove import _Question
from tables import table


@pytest.fixture
def answers(monkeypatch):
    """Answer of each comparison between cut points."""
    records = []
    original = _Question._holds_between

    def recorded(self, cuts):
        records.append("equal" if original(self, cuts) else "open")
        return records[-1] == "equal"

    monkeypatch.setattr(_Question, "_holds_between", recorded)
    return records


LAYERS = """g (float[B, 4, 4] x, float[4, 4] w) => (float[B, 4, 4] y) {
    a = MatMul (x, w) b = Tanh (a) m = %s c = Sub (b, m) d = Exp (c)
    e = MatMul (d, w) f = Tanh (e) g = Relu (f) y = %s }"""


def test_a_node_in_another_form_is_compared_alone(answers):
    """Axes are an attribute before opset 18, and an input from then on."""
    before = LAYERS % ("ReduceMean <axes = [2]> (b)", "Softplus (g)")
    after = LAYERS.replace("{", "<int64[1] k = {2}> {", 1) % ("ReduceMean (b, k)", "Softplus (g)")
    assert is_proved(model(before, 17), model(after, 18))
    assert answers == ["equal"]


def test_a_node_whose_form_depends_on_ranks_is_compared_alone(answers):
    """Softmax flattens its operand before opset 13, which is the same along the last axis."""
    before = LAYERS % ("Softmax <axis = 2> (b)", "Softplus (g)")
    after = LAYERS % ("Softmax <axis = -1> (b)", "Softplus (g)")
    assert is_proved(model(before, 12), model(after, 13))
    assert answers == ["equal"]


@table("ReduceMean <axes = [1]> (b)", "ReduceSum (b)", "Neg (b)", "ReduceMax <axes = [2]> (b)")
def test_a_value_of_the_same_name_may_be_another_one(mean):
    before = LAYERS % ("ReduceMean <axes = [2]> (b)", "Softplus (g)")
    assert not is_proved(model(before, 12), model(LAYERS % (mean, "Softplus (g)"), 12))


def test_names_may_be_swapped_between_values():
    """A name that stands for another value assumes too much: the whole models are compared."""
    before = LAYERS % ("Neg (b)", "Softplus (g)")
    after = before.replace("g = Relu (f) y = Softplus (g)", "e1 = Relu (f) y = Softplus (e1)")
    assert proof_of(before, after).proved
    assert not proof_of(before, before.replace("c = Sub (b, m)", "c = Sub (m, b)")).proved
    undone = before.replace("c = Sub (b, m) d = Exp (c)", "c = Sub (m, b) n = Neg (c) d = Exp (n)")
    assert proof_of(before, undone, 18).status != "refuted"


def test_a_circle_of_names_proves_nothing():
    """Each of two values would be right if the other one were."""
    text = """g (float[N] x, float[N] z) => (float[N] p, float[N] q) {
        a = Exp (x) b = Sin (a) c = Cos (b) d = Tanh (c) %s }"""
    before = text % "p = Add (d, x) q = Add (d, z)"
    after = text % "q = Add (d, x) p = Add (d, z)"
    assert not proof_of(before, after).proved


def test_a_node_that_may_fail_needs_its_twin():
    text = "g (float[N] x, int64[1] i, int64 k) => (float[N] y) { a = Exp (x) b = Tanh (a) %s }"
    before = text % "c = Reshape (b, i) y = Sub (b, x)"
    after = text % "h = Identity (i) c = Reshape (b, h) y = Sub (b, x)"
    assert proof_of(before, after).proved
    assert not proof_of(text % "y = Sub (b, x)", after).proved
    other = text % "h = Neg (i) c = Reshape (b, h) y = Sub (b, x)"
    assert not proof_of(before, other).proved


def test_outputs_that_are_other_values_of_the_original():
    text = "g (float[N] x) => (float[N] y) { a = Exp (x) b = Tanh (a) c = Relu (b) %s }"
    before = text % "y = Relu (c)"
    assert proof_of(before, text.replace("c = Relu", "y = Relu") % "").proved
    assert not proof_of(before, text.replace("b = Tanh", "y = Tanh") % "").proved


def test_folded_constants_are_computed_on_the_other_side():
    """The rewrite holds a constant of the name of what the original computes."""
    before = """g (float[N] x) => (float[N] y) <float two = {2}> {
        a = Exp (x) k = Mul (two, two) b = Mul (a, k) c = Tanh (b) d = Sin (c) y = Cos (d) }"""
    after = """g (float[N] x) => (float[N] y) <float k = {%d}> {
        a = Exp (x) b = Mul (a, k) c = Tanh (b) d = Sin (c) y = Cos (d) }"""
    assert proof_of(before, after % 4).proved
    assert not proof_of(before, after % 5).proved


def test_a_chain_takes_no_recursion():
    nodes = [onnx.helper.make_node("Tanh", [f"v{k}"], [f"v{k + 1}"]) for k in range(3000)]
    info = [
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["N", 2])
        for name in ("v0", "out")
    ]
    softmax = onnx.helper.make_node("Softmax", ["v3000"], ["out"], axis=1)
    graph = onnx.helper.make_graph([*nodes, softmax], "g", info[:1], info[1:])
    pair = [
        onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", opset)])
        for opset in (12, 13)
    ]
    assert is_proved(*pair)
    feeds = {"v0": np.zeros((2, 2), np.float32)}
    one, other = (onnx.reference.ReferenceEvaluator(each).run(None, feeds) for each in pair)
    np.testing.assert_array_equal(one[0], other[0])


SHAPED = """g (float[B, 4, 6] x, float[6, 6] w) => (float[B, 2, 12] y)
    <int64[1] i = {0}, int64[2] r = {2, 12}, int64[3] k = {%s}> {
    a = MatMul (x, w) b = Tanh (a) c = Softplus (b) d = Exp (c) e = Sin (d) %s y = Relu (f) }"""


@table(("0, 2, 12", True), ("-1, 2, 12", True), ("0, 3, 8", False))
def test_sizes_of_a_cut_point_are_those_of_its_node(sizes, is_equal, answers):
    """A computed shape becomes a constant, which needs the sizes of what both models share."""
    computed = "s = Shape (e) n = Gather (s, i) t = Concat <axis = 0> (n, r) f = Reshape (e, t)"
    proof = proof_of(SHAPED % (sizes, computed), SHAPED % (sizes, "f = Reshape (e, k)"))
    assert proof.proved is is_equal and (not is_equal or answers == ["equal"])


def test_values_are_compared_by_rules(answers):
    before = "g (float[N, 4] x) => (float[N, 4] y) <float[%s] k = {%s}> { a = Exp (x) b = Tanh (a)"
    before += " c = Mul (b, k) d = Sin (c) y = Cos (d) }"
    row, one = ("1, 4", "2, 2, 2, 2"), ("1", "2")
    assert proof_of(before % row, before % one).proved and answers == ["equal"]
    assert not proof_of(before % row, before % ("1", "3")).proved


DECLARING = """g (float[N] x, bool[N] c) => (float[P] y) %s {
    a = Exp (x) b = Compress <axis = 0> (a, c) d = Tanh (b) y = Cos (d) }"""


@table(
    ("<float[N] a>", "equal", True), ("<float[Q] b, float[Q] d>", "equal", True),
    ("<float[N] b>", "open", True), ("<float[5] a>", "open", False))  # fmt: skip
def test_sizes_that_the_rewrite_alone_declares(declared, answer, is_equal, answers):
    """Where facts of cut points do not show them, a run of the whole models decides."""
    assert proof_of(DECLARING % "", DECLARING % declared).proved is is_equal
    assert answers == [answer]


SHAPE = "s = Shape (e) n = Gather (s, i) t = Concat <axis = 0> (n, r)"
FOLDED = """g (float[5, 4] x, float[4] w) => (float[N, 2, 2] y)
    <int64[1] i = {0}, int64[2] r = {2, 2}, float w2 = {3}%s> {
    a = Exp (x) e = LeakyRelu <alpha = 0.0> (a) %s
    f = Reshape (e, t) g = Add (f, w2) y = Sin (g) }"""
SIZED, NEAR = FOLDED % ("", SHAPE), FOLDED % (", int64[3] t = {5, 2, 2}", "")


@pytest.fixture
def wholes(monkeypatch):
    """Tests of rewrites for programs of the original's nodes."""
    records = []
    original = _Question._program

    def recorded(self, side):
        program = original(self, side)
        records.extend([program.whole is not None] * side)
        return program

    monkeypatch.setattr(_Question, "_program", recorded)
    return records


def test_nodes_of_the_original_are_not_read_again(answers, wholes):
    """The computed shape becomes an initializer of its name."""
    assert proof_of(SIZED, NEAR).proved and answers == ["equal"] and all(wholes)


@table(
    ("{5, 2, 2}", "{4, 2, 2}", "another constant"), ("w2 = {3}", "w2 = {4}", "an initializer"),
    ("alpha = 0.0", "alpha = -0.0", "bits of an attribute"), ("(f, w2)", "(w2, f)", "order"),
    ("int64[3] t =", "int64[3] u =", "lost"), ("Exp (x)", "Exp (w)", "another operand"),
    ("float[N, 2, 2] y", "float[N, 2, 3] y", "declared"), ("float[4] w)", "float[5] w)", "input"),
    ("float[4] w)", "float[4] t)", "an input of an old name"),
    ("y = Sin (g)", "t = Shape (x) y = Sin (g)", "defined twice"),
    ("a = Exp (x) e = LeakyRelu <alpha = 0.0> (a)", "e = LeakyRelu <alpha = 0.0> (a) a = Exp (x)",
     "a use before its definition"),
    ("a = Exp (x)", "", "a node that is read"), ("y = Sin (g)", "", "an output"),
)  # fmt: skip
def test_near_misses_of_a_rewrite_with_the_nodes_of_the_original(old, new, what):
    assert proof_of(SIZED, NEAR).proved
    assert NEAR.count(old) == 1
    assert proof_of(SIZED, NEAR.replace(old, new)).proved is (what == "order"), what


TWICE = """g (float[3] x) => (int64[1] y, int64[1] z) {
    a = Exp (x) b = Sin (a) c = Cos (b) s = Shape (c) t = Shape (c) y = Neg (s) z = Neg (t) }"""


@table(("3", "3", True), ("3", "4", False), ("4", "3", False))
def test_one_value_of_two_names(one, other, is_equal):
    constants = f"<int64[1] s = {{{one}}}, int64[1] t = {{{other}}}> {{"
    after = TWICE.replace("{", constants, 1).replace(" s = Shape (c) t = Shape (c)", "")
    assert proof_of(TWICE, after).proved is is_equal


CHAIN = """g (float[N] x) => (float[N] y) <float k = {2}%s> {
    a = Exp (x) b = Sin (a) c = Cos (b) d = Tanh (c) %s y = Mul (d, n) }"""


@table(("4", "8", True), ("5", "8", False), ("4", "9", False))
def test_constants_that_depend_on_constants(first, second, is_equal):
    """Each is proved with those before it in the order of the original."""
    before = CHAIN % ("", "m = Mul (k, k) n = Mul (m, k)")
    constants = f", float m = {{{first}}}, float n = {{{second}}}"
    assert proof_of(before, CHAIN % (constants, "")).proved is (is_equal or first == "5")


@table(("opset", False), ("function", False), ("body", False), ("same", True))
def test_meanings_of_equal_nodes_may_differ(kind, is_equal):
    """Softmax flattens before opset 13; a call means its function; a body reads captures."""
    text = """g (float[2, 3, 4] x) => (float[2, 3, 4] y) <float h = {%s}, bool yes = {1}> {
        a = Exp (x) b = Softmax <axis = 1> (a) c = %s y = If (yes) <
            then_branch = t () => (float[2, 3, 4] u) { u = Mul (c, h) },
            else_branch = e () => (float[2, 3, 4] v) { v = Mul (c, c) }> }"""
    function = '<domain: "local", opset_import: ["" : 12]> F (p) => (r) { r = %s (p) }'
    call, opset = ("local.F (b)", 12) if kind == "function" else ("Neg (b)", 12)
    one = text % ("2", call) + (function % "Neg" if kind == "function" else "")
    other = text % ("3" if kind == "body" else "2", call)
    other += function % "Abs" if kind == "function" else ""
    after = model(other, 13 if kind == "opset" else opset)
    assert is_proved(model(one, opset), after) is is_equal


READERS = """g (float[B, 4] x) => (float[P, 2, 2] y, float[P, 2, 2] z) <int64[1] i = {0}, %s> {
    a = Exp (x) b = Sin (a) d = Cos (b) e = Tanh (d) %s
    f = Reshape (e, t) y = Neg (f) g = Reshape (d, %s) z = Abs (g) }"""
ANY_ROWS = READERS % ("int64[2] r = {2, 2}", SHAPE, "t")


@table(
    ("int64[3] t = {-1, 2, 2}", "", "t", True), ("int64[3] t = {0, 2, 2}", "", "t", True),
    ("int64[3] t = {-1, 2, 2}, int64[2] r = {2, 2}", SHAPE.replace("t =", "u ="), "u", True),
    ("int64[3] t = {-1, 4, 1}", "", "t", False), ("int64[3] t = {3, 2, 2}", "", "t", False),
)  # fmt: skip
def test_readers_of_a_constant_that_is_another_value(constants, nodes, shape, is_equal, answers):
    """Nodes that read -1 in the place of a computed size are compared one by one."""
    after = READERS % (constants, nodes, shape)
    assert proof_of(ANY_ROWS, after).proved is is_equal
    assert not is_equal or answers == ["equal"]


def test_a_constant_that_is_an_output_or_in_a_body_is_its_value(answers):
    text = "g (float[B, 4] x, bool c) => (float[P, 2, 2] y, %s q) %s { a = Exp (x) b = Sin (a) %s }"
    nodes = "s = Shape (b) n = Gather (s, i) t = Concat <axis = 0> (n, r)"
    rest = "d = Cos (b) e = Tanh (d) f = Reshape (e, t) y = Neg (f) %s"
    initial, constant = "<int64[1] i = {0}, int64[2] r = {2, 2}>", "<int64[3] t = {-1, 2, 2}>"
    output = rest % "q = Abs (t)"
    body = "q = If (c) <then_branch = u () => (float[P, 2, 2] v) { v = Reshape (d, t) }, "
    body += "else_branch = o () => (float[P, 2, 2] w) { w = Reshape (a, t) }>"
    for kind, last, is_equal in (
        ("int64[3]", output, False),
        ("float[P, 2, 2]", rest % body, True),
    ):
        before = text % (kind, initial, f"{nodes} {last}")
        assert proof_of(before, text % (kind, constant, last)).proved is is_equal
    assert "equal" not in answers
