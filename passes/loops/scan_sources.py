"""The scan inputs of a Scan that replaces a Loop."""

from __future__ import annotations

from ...ir import Fold, Graph, Value
from ...ir.lazy import lazy_property
from ...ops.builder import Builder
from ..iteration.affine_reads import Selection
from ..iteration.loop_view import LoopView
from ..iteration.scan_layout import move_axis


class ScanSources:
    """The scan inputs of a Scan, the scanned axis first.

    onnxruntime crashes on some empty tensors with another scanned axis.

    Attributes:
        values: the scan inputs.
        backward: for each, true if scanned from its end.
    """

    def __init__(self, graph: Graph, loop_view: LoopView, fold: Fold) -> None:
        self.emit = Builder(graph, fold)
        self.loop_view = loop_view
        self.values: list[Value] = []
        self.backward: list[bool] = []

    def add(self, selection: Selection, rank: int, whole: bool) -> None:
        """Scan the elements of a selection; `whole` if they are all along the axis."""
        source, axis = selection.source, selection.axis
        tensor = self.loop_view.body.initializers.get(source)
        if tensor is not None:
            source = self.emit.graph.add_initializer(source.name, tensor)
        if not whole:
            rows = [source, self._indices(selection)]
            source = self.emit.add("Gather", rows, f"{source.name}_read", axis=axis)
        first = self.emit.transpose(source, move_axis(rank, axis, 0), f"{source.name}_first")
        self.values.append(first)
        self.backward.append(selection.step == -1)

    def add_numbers(self) -> None:
        """Scan the iteration numbers, of the rank that the body declares."""
        assert self.loop_view.iteration is not None
        numbers, rank = self._iota, len(self.loop_view.iteration.shape or ())
        if rank:
            numbers = self.emit.unsqueeze(numbers, tuple(range(1, 1 + rank)), "numbers")
        self.values.append(numbers)
        self.backward.append(False)

    def _indices(self, selection: Selection) -> Value:
        """The positions of the elements along the axis; backward from the last one."""
        start = selection.start.value
        if selection.step == -1 or not start:
            return self._iota
        offset = self.emit.integer(start, "start")
        return self.emit.add("Add", [self._iota, offset], "places")

    @lazy_property
    def _iota(self) -> Value:
        assert self.loop_view.maximum is not None
        count = self.emit.scalar(self.loop_view.maximum, "iterations")
        return self.emit.numbers(count, "numbers")
