"""Products of matrices, and sums of products."""

import math
import string
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import onnx

from ..facts.fact import Fact, Symbols
from ..facts.polynomial import Dimension
from ..facts.safety_context import Premises, at_least, broadcast, broadcast_to, require, same
from ..ir import Node, Value
from .agreement import is_integer
from .axes import AxisMap, RankAnswer, RankOf, aligned, broadcast_shape, may_equal, rank_of_first
from .axis_map import PassesAxes
from .batch_axis import by_rows, with_a_row, without_it
from .batching import DIFFERING, Batch, Unbatchable
from .cost_estimates import EACH, elements
from .flat_rows import product_of_rows
from .partial_axes import product_of_parts, whole
from .rules import OperatorRules, Shapes, describes


@describes("MatMul")
class MatMul(OperatorRules):
    """MatMul, as numpy.matmul: an operand with one axis is a row or a column."""

    def shapes(self, node: Node, inputs: Sequence[Fact], symbols: Symbols) -> Shapes:
        lhs, rhs = inputs[0].dims, inputs[1].dims
        if not may_equal(lhs[-1], rhs[-2:][0]):
            return None
        batch = broadcast_shape((lhs[:-2], rhs[:-2]), symbols)
        if batch is None:
            return None
        return [batch + lhs[-2:-1] + (rhs[-1:] if len(rhs) > 1 else ())]

    def prove_safe(self, premises: Premises) -> None:
        prove_fit(premises, 0, 1)

    def axis_map(self, node: Node, inputs: Sequence[Fact], axis: int) -> AxisMap | None:
        return product_map(inputs, axis, 0, 1)

    def batch(self, batch: Batch) -> Sequence[Value]:
        lhs, rhs = batch.rank(0), batch.rank(1)
        if not lhs or not rhs:
            raise Unbatchable("has a scalar operand")
        one, other = batch.require(0).value, batch.require(1).value
        # One vector in each iteration: together they are the rows of one matrix.
        if lhs == 1 and rhs == 2 and not batch.varies(1):
            return batch.same([one, other])
        if lhs == 2 and rhs == 1 and not batch.varies(0):
            # A v is the row v A^T, so the iterations are rows here, too.
            return batch.same([other, batch.emit.transpose(one, (1, 0), batch.label("_turned"))])
        if _has_single_rows(batch):
            return [_iterations_as_rows(batch)]
        product = _multiplied(batch, [None, None], 0, 1)
        rank = max(lhs, rhs, 2)
        if lhs > 1 and rhs > 1:
            return [product]
        # The axis that made a matrix of a vector goes again: the iterations are before it.
        axes = [rank - 1] if lhs == 1 else []
        axes += [rank] if rhs == 1 else []
        return [batch.emit.squeeze(product, tuple(axes), batch.label("_vector"))]

    def batch_partial(self, batch: Batch) -> Sequence[Value]:
        ranks, parts = [batch.rank(0), batch.rank(1)], batch.parts()
        inner = {0: -1, 1: -2 if ranks[1] > 1 else -1}
        if any(part.axis != inner[index] for index, part in parts.items()):
            return super().batch_partial(batch)
        if len(parts) > 1 and parts[0].flat is not None:
            return [product_of_rows(batch)]
        return product_of_parts(batch, self.batch) if len(parts) > 1 else self._of_whole(batch)

    def _of_whole(self, batch: Batch) -> Sequence[Value]:
        """The product with an operand that has all elements, so that it fails without some."""
        (index, part), *_ = batch.parts().items()
        other = batch.shape(1 - index)
        against = other[-1] if index == 1 or len(other) == 1 else other[-2]
        is_plain = part.bounds is None and part.count is None and part.flat is None
        if not is_plain or against.value != part.size:
            raise Unbatchable(DIFFERING)
        return self.batch(whole(batch, repeats=False))

    def growth(self, node: Node, arrays: Sequence[Any]) -> float:
        lhs, rhs = arrays[0].shape, arrays[1].shape
        columns = rhs[-1:] if len(rhs) > 1 else ()
        try:
            batch = np.broadcast_shapes(lhs[:-2], rhs[:-2])
        except ValueError:  # the kernel fails
            return 0.0
        return float(math.prod((*batch, *lhs[-2:-1], *columns)))

    def work(self, node: Node, arrays: Sequence[Any]) -> float:
        inner = math.prod(arrays[0].shape[-1:])
        return EACH * elements(arrays) + 4 * inner * self.growth(node, arrays)

    def rank(self, node: Node, output: int) -> RankAnswer:
        first = yield RankOf(node.input(0))
        second = yield RankOf(node.input(1))
        if not first or not second:
            return None
        # A vector loses its only axis in the product.
        return max(first, second, 2) - (first == 1) - (second == 1)


