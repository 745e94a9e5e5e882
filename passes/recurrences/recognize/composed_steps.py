"""Replace states whose iterations are functions that compose to one form.

s = max (a * s + b, l)              rows of (a, b, l), the initial value first

(a2, b2, l2) after (a1, b1, l1) = (a2 * a1, a2 * b1 + b2, max (a2 * l1 + b2, l2))

A parallel prefix of such rows gives all values: the first row is the constant function of the
initial value, so every prefix is a constant, which its bounds equal. States that depend on each
other are the offsets of products of matrices (`semirings`). What needs no prefix of pairs, such as
sums, is in `reductions`; a constant matrix has powers (`matrix_powers`).
"""

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
import onnx

from ....analysis.iterations.trip_count import skip_identities
from ....facts.fact import Fact
from ....facts.magnitudes import LAST_OF_64_BITS
from ....facts.polynomial import Dimension
from ....facts.types import IEEE_FLOATS, PLAIN_INTEGERS
from ....ir import Array, Value
from ...scans.parallel_prefix import MOST_STEP_BYTES
from ..weights import Unfit
from .coefficients import ONE, ZERO, Coefficient
from .intervals import Intervals
from .log_sums import LogReader
from .matrix_powers import WIDEST, powers_of, raise_matrix
from .normal_form import Step
from .recurrence import Recurrence, Replacement
from .reductions import is_small, is_zero, may_be_nan, reduce_step, replace_rows, weigh_last
from .restored_nans import NanStates, lost_nans, with_nans
from .semirings import (
    FAR,
    LOGARITHMS,
    NUMBERS,
    RESET,
    SEMIRINGS,
    SUMS,
    TRUTH,
    Place,
    Product,
    Semiring,
    finite,
    flag_of,
    products,
)
from .step_functions import StepReader

_TYPES = onnx.TensorProto
_BOOL = _TYPES.BOOL
_WIDEST = 3
"""The largest number of states; a step takes the third power of it in nodes."""


def raise_step(recurrence: Recurrence) -> Replacement:
    """Replace states that each iteration changes by functions of the normal form."""
    fact = recurrence.state_fact
    if fact.shape is None or not fact.elem_type:
        raise Unfit("it is not a linear recurrence of numbers")
    if len(recurrence.states) == 1:
        return _raise_one(recurrence, fact)
    for state in recurrence.states:
        own = recurrence.fact(state.initial)
        if (own.elem_type, own.shape) != (fact.elem_type, fact.shape):
            raise Unfit("states of several types or shapes depend on each other")
    whole = Fact(fact.elem_type, (*fact.shape, Dimension.constant(len(recurrence.states))))
    if not is_small(whole):
        most = f"of at most {MOST_STEP_BYTES} bytes"
        raise Unfit(
            f"states too large for steps of doubling distance, {most}, depend on each other"
        )
    recurrence.require_room(whole)
    return _raise_over(recurrence, fact, NanStates(recurrence, fact), SEMIRINGS)


def _raise_over(
    recurrence: Recurrence, fact: Fact, nans: NanStates, semirings: Sequence[Semiring]
) -> Replacement:
    """Replace states over the first pair of operations that holds them."""
    obstacles = [((-1, False), "its element type has no sums and products")]
    for semiring in semirings:
        if fact.elem_type not in semiring.types:
            continue
        is_log = semiring is LOGARITHMS
        if is_log:
            reader: StepReader = LogReader(recurrence, fact)
        else:
            reader = StepReader(recurrence, fact, semiring, nans.flag)
        try:
            return _raise_several(recurrence, reader, fact, nans)
        except Unfit as obstacle:  # that of the row that explains the most nodes
            obstacles.append(((reader.progress, semiring in (SUMS, TRUTH)), str(obstacle)))
    raise Unfit(f"it is not a linear recurrence: {max(obstacles)[1]}")


