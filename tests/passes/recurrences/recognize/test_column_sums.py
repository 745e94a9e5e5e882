import pytest
from straightline.ir import Value
from straightline.passes.recurrences.recognize.column_sums import align, cut, is_broad, map_parts
from straightline.passes.recurrences.recognize.polynomials import Atoms, Free, number
from straightline.passes.recurrences.weights import Unfit


def named(atoms, width, *columns):
    return atoms.of(Free(X[width], width, columns or None))


X = {width: Value(f"x{width}") for width in (2, 3, 5)}


def test_cutting_across_parts():
    atoms = Atoms()
    row = ((named(atoms, 2), 2), (named(atoms, 3), 3))
    assert cut(atoms, row, 0, 5) == row
    assert cut(atoms, row, 1, 4) == ((named(atoms, 2, 1, 2), 1), (named(atoms, 3, 0, 2), 2))
    with pytest.raises(Unfit, match="no columns"):
        cut(atoms, row, 3, 7)


def test_columns_with_one_factor():
    atoms = Atoms()
    broad = ((number(2.0), 0),)
    assert is_broad(broad) and cut(atoms, broad, 3, 7) == broad
    row = ((named(atoms, 2), 2), (named(atoms, 3), 3))
    assert align(atoms, broad, row) == [(number(2.0), total, width) for total, width in row]
    assert align(atoms, row, broad) == [(total, number(2.0), width) for total, width in row]


def test_aligning():
    atoms = Atoms()
    one = ((named(atoms, 2), 2), (named(atoms, 3), 3))
    pairs = align(atoms, one, ((named(atoms, 5), 5),))
    assert pairs == [
        (named(atoms, 2), named(atoms, 5, 0, 2), 2),
        (named(atoms, 3), named(atoms, 5, 2, 5), 3),
    ]
    with pytest.raises(Unfit, match="not of one width"):
        align(atoms, one, ((named(atoms, 2), 2),))
    assert map_parts(one, lambda total: total.times(2.0))[1] == (named(atoms, 3).times(2.0), 3)