def prove_fit(premises: Premises, lhs: int, rhs: int) -> None:
    """Demand that two inputs can be multiplied as matrices."""
    one, other = premises.shape(lhs), premises.shape(rhs)
    require(bool(one) and bool(other), "an operand is a scalar")
    premises.equal(one[-1], other[-2] if len(other) > 1 else other[0], "the inner sizes")
    broadcast([one[:-2], other[:-2]])


def product_map(inputs: Sequence[Fact], axis: int, lhs: int, rhs: int) -> AxisMap | None:
    """The map of a product of matrices: its rows, and the axes before the matrices."""
    one, other = inputs[lhs].dims, inputs[rhs].dims
    places: list[int | None] = [None] * len(inputs)
    if not one or not other or len(one) == len(other) == 1:
        return None
    rank = max(len(one), len(other))
    # The result lacks the axis of rows if the left operand is a vector.
    own = axis + (len(one) == 1 and axis == rank - 2)
    if own == rank - 1:
        places[rhs] = len(other) - 1
    elif own == rank - 2:
        places[lhs] = len(one) - 2
    else:
        places[lhs], places[rhs] = aligned(one, axis, rank), aligned(other, axis, rank)
    return AxisMap(tuple(places), {} if axis < rank - 2 else None, stretches=True)


def _has_single_rows(batch: Batch) -> bool:
    """Test for single rows that several loop-invariant matrices multiply."""
    one, other = batch.shape(0), batch.shape(1)
    if batch.varies(1) or not batch.varies(0) or len(one) != len(other) or len(one) < 3:
        return False
    several = all(dim.value is not None for dim in other[:-2]) and any(d != 1 for d in other[:-2])
    return one[-2] == 1 and one[:-2] == other[:-2] and several


def _iterations_as_rows(batch: Batch) -> Value:
    """The product of single rows: one for each matrix, whose rows are the iterations."""
    emit, last = batch.emit, batch.rank(0) - 1
    perm = [*range(1, last), 0, last, last + 1]
    rows = emit.transpose(batch.require(0).value, perm, batch.label("_turned"))
    rows = emit.squeeze(rows, last, batch.label("_rows"))
    (product,) = batch.same([rows, batch.require(1).value])
    product = emit.unsqueeze(product, last, batch.label("_turned"))
    back = [last - 1, *range(last - 1), last, last + 1]
    return emit.transpose(product, back, batch.label())


def _multiplied(batch: Batch, inputs: Sequence[Value | None], lhs: int, rhs: int) -> Value:
    """The product of two inputs as matrices, with the iterations before the batch axes.

    Args:
        lhs: which input is the left operand.
        rhs: which is the right one.
    """
    rank = max(batch.rank(lhs), batch.rank(rhs), 2)
    one, other = _matrix(batch, lhs, rank, True), _matrix(batch, rhs, rank, False)
    row = one
    if not batch.varies(rhs) and any(dim != 1 for dim in batch.shape(rhs)[:-2]):
        # onnxruntime meets no iterations with several matrices only where both have them.
        row = with_a_row(batch, one, batch.require(lhs).fact.elem_type)
    inputs = list(inputs)
    inputs[lhs], inputs[rhs] = row, other
    (result,) = batch.same(inputs)
    return result if row is one else without_it(batch, result, one)