def _raise_one(recurrence: Recurrence, fact: Fact) -> Replacement:
    """Replace a single state."""
    recurrence.require_room(fact)
    nans = NanStates(recurrence, fact)
    reader = StepReader(recurrence, fact, TRUTH if fact.elem_type == _BOOL else SUMS, nans.flag)
    try:
        (step,) = reader.read()
    except Unfit as reason:
        bits = [row for row in SEMIRINGS if row.act.startswith("Bitwise")]
        if any(node.is_op(row.join) for node in recurrence.nodes for row in bits):
            return _raise_over(recurrence, fact, nans, bits)
        logarithm = _raise_logarithm(recurrence, fact)
        if logarithm is None:
            raise Unfit(f"it is not a linear recurrence: {reason}") from reason
        return logarithm
    reduced = None if reader.drops_nans else reduce_step(recurrence, reader, step, fact)
    if reduced is not None:
        return dataclasses.replace(reduced, exact=reduced.exact and not reader.rounds)
    growing = _raise_growing(recurrence, reader, step, fact)
    if growing is not None:
        return growing
    obstacle = _obstacle(recurrence, reader, step, fact)
    obstacle = obstacle or _obstacle_to_wide(recurrence, reader, [step])
    if obstacle:
        raise Unfit(f"it is not a linear recurrence: {obstacle}")
    summed = None if reader.drops_nans else weigh_last(recurrence, reader, step, fact)
    if summed is None and not is_small(fact):
        raise Unfit("it is a linear recurrence of a state too large for steps of doubling distance")
    return summed or _compose(recurrence, reader, [step], fact, nans)


def _raise_logarithm(recurrence: Recurrence, fact: Fact) -> Replacement | None:
    """Replace a logarithm of sums of exponentials; None for another state."""
    if fact.elem_type not in IEEE_FLOATS:
        return None
    reader = LogReader(recurrence, fact)
    try:
        (step,) = reader.read()
    except Unfit:
        return None
    if step.plain.weights == (None,):  # max (s, e) cancels where s does not stand in an exponent
        return None
    if reader.is_plain and not step.is_reset and step.plain.weights == (reader.one,):
        return _sum_exponentials(recurrence, reader, step)
    if not is_small(fact):
        raise Unfit("it is a logarithm of a sum too large for steps of doubling distance")
    return _compose(recurrence, reader, [step], fact, NanStates(recurrence, fact))


def _sum_exponentials(recurrence: Recurrence, reader: LogReader, step: Step) -> Replacement:
    """Replace a state by logarithms of sums of exponentials, which overflow as in the Loop."""
    emit, first, offset = recurrence.emit, recurrence.first_row(), step.plain.offset
    assert offset is not None
    rows = emit.concat([reader.enter(first), reader.rows_of(offset)], 0, "rows")
    sums = emit.running_sum(emit.add("Exp", [rows], "exponentials"), "sums")
    after = recurrence.feeding.after(reader.leave(emit.add("Log", [sums], "logarithms")))
    every = recurrence.from_first([after])
    return replace_rows(recurrence, every, "CumSum of exponentials", False)


def _raise_growing(
    recurrence: Recurrence, reader: StepReader, step: Step, fact: Fact
) -> Replacement | None:
    """Replace a float that a constant factor makes larger; None for another state."""
    (weight,), offset = step.plain.weights, step.plain.offset
    factor = None if weight is None else reader.array_of(weight)
    if factor is None or factor.size != 1 or not is_small(fact):
        return None
    if fact.elem_type not in IEEE_FLOATS or step.is_reset or step.plain.is_bounded:
        return None
    if float(np.abs(factor).max()) <= 1:
        return None
    rows = reader.rows_of(reader.nothing if offset is None else offset)
    return raise_matrix(recurrence, [rows], powers_of(factor.reshape(1, 1)), fact)


