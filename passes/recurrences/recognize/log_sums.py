"""Logarithms of sums of exponentials, one term in each iteration: s = log (exp (s + d) + exp (x)).

Written so, the exponentials are a linear recurrence, or a CumSum without d. Written with the larger
one of s + d and x as the scale, the largest value so far is one recurrence, and the sum in its
scale a linear one:

m' = max (m + d, x), sum' = sum * exp (m + d - m') + exp (x - m'), s = m + log (sum)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import onnx

from ....analysis.iterations.trip_count import skip_identities
from ....facts.fact import Fact
from ....facts.types import IEEE_FLOATS
from ....ir import Node, Operator, Value
from ...scans.parallel_prefix import OneOperator
from .coefficients import broadcast
from .recurrence import Recurrence, Replacement
from .reductions import is_small, replace_rows
from .semirings import SUMS, Place, Product

_NO_LOG = "it is no logarithm of a sum"
_END = np.iinfo(np.int64).max


class _Sum(NamedTuple):
    """The logarithm of the sum of two exponentials.

    Attributes:
        term: the exponent that no state changes.
        decay: the addend of the state in the other exponent; None for none.
        is_subtracted: true if it is subtracted.
    """

    term: Value
    decay: Value | None = None
    is_subtracted: bool = False


def raise_log_sum(recurrence: Recurrence) -> Replacement | str:
    """Replace a state to which each iteration adds a term, as logarithms."""
    if len(recurrence.states) > 1:
        return _NO_LOG
    (state,) = recurrence.states
    fact = recurrence.fact(state.initial).without_content()
    if fact.elem_type not in IEEE_FLOATS or fact.shape is None:
        return _NO_LOG
    result = skip_identities(state.result)
    plain, scaled = _plain(result, state.argument), _scaled(result, state.argument)
    match = plain or scaled
    if match is None or any(
        value is not None and (value is state.argument or value.producer in recurrence.nodes)
        for value in (match.term, match.decay)
    ):
        return _NO_LOG
    if not (is_small(fact) or (plain and match.decay is None)):
        return "it is a logarithm of a sum too large for steps of doubling distance"
    if any(recurrence.fact(node.output()).shape != fact.shape for node in recurrence.nodes):
        return "its shape may change"
    recurrence.require_room(fact)
    emit, decay = recurrence.iterations.emit, None
    term = broadcast(recurrence, match.term, fact.shape)
    if match.decay is not None:
        decay = broadcast(recurrence, match.decay, fact.shape)
        decay = emit.add("Neg", [decay], "decay") if match.is_subtracted else decay
    return (_by_powers if plain else _by_scale)(recurrence, term, decay, fact)


# Forms -------------------------------------------------------------------------------------------


def _plain(result: Value, state: Value) -> _Sum | None:
    """Match Log (Exp (state) + Exp (x))."""
    total = _operand_of(result, "Log")
    one, other = (_operand_of(value, "Exp") for value in _pair(total, "Add"))
    return _sum(one, other, state)


def _scaled(result: Value, state: Value) -> _Sum | None:
    """Match the same with terms scaled by Max (state, x)."""
    for largest, logarithm in (pair := _pair(result, "Add"), pair[::-1]):
        ends = _pair(largest, "Max")
        total = None if logarithm is None else _operand_of(logarithm, "Log")
        parts = [_operand_of(value, "Exp") for value in _pair(total, "Add")]
        differences = [_pair(part, "Sub") for part in parts]
        one, other = (pair[0] for pair in differences)
        same = largest is not None and all(pair[1] is largest for pair in differences)
        if same and ends in ((one, other), (other, one)):
            return _sum(one, other, state)
    return None


def _sum(one: Value | None, other: Value | None, state: Value) -> _Sum | None:
    """Two exponents, of which one is the state, or its sum with a value."""
    for moved, term in ((one, other), (other, one)):
        if moved is None or term is None:
            continue
        if moved is state:
            return _Sum(term)
        for op_type in ("Add", "Sub"):
            first, second = _pair(moved, op_type)
            if first is state and second is not None:
                return _Sum(term, second, op_type == "Sub")
            if second is state and first is not None and op_type == "Add":
                return _Sum(term, first)
    return None


def _pair(value: Value | None, op_type: str) -> tuple[Value | None, Value | None]:
    """The two operands of an operator; None for another value."""
    node = _producer(value, op_type)
    if node is None or len(node.inputs) != 2:
        return None, None
    return node.inputs[0], node.inputs[1]


def _operand_of(value: Value | None, op_type: str) -> Value | None:
    node = _producer(value, op_type)
    return None if node is None else node.inputs[0]


def _producer(value: Value | None, op_type: str) -> Node | None:
    node = None if value is None else skip_identities(value).producer
    return node if node is not None and node.is_op(op_type) else None


# Replacements ------------------------------------------------------------------------------------


def _linear(recurrence: Recurrence, factor: Value, offset: Value, fact: Fact) -> Value:
    """Emit all values of factor * s + offset, starting from the first offset."""
    product = Product(SUMS, 1, (Place(0, 0), Place(0, 1)), fact.elem_type)
    return recurrence.prefixes(product, [factor, offset], [fact] * 2)[1]


def _by_powers(recurrence: Recurrence, term: Value, decay: Value | None, fact: Fact) -> Replacement:
    """Replace a state by logarithms of sums of exponentials."""
    emit, first = recurrence.iterations.emit, recurrence.first_row()
    powers = emit.add("Exp", [emit.concat([first, term], 0, "rows")], "powers")
    if decay is None:
        sums = emit.running_sum(powers, "sums")
    else:
        factors = emit.add("Exp", [emit.concat([first, decay], 0, "rows")], "factors")
        sums = _linear(recurrence, factors, powers, fact)
    logarithms = emit.add("Log", [sums], "logarithms")
    # Without iterations the state is not its own logarithm.
    after = recurrence.iterations.feeding.cut(logarithms, [1], [_END], [0])
    joined = emit.concat([first, after], 0, "joined")
    what = "CumSum" if decay is None else "linear steps"
    return replace_rows(recurrence, [joined], f"{what} of exponentials", False)


def _by_scale(recurrence: Recurrence, term: Value, decay: Value | None, fact: Fact) -> Replacement:
    """Replace a state by the largest value so far and a logarithm in its scale."""
    emit, feeding, first = (
        recurrence.iterations.emit,
        recurrence.iterations.feeding,
        recurrence.first_row(),
    )
    rows = [emit.concat([first, each], 0, "rows") for each in (term, decay) if each is not None]
    if decay is None:
        (largest,) = recurrence.prefixes(OneOperator(Operator("Max")), rows, [fact])
    else:
        product = Product(SUMS, 1, (Place(0, 2), Place(0, 1)), fact.elem_type)
        largest, _ = recurrence.prefixes(product, rows, [fact] * 2)
    before = feeding.cut(largest, [0], [-1], [0])
    after = feeding.cut(largest, [1], [_END], [0])
    if decay is not None:
        before = emit.add("Add", [before, decay], "moved")
    dtype = onnx.helper.tensor_dtype_to_np_dtype(fact.elem_type)
    sizes = [dim.value or 0 for dim in fact.shape or ()]
    ones = emit.constant(np.ones((1, *sizes), dtype), "ones")
    pair = []
    for value in (before, term):
        scaled = emit.add("Exp", [emit.add("Sub", [value, after], "scaled")], "scaled")
        pair.append(emit.concat([ones, scaled], 0, "rows"))
    sums = _linear(recurrence, pair[0], pair[1], fact)
    joined = emit.add("Add", [largest, emit.add("Log", [sums], "logarithms")], "joined")
    return replace_rows(recurrence, [joined], "logarithms of linear steps", False)
