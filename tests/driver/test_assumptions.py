from harness import as_model
from straightline import ir
from straightline.driver.assumptions import Assumptions

MODEL = """g (float[2] x, int64 n, bool c) => (float[2] y, float[2] z) {
    y = Loop (n, , x) <body = b (int64 i, bool k, float[2] a) => (bool d, float[2] r) {
        d = Identity (k)  s = Sin (a)  r = Exp (s) }>
    z = If (c) <then_branch = t () => (float[2] p) { p = Exp (x) },
                else_branch = f () => (float[2] q) { q = Relu (x) }> }"""
BOTH = Assumptions({"y": 1}, {"z": "else"})


def test_each_is_a_claim():
    assert [claim.content for claim in BOTH.claims()] == [
        "a maximum of 1 iteration of Loop 'y'",
        "the else branch of If 'z'",
    ]
    assert [claim.violation for claim in BOTH.claims()] == [
        "Loop 'y' run more than 1 iteration",
        "If 'z' take its then branch",
    ]
    assert BOTH
    assert not Assumptions({}, {})


def test_all_of_them_hold_in_the_model():
    model = ir.load(as_model(MODEL))
    BOTH.assume(model)
    (loop,), (choice,) = model.graph.nodes_of("Loop"), model.graph.nodes_of("If")
    assert loop.input(0).constant.numpy() == 1
    assert choice.input(0).constant.numpy() == False  # noqa: E712 - an array
