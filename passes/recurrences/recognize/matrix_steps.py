"""Products of the matrices of iterations, in steps of doubling distance.

a = Add (Unsqueeze (s, [1]), m)           row k of M is what each element of s, times e, adds to
s' = Add (ReduceMax <axes = [0]> (a), e)  element k of s': M[k, l] = m[l, k] + e[k]

An iteration is linear over a pair of operations (`semirings`) along one axis of the state where
each of its nodes is, and where the nodes work on each position of other axes by itself
(`axis_map`). Then column l of M is what the iteration makes of the neutral element of products at
l, beside those of sums, without what it adds or puts beside elements; the offset is what it makes
of these elements alone. With an offset, (M, b) after (N, c) is (M N, M c + b). A mask that keeps
the state in an iteration skips its matrix, so that no infinity meets the zeros of a unit matrix.
Where no iteration changes M, its powers are constants (`matrix_powers`).
"""

import dataclasses
import functools
import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import onnx

from ....analysis.constants.folding import Folder
from ....analysis.iterations.trip_count import skip_identities
from ....facts.fact import Fact, Shape
from ....facts.polynomial import Dimension, product
from ....ir import Array, Node, Tensor, Value
from ....ops.axis_map import axis_map_of
from ....ops.batching import Operand
from ....ops.builder import Builder
from ....records import replace
from ...iteration.dependence_graph import producers
from ..weights import Unfit
from .coefficients import broadcast
from .masked_sequences import Mask, find_mask
from .matrix_codings import Check, Coding, addends_of_truths, codings, product_of
from .matrix_powers import LABEL, WIDEST, compose, powers_of
from .recurrence import Recurrence, Replacement
from .reductions import is_small, replace_rows
from .semirings import LOGARITHMS, SUMS, combine, finite, neutral

_SUMS = {"Max": "Max", "Min": "Min", "Add": "Sum", "LogSumExp": "LogSumExp"}
"""The reduction by each operator of sums."""
_INVERSE = {"Add": "Sub", "Mul": "Div"}
_MOVEMENTS = (
    *("Expand", "Flatten", "Gather", "Identity", "Reshape", "Slice", "Split", "Squeeze"),
    *("Transpose", "Unsqueeze"),
)
_PARTS = ("Concat", "Gather", "Slice", "Split", "Where")
"""The operators that keep elements apart."""
_MOST_TERMS = 256
"""The limit of the numbers that the product of two matrices adds up.

All steps of 200 iterations take 98 us for 27, 138 us for 125, 269 us for 512, where a loop of one
MatMul and one Add takes 330 to 400 us (onnxruntime 1.32).
"""
_MIXERS = ("Concat", "Gather", "Gemm", "MatMul", "Slice", "Split", "Transpose")
"""The operators, beside reductions, by which an element of a state reads another one."""
_BOOL = onnx.TensorProto.BOOL
_ONE = Dimension.constant(1)
_WHAT = "products of matrices in steps of doubling distance"
_OTHER = "it is not a product of it with a matrix of the iteration"


class _Linear(NamedTuple):
    """An iteration that multiplies a state by a matrix.

    Attributes:
        coding: the operations, and the numbers for their elements.
        axis: the axis of the state's elements.
        nodes: the nodes of the product, in order.
        offsets: the values that the iteration adds last.
        addends: those that it adds, or puts beside elements, before.
        mask: the mask that keeps the state, if any.
    """

    coding: Coding
    axis: int
    nodes: tuple[Node, ...]
    product: Value
    offsets: tuple[Value, ...]
    addends: tuple[Value, ...]
    mask: Mask | None


def raise_matrices(recurrence: Recurrence) -> Replacement:
    """Replace a state that each iteration multiplies by a matrix along an axis."""
    if len(recurrence.states) > 1 or not (fact := recurrence.state_fact).shape:
        raise Unfit(_OTHER)
    for coding, axis in itertools.product(codings(recurrence), reversed(range(len(fact.dims)))):
        if coding.semiring.join not in _SUMS or coding.semiring.is_ordered > coding.from_0:
            continue
        terms, size = product((*fact.dims, *[fact.dims[axis]] * 2)).value, fact.dims[axis].value
        is_few = terms is not None and 0 < terms <= _MOST_TERMS
        may_be_power = coding == Coding(SUMS) and axis >= len(fact.dims) - 2 and is_small(fact)
        may_be_power = may_be_power and 0 < (size or 0) <= WIDEST
        linear = _read(recurrence, coding, axis) if is_few or may_be_power else None
        if linear is None:
            continue
        emission = _Emission(recurrence, linear, fact)
        replacement = emission.by_powers() if may_be_power else None
        if replacement is not None or is_few:
            return replacement or emission.run()
    raise Unfit(_OTHER)


