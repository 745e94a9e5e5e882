"""Facts across the borders of Scans: of one batch row below opset 9, of the whole from then on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...facts.fact import Fact
from ...facts.polynomial import Dimension
from ...ir import Node
from .loop_fixpoint import Inference, after_any_trips, fact_of, invariant, stacked


def scan_inputs(inference: Inference, node: Node) -> list[Fact]:
    """What a Scan hands to its body on every trip."""
    body, scan = node.body("body"), _Parts(inference, node)
    initial = [_without(fact, range(scan.batch)) for fact in scan.initial]
    rows = [
        _without(fact, [*range(scan.batch), axis + scan.batch if axis >= 0 else axis])
        for fact, axis in zip(scan.scanned, scan.in_axes, strict=True)
    ]
    for value, fact in zip(body.inputs[len(initial) :], rows, strict=True):
        inference.enter(value, fact)
    # The specification forbids a state of Scan to change its shape, yet runtimes allow it.
    return [*invariant(inference, body, [], initial, 0, rows), *rows]


def scan_outputs(inference: Inference, node: Node, results: Sequence[Fact]) -> list[Fact]:
    """What a Scan gives out, its body giving these facts."""
    scan, symbols = _Parts(inference, node), inference.symbols
    initial = [_without(fact, range(scan.batch)) for fact in scan.initial]
    carried = after_any_trips(symbols, initial, results[: len(initial)])
    rows = results[len(initial) :]
    axes = node.attribute("scan_output_axes") or [0] * len(rows)
    collected = [
        stacked(symbols, fact, axis, scan.length()) for fact, axis in zip(rows, axes, strict=True)
    ]
    if not scan.batch:
        return [*carried, *collected]
    return [stacked(symbols, fact, 0, scan.batch_size()) for fact in (*carried, *collected)]


class _Parts:
    """What a Scan reads, and which of its axes its body does not see.

    Attributes:
        batch: how many axes at the front are those of the batch: one below opset 9.
        initial: the states that it begins with.
        scanned: what it takes apart.
        in_axes: along which axis, a batch not counted.
    """

    def __init__(self, inference: Inference, node: Node) -> None:
        self.batch = int(inference.version_of(node) < 9)
        count = node.attribute("num_scan_inputs")
        # Below opset 9 the lengths of the rows come first.
        read = [fact_of(inference, value).without_content() for value in node.inputs[self.batch :]]
        self.initial, self.scanned = read[: len(read) - count], read[len(read) - count :]
        self.in_axes: list[int] = node.attribute("scan_input_axes") or [0] * count

    def length(self) -> Dimension | None:
        """How many trips it makes at most, if a symbol tells."""
        return _size(self.scanned[0], self.in_axes[0] + self.batch * (self.in_axes[0] >= 0))

    def batch_size(self) -> Dimension | None:
        """How many rows there are, if a symbol tells."""
        sizes = [_size(fact, 0) for fact in (*self.initial, *self.scanned)]
        return next((size for size in sizes if size is not None), None)


def _size(fact: Fact, axis: int) -> Dimension | None:
    # An axis that the value does not have is an error of the model, which only running it shows.
    shape = fact.shape
    return shape[axis] if shape and -len(shape) <= axis < len(shape) else None


def _without(fact: Fact, axes: Iterable[int]) -> Fact:
    """A fact without some axes; of the type only where it does not have them."""
    if fact.shape is None:
        return Fact(fact.elem_type)
    rank = len(fact.shape)
    gone = list(axes)
    if not all(-rank <= axis < rank for axis in gone):
        return Fact(fact.elem_type)
    left = [fact.shape[axis] for axis in range(rank) if axis not in {a % rank for a in gone}]
    return Fact(fact.elem_type, tuple(left))
