from certificates import assert_derived, assert_none
from tables import table


def loop(op="Abs", names=("a", "d", "e"), extra=""):
    text = """g (float[n] x, int64 t, bool k) => (float[n] y) {{ y = Loop (t, k, x) <body = b
        (int64 i, bool c, float[n] {a}) => (bool {d}, float[n] {e}) {{
            {d} = Identity (c) {e} = {op} ({a}) }}> {extra} }}"""
    return text.format(**dict(zip("ade", names, strict=True)), op=op, extra=extra)


def test_names_of_values_are_no_part_of_a_body():
    assert_derived(loop(), loop(names=("p", "q", "r")))
    assert_none(loop(), loop("Neg"))


def test_bodies_are_equal_where_their_outputs_are_derived_to_be():
    assert_derived(loop(), loop("Abs", extra=""), opsets=(12, 18))
    with_copy = loop().replace("e = Abs (a)", "f = Identity (a) e = Abs (f)")
    assert_derived(with_copy, loop(), "identity")


def test_a_body_reads_what_is_around_it():
    text = (
        "g (float[n] x, float[n] w, bool c) => (float[n] y) { y = If (c) <then_branch = a () => (u)"
    )
    text += " { u = Add (x, %s) }, else_branch = b () => (v) { v = Neg (x) }> }"
    assert_derived(text % "w", text % "w")
    assert_none(text % "w", text % "x")


def test_branches_are_not_exchanged():
    text = "g (float[n] x, bool c) => (float[n] y) { y = If (c) <then_branch = a () => (u)"
    text += " { u = %s (x) }, else_branch = b () => (v) { v = %s (x) }> }"
    assert_none(text % ("Abs", "Neg"), text % ("Neg", "Abs"))


def test_variables_of_other_types_are_others():
    text = "g (float[n] x, {0}[n] w, int64 t) => (float[n] y, {0}[n] z) {{ y, z = Loop (t, , x, w)"
    text += " <body = b (int64 i, bool c, float[n] p, {0}[n] q) => (bool d, float[n] r, {0}[n] s)"
    text += " {{ d = Identity (c) r = {1} (p) s = Identity (q) }}> }}"
    assert_derived(text.format("double", "Abs"), text.format("double", "Abs"))
    assert_none(text.format("float", "Abs"), text.format("float", "Neg"))


FUNCTION = """<ir_version: 10, opset_import: ["" : 18, "local" : 1]>
g (float[n] x) => (float[n] y) { y = local.f <axis: int = 1> (x) }
<domain: "local", opset_import: ["" : 18]> f <by> (a) => (b)
{ c = Abs (a) b = LeakyRelu <alpha: float = @by> (c) }"""


@table(("0.5", "0.5", True), ("0.5", "0.25", False))
def test_functions_run_by_their_definition(argument, alpha, equal):
    called = FUNCTION.replace("<axis: int = 1>", f"<by: float = {argument}>")
    plain = "g (float[n] x) => (float[n] y) { c = Abs (x) y = LeakyRelu <alpha = %s> (c) }"
    (assert_derived if equal else assert_none)(called, plain % alpha)


def test_a_call_may_leave_out_an_attribute():
    called = FUNCTION.replace("<axis: int = 1>", "")
    assert_derived(called, "g (float[n] x) => (float[n] y) { c = Abs (x) y = LeakyRelu (c) }")


def test_random_numbers_correspond_one_to_one():
    two = "g (float[n] x) => (a, b) { a = RandomNormalLike (x) b = RandomNormalLike (x) }"
    assert_derived(two, two)
    one = "g (float[n] x) => (a, b) { a = RandomNormalLike (x) b = Identity (a) }"
    assert_none(two, one)
    assert_none(one, two)


def test_a_draw_of_each_iteration_is_no_draw_before_the_loop():
    body = "g (float[n] x, int64 t) => (y) { %s y = Loop (t, , x) <body = b"
    body += " (int64 i, bool c, float[n] a) => (bool d, float[n] e)"
    body += " { d = Identity (c) %s e = Add (a, r) }> }"
    draw = "r = RandomNormalLike (x)"
    assert_none(body % ("", draw), body % (draw, ""))


@table(
    ("g (float[n] x) => (y) { y = Upsample <scales = [1.0]> (x) }", "Upsample"),
    ("g (float[n] x) => (y) { y = Abs <axis = 1> (x) }", "Abs"),
    ("g (float[n] x) => (y) { y = NoSuch (x) }", "NoSuch"),
    ("g (float[n] x) => (y) { y = other.F (x) }", "other"),
    ("g (float[n] x) => (y) { y = Neg (z) }", ""),
)
def test_models_that_are_refused(text, reason):
    assert_none(text, text, reason)


def test_bits_of_nan_are_not_compared():
    """The first of two NaN stays, so the order of operands matters."""
    text = "g (float[3] x, float[3] z) => (int32[3] y) { t = Add (%s) y = BitCast <to = 6> (t) }"
    assert_none(text % "x, z", text % "z, x", "BitCast", opsets=(26, 26))
