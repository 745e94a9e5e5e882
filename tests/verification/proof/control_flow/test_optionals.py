from proofs import assert_open, assert_proved

CHOICE = """g (bool c, seq(float[2]) s) => (bool z) {
    o = If (c) <then_branch = a () => (optional(seq(float[2])) u) { u = Optional (s) },
        else_branch = b () => (optional(seq(float[2])) v) {
            v = Optional <type = seq(float[2])> () }>
    %s }"""


def test_a_sequence_or_nothing_may_be_nothing():
    assert_open(
        CHOICE % "z = OptionalHasElement (o)", CHOICE % "z = Constant <value = bool {1}> ()"
    )


def test_an_optional_of_a_tensor_holds_it():
    assert_proved(
        """g (float[2] x) => (float[2] y, bool z) {
            o = Optional (x) y = OptionalGetElement (o) z = OptionalHasElement (o) }""",
        """g (float[2] x) => (float[2] y, bool z) {
            y = Identity (x) z = Constant <value = bool {1}> () }""",
    )


def test_an_optional_input_may_hold_nothing():
    text = "g (optional(float[2]) x) => (bool z) { %s }"
    assert_open(text % "z = OptionalHasElement (x)", text % "z = Constant <value = bool {1}> ()")
    assert_proved(text % "z = OptionalHasElement (x)", text % "z = OptionalHasElement (x)")
