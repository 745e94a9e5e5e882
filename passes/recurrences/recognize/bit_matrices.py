"""Integers of which each iteration mixes the bits by one matrix: checksums and shift registers.

x = BitwiseXor (s, e)                    rows of bits: s' = s A + f (0), with Xor for the sum
s' = BitwiseXor (x >> 1, x & 1 * k) ->   and And for the product, in steps of doubling distance,
                                         which multiply by powers of A

Where BitwiseOr joins the parts, Or is the sum. Parts that have no bit in common have the same sum
over both, which Add makes as well.
"""

from collections.abc import Callable, Sequence

import numpy as np
import onnx

from ....analysis.constants.folding import Folder
from ....analysis.iterations.trip_count import skip_identities
from ....facts.fact import Fact
from ....facts.polynomial import Dimension
from ....ir import Array, Node, Tensor, Value
from ....ops.batching import Operand
from ....ops.builder import Builder
from ....ops.composite import text_of
from ...scans.parallel_prefix import DISTANCES, Monoid
from ..weights import Unfit
from .extents import number_of
from .matrix_powers import power_table
from .recurrence import Recurrence, Replacement
from .reductions import is_small, replace_rows

_TYPES = onnx.TensorProto
_WIDTHS: dict[int, int] = {_TYPES.BOOL: 1, _TYPES.UINT8: 8, _TYPES.UINT16: 16, _TYPES.UINT32: 32}
_OTHER = "it is not an integer whose bits a matrix mixes"
_OLDEST = 18
"""The first opset of BitwiseXor."""


def raise_bits(recurrence: Recurrence) -> Replacement:
    """Replace an integer of which each iteration mixes the bits by the same matrix."""
    (state, *others), emit, feeding = recurrence.states, recurrence.emit, recurrence.feeding
    fact = recurrence.state_fact
    if others or fact.shape is None or fact.elem_type not in _WIDTHS:
        raise Unfit(_OTHER)
    if emit.opset < _OLDEST or not any(node.is_op("BitShift") for node in recurrence.nodes):
        raise Unfit(_OTHER)
    matrix, by_or = _matrix(recurrence)
    axis, width = len(fact.dims) + 1, len(matrix)
    whole = Fact(_TYPES.FLOAT, (*fact.dims, Dimension.constant(width)))
    if not is_small(whole):
        raise Unfit("the bits of its elements are too many for steps of doubling distance")
    recurrence.require_room(whole)
    initial = feeding.same(state.initial).value
    zero = Operand(emit.add("BitwiseXor", [initial, initial], "zero"), False, fact)
    # Without iterations no node may run that could fail.
    zero = Operand(feeding.every(zero, "zeros"), True, fact)
    (added,) = recurrence.iterations.replay(
        recurrence.nodes, {state.argument: zero}, [state.result]
    )
    (rows,) = recurrence.from_first([feeding.every(added, "added")])
    rows = emit.unsqueeze(emit.add("Cast", [rows], "wide", to=_TYPES.UINT32), axis, "wide")
    digits = emit.constant(np.arange(width, dtype=np.uint32), "digits")
    rows = emit.add("BitShift", [rows, digits], "bits", direction="RIGHT")
    rows = emit.add("BitwiseAnd", [rows, emit.number(1, _TYPES.UINT32, "one")], "bits")
    rows = emit.add("Cast", [rows], "bits", to=_TYPES.FLOAT)
    (joined,) = recurrence.prefixes(_compose(emit, matrix, by_or), [rows], [whole])
    # Doubles hold the sums; onnxruntime computes a ReduceSum of integers as such, too.
    weights = emit.constant(2.0 ** np.arange(width), "weights")
    joined = emit.add("Cast", [joined], "bits", to=_TYPES.DOUBLE)
    numbers = emit.add("MatMul", [joined, weights], "numbers")
    every = emit.add("Cast", [numbers], state.result.name, to=fact.elem_type)
    return replace_rows(recurrence, [every], "matrices of bits in steps of doubling distance", True)