def _obstacle(recurrence: Recurrence, reader: StepReader, step: Step, fact: Fact) -> str:
    """The obstacle to compositions of a single step; empty if none."""
    plain, (factor,) = step.plain, step.plain.weights
    if factor is None:
        return "its next value does not depend on it"
    if fact.elem_type not in (*(NUMBERS if plain.is_bounded else SUMS.types), _BOOL):
        return "steps of its element type do not compose"
    numbers = reader.array_of(factor)
    is_large = numbers is not None and not bool(np.all(np.abs(numbers) <= 1))
    # Finite states stay finite where each power does: |a| <= 1 bounds all of them.
    if fact.elem_type in IEEE_FLOATS and is_large:
        return "powers of its factor may overflow"
    if reader.drops and reader.fills and may_be_nan(recurrence.states[0].initial):
        return "a bound that replaces a NaN is there under a condition only"
    if reader.drops and not _is_number(recurrence, reader, recurrence.states[0].result):
        return "a NaN may follow the bound that replaces it"
    is_sum = factor.number != 1.0 or not is_zero(plain.offset)
    if fact.elem_type not in PLAIN_INTEGERS or not (plain.is_bounded and is_sum):
        return ""
    fills = reader.fills and fact.elem_type == _TYPES.INT64
    if factor.number == 1.0 and Intervals(recurrence).is_settled(fills):
        return ""
    return "its sums may wrap, and bounds do not"


def _is_number(recurrence: Recurrence, reader: StepReader, value: Value | None) -> bool:
    """Test for a value that is never NaN: steps would keep one that a bound replaces."""
    value = value if value is None else skip_identities(value)
    if value is None or value is recurrence.states[0].argument or value in reader.numbers:
        return value is not None
    node = value.producer
    if node is None or value.array is not None:
        return value.array is not None and not np.isnan(value.array).any()
    operands = node.inputs[1:] if node.is_op("Where") else [v for v in node.inputs if v is not None]
    if node.is_op("Add", "Div", "Mul", "Sub"):
        arrays = [v.array for v in operands if v is not None and v.array is not None]
        if not arrays or not np.isfinite(arrays[0]).all() or not np.all(arrays[0]):
            return False
    elif not node.is_op("Clip", "Max", "Min", "Neg", "Relu", "Where"):
        return False
    holds = all(_is_number(recurrence, reader, operand) for operand in operands)
    reader.numbers |= {value} if holds else set()
    return holds


def _obstacle_to_wide(recurrence: Recurrence, reader: StepReader, steps: Sequence[Step]) -> str:
    """The obstacle to sums of integers that must not wrap; empty if none."""
    if reader.modulus is not None:
        rests = reader.array_of(reader.modulus)
        assert rests is not None
        if rests.size != 1 or any(step.plain.is_bounded for step in steps):
            return "its remainders have bounds, or several divisors"
        return Intervals(recurrence).obstacle_to_rests(int(rests.reshape(())))
    if len(steps) == 1 or reader.is_float or reader.semiring.act != "Add":
        return ""
    return "" if Intervals(recurrence).counts() else "its sums may wrap, and extremes do not"


def _raise_several(
    recurrence: Recurrence, reader: StepReader, fact: Fact, nans: NanStates
) -> Replacement:
    """Replace states that depend on each other.

    Raises:
        Unfit: no combinations over the pair of operations.
    """
    steps = reader.together(reader.read())
    obstacle = _obstacle_to_wide(recurrence, reader, steps)
    if obstacle:
        raise Unfit(obstacle)
    if not is_small(fact):
        raise Unfit("it is a state too large for steps of doubling distance")
    is_plain = reader.semiring is SUMS and reader.modulus is None
    matrix = _constant_weights(reader, steps) if is_plain else None
    if matrix is not None and len(matrix) <= WIDEST and not steps[0].is_reset:
        powers = powers_of(matrix)
        # A zero would make NaN of an infinity in another state.
        if fact.elem_type in PLAIN_INTEGERS or powers.is_full:
            offsets = [reader.rows_of(step.plain.offset or reader.nothing) for step in steps]
            return raise_matrix(recurrence, offsets, powers, fact)
        if powers.thirds is not None:
            raise Unfit("powers of its factors may overflow")
    if len(steps) > _WIDEST:
        raise Unfit(f"more than {_WIDEST} states depend on each other")
    return _compose(recurrence, reader, steps, fact, nans)


