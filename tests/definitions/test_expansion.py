import onnx
import pytest
from onnx import TensorProto as T
from straightline.definitions import Definition, Signature, Unfit
from straightline.definitions.expansion import expand
from straightline.definitions.pattern import RuleError
from straightline.ir import Operator


def lines(before, after, elem_types=(T.FLOAT,), outputs=(True,), opset=17, **attributes):
    """The nodes of an expansion as text."""
    op = Operator.make("Op", "a", **attributes)
    definition = Definition(before, after)
    shapes = [(2, 3)] * len(elem_types)
    proto = expand(definition, definition.case(Signature(op, elem_types, shapes, outputs)), opset)
    text = onnx.printer.to_text(proto).split("{", 1)[1].rsplit("}", 1)[0]
    return [line.strip() for line in text.strip().splitlines()], list(proto.output)


def test_numbers_have_the_type_of_their_neighbours():
    before = "(x) => (y) { y = a.Op (x) }"
    body, _ = lines(before, "y = Mul (x, 2)", (T.FLOAT16,))
    assert body[0] == "constant_1 = Constant <value: tensor = float16 {16384}> ()"
    body, _ = lines(before, "t = Cast <to = 11> (x) y = Add (t, 0.5)")
    assert "double {0.5}" in body[1]
    body, _ = lines(before, "s = Shape (x) y = Add (s, 1)")
    assert "int64 {1}" in body[1]


def test_lists_are_operands_where_the_opset_has_them_there():
    before = "(x) => (y) { y = a.Op (x) }"
    text = "y = ReduceMean <axes = [-1]> (x)"
    assert lines(before, text, opset=17)[0] == ["y = ReduceMean <axes: ints = [-1]> (x)"]
    assert lines(before, text, opset=18)[0][1] == "y = ReduceMean (x, constant_1)"
    slices, _ = lines(before, "y = Slice <starts = [0], ends = [1], axes = [1]> (x)")
    assert slices[-1] == "y = Slice (x, constant_1, constant_2, constant_3)"


def test_absent_operands_vanish():
    before = "(x, b, c) => (y) { y = a.Op (x, b?, c?) }"
    text = "bW = Neg (b) t = Add (x, bW) y = Clip (t, c)"
    assert lines(before, text)[0] == ["t = Identity (x)", "y = Clip (t)"]
    both = (T.FLOAT,) * 3
    assert lines(before, text, both)[0] == ["bW = Neg (b)", "t = Add (x, bW)", "y = Clip (t, c)"]


def test_attributes_become_attributes_operands_and_lists():
    before = "(x) => (y) { y = a.Op <alpha = @alpha ? 0.5, axis = @axis, shape = @shape> (x) }"
    text = """t = Mul (x, @alpha) u = Reshape (t, @shape)
        y = Softmax <axis = @axis> (u)"""
    body, _ = lines(before, text, axis=1, shape=[3, 2])
    assert "float {0.5}" in body[0] and "int64[2] {3,2}" in body[2]
    assert body[-1] == "y = Softmax <axis: int = 1> (u)"


def test_only_outputs_that_are_read_are_computed():
    before = "(x) => (y, z, w) { y, z, w = a.Op (x) }"
    text = "y = Neg (x) z = Abs (x) w = Exp (z)"
    assert lines(before, text) == (["y = Neg (x)"], ["y"])
    body, outputs = lines(before, text, outputs=(True, False, True))
    assert outputs == ["y", "z", "w"] and len(body) == 3
    body, outputs = lines(before, "y = Neg (x) w = Exp (x)", outputs=(True, False, True))
    assert outputs == ["y", "gap_1", "w"]
    with pytest.raises(Unfit, match="no output 'z'"):
        lines(before, "y = Neg (x)", outputs=(True, True))


def test_bodies_see_the_names_around_them():
    before = "(x, s) => (y) { y = a.Op (x, s) }"
    text = """last, y = Scan <num_scan_inputs = 1,
        body = (float state, float row) => (next, out) {
            t = Mul (row, x2) next = Add (state, t) out = Mul (next, 2.0) }> (s, x2)"""
    body, _ = lines(before, f"x2 = Neg (x) {text}", (T.FLOAT, T.FLOAT))
    assert body[0] == "x2 = Neg (x)" and "Scan" in body[1]
    assert "float {2}" in " ".join(body)


def test_mistakes_of_a_text_name_the_operator():
    before = "(x) => (y) { y = a.Op (x) }"
    for text, why in (
        ("y = Neg <alpha = @beta> (x)", "a.Op: there is no '@beta'"),
        ("(z) => (y) { y = Neg (z) }", "'z' is not an operand"),
    ):
        with pytest.raises(RuleError, match=why):
            lines(before, text)
