"""Matching of a recurrence's states with the cells of RNN, GRU and LSTM."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

from ...vectorize.loop_view import State
from ..functions import LINEAR, OVERFLOWING, Function, is_supported
from ..weights import Unfit
from .affine import Affine, affine, describe, require_affine
from .polynomials import Activation, Atoms, Free, Monomial, Product, StateAtom, Sum
from .symbolic_cell import Interpretation


@dataclasses.dataclass(frozen=True)
class Cell:
    """The cell that an operator computes in each iteration.

    Attributes:
        op_type: the operator.
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
    results = {state: of.result(state.result) for state in states}
    if len(states) == 2:
        cell = _lstm(of.atoms, results)
    elif len(states) == 1:
        ((state, result),) = results.items()
        cell = _rnn(of.atoms, state, result) or _gru(of.atoms, state, result)
    else:
        raise Unfit("is carried with more than one other, as no cell is")
    for kind, *_ in cell.functions:
        if not is_supported(kind):
            raise Unfit(f"is a {cell.op_type} with the activation {kind}, which it has not")
        if kind == OVERFLOWING:
            raise Unfit(
                f"is a {cell.op_type} with the activation {kind}, which onnxruntime's kernel of it"
                " makes infinite above 88"
            )
    return cell


# RNN ---------------------------------------------------------------------------------------------


def _rnn(atoms: Atoms, state: State, result: Sum) -> Cell | None:
    hidden = (atoms.index(StateAtom(state)),)
    atom = _single(atoms, result)
    if isinstance(atom, Activation):
        form = affine(atoms, atom.argument, hidden)
        require_affine(atoms, form)
        return Cell("RNN", state, None, (form,), (atom.function,))
    form = affine(atoms, result, hidden)
    if not form.rest.terms and form.recurrent:
        return Cell("RNN", state, None, (form,), (LINEAR,))
    return None


def _single(atoms: Atoms, total: Sum) -> object:
    """The only atom of a sum; None for other sums."""
    if len(total.terms) != 1:
        return None
    ((monomial, factor),) = total.terms.items()
    return atoms.alone(monomial) if factor == 1.0 else None


# GRU ---------------------------------------------------------------------------------------------


def _gru(atoms: Atoms, state: State, result: Sum) -> Cell:
    hidden = (atoms.index(StateAtom(state)),)
    gate, candidate, keeps = _blend(atoms, result, hidden)
    update = _gate(atoms, gate, hidden, not keeps)
    form = affine(atoms, candidate.argument, hidden)
    resets = _resets(atoms, form.rest)
    reset = atoms[resets]
    assert isinstance(reset, Activation)
    if reset.function != gate.function:
        raise Unfit(f"has an update gate by {gate.kind} and a reset gate by {reset.kind}")
    reset_form = affine(atoms, reset.argument, hidden)
    require_affine(atoms, reset_form)
    before = affine(atoms, form.rest, tuple(sorted((resets, *hidden))))
    if not before.rest.terms:
        own = dataclasses.replace(form, recurrent=before.recurrent, rest=Sum({}))
        if form.recurrent:
            raise Unfit("is multiplied by matrices both with and without the reset gate")
        gates = (update, reset_form, own)
        return Cell("GRU", state, None, gates, (gate.function, candidate.function))
    if form.recurrent:
        raise Unfit("is multiplied by matrices both with and without the reset gate")
    inner = affine(atoms, _without(form.rest, resets), hidden)
    require_affine(atoms, inner)
    if inner.inputs:
        raise Unfit("has a reset gate that the input is multiplied by, too")
    own = dataclasses.replace(form, recurrent=inner.recurrent, rest=Sum({}))
    functions = (gate.function, candidate.function)
    return Cell("GRU", state, None, (update, reset_form, own), functions, True, inner.addends)