def _matrix(recurrence: Recurrence) -> tuple[Array, bool]:
    """The matrix of an iteration, and true for one over Or and And.

    Raises:
        Unfit: no matrix over Xor and And, nor over Or and And; the reason is that of the first.
    """
    (state,), reasons = recurrence.states, list[Unfit]()
    for by_or in (False, True):
        try:
            return _Mixer(recurrence, by_or).matrix(state.result), by_or
        except Unfit as reason:
            reasons.append(reason)
    raise reasons[0]


def _compose(around: Builder, matrix: Array, by_or: bool) -> Monoid:
    """The composition of iterations by their distance, of which rows are the addends."""
    powers = [matrix]
    for _ in DISTANCES[1:]:
        sums = powers[-1].astype(np.int64) @ powers[-1]
        powers.append((np.minimum(sums, 1) if by_or else sums % 2).astype(np.uint8))
    power_of = power_table(around, np.stack(powers))

    def monoid(
        emit: Builder, early: Sequence[Value], late: Sequence[Value], distance: Value
    ) -> list[Value]:
        power = emit.add("Cast", [power_of(emit, distance)], "power", to=_TYPES.FLOAT)
        sums = emit.add("Add", [emit.add("MatMul", [*early, power], "moved"), *late], "sums")
        if by_or:
            return [emit.add("Min", [sums, emit.number(1, _TYPES.FLOAT, "one")], "bits")]
        whole = emit.add("Cast", [sums], "whole", to=_TYPES.INT32)  # Mod of floats takes long
        lowest = emit.add("BitwiseAnd", [whole, emit.number(1, _TYPES.INT32, "one")], "lowest")
        return [emit.add("Cast", [lowest], "bits", to=_TYPES.FLOAT)]

    return monoid


