import pytest
from straightline.ir import Value
from straightline.passes.iteration.loop_view import State
from straightline.passes.recurrences.recognize.polynomials import (
    MOST_TERMS,
    Activation,
    Atoms,
    Free,
    Product,
    StateAtom,
    Sum,
    number,
)
from straightline.passes.recurrences.weights import Matrix, Unfit

STATE = State(*(Value(name) for name in ("h0", "h", "h2", "h1")))


def test_the_same_blend_in_three_spellings():
    z, c, h = (Sum({(index,): 1.0}) for index in range(3))
    one = number(1.0)
    blend = (one - z) * c + z * h
    assert blend == c + z * (h - c) == h + (one - z) * (c - h)
    assert hash(blend) == hash(c + z * (h - c))
    assert blend != z and blend.number is None
    assert (blend - blend).number == 0.0 and number(3.0).number == 3.0


def test_an_atom_is_there_once():
    atoms, value = Atoms(), Value("x")
    one = atoms.of(Activation("Tanh", 0.0, 0.0, atoms.of(Free(value, 4))))
    assert one == atoms.of(Activation("Tanh", 0.0, 0.0, atoms.of(Free(value, 4))))
    ((monomial, _),) = one.terms.items()
    assert isinstance(atoms.alone(monomial), Activation) and atoms.alone(monomial * 2) is None


def test_columns():
    atoms, value = Atoms(), Value("x")
    matrix = Matrix(Value("w"), (4, 8), 4, 8)
    free = atoms.of(Free(value, 8))
    total = atoms.of(Activation("Tanh", 0.0, 0.0, free + atoms.of(Product((0,), matrix))))
    (part,) = atoms.cut(atoms.cut(total, 2, 8), 1, 3).terms
    argument = atoms[part[0]].argument
    made = [atoms[index] for monomial in argument.terms for index in monomial]
    assert made == [Free(value, 8, (3, 5)), Product((0,), matrix.columns(3, 5))]
    broad = atoms.of(Free(value, 0))
    assert atoms.cut(broad, 1, 2) == broad
    with pytest.raises(Unfit, match="takes columns of 'h'"):
        atoms.cut(atoms.of(StateAtom(STATE)), 0, 1)


def test_limits():
    atoms = Atoms()
    with pytest.raises(Unfit, match="more than 24 terms"):
        Sum({(index,): 1.0 for index in range(MOST_TERMS + 1)})
    total = atoms.of(StateAtom(STATE))
    with pytest.raises(Unfit, match="nests more than 12"):
        for _ in range(20):
            total = atoms.of(Activation("Tanh", 0.0, 0.0, total))


def test_free_factors_and_products():
    atoms = Atoms()
    free, state = atoms.of(Free(Value("x"), 4)), atoms.of(StateAtom(STATE))
    product = atoms.of(Product((0,), Matrix(Value("w"), (4, 4), 4, 4)))
    assert all(map(atoms.free, (free * free).terms)) and not atoms.free((0, 1))
    assert atoms.holds_product(product + state) and not atoms.holds_product(free + state)
