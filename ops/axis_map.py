"""Axes of outputs that follow from axes of inputs: the one place of this knowledge.

Along such an axis an operator works on each position by itself. So it can be computed for all
iterations of a loop at once, which are one more such axis (`batch`), and a part of a result along
the axis is the operator of the parts (`verification.proof.slice_pushdown`). JAX keeps this
knowledge in batching rules, MLIR in the indexing maps of linalg.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from ..facts.fact import Fact, integers
from ..ir import Node, Value
from .axes import AxisMap, RankAnswer, positions, rank_of_first
from .batch_axis import by_rows
from .batching import Batch, Unbatchable
from .rules import OperatorRules, RankOfFirst, rules_of

Named = Mapping["str | int", "int | Sequence[int] | None"]
"""Axes that attributes, by name, and inputs, by position, name; None where they are not known."""


def axis_map_of(node: Node, inputs: Sequence[Fact], axis: int) -> AxisMap | None:
    """The rule of an operator for one axis, counted from the front; None where there is none."""
    try:
        return rules_of(node.op).axis_map(node, inputs, axis)
    except (IndexError, TypeError, ValueError):
        return None  # the inputs do not fit each other: the node fails


def canonical_of(node: Node, inputs: Sequence[Fact]) -> Mapping[str | int, Any]:
    """The canonical form of a node, as the rules of its operator tell it."""
    try:
        return rules_of(node.op).canonical(node, inputs)
    except (IndexError, TypeError, ValueError):
        return {}  # the inputs do not fit each other: the node fails


def opset_of(node: Node) -> int:
    """The version of the default domain that a node is written for."""
    return node.root.opset()


def number_of(inputs: Sequence[Fact], index: int) -> int | None:
    """The one element of an input of integers; None where it is not known."""
    numbers = integers(inputs[index])
    return None if numbers is None or numbers.size != 1 else int(numbers.reshape(()))


class PassesAxes(OperatorRules):
    """Passes the axes of some inputs on, but those that its attributes and inputs name.

    One more axis in front changes the numbers of the axes that are named, and nothing else.
    """

    names_axes_of_first: ClassVar[bool] = True
    carriers: ClassVar[tuple[int, ...] | None] = (0,)
    """Inputs whose axes are those of the outputs; None for all."""

    axis: ClassVar[int | None] = None
    """The axis where the attribute of this name is absent; None where no attribute names one."""

    new_axes: ClassVar[int] = 0
    """Number of axes of the outputs that no input has; named axes count them, too."""

    def named_axes(self, node: Node, inputs: Sequence[Fact]) -> Named:
        """The axes that attributes and inputs name, as they are written."""
        return {} if self.axis is None else {"axis": node.attribute("axis", self.axis)}

    def passed(self, node: Node, rank: int, axes: set[int]) -> list[int | None]:
        """Axis of the carriers for each axis of the outputs; None without one.

        Args:
            rank: how many axes the carriers have.
            axes: the named axes, counted from the front.
        """
        return [None if axis in axes else axis for axis in range(rank)]

    def axis_map(self, node: Node, inputs: Sequence[Fact], axis: int) -> AxisMap | None:
        shape, axes_by_key = inputs[0].dims, self._numbered(node, inputs)
        if axes_by_key is None:
            return None
        places = {place for axes in axes_by_key.values() for place in _listed(axes) or ()}
        source = self.passed(node, len(shape), places)[axis]
        if source is None:
            return None
        carried = tuple([source if self._carries(n) else None for n in range(len(inputs))])
        # Where the outputs have new axes, the named ones are numbered among these, too.
        changed = self._numbered(node, inputs, axis if self.new_axes else source)
        return AxisMap(carried, changed, all_outputs=True)

    def canonical(self, node: Node, inputs: Sequence[Fact]) -> Mapping[str | int, Any]:
        """All axes counted from the front."""
        return self._numbered(node, inputs) or {}

    def _numbered(
        self, node: Node, inputs: Sequence[Fact], dropped: int | None = None
    ) -> Mapping[str | int, Any] | None:
        """The named axes counted from the front, without one that is dropped; None where they are
        not known or not there."""
        axes_by_key, shape = self.named_axes(node, inputs), inputs[0].shape
        if not axes_by_key:
            return {}
        listed = [_listed(axes) for axes in axes_by_key.values()]
        flat = [number for numbers in listed for number in numbers or ()]
        total = len(shape or ()) + self.new_axes
        if shape is None or None in listed or positions(flat, total) is None:
            return None
        # Axes behind the dropped one move to the front by one.
        numbers = [axis - (dropped is not None and axis > dropped) for axis in range(total)]
        return {
            key: _like(axes, [numbers[number] for number in _listed(axes) or ()])
            for key, axes in axes_by_key.items()
        }

    def batch(self, batch: Batch) -> Sequence[Value]:
        axes_by_key = self.named_axes(batch.node, batch.facts)
        moved = {key: self._moved(batch, key, value) for key, value in axes_by_key.items()}
        inputs = [
            batch.spread(index)
            if self._carries(index)
            else None
            if index in axes_by_key
            else batch.fixed(index)
            for index in range(len(batch.operands))
        ]
        for key in [key for key in moved if isinstance(key, int)]:
            axes = moved.pop(key)
            # A default may stand for an input that the node lacks.
            inputs += [None] * (key + 1 - len(inputs))
            inputs[key] = (
                batch.emit.constant(np.array(axes), batch.label("_axis"))
                if isinstance(axes, int)
                else batch.vector(*axes)
            )
        return batch.same(inputs, **{str(name): axes for name, axes in moved.items()})

    def _moved(self, batch: Batch, key: str | int, value: Any) -> Any:
        if isinstance(key, int) and batch.operand(key) is not None:
            batch.numbers(key)
        if value is None:
            raise Unbatchable(self.why_unbatchable)
        total = batch.rank(0) + self.new_axes
        return _like(value, [batch.axis(axis, total) for axis in _listed(value) or ()])

    def _carries(self, index: int) -> bool:
        return self.carriers is None or index in self.carriers

    def rank(self, node: Node, output: int) -> RankAnswer:
        return rank_of_first(node, self.new_axes)


def _listed(value: int | Sequence[int] | None) -> Sequence[int] | None:
    return [value] if isinstance(value, int) else value


def _like(value: int | Sequence[int] | None, numbers: Sequence[int]) -> Any:
    return numbers[0] if isinstance(value, int) else numbers


class Rowwise(RankOfFirst):
    """Takes each of a batch of rows, such as images, by itself.

    Which kernel the runtime chooses may depend on how many there are: for all iterations at once
    the results of convolutions agree up to rounding.
    """

    batches: ClassVar[tuple[int, ...]] = (0,)
    """Inputs that hold a row for each row of the first output; the others are of all rows."""

    def axis_map(self, node: Node, inputs: Sequence[Fact], axis: int) -> AxisMap | None:
        if axis:
            return None
        return AxisMap(tuple([0 if i in self.batches else None for i in range(len(inputs))]))

    def batch(self, batch: Batch) -> Sequence[Value]:
        return by_rows(batch, self.batches)