def _matrix(batch: Batch, index: int, rank: int, is_left: bool) -> Value:
    operand, own = batch.require(index), batch.rank(index)
    name, batched = f"{operand.value.name}_matrix", is_left or operand.batched
    # onnxruntime stretches no left operand to no iterations.
    value = batch.spread(index) if is_left else operand.value
    first = int(batched)
    if own == 1:
        value = batch.emit.unsqueeze(value, first if is_left else first + 1, name)
        own = 2
    if batched and own < rank:
        value = batch.emit.lift(value, rank - own, name)
    return value


@describes("MatMulInteger", operands=(0, 1))
class QuantizedProduct(OperatorRules):
    """Product of quantized matrices, from opset 10 on.

    It is batched only with one scale and offset for each operand.
    """

    operands: ClassVar[tuple[int, int]]
    """Positions of the two matrices among the inputs."""

    def batch(self, batch: Batch) -> Sequence[Value]:
        lhs, rhs = self.operands
        if batch.rank(lhs) < 2 or batch.rank(rhs) < 2:
            raise Unbatchable("has a vector as an operand")
        inputs: list[Value | None] = [None] * len(batch.operands)
        moved = batch.varies(2) and batch.node.is_op("MatMulInteger") and not batch.varies(rhs)
        for index in range(len(inputs)):
            if index in self.operands or batch.operand(index) is None:
                continue
            if not (moved and index == 2):
                inputs[index] = batch.fixed(index)
            is_one = all(dim == 1 for dim in batch.shape(index))
            of_columns = index > rhs and batch.rank(rhs) == 2 and batch.rank(index) == 1
            if not is_one and not of_columns:
                raise Unbatchable("has an offset or scale for each row or column")
        product = _multiplied(batch, inputs, lhs, rhs)
        return [_moved(batch, product, inputs) if moved else product]

    def prove_safe(self, premises: Premises) -> None:
        for index in range(len(premises.node.inputs)):
            if index not in self.operands and premises.has(index):
                premises.one_element(index)
        prove_fit(premises, *self.operands)

    def axis_map(self, node: Node, inputs: Sequence[Fact], axis: int) -> AxisMap | None:
        for index, fact in enumerate(inputs):
            alone = fact.shape is not None and all(dim == 1 for dim in fact.shape)
            if index not in self.operands and node.input(index) is not None and not alone:
                return None
        return product_map(inputs, axis, *self.operands)


def _moved(batch: Batch, product: Value, inputs: Sequence[Value | None]) -> Value:
    """A product of integers minus the offset of each iteration times the sums of columns.

    sum of (a - z) (b - w)   ->   (sum of a (b - w)) - z (sum of (b - w)), in 32 bits that wrap
    """
    emit, name, to = batch.emit, batch.label(), {"to": onnx.TensorProto.INT32}
    rank = max(batch.rank(0), batch.rank(1))
    columns = emit.add("Cast", [batch.require(1).value], f"{name}_columns", **to)
    if len(inputs) > 3 and inputs[3] is not None:
        offset = emit.add("Cast", [inputs[3]], f"{name}_offset", **to)
        columns = emit.add("Sub", [columns, offset], f"{name}_columns")
    # Doubles, as onnxruntime adds integers, hold sums of bytes.
    axis = batch.rank(1) - 2
    columns = emit.reduce("ReduceSum", columns, (axis,), f"{name}_sums", keepdims=1, small=True)
    point = emit.add("Cast", [batch.require(2).value], f"{name}_point", **to)
    axes = tuple(range(1 + batch.rank(2), 1 + rank))
    point = emit.unsqueeze(point, axes, f"{name}_point")
    part = emit.add("Mul", [point, columns], f"{name}_part")
    return emit.add("Sub", [product, part], name)


@describes("QLinearMatMul", operands=(0, 3))
class QLinearMatMul(QuantizedProduct):
    """QLinearMatMul, from opset 10 on."""

    def is_settled(self, node: Node, arrays: Sequence[Any], results: Sequence[Any]) -> bool:
        """A tie is rounded before the zero point is added, or after."""
        return False


def _turned(node: Node) -> list[bool]:
    """The flags of the two matrices that a Gemm transposes."""
    return [bool(node.attribute(flag, 0)) for flag in ("transA", "transB")]