class _Mixer:
    """The results of an iteration for 0 and for each single bit of the state.

    Args:
        by_or: true if Or is the sum; else it is Xor.

    Raises:
        Unfit: a node that sums, or a choice of it, does not distribute over.
    """

    def __init__(self, recurrence: Recurrence, by_or: bool) -> None:
        self._recurrence, self._by_or = recurrence, by_or
        (state,), fact = recurrence.states, recurrence.state_fact
        width = _WIDTHS[fact.elem_type]
        self._full = {kind: (1 << bits) - 1 for kind, bits in _WIDTHS.items()}
        starts = np.array([0, *(1 << place for place in range(width))])
        starts = starts.reshape(-1, *(1 for _ in fact.dims))
        dtype = onnx.helper.tensor_dtype_to_np_dtype(fact.elem_type)
        self._arrays = {state.argument: starts.astype(dtype)}
        self._live = {state.argument: self._full[fact.elem_type]}
        folder = Folder(recurrence.iterations.inference.model)
        for node in recurrence.nodes:
            rule = None if node.domain or node.op.references else _RULES.get(node.op_type)
            own, value = recurrence.fact(node.output()), node.output()
            if rule is None or own.shape != fact.shape or own.elem_type not in _WIDTHS:
                raise Unfit(f"{node} computes the next value")
            operands = [Tensor(array=self._array(node.operand(n))) for n in range(len(node.inputs))]
            self._live[value] = rule(self, node) & self._full[own.elem_type]
            results = folder.fold(node, operands)
            if results is None:
                raise Unfit(f"{node} computes the next value")
            self._arrays[value] = results[0].numpy()

    def matrix(self, value: Value) -> Array:
        """The matrix: row i has the bits that bit i of the state changes."""
        places, width = np.arange(len(self._arrays[value]) - 1), self._changes(value)[1:]
        return (width.reshape(-1, 1) >> places & 1).astype(np.uint8)

    def _array(self, value: Value) -> Array:
        """The results of a value; a constant, or else 0, for one without results."""
        if value not in self._arrays:
            kind = self._recurrence.fact(value).elem_type
            if kind not in _WIDTHS:
                raise Unfit(_OTHER)
            number, dtype = number_of(value), onnx.helper.tensor_dtype_to_np_dtype(kind)
            self._live[value] = self._full[kind] if number is None else int(number)
            self._arrays[value] = np.array(number or 0, dtype)
        return self._arrays[value]

    def _changes(self, value: Value) -> Array:
        """The bits by which results for single bits differ from that for 0."""
        array = self._array(value).astype(np.int64).reshape(-1)
        return array ^ array[0]

    def _with_number(self, node: Node) -> tuple[int, int, bool]:
        """The bits of one operand, the number of the other, and its position."""
        numbers = [number_of(node.operand(place)) for place in range(2)]
        is_last = numbers[1] is not None
        if (number := numbers[is_last]) is None:
            raise Unfit(f"{node} has no constant operand")
        return self._live[node.operand(not is_last)], int(number), is_last

    def scale(self, node: Node) -> int:
        """BitShift, products and quotients with a power of 2; one bit times any number."""
        live, number, is_last = self._with_number(node)
        if node.is_op("BitShift") and is_last:
            full = self._full[self._recurrence.fact(node.output()).elem_type]
            if number >= full.bit_length():  # undefined
                raise Unfit(f"{node} shifts by as many bits as there are")
            is_left = text_of(node.attribute("direction")) == "LEFT"
            return live << number if is_left else live >> number
        if node.is_op("Mul") and live == 1:
            return number
        if number.bit_count() != 1 or not is_last or node.is_op("BitShift"):
            raise Unfit(f"{node} mixes sums")
        if node.is_op("Mod"):
            return live & (number - 1)
        return live * number if node.is_op("Mul") else live // number

    def join(self, node: Node) -> int:
        """A sum, of any kind if no bit is in both operands."""
        one, other = (self._live[node.operand(place)] for place in range(2))
        own = ("BitwiseOr", "Or") if self._by_or else ("BitwiseXor", "Xor")
        if one & other and not node.is_op(*own):
            raise Unfit(f"{node} joins bits at the same places")
        return one | other

    def mask(self, node: Node) -> int:
        """And with a constant."""
        live, number, _ = self._with_number(node)
        return live & number

    def cast(self, node: Node) -> int:
        """The lower bits; as a truth value the only one."""
        live = self._live[node.operand(0)]
        if node.attribute("to") != _TYPES.BOOL:
            return live
        if live.bit_count() > 1:
            raise Unfit(f"{node} reads more than one bit")
        return 1

    def invert(self, node: Node) -> int:
        """The opposite of all bits, or a comparison of one bit with a number."""
        if self._by_or:
            raise Unfit(f"{node} inverts bits that Or joins")
        if node.is_op("Equal", "Greater"):
            live, number, is_last = self._with_number(node)
            if live.bit_count() > 1 or (node.is_op("Greater") and (number or not is_last)):
                raise Unfit(f"{node} reads more than one bit")
        return -1

    def choose(self, node: Node) -> int:
        """A choice between values that a constant tells apart."""
        flag, one, other = (node.operand(place) for place in range(3))
        same = np.array_equal(self._changes(one), self._changes(other))
        if self._by_or or not same or (self._changes(flag).any() and not self._differ(one, other)):
            raise Unfit(f"{node} selects by it")
        return self._live[one] | self._live[other]

    def _differ(self, *values: Value) -> bool:
        """Test for two constants, or a value and its Xor with a constant."""
        one, other = (skip_identities(value) for value in values)
        if number_of(one) is not None and number_of(other) is not None:
            return True
        for value, rest in ((one, other), (other, one)):
            maker = value.producer
            if maker is not None and maker.is_op("BitwiseXor"):
                operands = [skip_identities(maker.operand(place)) for place in range(2)]
                if rest in operands and any(number_of(own) is not None for own in operands):
                    return True
        return False


_RULES: dict[str, Callable[[_Mixer, Node], int]] = {
    "Identity": lambda mixer, node: mixer._live[node.operand(0)],
    "Cast": _Mixer.cast,
    "Where": _Mixer.choose,
    **dict.fromkeys(("BitShift", "Div", "Mod", "Mul"), _Mixer.scale),
    **dict.fromkeys(("Add", "BitwiseOr", "BitwiseXor", "Or", "Xor"), _Mixer.join),
    **dict.fromkeys(("And", "BitwiseAnd"), _Mixer.mask),
    **dict.fromkeys(("BitwiseNot", "Equal", "Greater", "Not"), _Mixer.invert),
}
"""The bits that a result may have; a bit that it never has is 0 for all states."""