def _constant_weights(reader: StepReader, steps: Sequence[Step]) -> Array | None:
    """The matrix of constant factors: row i computes state i; None for others."""
    weights = [reader.array_of(weight or ZERO) for step in steps for weight in step.plain.weights]
    numbers = [array.reshape(()) for array in weights if array is not None and array.size == 1]
    if len(numbers) < len(weights):
        return None
    return np.array(numbers).reshape(len(steps), len(steps))


# Compositions ------------------------------------------------------------------------------------


def _compose(
    recurrence: Recurrence, reader: StepReader, steps: Sequence[Step], fact: Fact, nans: NanStates
) -> Replacement:
    """Replace states by a parallel prefix of their steps."""
    width, semiring = len(steps), reader.semiring
    parts, power = _parts(reader, steps)
    first = 0
    if width > 1:
        first = _fill(reader, parts, width, reader.is_float or semiring.act == "Add")
    swaps, old = _swaps(steps), recurrence.states[0].result
    rest = None if reader.modulus is None else reader.value_of(reader.modulus)
    is_bounded = steps[0].plain.is_bounded
    kinds = _only_sides(reader, steps) if Place(0, 1) in parts else ()
    product = Product(semiring, width, tuple(parts), fact.elem_type, power, swaps, old, rest, kinds)
    is_scaled = is_bounded and (power is not None or Place(0, 0) in parts)
    is_wide = is_bounded and fact.elem_type in PLAIN_INTEGERS and Place(0, 1) in parts
    is_wide = is_wide or rest is not None
    rows = _rows(recurrence, reader, parts, fact, _sides(steps) if is_scaled else kinds, kinds)
    if is_wide:
        wide = (
            None if rest is None else recurrence.emit.add("Cast", [rest], "rest", to=_TYPES.INT64)
        )
        product = dataclasses.replace(product, elem_type=_TYPES.INT64, modulus=wide)
        rows = _widened(recurrence, reader, dict(zip(parts, rows, strict=True)), wide)
    elif reader.saturates:
        rows = _from_first_iteration(recurrence, dict(zip(parts, rows, strict=True)))
    if first:
        product, rows = _first_step(recurrence, product, rows)
    facts = [
        Fact(_BOOL if place.is_flag else product.elem_type, fact.shape) for place in product.places
    ]
    exact = not semiring.rounds or fact.elem_type in PLAIN_INTEGERS
    joined = recurrence.prefixes(product, rows, facts, first=first, exact=exact)
    values = dict(zip(product.places, joined, strict=True))
    # Of a constant, the tightest bound.
    column = max(place.column for place in product.places)
    states = [values[Place(row, column)] for row in range(width)]
    if reader.restored is not None:
        states = [with_nans(recurrence, reader.rows_of(reader.restored), states[0], fact)]
    states = [reader.leave(rows) for rows in states]
    if is_wide:
        emit = recurrence.emit
        after = [emit.add("Cast", [own], "after", to=fact.elem_type) for own in states]
        states = recurrence.from_first(after)
    elif reader.saturates:
        states = recurrence.from_first(states)
    elif is_scaled or kinds or reader.drops or isinstance(reader, LogReader):
        states = recurrence.from_first([recurrence.feeding.after(own) for own in states])
    if isinstance(reader, LogReader) and not reader.is_plain:
        states = lost_nans(recurrence, reader, parts, states, fact)
    if reader.drops_nans:
        states = nans.restore(states)
    is_moved = width > 1 or power is not None or {Place(0, 0), Place(0, 1)} & parts.keys()
    exact = exact or not is_moved
    # Of a zero of each sign, Max may give either, and a comparison the second.
    exact = exact and not reader.drops_nans and not reader.rounds
    what = "products of matrices in" if width > 1 else "linear" if is_moved else "bounds in"
    if isinstance(reader, LogReader):
        what = "logarithms of sums in"
    return replace_rows(recurrence, states, f"{what} steps of doubling distance", exact)


