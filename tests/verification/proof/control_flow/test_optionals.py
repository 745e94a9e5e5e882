import pytest
from proofs import assert_open, assert_proved
from tables import table


def test_a_sequence_or_nothing_may_be_nothing():
    choice = """g (bool c, seq(float[2]) s) => (bool z) {
        o = If (c) <then_branch = a () => (optional(seq(float[2])) u) { u = Optional (s) },
            else_branch = b () => (optional(seq(float[2])) v) {
                v = Optional <type = seq(float[2])> () }>
        %s }"""
    assert_open(
        choice % "z = OptionalHasElement (o)", choice % "z = Constant <value = bool {1}> ()"
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


@table(
    ("flat", "g (float[2] x) => (float[2] y) { o = Optional (x) y = OptionalGetElement (o) }"),
    ("state", """g (float[2] x, int64 n) => (float[2] y) { o = Optional (x)
        r = Loop (n, , o) <body = b (int64 i, bool c, optional(float[2]) s)
            => (bool d, optional(float[2]) t) {
            d = Identity (c) g = OptionalGetElement (s) h = Add (g, g) t = Optional (h) }>
        y = OptionalGetElement (r) }"""),
    ("capture", """g (float[2] x, bool p) => (float[2] y) { o = Optional (x)
        y = If (p) <then_branch = a () => (float[2] u) { u = OptionalGetElement (o) },
            else_branch = b () => (float[2] v) { v = Neg (x) }> }"""),
    ("sequence", """g (seq(float[2]) x) => (seq(float[2]) y, bool z) {
        o = Optional (x) z = OptionalHasElement (o) y = OptionalGetElement (o) }"""))  # fmt: skip
def test_readers_before_opset_18_accept_what_optional_returns(kind, text):
    assert_proved(text, text, 16)


@pytest.mark.parametrize("reader", ["y = OptionalGetElement (x)", "y = OptionalGetElement (t)"])
def test_readers_before_opset_18_accept_no_tensor(reader):
    text = f"g (float[2] x) => (float[2] y) {{ t = Neg (x) {reader} }}"
    assert_proved(text, text)
    assert_open(text, text, opset=16)