@describes("Gemm")
class Gemm(OperatorRules):
    """Gemm: the bias is stretched from opset 7 on, and may be left out from 11 on."""

    def shapes(self, node: Node, inputs: Sequence[Fact], symbols: Symbols) -> Shapes:
        open_ = symbols.fresh(), symbols.fresh()
        matrices = [open_ if fact.shape is None else fact.shape for fact in inputs[:2]]
        lhs, rhs = (
            m[::-1] if turned else m for m, turned in zip(matrices, _turned(node), strict=True)
        )
        (rows, inner), (same, columns) = lhs, rhs
        return [(rows, columns)] if may_equal(inner, same) else None

    def prove_safe(self, premises: Premises) -> None:
        one, other = (
            premises.shape(index, 2)[:: -1 if turned else 1]
            for index, turned in enumerate(_turned(premises.node))
        )
        premises.equal(one[1], other[0], "the inner sizes")
        if premises.has(2):
            broadcast_to(premises.shape(2), (one[0], other[1]), "the bias")

    def axis_map(self, node: Node, inputs: Sequence[Fact], axis: int) -> AxisMap | None:
        turned = _turned(node)
        places: list[int | None] = [None] * len(inputs)
        places[axis] = int(turned[0] if axis == 0 else not turned[1])
        if node.input(2) is not None:
            places[2] = aligned(inputs[2].dims, axis, 2)
        return AxisMap(tuple(places), stretches=True)

    def batch(self, batch: Batch) -> Sequence[Value]:
        """All rows of all iterations in one Gemm where only they vary, else a MatMul; the runtime's
        kernels for these may round otherwise."""
        bias = batch.shape(2) if batch.operand(2) is not None else ()
        # A bias for rows would have to repeat in each iteration.
        for_columns = len(bias) < 2 or bias[0] == 1
        if batch.varies(1) or batch.varies(2) or _turned(batch.node)[0] or not for_columns:
            return [self._product(batch)]
        return by_rows(batch, (0,))

    def growth(self, node: Node, arrays: Sequence[Any]) -> float:
        (lhs, rhs), (first, second) = (array.shape for array in arrays[:2]), _turned(node)
        rows, columns = lhs[1:] if first else lhs[:1], rhs[:1] if second else rhs[1:]
        return float(math.prod(rows) * math.prod(columns))

    def work(self, node: Node, arrays: Sequence[Any]) -> float:
        shape, (turned, _) = arrays[0].shape, _turned(node)
        inner = math.prod(shape[:1] if turned else shape[1:])
        return EACH * elements(arrays) + 4 * inner * self.growth(node, arrays)

    def _product(self, batch: Batch) -> Value:
        operands = [batch.spread(0), batch.require(1).value]
        for index, turned in enumerate(_turned(batch.node)):
            if turned:
                perm = (0, 2, 1) if index == 0 or batch.varies(index) else (1, 0)
                label = batch.label("_turned")
                operands[index] = batch.emit.transpose(operands[index], perm, label)
        product = batch.emit.add("MatMul", operands, batch.label("_product"))
        product = self._times(batch, product, "alpha")
        if batch.operand(2) is None:
            return product
        bias = self._times(batch, batch.lifted(2, 2), "beta")
        return batch.emit.add("Add", [product, bias], batch.label())

    def _times(self, batch: Batch, value: Value, name: str) -> Value:
        factor = batch.node.attribute(name, 1.0)
        if factor == 1:
            return value
        kind = onnx.helper.tensor_dtype_to_np_dtype(batch.require(0).fact.elem_type or 1)
        if kind.kind != "f" or not batch.require(0).fact.elem_type:
            raise Unbatchable(f"has a factor {name} for other numbers than floats")
        constant = batch.emit.constant(np.array(factor, kind), batch.label(f"_{name}"))
        return batch.emit.add("Mul", [value, constant], batch.label(f"_{name}"))


