import pytest
from straightline.definitions.pattern import KINDS, RuleError, Variable, parse_pattern
from tables import table


def test_values_shapes_nodes_and_attributes():
    pattern = parse_pattern(
        "(floats x[*S, k], const w[< *S, 3], xs..., b?) => (y[*S]) {"
        ' t, u = Split <axis = -1, mode = "m", split = @p ints> (x, , b?)'
        " y = Sum (t, 1.5, [0, 1], @p, xs...) }"
    )
    x, w, *_ = pattern.parameters.values()
    assert (x.elem_type, x.shape.star, x.shape.dims) == ("floats", "S", ("k",))
    assert w.is_constant and w.shape.broadcasts and w.shape.dims == (3,)
    assert pattern.shapes["y"].star == "S"
    split, last = pattern.nodes
    own = {"axis": -1, "mode": "m", "split": Variable("p", kind=KINDS["ints"])}
    assert split.attributes == own
    assert [operand.kind for operand in split.inputs] == ["value", "absent", "optional"]
    kinds = ["value", "number", "integers", "attribute", "many"]
    assert [operand.kind for operand in last.inputs] == kinds
    assert last.inputs[1].value == 1.5 and last.inputs[2].value == (0, 1)


@table(
    ("(x) => (y) { y = Neg (x }", "cannot be read at '}'"),
    ("(x) (y)", "cannot be read at '(y)'"),
    ("(x) => (y) { y = Neg (z) }", "'z' is not defined before its use"),
    ("(x) => (y) { x = Neg (x) }", "'x' is defined twice"),
    ("(x) => (y)", "the output 'y' is not defined"),
    ("(x) => (y) { y = Neg (x) } more", "cannot be read at 'more'"),
)
def test_unreadable_patterns(text, message):
    with pytest.raises(RuleError) as error:
        parse_pattern(text)
    assert message in str(error.value)
