"""Transfer functions of Scans: by batch row below opset 9, of the whole from then on."""

from collections.abc import Iterable, Sequence

from ...facts.fact import Fact
from ...facts.polynomial import Dimension
from ...ir import Node
from .loop_fixpoint import Inference, after_any_iterations, fact_of, invariant, stack


def scan_inputs(inference: Inference, node: Node) -> list[Fact]:
    """The facts of a Scan body's inputs in every iteration."""
    body, scan = node.body("body"), _Parts(inference, node)
    initial = [_drop_axes(fact, range(scan.batch)) for fact in scan.initial]
    rows = [
        _drop_axes(fact, [*range(scan.batch), axis + scan.batch if axis >= 0 else axis])
        for fact, axis in zip(scan.scanned, scan.in_axes, strict=True)
    ]
    for value, fact in zip(body.inputs[len(initial) :], rows, strict=True):
        inference.enter(value, fact)
    # The specification forbids a state of Scan to change its shape, yet runtimes allow it.
    return [*invariant(inference, body, [], initial, 0, rows), *rows]


def scan_outputs(inference: Inference, node: Node, results: Sequence[Fact]) -> list[Fact]:
    """The facts of a Scan's outputs from those of its body's outputs."""
    scan, symbols = _Parts(inference, node), inference.symbols
    initial = [_drop_axes(fact, range(scan.batch)) for fact in scan.initial]
    carried = after_any_iterations(symbols, initial, results[: len(initial)])
    rows = results[len(initial) :]
    axes = node.attribute("scan_output_axes") or [0] * len(rows)
    collected = [
        stack(symbols, fact, axis, scan.length()) for fact, axis in zip(rows, axes, strict=True)
    ]
    if not scan.batch:
        return [*carried, *collected]
    return [stack(symbols, fact, 0, scan.batch_size()) for fact in (*carried, *collected)]


class _Parts:
    """The facts of a Scan's inputs, and the axes that its body does not see.

    Attributes:
        batch: the number of leading batch axes: one below opset 9.
        in_axes: the scanned axes without the batch.
    """

    def __init__(self, inference: Inference, node: Node) -> None:
        self.batch = int(inference.version_of(node) < 9)
        count = node.attribute("num_scan_inputs")
        # Below opset 9 the lengths of the rows come first.
        read = [fact_of(inference, value).without_content() for value in node.inputs[self.batch :]]
        self.initial, self.scanned = read[: len(read) - count], read[len(read) - count :]
        self.in_axes: list[int] = node.attribute("scan_input_axes") or [0] * count

    def length(self) -> Dimension | None:
        """The maximum trip count, if a size has it."""
        return _size(self.scanned[0], self.in_axes[0] + self.batch * (self.in_axes[0] >= 0))

    def batch_size(self) -> Dimension | None:
        """The batch size, if an input has it."""
        sizes = [_size(fact, 0) for fact in (*self.initial, *self.scanned)]
        return next((size for size in sizes if size is not None), None)


def _size(fact: Fact, axis: int) -> Dimension | None:
    # An axis that the value lacks is an error of the model, which only a run reports.
    shape = fact.shape
    return shape[axis] if shape and -len(shape) <= axis < len(shape) else None


def _drop_axes(fact: Fact, axes: Iterable[int]) -> Fact:
    """A fact without some axes; of the type alone where it lacks them."""
    if fact.shape is None:
        return Fact(fact.elem_type)
    rank = len(fact.shape)
    removals = list(axes)
    if not all(-rank <= axis < rank for axis in removals):
        return Fact(fact.elem_type)
    dims = [fact.shape[axis] for axis in range(rank) if axis not in {a % rank for a in removals}]
    return Fact(fact.elem_type, tuple(dims))
