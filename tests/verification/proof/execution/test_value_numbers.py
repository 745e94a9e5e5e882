import onnx
import pytest
from proofs import is_proved, model, proof_of
from straightline.verification.proof import prove
from straightline.verification.proof.execution.value_numbers import ValueNumbers
from tables import table

CHAIN = "g (float[N] x, float[N] c) => (float[N] y) { a = Add (x, c) y = Relu (a) }"
RENAMED = "g (float[N] x, float[N] c) => (float[N] y) { q = Add (x, c) y = Relu (q) }"


@pytest.fixture
def shared(monkeypatch):
    """For each proof: nodes of the rewrite that the original lacks, by operator; None if no
    numbers help."""
    records = []
    original = ValueNumbers.correspondence

    def recorded(self, before, after):
        result = original(self, before, after)
        steps = after.program.steps
        differing = result and [steps[index].node.op_type for index in result.differing]
        records.append(differing)
        return result

    monkeypatch.setattr(ValueNumbers, "correspondence", recorded)
    return records


def test_names_and_opsets_make_no_difference(shared):
    for opset in (17, 21):
        proof = prove(model(CHAIN, 17), model(RENAMED, opset))
        assert proof.proved and proof.outputs == {"y": 4} and not proof.rules
    assert shared == [[], []]


def test_commutative_operands_make_no_difference(shared):
    assert proof_of(CHAIN, CHAIN.replace("(x, c) y", "(c, x) y")).proved
    assert not proof_of(CHAIN, CHAIN.replace("Add (x, c)", "Sub (c, x)")).proved
    assert shared[0] == [] and shared[1][0] == "Sub"


def test_constants_are_equal_however_a_model_holds_them(shared):
    held = "g (float[2] x) => (float[2] y, float[2] z) <float[2] c = {1, 2}>"
    node = "g (float[2] x) => (float[2] y, float[2] z) { c = Constant <value_floats = [1.0, %s]> ()"
    rest = "y = Add (x, c) z = Relu (y) }"
    proof = proof_of(f"{held} {{ {rest}", node % "2.0" + rest)
    assert proof.proved and proof.outputs == {"y": 3, "z": 1}
    assert shared == [[]]
    assert not proof_of(f"{held} {{ {rest}", node % "3.0" + rest).proved


@table(
    ("y = Sub (x, c)", "y = Sub (c, x)"),
    ("y = Softmax <axis = 0> (x)", "y = Softmax <axis = 1> (x)"),
    ("y = Cast <to = 1> (x)", "y = Cast <to = 10> (x)"),
    ("y = RandomNormalLike (x)", "y = RandomNormalLike (x)"),
    ("y = Identity (x)", "y = Identity (x) z = Reshape (x, i)"),
    ("y = local.Own (x)", "y = local.Own (x)"),
    ("y, m = TopK (x, i)", "m, y = TopK (x, i)"),
    ("y = Clip (x, , s)", "y = Clip (x, s)"),
)
def test_different_values_have_no_number(one, other, shared):
    text = "g (float[N, M] x, float[N, M] c, int64[1] i, float s) => (y) { %s }"
    assert not proof_of(text % one, text % other).proved or "Random" in one or "Own" in one
    assert "TopK" in one or shared[0] != []


def test_more_nodes_of_the_original_are_no_difference(shared):
    more = "g (float[N, M] x, int64[1] i) => (y) { y = Relu (x) z = Reshape (x, i) }"
    less = "g (float[N, M] x, int64[1] i) => (y) { y = Relu (x) }"
    assert proof_of(more, less).proved
    assert not proof_of(less, more).proved
    assert shared[0] == [] and shared[1] == ["Reshape"]


LOOP = """g (float[N] x, int64 n, bool c) => (float[N] y) {
    y = Loop (n, c, x) <body = b (int64 i, bool k, float[N] s) => (bool k2, float[N] t) {
        k2 = Identity (k) %s }> %s }"""


