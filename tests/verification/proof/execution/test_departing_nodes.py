import numpy as np
import pytest
import straightline as sl
from harness import as_model
from sessions import outputs
from tables import table

SUM = """g (int64[n] x) => (int64 y) <bool t = {1}, int64 zero = {0}> {
    s = Shape (x) m = Squeeze (s)
    y = Loop (m, t, zero) <body = b (int64 i, bool c, int64 a) => (bool d, int64 r) {
        d = Identity (c) e = Gather (x, i) r = Add (a, e) }> }"""
CHOICES = "(float[n] x, float[n] z, bool[n] c) => (float[n] y)"
EXACTLY = "onnxruntime computed ReduceSum of integers exactly"
VECTORS = "onnxruntime's MatMul of a transposed matrix and a vector read its rows"
SIGNS = "onnxruntime's Where kept the sign of -0.0"


def proof(before: str, after: str) -> sl.Proof:
    found = sl.prove(*[as_model(text) for text in (before, after)])
    assert found.proved, found
    return found


def test_a_sum_of_integers():
    reduced = "g (int64[n] x) => (int64 y) { y = ReduceSum <keepdims = 0> (x) }"
    assert proof(SUM, reduced).assumptions == (EXACTLY,)
    assert f"if {EXACTLY}" in proof(SUM, reduced).claim
    assert proof(reduced, SUM).assumptions == (EXACTLY,)


def test_exact_doubles_need_no_assumption():
    before = "g (bool[n] x) => (int64 y) { a = Cast <to = 7> (x) y = ReduceSum <keepdims = 0> (a) }"
    after = before.replace("{ a", "<int64[1] k = {0}> { a").replace("(a) }", "(a, k) }")
    assert proof(before, after).assumptions == ()


@table(
    ("d = Not (c) y = Where (d, x, z)", "y = Where (c, z, x)", (SIGNS,)),
    ("d = Not (c) y = Where (d, x, z)", "d = Not (c) w = Where (d, x, z) y = Identity (w)", ()),
    ("d = Not (c) e = Exp (x) f = Exp (z) y = Where (d, e, f)",
     "e = Exp (x) f = Exp (z) y = Where (c, f, e)", ()))  # fmt: skip
def test_choices(before, after, assumptions):
    one, other = (f"g {CHOICES} {{ {nodes} }}" for nodes in (before, after))
    assert proof(one, other).assumptions == assumptions


@table(
    ("t = Transpose (a) w = Unsqueeze (v, k) m = MatMul (t, w) y = Squeeze (m, k)", (VECTORS,)),
    ("y = MatMul (v, a)", (VECTORS,)),
    ("i = Identity (a) t = Transpose (i) y = MatMul (t, v)", ()))  # fmt: skip
def test_a_transposed_matrix_by_a_vector(after, assumptions):
    text = "g (float[n, 4] a, float[n] v) => (float[4] y) <int64[1] k = {1}> { %s }"
    before = text % "t = Transpose (a) y = MatMul (t, v)"
    assert proof(before, text % after).assumptions == assumptions


def test_a_slice_that_departs_is_not_computed():
    bounds = "<int64[1] s = {-1}, int64[1] e = {9223372036854775807}, int64[1] a = {0}>"
    before = f"g (float[4] x) => (float[p] y) {bounds} {{ y = Slice (x, s, e, a, s) }}"
    after = "g (float[4] x) => (float[p] y) <int64[0] i = {}> { y = Gather (x, i) }"
    assert not sl.prove(*[as_model(text) for text in (before, after)]).proved


@pytest.mark.parametrize("kind", ["int32", "int64"])
@pytest.mark.parametrize("options", [{}, {"passes": "accelerate"}, {"target": "onnxruntime"}])
def test_sums_that_rewrites_emit_are_exact(kind, options):
    before = as_model(SUM.replace("int64", kind).replace(f"{kind} i", "int64 i"))
    outcome = sl.transform(before, **options)
    most = int(np.iinfo(kind).max)
    for numbers in ([], [most, 1, 1], [2**53 % most + 1, 2], [-most, -2]):
        fed = {"x": np.array(numbers, kind)}
        for one, other in zip(outputs(before, fed), outputs(outcome.model, fed), strict=True):
            np.testing.assert_array_equal(one, other)
    assert not outcome.verdict.proof.assumptions


@table(
    ("(float u, float e) {{ {} }}", "(float u, float r) {{ {} r = Identity (e) }}", True),
    ("(float u, float u) {{ {} }}", "(float u, float r) {{ {} r = Identity (u) }}", True),
    ("(float u, float e) {{ {} }}", "(float v, float e) {{ {} v = Identity (u) }}", False),
    ("(float u, float r) {{ {} r = Neg (e) }}", "(float u, float r) {{ {} r = Neg (e) }}", False),
)
def test_outputs_of_a_body(before, after, assumptions):
    text = """g (float s, float[N] x) => (float t, float[N] y) {{
        t, y = Scan <num_scan_inputs = 1, body = b (float a, float e) => {}> (s, x) }}"""
    found = proof(*[text.format(b.format("w = Add (a, e) u = Tanh (w)")) for b in (before, after)])
    copied = ("onnxruntime copied the outputs of the body of Scan",)
    assert found.assumptions == (copied if assumptions else ())


@table(
    ("u = StringConcat (a, e)", True),
    ("w = StringConcat (a, e) u = Identity (w)", True),
    ("k = Equal (a, e) u = If (k) <then_branch = t () => (string v) { v = Identity (e) },"
     " else_branch = o () => (string w) { w = StringConcat (e, a) }>", True),
    ("w = StringConcat (a, e) k = Equal (w, e) u = Where (k, w, e)", False),
)  # fmt: skip
def test_texts_that_a_scan_extends(body, is_extended):
    text = f"""<ir_version: 8, opset_import: ["" : 20]> g (string s, string[N] x) => (string t)
        {{ t = Scan <num_scan_inputs = 1, body = b (string a, string e) => (string u) {{ {body} }}>
        (s, x) }}"""
    extended = ("onnxruntime's StringConcat in a Scan began with an empty text",)
    loop = sl.transform(as_model(text), "scans-to-loops", verify=False).model
    assert proof(text, loop).assumptions == (extended if is_extended else ())
    assert not proof(text, text.replace("g (", "h (", 1)).assumptions
    assert sl.verify(as_model(text), loop, prove=False).status == "equal"
