import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from straightline.verification.proof.reals.field import HALF, Field, TooLongError
from straightline.verification.proof.terms.budget import Budget

LEAVES = ["x", "y", "z", 1, 2, Fraction(1, 3)]


def trees(depth=3):
    leaf = st.sampled_from(LEAVES)
    return st.recursive(
        leaf,
        lambda inner: st.one_of(
            st.tuples(st.sampled_from("+-*/"), inner, inner),
            st.tuples(st.sampled_from(["exp", "log", "sqrt", "square"]), inner),
        ),
        max_leaves=6,
    )


def real(field, tree):
    """A tree as a function of the field."""
    if isinstance(tree, str):
        return field.atom(tree, (), is_positive=True)
    if not isinstance(tree, tuple):
        return field.number(tree)
    parts = [real(field, part) for part in tree[1:]]
    binary = {
        "+": field.add,
        "-": field.subtract,
        "*": field.multiply,
        "/": field.divide,
        "exp": field.exp,
        "log": field.log,
        "sqrt": lambda a: field.power(a, HALF),
        "square": lambda a: field.power(a, Fraction(2)),
    }
    return binary[tree[0]](*parts)


def value(tree, point):
    """A tree at a point; raises where it is not defined."""
    if isinstance(tree, str):
        return point[tree]
    if not isinstance(tree, tuple):
        return float(tree)
    parts = [value(part, point) for part in tree[1:]]
    if tree[0] == "/" and abs(parts[1]) < 1e-9:
        raise ZeroDivisionError
    return {
        "+": lambda a, b: a + b,
        "-": lambda a, b: a - b,
        "*": lambda a, b: a * b,
        "/": lambda a, b: a / b,
        "exp": math.exp,
        "log": math.log,
        "sqrt": math.sqrt,
        "square": lambda a: a * a,
    }[tree[0]](*parts)


def shaken(draw, tree):
    """Another tree of the same function: operands exchanged, products distributed."""
    if not isinstance(tree, tuple):
        return tree
    name, *parts = tree
    parts = [shaken(draw, part) for part in parts]
    kind = draw(st.integers(0, 2))
    if name in "+*" and kind == 1:
        return (name, parts[1], parts[0])
    if name == "-" and kind:
        return ("+", parts[0], ("*", ("-", 1, 2), parts[1]))
    if name == "/" and kind:
        return ("*", ("/", 1, parts[1]), parts[0])
    if name == "*" and kind == 2 and isinstance(parts[1], tuple) and parts[1][0] in "+-":
        inner = parts[1]
        return (inner[0], ("*", parts[0], inner[1]), ("*", parts[0], inner[2]))
    if name == "square" and kind:
        return ("*", parts[0], parts[0])
    return (name, *parts)


@given(trees(), trees(), st.lists(st.floats(0.3, 2.5), min_size=3, max_size=3))
def test_equal_functions_have_equal_values(one, other, numbers):
    field, point = Field(Budget()), dict(zip("xyz", numbers, strict=True))
    try:
        if not field.equal(real(field, one), real(field, other)):
            return
        a, b = value(one, point), value(other, point)
    except (ArithmeticError, ValueError, TooLongError):
        return
    assert a == pytest.approx(b, rel=1e-6, abs=1e-6)


@given(st.data())
def test_other_spellings_are_equal(data):
    tree = data.draw(trees())
    other = shaken(data.draw, tree)
    field = Field(Budget())
    try:
        value(tree, {"x": 0.7, "y": 1.3, "z": 0.9})
        one, two = real(field, tree), real(field, other)
    except (ArithmeticError, ValueError, TooLongError):
        return
    assert field.equal(one, two)


def test_long_sums_are_abbreviated_and_still_equal():
    field = Field(Budget())
    atoms = [field.atom(f"a{n}", ()) for n in range(40)]
    forwards, backwards = field.zero, field.zero
    for atom in atoms:
        forwards = field.add(forwards, atom)
    for atom in reversed(atoms):
        backwards = field.add(backwards, atom)
    assert len(forwards.monomials) < 40
    assert field.equal(forwards, backwards)
    assert not field.equal(forwards, field.add(backwards, field.one))


def test_roots_of_numbers_have_one_form():
    field = Field(Budget())
    inverse = field.power(field.number(2), -HALF)
    assert field.multiply(inverse, inverse).number == HALF
    assert field.power(field.number(8), Fraction(-1, 4)).monomials.keys() == {
        *field.multiply(field.power(field.number(2), Fraction(1, 4)), field.one).monomials
    }