def _blend(atoms: Atoms, result: Sum, hidden: Monomial) -> tuple[Activation, Activation, bool]:
    """Match a blend by a gate: gate * a + (1 - gate) * b, where a or b is the state.

    Returns:
        the gate, the candidate, and true if the gate keeps the state.
    """
    singles = [m for m in result.terms if len(m) == 1]
    if sorted(result.terms.values()) == [-1.0, 1.0, 1.0] and len(singles) == 1:
        (whole,) = singles
        pairs = {factor: m for m, factor in result.terms.items() if len(m) == 2}
        if set(pairs) == {1.0, -1.0}:
            other = _other(pairs[-1.0], whole[0])
            rest = None if other is None else _other(pairs[1.0], other)
            if other is not None and rest is not None:
                gate, keeps = atoms[other], whole != hidden
                candidate = atoms[whole[0] if keeps else rest]
                state = (rest,) if keeps else whole
                if (
                    state == hidden
                    and isinstance(gate, Activation)
                    and isinstance(candidate, Activation)
                ):
                    return gate, candidate, keeps
    terms = ", ".join(describe(atoms, monomial) for monomial in result.terms)
    raise Unfit(
        f"is neither an activation nor a blend of itself and one by a gate: it adds {terms}"
    )


def _other(pair: Monomial, one: int) -> int | None:
    """The other factor of a product of two atoms."""
    if len(pair) != 2 or one not in pair:
        return None
    return pair[1] if pair[0] == one else pair[0]


def _gate(atoms: Atoms, gate: Activation, hidden: Monomial, opposite: bool) -> Affine:
    """The operand of a gate's activation; negated for the opposite gate."""
    form = affine(atoms, gate.argument, hidden)
    require_affine(atoms, form)
    return _opposite(gate, form) if opposite else form


def _opposite(gate: Activation, form: Affine) -> Affine:
    if gate.kind != "Sigmoid" and not (gate.kind == "HardSigmoid" and gate.beta == 0.5):
        raise Unfit(f"has one less a {gate.kind} for a gate, which is no {gate.kind}")
    return form.negate()


def _resets(atoms: Atoms, rest: Sum) -> int:
    """The reset gate: the activation in all terms of a candidate besides inputs."""
    common: set[int] | None = None
    for monomial in rest.terms:
        atom = atoms.alone(monomial)
        inner = atom.source if isinstance(atom, Product) else monomial
        activations = {index for index in inner if isinstance(atoms[index], Activation)}
        common = activations if common is None else common & activations
    if common is None or len(common) != 1:
        words = " and ".join(describe(atoms, monomial) for monomial in rest.terms)
        raise Unfit(f"has no reset gate in its candidate: that adds {words or 'none'}")
    return common.pop()


def _without(total: Sum, index: int) -> Sum:
    """Divide a sum by an atom that is in each of its terms."""
    terms: dict[Monomial, float] = {}
    for monomial, factor in total.terms.items():
        rest = list(monomial)
        if index not in rest:
            raise Unfit("multiplies by its reset gate both before and after a matrix")
        rest.remove(index)
        terms[tuple(rest)] = factor
    return Sum(terms)


# LSTM --------------------------------------------------------------------------------------------


def _lstm(atoms: Atoms, results: dict[State, Sum]) -> Cell:
    for cell, hidden in (tuple(results), tuple(results)[::-1]):
        out = _out(atoms, results[hidden], results[cell])
        if out is not None:
            break
    else:
        raise Unfit("is carried with another one, and neither is a gate times an activation of it")
    gate, function = out
    carried, own = (atoms.index(StateAtom(hidden)),), atoms.index(StateAtom(cell))
    forget, into, candidate = _cell_gates(atoms, results[cell], own)
    if not forget.activation.function == into.activation.function == gate.function:
        raise Unfit("has gates of different activations")
    forms, peepholes = [], []
    inside, after = Sum({(own,): 1.0}), results[cell]
    for (activation, opposite), at in (
        (into, inside),
        (Gate(gate), after),
        (forget, inside),
    ):
        form = affine(atoms, activation.argument, carried)
        form, peephole = _peephole(atoms, form, at)
        if opposite:
            form = _opposite(activation, form)
            peephole = tuple((-factor, monomial) for factor, monomial in peephole)
        forms.append(form)
        peepholes.append(peephole)
    form = affine(atoms, candidate.argument, carried)
    require_affine(atoms, form)
    forms.append(form)
    functions = (gate.function, candidate.function, function)
    return Cell("LSTM", hidden, cell, tuple(forms), functions, peepholes=tuple(peepholes))


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


