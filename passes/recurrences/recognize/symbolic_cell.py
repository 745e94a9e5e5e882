"""Symbolic values of a body: sums of products of states, activations and weights.

The interpreter visits the nodes of the cycle in order, with one rule for each operator. A value is
a row of sums with widths, so that fused, joined and split forms become equal.
"""

import functools
from collections.abc import Callable, Hashable, Mapping

import numpy as np

from ....facts.fact import Shape, integers
from ....ir import Node, Value
from ....ir.lazy import lazy_property
from ....ops.batching import Unbatchable
from ...iteration.loop_view import State
from ..weights import Matrix, Unfit
from .column_sums import Row, align, map_parts
from .finiteness import Finiteness
from .masked_sequences import Mask, find_mask, mask_aliases, truth_of
from .polynomials import Activation, Atoms, Free, Product, StateAtom, Sum, number
from .recurrence import Recurrence

_DEEPEST = 16
"""The maximum depth of the search through state-independent producers."""

_LARGEST_NUMBER = 1 << 16
"""The size limit of constants that are tested for equal elements."""

_PRODUCTS = ("MatMul", "Gemm")
_MOVEMENTS = ("Identity", "Split", "Slice", "Concat", "Squeeze", "Unsqueeze", "Reshape")
AFFINE = frozenset((*_PRODUCTS, *_MOVEMENTS, "Add", "Sub", "Neg"))
"""The operators whose state-independent outputs are expanded.

The operator that replaces the recurrence multiplies by weights itself.
"""

Rule = Callable[["Interpretation", Node], list[Row]]
"""The rows of a node's outputs."""

HoistedReader = Callable[["Interpretation", Value], Row | None]


