import onnx
from proofs import assert_open
from straightline.verification.proof import prove
from straightline.verification.proof.terms.printing import shown


def model(text):
    header = '<ir_version: 8, opset_import: ["" : 17]>'
    return onnx.parser.parse_model(header + text)


def differing(before, after):
    """The two texts, the numbers of terms left out."""
    proof = prove(model(before), model(after))
    assert proof.status == "open"
    return proof.first


def test_the_nodes_before_a_difference_are_shown_with_types_and_attributes():
    before, after = differing(
        "g (float[2,N] x) => (float[2,N] y) { a = Abs (x)  y = Hardmax <axis = 0> (a) }",
        "g (float[2,N] x) => (float[2,N] y) { a = Abs (x)  y = LpNormalization <axis = 0> (a) }",
    )
    (arg, one), (same, other) = before.splitlines(), after.splitlines()
    assert arg == same and arg.startswith("float[2,N] t") and arg.endswith(" = Abs (x)")
    assert " = Hardmax <axis = 0> (t" in one
    assert " = LpNormalization <axis = 0" in other


def test_an_input_is_its_name():
    before, after = differing(
        "g (float[2] x) => (float[2] y) { y = Identity (x) }",
        "g (float[2] x) => (float[2] y) { y = Neg (x) }",
    )
    assert before.startswith("float[2] x = input")
    assert after.endswith("= Neg (x)")


def test_the_term_itself_is_never_left_out():
    def sum_of(count):
        terms = [f"x{k} = Add (x, w{k})" for k in range(count)]
        names = ", ".join(f"x{k}" for k in range(count))
        inputs = ", ".join(["float[2] x", *(f"float[2] w{k}" for k in range(count))])
        return f"g ({inputs}) => (float[2] y) {{ {' '.join(terms)} y = %s ({names}) }}"

    before, after = differing(sum_of(40) % "Max", sum_of(40) % "Min")
    assert " = Max " in before.splitlines()[-1] and " = Min " in after.splitlines()[-1]
    assert len(before.splitlines()) <= 12


def test_nothing_is_absent():
    assert shown(None) == "absent"


def test_constants_and_sizes_show_what_they_hold():
    before, after = differing(
        "g (float[2,N] x) => (float[2,N] y) <float[3] c = {1,2.5,-3}> { s = Sin (c) y = Exp (x) }",
        "g (float[2,N] x) => (float[2,N] y) <float[2,1] c = {1,2.5}> { y = Mul (x, c) }",
    )
    assert "constant <value = {1.0, 2.5}> ()" in after
    before, after = differing(
        "g (float[2,N] x) => (int64[2] y) { y = Shape (x) }",
        "g (float[2,N] x) => (int64[2] y) { y = Constant <value_ints = [2, 3]> () }",
    )
    assert before.endswith("= sizes <value = {2, N}> ()")
    assert after.endswith("= constant <value = {2, 3}> ()")
    names = "g (float[2] x) => (string[2] y) {{ y = Constant <value_strings = {}> () }}"
    before, after = differing(names.format('["a", "b"]'), names.format('["a", "c"]'))
    assert before.endswith("= constant <value = {a, b}> ()")


def test_long_constants_are_shortened():
    numbers = "g (float[2] x) => (int64[k] y) {{ y = Constant <value_ints = {}> () }}"
    before, _ = differing(numbers.format(list(range(9))), numbers.format(list(range(1, 10))))
    assert before.endswith("<value = {0, 1, 2, 3, 4, 5, 6, 7, ...}> ()")
    floats = "g (float[2] x) => (float[k] y) {{ y = Constant <value_floats = {}> () }}"
    before, _ = differing(floats.format([0.5] * 40), floats.format([0.25] * 40))
    assert before.endswith("<value = {...}> ()")


def test_words_name_no_function_of_ours():
    loop = """g (float[n] x, int64 m) => (float[n] y) <bool yes = {1}> {
        y = Loop (m, yes, x) <body = b (int64 i, bool c, float[n] s) => (bool d, float[n] t) {
        d = Identity (c) t = Exp (s) }> }"""
    branch = """g (float[n] x, int64 m) => (float[n] y) { c = Cast <to = 9> (m)
        y = If (c) <then_branch = a () => (float[n] o) { o = Exp (x) },
        else_branch = b () => (float[n] o) { o = Neg (x) }> }"""
    reason = "output 'y': the last state of a loop and, in the rewrite, %s are not proved equal"
    assert_open(loop, branch, reason % "a choice by a condition")
    assert_open(
        loop,
        loop.replace("y = Loop", "z = Loop").replace(
            "t = Exp (s) }>", "t = Exp (s) }> y = Identity (x)"
        ),
        reason % "input 'x'",
    )
