"""Matching of a recurrence's states with the cells of RNN, GRU and LSTM."""

import itertools
from collections.abc import Iterator
from typing import NamedTuple

from ....ops.composite import PARAMETERS
from ....records import record, replace
from ...iteration.loop_view import State
from ..functions import LINEAR, OVERFLOWING, Function
from ..weights import Unfit
from .affine import Affine, affine, describe, require_affine
from .polynomials import Activation, Atoms, Monomial, Product, StateAtom, Sum, number
from .symbolic_cell import Interpretation


@record(frozen=True)
class Cell:
    """The cell that an operator computes in each iteration.

    Attributes:
        hidden: the state that is its output.
        cell: the other state of an LSTM.
        gates: the operands of its activations, in its own order.
        functions: its activations, in its own order.
        reset_after: a GRU's `linear_before_reset`: the reset gate multiplies a product of
            matrices.
        reset_bias: the addends of that product.
        peepholes: the peephole weights in the gates of an LSTM, in its own order.
    """

    op_type: str
    hidden: State
    cell: State | None
    gates: tuple[Affine, ...]
    functions: tuple[Function, ...]
    reset_after: bool = False
    reset_bias: tuple[tuple[float, Monomial], ...] = ()
    peepholes: tuple[tuple[tuple[float, Monomial], ...], ...] = ()


def find_cell(of: Interpretation) -> Cell:
    """Match the states of a recurrence with a cell.

    Raises:
        Unfit: no cell matches.
    """
    states = of.recurrence.states
    results = of.nexts
    if len(states) == 2:
        cell = _lstm(of.atoms, results)
    elif len(states) == 1:
        ((state, result),) = results.items()
        cell = _rnn(of.atoms, state, result) or _gru(of.atoms, state, result)
    else:
        raise Unfit("is carried with more than one other state, unlike a cell")
    for kind, *_ in cell.functions:
        if kind not in PARAMETERS:
            raise Unfit(
                f"is a {cell.op_type} with the activation {kind}, which that operator lacks"
            )
        if kind == OVERFLOWING:
            raise Unfit(
                f"is a {cell.op_type} with the activation {kind}, which onnxruntime's kernel of it"
                " makes infinite above 88"
            )
    return cell


# RNN ---------------------------------------------------------------------------------------------


def _rnn(atoms: Atoms, state: State, result: Sum) -> Cell | None:
    hidden = (atoms.index(StateAtom(state)),)
    atom = atoms.alone(next(iter(result.terms), ()))
    if isinstance(atom, Activation) and result == atoms.of(atom):
        return Cell("RNN", state, None, (_gate(atoms, Gate(atom), hidden),), (atom.function,))
    form = affine(atoms, result, hidden)
    if not form.rest.terms and form.recurrent:
        return Cell("RNN", state, None, (form,), (LINEAR,))
    return None


# Gates -------------------------------------------------------------------------------------------


class Gate(NamedTuple):
    """A gate: an activation, or one minus it."""

    activation: Activation
    opposite: bool = False

    def sum(self, atoms: Atoms) -> Sum:
        """Its value."""
        total = atoms.of(self.activation)
        return number(1.0) - total if self.opposite else total

    def turn(self, form: Affine) -> Affine:
        """Negate the operand of an opposite gate."""
        kind = self.activation.kind
        if not self.opposite:
            return form
        if kind != "Sigmoid" and not (kind == "HardSigmoid" and self.activation.beta == 0.5):
            raise Unfit(f"has 1 - {kind} as a gate, which is not a {kind}")
        return form.negate()


def _gate(atoms: Atoms, gate: Gate, hidden: Monomial) -> Affine:
    """The operand of a gate's activation."""
    form = affine(atoms, gate.activation.argument, hidden)
    require_affine(atoms, form)
    return gate.turn(form)


def _blends(atoms: Atoms, result: Sum, own: Monomial) -> Iterator[tuple[Gate, Gate, Activation]]:
    """Match a sum with forget * own + input * candidate.

    Yields:
        the forget gate, the input gate, and the candidate; one gate may be 1 minus the other.
    """
    state, indices = Sum({own: 1.0}), {index for monomial in result.terms for index in monomial}
    inside = [atom for index in sorted(indices) if isinstance(atom := atoms[index], Activation)]
    if len(result.terms) > 3:
        return
    for one, other, candidate in itertools.product(inside, repeat=3):
        flips = [(False, False), *([(False, True), (True, False)] if one == other else [])]
        for flip, flop in flips:
            forget, into = Gate(one, flip), Gate(other, flop)
            if result == forget.sum(atoms) * state + into.sum(atoms) * atoms.of(candidate):
                yield forget, into, candidate


def _terms(atoms: Atoms, total: Sum) -> str:
    return ", ".join(describe(atoms, monomial) for monomial in total.terms)


# GRU ---------------------------------------------------------------------------------------------


