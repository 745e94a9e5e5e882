"""Terms as people read them: where two models differ first."""

import onnx
from straightline.proof import prove
from straightline.proof.printing import shown

HEADER = '<ir_version: 8, opset_import: ["" : 17]>'


def model(text):
    return onnx.parser.parse_model(HEADER + text)


def differing(before, after):
    """The two texts, the numbers of terms left out."""
    proof = prove(model(before), model(after))
    assert proof.status == "open"
    return proof.first


def test_the_nodes_before_a_difference_are_shown_with_types_and_attributes():
    before, after = differing(
        "g (float[2,N] x) => (float[2,N] y) { a = Abs (x)  y = Softmax <axis = 0> (a) }",
        "g (float[2,N] x) => (float[2,N] y) { a = Abs (x)  y = LogSoftmax <axis = 0> (a) }",
    )
    (arg, one), (same, other) = before.splitlines(), after.splitlines()
    assert arg == same and arg.startswith("float[2,N] t") and arg.endswith(" = Abs (x)")
    assert " = Softmax <axis = 0> (t" in one
    assert " = LogSoftmax <axis = 0> (t" in other


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