def _read(recurrence: Recurrence, coding: Coding, axis: int) -> _Linear | None:
    """Match an iteration; None for one that is not linear along the axis."""
    (state,), semiring = recurrence.states, coding.semiring
    mask, value, offsets = find_mask(recurrence), skip_identities(state.result), list[Value]()
    shape = recurrence.fact(state.argument).shape
    if shape is None:
        return None
    if mask is not None:
        assert value.producer is not None
        value = skip_identities(mask.operand(value.producer) or value)
        sizes = recurrence.fact(mask.value).shape
        own = axis - len(shape)
        if sizes is None or (len(sizes) >= -own and sizes[own] != 1):
            return None
    value = product_of(coding, value)
    joins = (semiring.join, "Sum") if semiring is SUMS else (semiring.join,)
    while (
        not coding.is_exact and (last := value.producer) in recurrence.nodes and last.is_op(*joins)
    ):
        inside = [v for v in last.inputs if v is not None and _is_inside(recurrence, v)]
        if len(inside) != 1 or recurrence.fact(inside[0]).shape != shape:
            break
        offsets += [v for v in last.inputs if v is not None and v is not inside[0]]
        value = skip_identities(inside[0])
    nodes = tuple(producers(recurrence.nodes, [value]))
    # Zeros beside a diagonal would spread an infinity of one element to all of them.
    if not any(node.op_type in _MIXERS or node.op_type.startswith("Reduce") for node in nodes):
        return None
    operands = _addends_along(recurrence, coding, axis, nodes, value) if nodes else None
    if operands is None:
        return None
    factors, addends = operands
    check = Check(recurrence, coding, shape[axis].value or 0)
    if not check.holds(nodes, value, [*factors, *addends, *offsets]):
        return None
    return _Linear(coding, axis, nodes, value, tuple(offsets), tuple(addends), mask)


def _is_inside(recurrence: Recurrence, value: Value) -> bool:
    return value is recurrence.states[0].argument or value.producer in recurrence.nodes


def _addends_along(
    recurrence: Recurrence, coding: Coding, axis: int, nodes: Sequence[Node], result: Value
) -> tuple[list[Value], list[Value]] | None:
    """The factors and addends of nodes that are linear along one axis; None for other nodes."""
    (state,) = recurrence.states
    sizes = recurrence.fact(state.argument).dims
    own = tuple([None if i == axis or size == 1 else i for i, size in enumerate(sizes)])
    # For each value that the state changes, the axis of the state that its axes follow.
    leads: dict[Value | None, tuple[int | None, ...]] = {state.argument: own}
    addends, factors = dict[Value, None](), dict[Value, None]()
    for node in nodes:
        flags = [value in leads for value in node.inputs]
        places = _addends(node, flags, coding)
        if node.domain or node.op.references or places is None:
            return None
        for place, value in enumerate(node.inputs):
            if value is not None and not flags[place]:
                (addends if place in places else factors)[value] = None
        facts = [Fact() if v is None else recurrence.fact(v) for v in node.inputs]
        for value in node.outputs:
            shape = None if value is None else recurrence.fact(value).shape
            if shape is None:
                return None
            axes = [_lead(node, facts, place, leads) for place in range(len(shape))]
            if sorted(p for p in axes if p is not None) != [p for p in own if p is not None]:
                return None
            leads[value] = tuple(axes)
    shapes = {recurrence.fact(value).shape for value in (result, state.argument)}
    fixed = all(dim.value is not None for v in addends for dim in recurrence.fact(v).dims)
    # An addend of which one iteration makes a factor, too, cannot be left out alone.
    both = not factors.keys().isdisjoint(addends)
    if not fixed or both or (addends and coding.semiring is LOGARITHMS):
        return None
    if leads.get(result) != own or len(shapes) > 1:
        return None
    return list(factors), list(addends)