def _gru(atoms: Atoms, state: State, result: Sum) -> Cell:
    hidden = (atoms.index(StateAtom(state)),)
    blends = _blends(atoms, result, hidden)
    blend = next((one for one in blends if one[0].opposite != one[1].opposite), None)
    if blend is None:
        raise Unfit(
            "is neither an activation nor a blend by a gate of itself and an activation: it adds"
            f" {_terms(atoms, result)}"
        )
    forget, _, candidate = blend
    update, gate = _gate(atoms, forget, hidden), forget.activation
    form = affine(atoms, candidate.argument, hidden)
    resets = _resets(atoms, form.rest)
    reset = atoms[resets]
    assert isinstance(reset, Activation)
    if reset.function != gate.function:
        raise Unfit(f"has an update gate with {gate.kind} and a reset gate with {reset.kind}")
    reset_form = _gate(atoms, Gate(reset), hidden)
    if form.recurrent:
        raise Unfit("is multiplied by matrices both with and without the reset gate")
    inner = affine(atoms, form.rest, tuple(sorted((resets, *hidden))))
    reset_after = bool(inner.rest.terms)
    if reset_after:
        inner = affine(atoms, _without(form.rest, resets), hidden)
        require_affine(atoms, inner)
        if inner.inputs:
            raise Unfit("multiplies its input by the reset gate as well")
    own = replace(form, recurrent=inner.recurrent, rest=Sum({}))
    functions = (gate.function, candidate.function)
    return Cell(
        "GRU", state, None, (update, reset_form, own), functions, reset_after, inner.addends
    )


def _resets(atoms: Atoms, rest: Sum) -> int:
    """The reset gate: the activation in all terms of a candidate besides inputs."""
    factors = []
    for monomial in rest.terms:
        atom = atoms.alone(monomial)
        inner = atom.source if isinstance(atom, Product) else monomial
        factors.append({index for index in inner if isinstance(atoms[index], Activation)})
    common = set.intersection(*factors) if factors else set()
    if len(common) != 1:
        words = " and ".join(describe(atoms, monomial) for monomial in rest.terms)
        raise Unfit(f"has no reset gate in its candidate, which adds {words or 'none'}")
    return common.pop()


def _without(total: Sum, index: int) -> Sum:
    """Divide a sum by an atom that is in each of its terms."""
    terms = {_quotient(monomial, (index,)): factor for monomial, factor in total.terms.items()}
    if None in terms:
        raise Unfit("multiplies by its reset gate both before and after a matrix")
    return Sum({monomial: factor for monomial, factor in terms.items() if monomial is not None})


def _quotient(monomial: Monomial, divisor: Monomial) -> Monomial | None:
    """The other factors of a monomial; None without the divisor."""
    rest = list(monomial)
    for index in divisor:
        if index not in rest:
            return None
        rest.remove(index)
    return tuple(rest)


# LSTM --------------------------------------------------------------------------------------------


def _lstm(atoms: Atoms, results: dict[State, Sum]) -> Cell:
    for cell, hidden in itertools.permutations(results):
        out = _out(atoms, results[hidden], results[cell])
        if out is not None:
            break
    else:
        raise Unfit(
            "is carried with another state, and neither is a gate times an activation of the other"
        )
    gate, function = out
    carried, own = ((atoms.index(StateAtom(state)),) for state in (hidden, cell))
    blends = list(_blends(atoms, results[cell], own))
    if not blends:
        terms = _terms(atoms, results[cell])
        raise Unfit(f"has a cell that is not a blend by gates: it adds {terms}")
    # An input gate and a candidate of one activation may change places.
    blends.sort(key=lambda blend: blend[0].activation.function != blend[1].activation.function)
    forget, into, candidate = blends[0]
    if not forget.activation.function == into.activation.function == gate.function:
        raise Unfit("has gates of different activations")
    inside, after = Sum({own: 1.0}), results[cell]
    gates = [
        _peephole(atoms, one, carried, at)
        for one, at in ((into, inside), (Gate(gate), after), (forget, inside))
    ]
    forms = (*(form for form, _ in gates), _gate(atoms, Gate(candidate), carried))
    functions = (gate.function, candidate.function, function)
    peepholes = tuple(peephole for _, peephole in gates)
    return Cell("LSTM", hidden, cell, forms, functions, peepholes=peepholes)


def _out(atoms: Atoms, hidden: Sum, cell: Sum) -> tuple[Activation, Function] | None:
    """Match a hidden state with the output gate times an activation of the cell."""
    ((monomial, factor), *more) = hidden.terms.items() or [((), 0.0)]
    if more or factor != 1.0 or len(monomial) != 2:
        return None
    for gate, applied in (monomial, monomial[::-1]):
        one, other = atoms[gate], atoms[applied]
        if isinstance(other, Activation) and other.argument == cell and isinstance(one, Activation):
            return one, other.function
    return None


def _peephole(
    atoms: Atoms, gate: Gate, hidden: Monomial, cell: Sum
) -> tuple[Affine, tuple[tuple[float, Monomial], ...]]:
    """The operand of a gate's activation without the cell, and the peephole weights."""
    form, peephole = affine(atoms, gate.activation.argument, hidden), []
    rest, sign = form.rest, -1.0 if gate.opposite else 1.0
    smallest = min(cell.terms, key=lambda monomial: (len(monomial), monomial))
    for monomial, factor in form.rest.terms.items():
        weight = _quotient(monomial, smallest) if monomial in rest.terms else None
        if weight is not None and atoms.free(weight):
            factor /= cell.terms[smallest]
            rest = rest - Sum({weight: factor}) * cell
            peephole.append((sign * factor, weight))
    form = replace(form, rest=rest)
    require_affine(atoms, form)
    return gate.turn(form), tuple(peephole)
