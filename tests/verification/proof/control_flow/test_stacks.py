"""Scan outputs: of trips, and of none."""

import pytest
from proofs import assert_open, assert_proved, model
from straightline.facts.fact import Fact
from straightline.facts.polynomial import Dimension
from straightline.verification.proof.budget import Budget, OpenError
from straightline.verification.proof.compile_graph import Compiler
from straightline.verification.proof.control_flow.stacks import (
    empty_stack,
    nothing,
    stack,
    trips_of,
)
from straightline.verification.proof.term_manager import Terms

LOOP = """g (float[2] x) => (%s z) <int64 n = {0}, bool yes = {1}> {
    z = Loop (n, yes) <body = b (int64 i, bool k) => (bool k2, %s o) { k2 = Identity (k) %s }> }"""
EMPTY = "g (float[2] x) => (%s z) { z = Constant <value = %s {}> () }"


@pytest.mark.parametrize(
    ("declared", "node", "element", "other"),
    [
        ("float[2]", "o = Sin (x)", "float[0, 2]", "float[0, 3]"),
        ("double[2]", "o = Cast <to = 11> (x)", "double[0, 2]", "float[0, 2]"),
        ("int64", "o = Identity (i)", "int64[0]", "int64[0, 1]"),
        ("bool[2, 1]", "o = Sin (x)", "bool[0, 2, 1]", "float[0, 2]"),
    ],
)
def test_no_trips_give_what_is_declared(declared, node, element, other):
    kind, rank = element.split("[")[0], element.count(",") + 1
    result = f"{kind}[{', '.join('abcd'[:rank])}]"
    before = LOOP % (result, declared, node)
    assert_proved(before, EMPTY % (result, element))
    kind, rank = other.split("[")[0], other.count(",") + 1
    assert_open(before, EMPTY % (f"{kind}[{', '.join('abcd'[:rank])}]", other))


def terms():
    return Terms(Budget())


def sizes(*dims):
    return tuple(Dimension.symbol(d) if isinstance(d, str) else Dimension.constant(d) for d in dims)


def body_of(made, text):
    return Compiler(made.heads, model(text)).main.steps[0].bodies["body"]


def test_what_is_not_declared_follows_from_what_is_given():
    made = terms()
    text = """g (float[3, n] x) => (float[a, b] z) { z = Scan <num_scan_inputs = 1,
        body = b (float[k] e) => (float[j] o) { o = Neg (e) }> (x) }"""
    body = body_of(made, text)
    assert nothing(made, body, 0, [Fact(1, sizes(5))], {}).shape == sizes(5)
    assert nothing(made, body, 0, [Fact(1, sizes(7))], {}).shape == sizes(7)
    declared = body_of(made, LOOP % ("float[a, b]", "float[4]", "o = Sin (x)"))
    element = nothing(made, declared, 1)
    assert (element.elem_type, element.shape) == (1, sizes(4))


def test_what_depends_on_an_unknown_type_is_open():
    made = terms()
    body = body_of(made, LOOP % ("float[a, b]", "float[4]", "o = Sin (x)"))
    with pytest.raises(OpenError, match="unknown type"):
        nothing(made, body, 1, [Fact(), Fact()], {})


def test_elements_lie_along_a_new_axis():
    made = terms()
    like = Compiler(made.heads, model("g (float[2] x) => (float[2] z) { z = Neg (x) }")).main
    head = like.steps[0].head
    x, y = (made.leaf("input", name, Fact(1, sizes("n", 3))) for name in "xy")
    for axis, shape in [(0, (2, "n", 3)), (1, ("n", 2, 3)), (2, ("n", 3, 2))]:
        assert stack(made, [x, y], head, axis).fact.shape == sizes(*shape)
    assert stack(made, [x, y], head) is not stack(made, [y, x], head)
    with pytest.raises(OpenError, match="unknown rank"):
        stack(made, [made.leaf("input", "r", Fact(1))], head)


def test_an_empty_stack_has_a_new_axis_without_elements():
    made, element = terms(), Fact(1, sizes(2, "n"))
    assert empty_stack(made, element).fact.shape == sizes(0, 2, "n")
    assert empty_stack(made, element, 1).fact.shape == sizes(2, 0, "n")
    assert empty_stack(made, Fact(7, sizes())) is made.void(Fact(7, sizes(0)))


def test_elements_are_counted_along_an_axis_that_is_there():
    fact = Fact(1, sizes("n", 3))
    assert [trips_of(fact, axis) for axis in (0, 1, -2)] == [*sizes("n", 3, "n")]
    for unknown, axis in [(fact, 2), (fact, -3), (Fact(1), 0)]:
        with pytest.raises(OpenError, match="unknown rank"):
            trips_of(unknown, axis)