def _lead(
    node: Node, facts: Sequence[Fact], axis: int, leads: dict[Value | None, tuple[int | None, ...]]
) -> int | None:
    """The axis of the state that an axis of a node's outputs follows; None for none."""
    match = axis_map_of(node, facts, axis)
    for value, source in zip(node.inputs, match.inputs if match else (), strict=False):
        if value in leads and source is not None and leads[value][source] is not None:
            return leads[value][source]
    return None


def _is_diagonal(recurrence: Recurrence, linear: _Linear) -> bool:
    """Test for elements that no node mixes, such as one that reduces another axis."""
    (state,) = recurrence.states
    axes = tuple(range(len(recurrence.fact(state.argument).dims)))
    leads: dict[Value | None, tuple[int | None, ...]] = {state.argument: axes}
    for node in linear.nodes:
        facts = [Fact() if v is None else recurrence.fact(v) for v in node.inputs]
        for value in node.outputs:
            places = () if value is None else range(len(recurrence.fact(value).dims))
            leads[value] = tuple([_lead(node, facts, place, leads) for place in places])
    return leads[linear.product][linear.axis] == linear.axis


def _addends(node: Node, flags: Sequence[bool], coding: Coding) -> list[int] | None:
    """The operands that a node adds to those with a flag; None if it is not linear in these."""
    if coding.truths:
        return addends_of_truths(node, flags, _MOVEMENTS)
    semiring = coding.semiring
    kind, alone = node.op_type, flags.count(True) == 1
    others = [place for place, flag in enumerate(flags) if not flag]
    is_sum = semiring is SUMS
    if kind == semiring.act or (is_sum and kind in ("MatMul", "Neg")):
        return [] if alone else None
    if kind == "Gemm" and is_sum:
        return [place for place in others if place == 2] if flags[0] != flags[1] else None
    if kind in (semiring.join, "Concat") or (is_sum and kind in ("Sub", "Sum")):
        return others
    if kind == "Where" and not flags[0]:
        return others[1:]
    is_first = alone and flags[0]
    linear = (*_MOVEMENTS, f"Reduce{_SUMS[semiring.join]}", _INVERSE.get(semiring.act))
    return [] if is_first and kind in linear else None


