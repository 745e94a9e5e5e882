from straightline import ir
from straightline.passes.utils.fingerprint import States
from tables import table

TEXT = """g (float[2] x, bool c) => (float[2] y) <float[2] k = {1, 2}> {
    a = Add (x, k) b = If (c) <then_branch = t () => (float[2] s) { s = Relu (a) },
                               else_branch = e () => (float[2] s) {
        s = LeakyRelu <alpha = 0.5> (a) }>
    y = Mul (b, x) }"""


def test_names_do_not_matter():
    states = States()
    assert not states.visit(ir.parse(TEXT))
    assert states.visit(ir.parse(TEXT.replace("b = If", "bb = If").replace("(b, x", "(bb, x")))


@table(
    ("an operator", ("Relu (a)", "Abs (a)")),
    ("an attribute", ("alpha = 0.5", "alpha = 0.25")),
    ("a constant", ("{1, 2}", "{1, 3}")),
    ("an operand", ("Mul (b, x)", "Mul (b, a)")),
    ("the order of operands", ("Mul (b, x)", "Mul (x, b)")),
    ("a branch", ("Relu (a) }", "Relu (x) }")),
)
def test_all_else_does(what, case):
    states = States()
    states.visit(ir.parse(TEXT))
    assert case[0] in TEXT
    assert not states.visit(ir.parse(TEXT.replace(*case)))


def test_large_constants_are_compared_by_identity():
    weights = ", ".join(map(str, range(100)))
    model = ir.parse(
        f" g (float[100] x) => (float[100] y) <float[100] w = {{{weights}}}> {{ y = Add (x, w) }}"
    )
    states = States()
    assert not states.visit(model)
    assert states.visit(model)