class Gate(NamedTuple):
    """A gate: an activation, or one minus it."""

    activation: Activation
    opposite: bool = False


def _cell_gates(atoms: Atoms, result: Sum, own: int) -> tuple[Gate, Gate, Activation]:
    """The forget gate, the input gate and the candidate of an LSTM."""
    singles = [m for m in result.terms if len(m) == 1]
    factors = sorted(result.terms.values())
    gates = None
    if factors == [1.0, 1.0] and not singles:
        gates = _separate(atoms, result, own)
    if factors == [-1.0, 1.0, 1.0] and len(singles) == 1:
        gates = _coupled(atoms, result, own, singles[0][0])
    if gates is None:
        terms = ", ".join(describe(atoms, monomial) for monomial in result.terms)
        raise Unfit(f"has a cell that is no blend by gates: it adds {terms}")
    return gates


def _separate(atoms: Atoms, result: Sum, own: int) -> tuple[Gate, Gate, Activation] | None:
    """Match f * c + i * g."""
    one, other = result.terms
    keeping, taking = (one, other) if own in one else (other, one)
    keeper = _other(keeping, own)
    forget = None if keeper is None else atoms[keeper]
    if not isinstance(forget, Activation) or len(taking) != 2 or own in taking:
        return None
    into, candidate = (atoms[index] for index in taking)
    if not isinstance(into, Activation) or not isinstance(candidate, Activation):
        return None
    if into.function != forget.function:
        into, candidate = candidate, into
    return Gate(forget), Gate(into), candidate


def _coupled(
    atoms: Atoms, result: Sum, own: int, whole: int
) -> tuple[Gate, Gate, Activation] | None:
    """Match a coupled update: c + i * (g - c) or g + f * (c - g)."""
    (opposite,) = (m for m, factor in result.terms.items() if factor == -1.0)
    (blend,) = (m for m, factor in result.terms.items() if factor == 1.0 and len(m) != 1)
    shared = _other(opposite, whole)
    rest = None if shared is None else _other(blend, shared)
    if shared is None or rest is None or own not in (whole, rest):
        return None
    gate, candidate = atoms[shared], atoms[rest if whole == own else whole]
    if not isinstance(gate, Activation) or not isinstance(candidate, Activation):
        return None
    is_input = whole == own
    return Gate(gate, is_input), Gate(gate, not is_input), candidate


def _peephole(
    atoms: Atoms, form: Affine, cell: Sum
) -> tuple[Affine, tuple[tuple[float, Monomial], ...]]:
    """Split an affine form into the part without the cell, and the peephole weights."""
    rest, peephole = form.rest, []
    smallest = min(cell.terms, key=lambda monomial: (len(monomial), monomial))
    for monomial, factor in form.rest.terms.items():
        weight = list(monomial)
        if monomial not in rest.terms or any(index not in weight for index in smallest):
            continue
        for index in smallest:
            weight.remove(index)
        if not all(isinstance(atoms[index], Free) for index in weight):
            continue
        factor /= cell.terms[smallest]
        rest = rest - (Sum({tuple(weight): factor}) * cell)
        peephole.append((factor, tuple(weight)))
    form = dataclasses.replace(form, rest=rest)
    require_affine(atoms, form)
    return form, tuple(peephole)
