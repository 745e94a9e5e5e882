from onnx import TensorProto as T
from straightline.definitions.element_types import FLOATS, types_named
from straightline.definitions.pattern import parse_pattern
from straightline.passes.simplify.rules.types import TypeClasses


def classes(before, after, opset=17):
    return TypeClasses(parse_pattern(before), parse_pattern(after), opset)


def test_operands_share_a_type_and_both_sides_restrict_it():
    both = classes(
        "(x, w, b) => (y) { t = MatMul (x, w) y = Add (t, b) }",
        "(x, w, b) => (y) { y = Gemm (x, w, b) }",
    )
    assert both.of("b") == both.of("y") == "x"
    assert T.FLOAT in both.allowed["x"] and T.INT8 not in both.allowed["x"]
    assert [types["x"] for types in both.assignments(["x"])][:2] == [T.FLOAT, T.DOUBLE]


def test_other_types_stay_apart():
    one = classes("(c, x) => (y) { y = Where (c, x, x) }", "(x) => (x)")
    assert one.allowed["c"] == {T.BOOL} and one.of("x") == "x"
    cast = classes("(floats x) => (y) { y = Cast <to = @t> (x) }", "(x) => (x)")
    assert cast.allowed["x"] == set(FLOATS)


def test_operators_and_attributes_that_an_opset_lacks():
    assert not classes("(x) => (y) { y = Gelu (x) }", "(x) => (x)", 19).usable
    assert classes("(x) => (y) { y = Gelu (x) }", "(x) => (x)", 20).usable
    assert not classes("(x) => (y) { y = Neg <axis = 1> (x) }", "(x) => (x)").usable
    assert types_named("bool") == (T.BOOL,) and types_named("colour") is None