def _swaps(steps: Sequence[Step]) -> bool:
    """Test for a factor that may swap the bounds of a single state."""
    plain, weight = steps[0].plain, steps[0].plain.weights[0]
    return plain.is_bounded and not (weight is not None and weight.positive)


def _sides(steps: Sequence[Step]) -> tuple[str, ...]:
    """The operators of the bounds, unless a factor may move one to the other side."""
    plain = steps[0].plain
    sides = (("Max", plain.lower), ("Min", plain.upper))
    kinds = tuple([kind for kind, bound in sides if bound is not None])
    return () if _swaps(steps) and len(kinds) == 1 else kinds


def _only_sides(reader: StepReader, steps: Sequence[Step]) -> tuple[str, ...]:
    """The operator of the only bound, if that is constant and small."""
    kinds, plain = _sides(steps), steps[0].plain
    bound = plain.upper if plain.lower is None else plain.lower
    is_sum = reader.is_float and reader.semiring is SUMS
    if len(kinds) != 1 or bound is None or not is_sum or bound.present is not None:
        return ()
    array = reader.array_of(bound)
    # The largest number and the least have this bound, too, whatever rounds.
    return kinds if array is not None and float(np.abs(array).max(initial=0)) < 1e4 else ()


def _parts(
    reader: StepReader, steps: Sequence[Step]
) -> tuple[dict[Place, Coefficient], Value | None]:
    """The elements of the matrix of an iteration, and the factor of all of them."""
    width, parts = len(steps), dict[Place, Coefficient]()
    for row, step in enumerate(steps):
        plain = step.plain
        others = [plain.offset, plain.lower, plain.upper]
        if _swaps(steps):
            others[1:] = reader.ordered_bounds(plain)
        for column, part in enumerate([*plain.weights, *others]):
            if part is None and column != width:
                continue
            own = part if part is not None and column < width else reader.offset_of(step, part)
            if column == width == 1 and not step.is_reset:
                own = reader.saturated(own, *plain.weights, plain.lower, plain.upper)
            place = Place(row, column)
            parts[place] = dataclasses.replace(own, present=None)
            if own.present is not None:
                parts[flag_of(place)] = own.present
    power = None
    if width == 1:
        (weight,), plain = steps[0].plain.weights, steps[0].plain
        assert weight is not None
        if weight.number is None and not weight.batched and reader.semiring is SUMS:
            power = reader.value_of(weight) if reader.is_float else None
        is_one = weight is reader.one or weight.number == reader.one.number is not None
        if is_one or power is not None:
            del parts[Place(0, 0)]
        if plain.is_bounded and is_zero(plain.offset):
            del parts[Place(0, 1)]
    if steps[0].is_reset:
        parts[RESET] = steps[0].reset
    return parts, power


def _fill(reader: StepReader, parts: dict[Place, Coefficient], width: int, floats: bool) -> int:
    """Add the elements that products have, with the condition that they are there.

    Returns:
        the number of steps after which all elements are there, which then need no condition.
    """
    own = frozenset(place for place in parts if not place.is_flag)
    whole = own
    while not products(whole, width) <= whole:
        whole |= products(whole, width)
    certain = frozenset(place for place in own if flag_of(place) not in parts)
    after = products(own, width)
    if certain == own != whole and products(after, width) == after:
        return 1  # as of states that change places, or of a factor beside a 0
    while not certain <= products(certain, width):
        certain &= products(certain, width)
    for place in whole - own:
        parts[place] = reader.nothing
    if floats:
        for place in whole - certain:
            parts.setdefault(flag_of(place), ONE if place in own else ZERO)
    return 0


