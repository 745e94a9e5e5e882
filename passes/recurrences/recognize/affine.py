"""Affine forms of gates: products with matrices, and addends."""

from ....records import record
from ..weights import Matrix, Unfit
from .polynomials import Atoms, Monomial, Product, StateAtom, Sum


@record(frozen=True)
class Affine:
    """The operand of an activation in a cell; each part has a factor.

    Attributes:
        addends: state-independent terms.
        inputs: state-independent factors, times matrices.
        recurrent: the matrices that multiply the hidden state.
    """

    addends: tuple[tuple[float, Monomial], ...]
    inputs: tuple[tuple[float, Monomial, Matrix], ...]
    recurrent: tuple[tuple[float, Matrix], ...]
    rest: Sum

    def negate(self) -> "Affine":
        """The form with the opposite sign."""
        return Affine(
            tuple((-factor, source) for factor, source in self.addends),
            tuple((-factor, source, matrix) for factor, source, matrix in self.inputs),
            tuple((-factor, matrix) for factor, matrix in self.recurrent),
            self.rest.times(-1.0),
        )


def affine(atoms: Atoms, total: Sum, hidden: Monomial) -> Affine:
    """Decompose a sum into an affine form of the hidden state."""
    addends, inputs, recurrent, rest = [], [], [], {}
    for monomial, factor in total.terms.items():
        atom = atoms.alone(monomial)
        if atoms.free(monomial):
            addends.append((factor, monomial))
        elif isinstance(atom, Product) and atoms.free(atom.source):
            inputs.append((factor, atom.source, atom.matrix))
        elif isinstance(atom, Product) and atom.source == hidden:
            recurrent.append((factor, atom.matrix))
        else:
            rest[monomial] = factor
    return Affine(tuple(addends), tuple(inputs), tuple(recurrent), Sum(rest))


def require_affine(atoms: Atoms, form: Affine) -> None:
    """Require an affine form without other terms.

    Raises:
        Unfit: the form has other terms.
    """
    for monomial in form.rest.terms:
        raise Unfit(f"is not an activation of an affine form: it adds {describe(atoms, monomial)}")


def describe(atoms: Atoms, monomial: Monomial) -> str:
    """Describe a monomial in words."""
    words = []
    for index in monomial:
        atom = atoms[index]
        if isinstance(atom, StateAtom):
            words.append(f"'{atom.state.argument.name}'")
        elif isinstance(atom, Product):
            words.append(f"({describe(atoms, atom.source)} times '{atom.matrix.value.name}')")
        else:
            kind = getattr(atom, "kind", None)
            words.append(f"a {kind}" if kind else f"'{atom.value.name}'")  # type: ignore[union-attr]
    return " times ".join(words) or "a number"