class _Emission:
    """The matrices of all iterations, [elements, elements, other axes, iterations].

    The many iterations are the last axis, since runtimes work fastest along it.
    """

    def __init__(self, recurrence: Recurrence, linear: _Linear, fact: Fact) -> None:
        self._recurrence, self._linear, self._fact = recurrence, linear, fact
        self._emit, self._rank = recurrence.emit, len(fact.dims)
        self._elem_type = linear.coding.elem_type(fact.elem_type)
        self._dtype = onnx.helper.tensor_dtype_to_np_dtype(self._elem_type)
        self._has_offsets = False
        is_plain = not (linear.coding.is_exact or linear.coding.from_0)
        parts = any(node.is_op(*_PARTS) for node in linear.nodes)
        self._is_sparse = is_plain and (parts or _is_diagonal(recurrence, linear))
        self._perm = [1 + linear.axis, *self._leads(1), 0]
        self._fold = Folder(recurrence.iterations.inference.model).fold
        for value in {v: None for node in linear.nodes for v in node.inputs if v is not None}:
            if not _is_inside(recurrence, value):
                recurrence.iterations.operand(value)  # before a probe replaces some of them

    def _leads(self, first: int = 0) -> list[int]:
        """The other axes of the state, which follow some more."""
        return [first + axis for axis in range(self._rank) if axis != self._linear.axis]

    def by_powers(self) -> Replacement | None:
        """Emit all values of the state by powers of its matrix; None if iterations differ."""
        recurrence, linear = self._recurrence, self._linear
        matrix = None if self._is_sparse or linear.mask is not None else self._constant_matrix()
        if matrix is None:
            return None
        is_left = linear.axis != self._rank - 1
        try:
            powers = powers_of(matrix if is_left else matrix.T)
        except Unfit:
            return None
        recurrence.require_room(self._fact)
        added = [broadcast(recurrence, v, self._fact.dims) for v in linear.offsets]
        if linear.addends or not added:
            added.append(recurrence.feeding.every(self._result(), "added"))
        total = functools.reduce(functools.partial(self._join, self._emit), added)
        monoid, rows = compose(self._emit, powers, is_left), recurrence.from_first([total])
        joined = recurrence.prefixes(monoid, rows, [self._fact], exact=False)
        return replace_rows(recurrence, joined, LABEL, False)

    def _constant_matrix(self) -> Array | None:
        """The matrix of all iterations; None if they differ, or it is known only at run time."""
        columns, axis = list[Array](), self._linear.axis
        for place in range(self._fact.dims[axis].value or 0):
            own = self._result(place)
            tensor = None if own.batched else self._tensor(own.value)
            if tensor is None:
                return None
            column = np.moveaxis(tensor.numpy(), axis, 0)
            column = column.reshape(len(column), -1)
            if not np.array_equal(column, np.broadcast_to(column[:, :1], column.shape)):
                return None  # another matrix for each position of other axes
            columns.append(column[:, 0])
        return np.stack(columns, 1)

    def _tensor(self, value: Value) -> Tensor | None:
        """The tensor that constants alone make; None for other values."""
        node = value.producer
        if node is None or value.constant is not None:
            return value.constant
        tensors = [None if v is None else self._tensor(v) for v in node.inputs]
        pairs = zip(node.inputs, tensors, strict=True)
        is_open = any(v is not None and own is None for v, own in pairs)
        results = None if is_open else self._fold(node, tensors)
        return None if results is None else results[node.outputs.index(value)]

    def run(self) -> Replacement:
        """Emit all values of the state."""
        emit, recurrence, linear = self._emit, self._recurrence, self._linear
        size = self._fact.dims[linear.axis]
        recurrence.require_room(Fact(self._fact.elem_type, (*self._fact.dims, size)))
        columns = [self._probe(place) for place in range(size.value or 0)]
        rows = [emit.concat(columns, 1, "matrices")]
        facts = [self._fact_of(self._fact.dims, size)]
        offsets = [self._lift(broadcast(recurrence, v, self._fact.dims)) for v in linear.offsets]
        offsets += [self._probe()] if linear.addends else []
        self._has_offsets = bool(offsets)
        if offsets:
            rows.append(functools.reduce(functools.partial(self._join, emit), offsets))
            facts.append(self._fact_of(self._fact.dims, _ONE))
        if linear.mask is not None:
            sizes = recurrence.fact(linear.mask.value).dims
            sizes = (*[_ONE] * (self._rank - len(sizes)), *sizes)
            rows.append(self._flags(linear.mask, len(sizes)))
            facts.append(dataclasses.replace(self._fact_of(sizes, _ONE), elem_type=_BOOL))
        axis = self._rank + 1
        matrices, *others = recurrence.prefixes(self._compose, rows, facts, axis=axis, exact=False)
        coding, elem_type = linear.coding, self._fact.elem_type
        first = self._lift(coding.encode(emit, recurrence.first_row(), elem_type))
        values = self._multiply(emit, matrices, first)
        if offsets:
            values = self._join(emit, values, others[0])
        if linear.mask is not None:
            values = self._select(emit, others[-1], first, values)
        back = [self._perm.index(axis) for axis in range(self._rank + 1)]
        values = emit.transpose(emit.squeeze(values, 1, "values"), back, "values")
        values = coding.decode(emit, values, elem_type)
        replacement = replace_rows(
            recurrence, recurrence.from_first([values]), _WHAT, coding.is_exact
        )
        # No rule proves it, as the copies of a body are: the default passes prefer these.
        return replace(replacement, exact=False)

    def _fact_of(self, sizes: Shape, columns: Dimension) -> Fact:
        """The fact of what an iteration has of matrices or columns."""
        leads = [sizes[axis] for axis in self._leads()]
        return Fact(self._elem_type, (sizes[self._linear.axis], columns, *leads))

    def _result(self, place: int | None = None) -> Operand:
        """The operand that iterations make of a unit without addends, or of nothing with them."""
        recurrence, linear = self._recurrence, self._linear
        (state,), emptied = recurrence.states, () if place is None else linear.addends
        start = {value: self._nothing(recurrence.fact(value)) for value in emptied}
        start[state.argument] = self._nothing(self._fact, place)
        (own,) = recurrence.iterations.replay(linear.nodes, start, [linear.product])
        return own

    def _probe(self, place: int | None = None) -> Value:
        """Emit such operands as columns."""
        rows = self._recurrence.feeding.every(self._result(place), "column")
        elem_type = self._recurrence.fact(self._linear.product).elem_type
        return self._lift(self._linear.coding.encode(self._emit, rows, elem_type))

    def _nothing(self, fact: Fact, place: int | None = None) -> Operand:
        """The operand that adds nothing, but for the neutral element of products at a place."""
        coding = self._linear.coding
        dtype = onnx.helper.tensor_dtype_to_np_dtype(fact.elem_type)
        array = np.full([dim.value or 0 for dim in fact.dims], coding.nothing(dtype), dtype)
        if place is not None:
            one = np.array(1, dtype) if coding.truths else neutral(coding.semiring.act, dtype)
            np.moveaxis(array, self._linear.axis, 0)[place] = one
        return Operand(self._emit.constant(array, "unit"), False, fact.without_content())

    def _lift(self, rows: Value) -> Value:
        """Emit rows in the shape of columns."""
        return self._emit.unsqueeze(self._emit.transpose(rows, self._perm, "column"), 1, "column")

    def _flags(self, mask: Mask, rank: int) -> Value:
        """Emit the flags of iterations that keep the state."""
        emit, recurrence = self._emit, self._recurrence
        operand = recurrence.iterations.operand(mask.value)
        flags = recurrence.feeding.every(operand, "mask")
        flags = emit.lift(flags, rank - len(operand.fact.dims), "mask")
        return self._lift(flags if mask.keeps else emit.add("Not", [flags], "mask"))

    def _join(self, emit: Builder, *operands: Value) -> Value:
        coding = self._linear.coding
        joined = combine(emit, coding.semiring.join, operands, self._elem_type)
        return coding.rest(emit, joined, self._elem_type)

    def _multiply(self, emit: Builder, one: Value, other: Value) -> Value:
        """Emit products of matrices."""
        semiring = self._linear.coding.semiring
        factors = [emit.unsqueeze(one, 2, "rows"), emit.unsqueeze(other, 0, "columns")]
        terms = emit.add(semiring.act, factors, "terms")
        if self._is_sparse:  # an infinity stays out of elements that do not read it
            nothing = emit.constant(neutral(semiring.join, self._dtype), "nothing")
            absences = [emit.add("Equal", [factor, nothing], "gone") for factor in factors]
            absent = emit.add("Or", absences, "absent")
            terms = emit.add("Where", [absent, nothing, terms], "terms")
        if semiring is not LOGARITHMS:
            coding, kind = self._linear.coding, f"Reduce{_SUMS[semiring.join]}"
            total = emit.reduce(kind, terms, (1,), "product", small=coding.is_exact)
            return coding.rest(emit, total, self._elem_type)
        # The distance of two equal infinities would be NaN.
        peak = emit.reduce("ReduceMax", terms, (1,), "peak", keepdims=1)
        peak = finite(emit, peak, self._elem_type)
        ratios = emit.add("Exp", [emit.add("Sub", [terms, peak], "distance")], "ratios")
        total = emit.add("Log", [emit.reduce("ReduceSum", ratios, (1,), "total")], "total")
        return emit.add("Add", [total, emit.squeeze(peak, 1, "peak")], "product")

    def _select(self, emit: Builder, flags: Value, one: Value, other: Value) -> Value:
        return emit.select(flags, one, other, "kept", self._elem_type)

    def _compose(
        self, emit: Builder, early: Sequence[Value], late: Sequence[Value], distance: Value
    ) -> list[Value]:
        """Emit the functions of iterations after those of earlier ones."""
        joined = [self._multiply(emit, late[0], early[0])]
        if self._has_offsets:
            joined.append(self._join(emit, self._multiply(emit, late[0], early[1]), late[1]))
        if self._linear.mask is None:
            return joined
        for place, value in enumerate(joined):
            own = self._select(emit, early[-1], late[place], value)
            joined[place] = self._select(emit, late[-1], early[place], own)
        return [*joined, emit.add("And", [early[-1], late[-1]], "kept")]
