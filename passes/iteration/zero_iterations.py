"""Sizes of scan outputs of a Loop without iterations: undeclared ones are 0."""

from __future__ import annotations

from ...analysis.iterations.zero_iterations import ScanElements
from ...analysis.shapes.inference import ShapeInference
from ...ops.batching import Unbatchable
from .loop_view import LoopView, ScanOutput


class ZeroIterationSizes:
    """The axes of scan output elements that are empty without iterations.

    Args:
        loop_view: the Loop, Scan or SequenceMap.
        inference: the facts of the model's values.
    """

    def __init__(self, loop_view: LoopView, inference: ShapeInference) -> None:
        self._loop_view = loop_view
        self._inference = inference
        self._elements = ScanElements(loop_view.node, inference.model, inference)
        self._slots = {v: i for i, v in reversed([*enumerate(loop_view.body.outputs)])}

    def of(self, stacked: ScanOutput) -> list[int]:
        """The axes of one element whose size must be 0 without iterations.

        Raises:
            Unbatchable: unknown sizes.
        """
        if self._loop_view.maximum is None:
            return []  # a Scan reads the sizes from its inputs
        element = self._elements.of(self._slots[stacked.result])
        shape = self._inference.fact(stacked.result).shape
        if shape is None:
            raise Unbatchable(f"returns '{stacked.result.name}', whose rank is not known")
        if element is None or len(element.shape) != len(shape):
            raise Unbatchable(
                f"returns '{stacked.result.name}', whose sizes are not certain if there are no"
                " iterations; declare them in the body"
            )
        pairs = zip(element.shape, shape, strict=True)
        return [axis for axis, (size, dim) in enumerate(pairs) if not size and dim != 0]

    def sizes(self, stacked: ScanOutput) -> list[int]:
        """The sizes of one element without iterations; empty if a Scan's inputs determine them."""
        element = self._elements.of(self._slots[stacked.result])
        if self._loop_view.maximum is None or element is None:
            return []
        return [size or 0 for size in element.shape]