def test_bodies_of_the_same_nodes(shared):
    """Names in a body, and a value that it captures."""
    one, other = LOOP % ("t = Add (s, x)", ""), LOOP % ("u = Add (x, s) t = Identity (u)", "")
    assert proof_of(one, LOOP.replace("s)", "r)") % ("t = Add (r, x)", "")).proved
    assert shared == [[]]
    assert proof_of(one, other).proved
    assert not proof_of(one, LOOP % ("t = Add (s, s)", "")).proved
    assert not any(shared[1:])


def test_a_node_of_a_body_is_none_of_the_main_graph(shared):
    """A loop without an iteration runs no node of its body, so that none fails."""
    inside = "w = Gather (x, n) t = Add (s, w)"
    assert proof_of(LOOP % (inside, "z = Gather (x, n)"), LOOP % (inside, "")).proved
    assert shared == [[]]
    assert not proof_of(LOOP % (inside, ""), LOOP % (inside, "z = Gather (x, n)")).proved
    assert shared[1] == ["Gather"]


@pytest.mark.parametrize("sizes", ["float[M]", "float[2]"])
def test_sizes_that_a_body_declares_are_its_own(sizes):
    """A rewrite may not demand sizes that the original does not."""
    one = LOOP % ("t = Add (s, s)", "")
    other = one.replace("float[N] t", f"{sizes} t")
    assert proof_of(one, one).proved
    assert proof_of(one, other).proved is (sizes == "float[M]")


def test_a_scan_output_of_unknown_size_may_differ_without_an_iteration(shared):
    scanned = """g (float[N] x, int64 n, bool c) => (float[N] y, float[R, S] z) {
        y, z = Loop (n, c, x) <body = b (int64 i, bool k, float[N] s)
            => (bool k2, float[N] t, %s r) { k2 = Identity (k) t = Add (s, s) r = Neg (s) }> }"""
    proof_of(scanned % "float[N]", scanned % "float[N]")
    known = (scanned % "float[3]").replace("[N]", "[3]")
    assert proof_of(known, known).proved
    assert shared[0] is None and shared[-1] == []


def test_functions_of_the_same_nodes(shared):
    text = """<ir_version: 10, opset_import: ["" : 18, "l" : 1]> g (float[N] x) => (float[N] y) {
        y = l.f (x) }
        <domain: "l", opset_import: ["" : 18]> f (a) => (b) { c = Neg (a) b = %s (c) }"""
    one, other, third = (
        onnx.parser.parse_model(text % op_type) for op_type in ("Abs", "Abs", "Exp")
    )
    other.functions[0].node[0].output[0] = other.functions[0].node[1].input[0] = "d"
    assert is_proved(one, other) and shared == [[]]
    assert not is_proved(one, third) and shared[1] is None


def test_types_that_an_opset_lacks():
    """Relu takes integers from opset 14 on."""
    text = "g (int32[N] x) => (int32[N] y) { y = Relu (x) }"
    proof = prove(model(text, 18), model(text, 13))
    assert proof.status == "refuted" and "not a valid model" in proof.reason
    proof = prove(model(text, 13), model(text, 13))
    assert proof.status == "open" and "the original is not a valid model" in proof.reason


def test_types_that_an_opset_lacks_in_a_body():
    text = """g (int32[N] x, bool c) => (int32[N] y) {
        y = If (c) <then_branch = a () => (int32[N] p) { p = Relu (x) },
            else_branch = b () => (int32[N] q) { q = Identity (x) }> }"""
    assert is_proved(model(text, 18), model(text, 17))
    proof = prove(model(text, 18), model(text, 13))
    assert proof.status == "refuted" and "not a valid model" in proof.reason


def test_a_fault_of_the_original_comes_first():
    broken = "g (int32[N] x) => (int32[N] y) { y = Relu (x) }"
    gone = "g (int32[N] x) => (int32[N] y) { y = Mish (x) }"
    proof = prove(model(broken, 13), model(gone, 13))
    assert proof.status == "open" and "the original is not a valid model" in proof.reason


def test_a_declared_type_that_is_another_one():
    text = "g (float[N] x) => (int64[N] y) { y = Relu (x) }"
    assert not proof_of(text, text).proved