def _rows(
    recurrence: Recurrence,
    reader: StepReader,
    parts: Mapping[Place, Coefficient],
    fact: Fact,
    sides: Sequence[str],
    kinds: Sequence[str],
) -> list[Value]:
    """Emit the elements of all iterations, the constant function of the initial values first.

    Of the first row, weights are never read. Finite numbers are put in place of infinities: in the
    bounds of the first row on some sides, in all offsets on others.
    """
    emit, rows = recurrence.emit, []
    indices = range(len(recurrence.states))
    firsts = [reader.enter(recurrence.first_row(index)) for index in indices]
    yes = None
    for place, part in parts.items():
        first = firsts[place.row]
        if place.is_flag:
            if yes is None:
                true = emit.constant(np.array(True), "yes")
                yes = emit.add("Expand", [true, emit.add("Shape", [first], "shape")], "first")
            first = yes
        elif reader.restored is not None or reader.drops:
            worst = reader.value_of(reader.worst)
            first = emit.add("Where", [emit.add("IsNaN", [first], "nan"), worst, first], "first")
        if sides and place.column > 1 and not place.is_flag:
            # A power that underflows to 0 makes NaN of an infinity, as the start of a maximum.
            first = finite(emit, first, fact.elem_type, sides)
        own = reader.rows_of(part, np.dtype(bool) if place.is_flag else None)
        whole = emit.concat([first, own], 0, "rows")
        if kinds and place == Place(0, 1):
            whole = finite(emit, whole, fact.elem_type, kinds)
        rows.append(whole)
    return rows


def _from_first_iteration(recurrence: Recurrence, rows: Mapping[Place, Value]) -> list[Value]:
    """Emit rows without the initial one: the first is what the iteration makes of it."""
    emit, feeding = recurrence.emit, recurrence.feeding
    firsts = [feeding.cut(own, 0, 1) for own in recurrence.again()]
    return [
        feeding.after(value)
        if place.is_flag
        else emit.concat([firsts[place.row], feeding.cut(value, 2, LAST_OF_64_BITS)], 0, "rows")
        for place, value in rows.items()
    ]


def _widened(
    recurrence: Recurrence, reader: StepReader, rows: Mapping[Place, Value], rest: Value | None
) -> list[Value]:
    """Emit rows of bounded sums, or rests, from the first iteration on, in 64 bits: none wraps."""
    emit, wide = recurrence.emit, _from_first_iteration(recurrence, rows)
    for index, place in enumerate(rows):
        if place.is_flag:
            continue
        own = emit.add("Cast", [wide[index]], "wide", to=_TYPES.INT64)
        own = own if rest is None else emit.add("Mod", [own, rest], "rest")
        if reader.fills and place.column > 1:
            least, most = (emit.integer(end, "far") for end in (-FAR, FAR))
            own = emit.clamp(own, least, most, "bound")
        wide[index] = own
    return wide


def _first_step(
    recurrence: Recurrence, product: Product, rows: Sequence[Value]
) -> tuple[Product, list[Value]]:
    """Emit the step of distance 1, whose results have elements that one matrix has not."""
    emit, feeding = recurrence.emit, recurrence.feeding
    heads, early, late = (
        [cut(row) for row in rows]
        for cut in (lambda row: feeding.cut(row, 0, 1), feeding.before, feeding.after)
    )
    joined = product.joined(emit, early, late, feeding.integers(1))
    own = dict(zip(product.places, heads, strict=True))
    joined_rows = []
    for place, value in joined.items():
        head = own[place if place in own else Place(place.row, product.width)]
        joined_rows.append(emit.concat([head, value], 0, "rows"))
    return dataclasses.replace(product, places=tuple(joined)), joined_rows