class Interpretation:
    """The symbolic values of one recurrence.

    Args:
        recurrence: the states and the nodes between them.
        rules: the rules of operators, by name.
        read_hoisted: the row of a value that was computed before the loop.
        transposed: true if columns stand for rows: [hidden, batch].

    Attributes:
        mask: the mask that keeps the states in some iterations, if any; rows of values after it
            hold for the other iterations.
        placeholders: the values for reads of outside values, by read.
        finiteness: the values that are certainly finite.
    """

    def __init__(
        self,
        recurrence: Recurrence,
        rules: Mapping[str, Rule],
        read_hoisted: HoistedReader,
        transposed: bool,
    ) -> None:
        self.recurrence = recurrence
        self._rules = rules
        self._read_hoisted = read_hoisted
        self.transposed = transposed
        self.atoms = Atoms()
        self._rows: dict[Value, Row] = {}
        self._shapes: dict[Value, Shape | None] = {}
        self._whole: dict[Sum, Callable[[], Row]] = {}
        self._unfit: dict[Value | None, str] = {}
        self._depth = 0
        self._visited: set[Node] = set()
        self.placeholders: dict[Hashable, Value] = {}
        self.finiteness = Finiteness(recurrence)
        self.mask = find_mask(recurrence)
        self.scan_inputs = {
            one.argument: one for one in recurrence.iterations.loop_view.scan_inputs
        }
        self._circle = set(recurrence.nodes)
        self.lead = self.lead_of(self.shape(recurrence.states[0].argument))
        for state in recurrence.states:
            shape = self.shape(state.argument)
            # The operator has one batch axis for its hidden and its cell state.
            if self.lead_of(shape) != self.lead:
                raise Unfit("is carried with a state of another batch")
            atom = self.atoms.of(StateAtom(state))
            self._rows[state.argument] = ((atom, self.width(state.argument)),)
        for node in recurrence.nodes:
            self._visit(node)

    def result(self, value: Value) -> Sum:
        """The sum of a value at the end of an iteration.

        Raises:
            Unfit: no sum describes it.
        """
        row = self.row(value)
        if len(row) != 1:
            raise Unfit("consists of several parts")
        return row[0][0]

    @lazy_property
    def nexts(self) -> dict[State, Sum]:
        """The sums of the next values in live iterations.

        Raises:
            Unfit: no sum describes one.
        """
        totals = {state: self.result(state.result) for state in self.recurrence.states}
        if self.mask is not None:
            return totals
        indices = {i for total in totals.values() for monomial in total.terms for i in monomial}
        frees = {index: self.atoms[index] for index in sorted(indices)}
        fact = self.recurrence.fact
        truths = {
            i: truth_of(free.value, fact) for i, free in frees.items() if isinstance(free, Free)
        }
        for condition in dict.fromkeys(truth.value for truth in truths.values() if truth):
            own = {
                i: truth.keeps for i, truth in truths.items() if truth and truth.value is condition
            }
            for keeps in (False, True):
                still = {s: _at(total, own, keeps) for s, total in totals.items()}
                if all(total == self.atoms.of(StateAtom(s)) for s, total in still.items()):
                    self.mask = Mask(condition, keeps)
                    return {s: _at(total, own, not keeps) for s, total in totals.items()}
        return totals

    def aliases(self, state: State) -> list[Value]:
        """The values of the cycle that equal a state in the next iteration."""
        if self.mask is not None:
            return mask_aliases(state)
        total = self.result(state.result)
        values = (value for node in self.recurrence.nodes for value in node.outputs)
        rows = ((value, self._rows.get(value, ())) for value in values if value is not None)
        return [value for value, row in rows if len(row) == 1 and row[0][0] == total]

    # Shapes --------------------------------------------------------------------------------------

    def shape(self, value: Value) -> Shape:
        """The shape of a value, whose rank must be known."""
        shape = self._shapes.get(value)
        if shape is None:
            shape = self._shapes[value] = self.recurrence.fact(value).shape
        if shape is None:
            raise Unfit(f"is computed from '{value.name}', whose rank is not known")
        return shape

    def lead_of(self, shape: Shape) -> tuple[object, ...]:
        """The axes of a batch, without those of size 1."""
        axis = self.axis(len(shape))
        return tuple([dim for i, dim in enumerate(shape) if i != axis and dim.value != 1])

    def axis(self, rank: int) -> int:
        """The axis of a state's elements."""
        return rank - 2 if self.transposed and rank > 1 else rank - 1

    def is_along_elements(self, value: Value, axis: int) -> bool:
        """Test for the axis of a value's elements."""
        rank = len(self.shape(value))
        return axis % rank == self.axis(rank)

    def width(self, value: Value) -> int:
        """The number of elements along that axis."""
        shape = self.shape(value)
        # A vector broadcasts along the last axis, which is that of the batch here.
        if self.transposed and len(shape) == 1 and shape[0] != 1:
            raise Unfit(f"is computed from '{value.name}', which lies along its batch")
        size = shape[self.axis(len(shape))].value if shape else 1
        if size is None:
            raise Unfit(f"is computed from '{value.name}', whose width is not known")
        return size

    # Values --------------------------------------------------------------------------------------

    def _visit(self, node: Node) -> None:
        try:
            rows = self._interpret(node)
        # Not an obstacle yet: a value that no state reads may be anything.
        except (Unfit, Unbatchable) as reason:
            text = str(reason)
            if self._unfit.keys().isdisjoint(node.inputs) and str(node) not in text:
                text = f"{text}, in {node}"
            self._unfit.update((v, text) for v in node.outputs if v is not None)
            return
        self._rows.update(rows)

    def _interpret(self, node: Node) -> dict[Value, Row]:
        for value in node.inputs:
            if value in self._unfit:  # the first obstacle is the reason
                raise Unfit(self._unfit[value])
        rule = None if node.domain or node.op.references else self._rules.get(node.op_type)
        if rule is None:
            raise Unfit(f"is not an activation of an affine form: it holds {node}")
        outputs = zip(node.outputs, rule(self, node), strict=False)
        rows = {value: row for value, row in outputs if value is not None}
        for value, row in rows.items():
            self._require_fit(node, value, row)
        return rows

    def _require_fit(self, node: Node, value: Value, row: Row) -> None:
        """Require values that are not broadcast beyond the batch axes of the states."""
        shape = self.shape(value)
        batch = self.lead_of(shape)
        if node not in self._circle:
            fits = not batch or batch == self.lead
        else:
            whole = sum([width for _, width in row])
            fits = batch == self.lead and bool(shape) and whole == self.width(value)
        if not fits:
            raise Unfit(f"is broadcast by {node}")

    def row(self, value: Value) -> Row:
        """The row of a value.

        Raises:
            Unfit: no row describes it.
        """
        if value in self._unfit:
            raise Unfit(self._unfit[value])
        if value not in self._rows:
            self._rows[value] = self._free(value)
        return self._rows[value]

    def _free(self, value: Value) -> Row:
        """The row of a state-independent value."""
        constant = self._number(value)
        if constant is not None:
            return ((number(constant), 0),)
        self._expand_products(value.producer)
        if value in self._rows:
            return self._rows[value]
        before = self._read_hoisted(self, value)
        if before is None:
            return self._opaque(value)
        self.remember(before, lambda: self._opaque(value))
        return before

    def _opaque(self, value: Value) -> Row:
        width = self.width(value)
        width = 0 if width == 1 else width
        return ((self.atoms.of(Free(value, width)), width),)

    def remember(self, row: Row, opaque: Callable[[], Row]) -> None:
        """Record the row of a product's value, for a product of two matrices."""
        if len(row) == 1:
            self._whole[row[0][0]] = opaque

    def _expand_products(self, node: Node | None) -> None:
        """Expand the outputs of a node outside of the cycle into products."""
        inside = node is not None and node.graph is self.recurrence.iterations.loop_view.body
        if node is None or not inside or node.op_type not in AFFINE or self._depth >= _DEEPEST:
            return
        # Once for each node: products of products would be expanded exponentially often.
        if node in self._circle or node in self._visited:
            return
        self._visited.add(node)
        self._depth += 1
        try:
            rows = self._interpret(node)
        except (Unfit, Unbatchable):
            rows = {}  # opaque
        self._depth -= 1
        for value, row in rows.items():
            if any(self.atoms.holds_product(total) for total, _ in row):
                self._rows[value] = row
                self.remember(row, functools.partial(self._opaque, value))

    def _number(self, value: Value) -> float | None:
        """The number that all elements of a constant equal; None for other values."""
        tensor = value.constant
        if tensor is None or not 0 < tensor.size <= _LARGEST_NUMBER or value.array is None:
            return None
        array = value.array.reshape(-1)
        # An infinite or NaN coefficient has no place in a sum of products.
        if array.dtype.kind != "f" or not np.isfinite(array[0]) or (array != array[0]).any():
            return None
        return float(array[0])

    def matrix(self, value: Value) -> Matrix:
        """The matrix of a loop-invariant value."""
        node = value.producer
        inside = node is not None and node.graph is self.recurrence.iterations.loop_view.body
        if inside and node is not None and node.is_op("Transpose") and node not in self._circle:
            source = node.operand(0)
            if len(self.shape(source)) == 2 and node.attribute("perm", [1, 0]) == [1, 0]:
                return self.matrix(source).transpose()
        return self.weight(value, 0)

    def weight(self, value: Value, leading: int) -> Matrix:
        """The matrix of a value with `leading` axes of size 1 before the two."""
        shape = self.shape(value)
        if value in self._rows or (value.producer is not None and value.producer in self._circle):
            raise Unfit(f"is multiplied by '{value.name}', which depends on it")
        if self.recurrence.iterations.varies(value):
            raise Unfit(
                f"is multiplied by '{value.name}', which differs from iteration to iteration"
            )
        rows, columns = (dim.value for dim in shape[-2:]) if len(shape) > 1 else (None, None)
        if len(shape) != 2 + leading or rows is None or columns is None:
            raise Unfit(f"is multiplied by '{value.name}', which is not a matrix of known sizes")
        return Matrix(value, (rows, columns), rows, columns, leading=leading)

    def multiply(self, row: Row, matrix: Matrix) -> Row:
        """Multiply a row by a matrix.

        Raises:
            Unfit: mismatched sizes.
        """
        total, first = Sum({}), 0
        row = tuple([(part, width or 1) for part, width in row])
        if sum(width for _, width in row) != matrix.rows:
            raise Unfit(f"is multiplied by '{matrix.value.name}', whose size does not fit")
        for part, width in row:
            if part in self._whole:  # a product of two matrices runs before
                ((part, _),) = self._whole[part]()
            own = matrix.some_rows(first, first + width)
            first += width
            for source, factor in part.terms.items():
                if not source:
                    raise Unfit(f"adds a number before '{matrix.value.name}'")
                total = total + self.atoms.of(Product(source, own)).times(factor)
        return ((total, matrix.width),)

    def apply(self, row: Row, kind: str, alpha: float = 0.0, beta: float = 0.0) -> Row:
        """Apply a function to each element."""
        return map_parts(row, lambda total: self.atoms.of(Activation(kind, alpha, beta, total)))

    def numbers(self, value: Value | None) -> list[int]:
        """The elements of a constant input such as axes."""
        array = None if value is None else integers(self.recurrence.fact(value))
        if array is None:
            raise Unfit("is cut or joined at run-time positions")
        return [int(element) for element in array.reshape(-1)]

    def combine(self, make: Callable[[Sum, Sum], Sum], one: Row, other: Row) -> Row:
        """Combine two rows, column by column."""
        parts = align(self.atoms, one, other)
        return tuple([(make(mine, right), width) for mine, right, width in parts])


def _at(total: Sum, flags: Mapping[int, bool], truth: bool) -> Sum:
    """A sum where a condition holds, or not: each atom of flags is 1 or 0.

    Args:
        flags: the atoms that the condition makes, with true for those that are 1 without it.
        truth: true where the condition holds.
    """
    own = Sum({})
    for monomial, factor in total.terms.items():
        if all(flags.get(index, not truth) != truth for index in monomial):
            rest = tuple([index for index in monomial if index not in flags])
            own = own + Sum({rest: factor})
    return own
