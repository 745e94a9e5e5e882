import straightline as sl
from certificates import assert_none, certificate, of_text
from straightline.verification.certificate_check import check
from tables import table

TANH = "(int64 i, bool c, float[n] s) => (bool d, float[n] u)"
ADD = """Loop (t, , %s) <body = k (int64 j, bool f, float[n] p) => (bool h, float[n] q) {
    h = Identity (f) q = Add (p, %s) }>"""


@table(
    ("a condition that ends", (
        "float[n] x",
        f"<int64 e = {{1}}, bool g = {{1}}> {{ y = Loop (, g, x) <body = b {TANH}"
        " { d = Less (i, e) u = Tanh (s) }> }",
        "{ a = Tanh (x) y = Tanh (a) }",
    )),
    ("a branch by the iteration", (
        "float[n] x",
        f"""<int64 t = {{2}}, int64 e = {{1}}> {{ y = Loop (t, , x) <body = b {TANH} {{
        d = Identity (c) g = Equal (i, e) u = If (g) <then_branch = o () => (v) {{ v = Tanh (s) }},
        else_branch = p () => (w) {{ w = Neg (s) }}> }}> }}""",
        "{ a = Neg (x) y = Tanh (a) }",
    )),
    ("no iteration", (
        "float[n] x",
        f"<int64 t = {{0}}> {{ a = Loop (t, , x) <body = b {TANH} {{ d = Identity (c)"
        " u = Tanh (s) }> y = Neg (a) }",
        "{ y = Neg (x) }",
    )),
    ("a loop in a loop", (
        "float[n] x, float[n] w, int64 t",
        f"<int64 two = {{2}}> {{ y = Loop (two, , x) <body = b {TANH} {{ d = Identity (c)"
        f" u = {ADD % ('s', 'w')} }}> }}",
        f"{{ s = {ADD % ('x', 'w')} y = {ADD % ('s', 'w')} }}",
    )),
    ("rows backwards", (
        "float[2, n] x",
        """{ y = Scan (x) <num_scan_inputs = 1, scan_input_directions = [1], body = b (float[n] e)
        => (float[n] r) { r = Tanh (e) }> }""",
        """<int64 i = {1}, int64 j = {0}, int64[1] o = {0}> { a = Gather (x, i) b = Gather (x, j)
        c = Tanh (a) d = Tanh (b) u = Unsqueeze (c, o) v = Unsqueeze (d, o)
        y = Concat <axis = 0> (u, v) }""",
    )),
    ("an element of a list", (
        "float[n] x, float[n] w",
        "<int64 k = {-2}> { a = SequenceConstruct (x, w) b = SequenceAt (a, k) y = Neg (b) }",
        "{ y = Neg (x) }",
    )),
    ("elements along a new axis", (
        "float[n] x, float[n] w",
        """{ a = SequenceConstruct (x, w)
        y = ConcatFromSequence <axis = 0, new_axis = 1> (a) }""",
        """<int64[1] o = {0}> { u = Unsqueeze (x, o) v = Unsqueeze (w, o)
        y = Concat <axis = 0> (u, v) }""",
    )))  # fmt: skip
def test_iterations(case, given):
    inputs, *bodies = given
    pair = [of_text(f"g ({inputs}) => (y) {body}", 18) for body in bodies]
    assert check(certificate(*pair), *pair).rules
    assert sl.verify(*pair, prove=False).equal


def test_a_loop_of_many_iterations_stays():
    text = """g (float[n] x) => (y) <int64 t = {999}> { y = Loop (t, , x)
        <body = b BODY { d = Identity (c) u = F (s) }> }"""
    texts = [text.replace("BODY", TANH).replace("F", name) for name in ("Abs", "Neg")]
    assert_none(*[of_text(each, 18) for each in texts])