@describes("Det")
class Det(PassesAxes):
    """Det, from opset 11 on, of each matrix."""

    def passed(self, node: Node, rank: int, axes: set[int]) -> list[int | None]:
        return list(range(rank - 2))

    def rank(self, node: Node, output: int) -> RankAnswer:
        return rank_of_first(node, -2)

    def prove_safe(self, premises: Premises) -> None:
        shape = premises.shape(0)
        require(len(shape) >= 2, f"{premises.name(0)} may have no matrices")
        same(shape[-1], shape[-2], "the sides of a matrix")
        at_least(shape[-1], 1, "a matrix")


@describes("Einsum")
class Einsum(OperatorRules):
    """Einsum, from opset 12 on: at most every element with every other."""

    def is_settled(self, node: Node, arrays: Sequence[Any], results: Sequence[Any]) -> bool:
        """Sums of integers saturate or wrap, where they are taken by way of floats."""
        return super().is_settled(node, arrays, results) and not is_integer(arrays[0])

    def growth(self, node: Node, arrays: Sequence[Any]) -> float:
        return float(math.prod(array.size for array in arrays))

    def work(self, node: Node, arrays: Sequence[Any]) -> float:
        return EACH * elements(arrays) + 4 * self.growth(node, arrays)

    def axis_map(self, node: Node, inputs: Sequence[Fact], axis: int) -> AxisMap | None:
        lhs, output = _equation(node)
        terms = lhs.split(",")
        letter = output[axis]
        places = [term.find(letter) for term in terms]
        # What stands behind an ellipsis has no number.
        behind = any("." in term[: term.find(letter) + 1] for term in (*terms, output))
        if behind or len(terms) != len(inputs) or any(term.count(letter) > 1 for term in terms):
            return None
        match = tuple([None if place < 0 else place for place in places])
        rest = [term.replace(letter, "") for term in terms]
        if not all(rest):
            return AxisMap(match)
        return AxisMap(match, {"equation": f"{','.join(rest)}->{output.replace(letter, '')}"})

    def prove_safe(self, premises: Premises) -> None:
        """Some kernels of onnxruntime stop the program where an axis is empty."""
        lhs, output = _equation(premises.node)
        terms, sizes = lhs.split(","), dict[str, Dimension]()
        require(len(terms) == len(premises.node.inputs), "the equation has another number of terms")
        for index, term in enumerate(terms):
            plain = term.isalpha() and len(set(term)) == len(term)
            require(plain, f"the term {term or 'of a scalar'} has an ellipsis or a letter twice")
            for letter, size in zip(term, premises.shape(index, len(term)), strict=True):
                same(size, sizes.setdefault(letter, size), f"the sizes of {letter}")
                at_least(size, 1, letter)
        fits = len(set(output)) == len(output) and set(output) <= set(sizes)
        require(fits, "the result has a letter twice, or one that no term has")

    def canonical(self, node: Node, inputs: Sequence[Fact]) -> Mapping[str | int, Any]:
        return {"equation": "->".join(_equation(node))}

    def batch(self, batch: Batch) -> Sequence[Value]:
        """The iterations get a letter of their own; the runtime may choose another order of
        sums."""
        lhs, output = _equation(batch.node)
        letter = next(c for c in string.ascii_letters if c not in lhs + output)
        terms = [
            letter + term if batch.varies(index) else term
            for index, term in enumerate(lhs.split(","))
        ]
        equation = f"{','.join(terms)}->{letter}{output}"
        values, rows = [], []
        for index in range(len(batch.operands)):
            operand = batch.require(index)
            values.append(operand.value)
            if operand.batched:
                # Some of the kernels divide by the size of a batch and stop the program.
                rows.append(operand.value)
                values[-1] = with_a_row(batch, operand.value, operand.fact.elem_type)
        (result,) = batch.same(values, equation=equation)
        return [without_it(batch, result, rows[0])]


def _equation(node: Node) -> tuple[str, str]:
    """The terms and the result of an equation; where it names no result, that holds the letters
    that stand once, in alphabetical order, behind what is broadcast."""
    text = node.attribute("equation", b"").decode().replace(" ", "")
    lhs, arrow, output = text.partition("->")
    if arrow:
        return lhs, output
    once = sorted(c for c in lhs if c.isalpha() and lhs.count(c) == 1)
    return lhs, ("..." if "..." in lhs else "") + "".join(once)
