"""Sizes of scan outputs where a Loop makes no trips: what its body does not tell is 0 then."""

from __future__ import annotations

from ...analysis.shapes.inference import ShapeInference
from ...analysis.trips.zero_trips import ScanElements
from ...ops.batching import Unbatchable
from .loop_view import Repetition, Stacked


class SizesToDrop:
    """Tells which axes of the elements that a repetition stacks are empty where there are no trips.

    Args:
        repetition: the Loop, Scan or SequenceMap.
        inference: facts about the values of the model.
    """

    def __init__(self, repetition: Repetition, inference: ShapeInference) -> None:
        self._repetition = repetition
        self._inference = inference
        self._elements = ScanElements(repetition.node, inference.model, inference)
        self._slots = {v: i for i, v in reversed([*enumerate(repetition.body.outputs)])}

    def of(self, stacked: Stacked) -> list[int]:
        """The axes of one element whose size must be 0 where there are no trips.

        Raises:
            Unbatchable: that is not known.
        """
        if self._repetition.maximum is None:
            return []  # a Scan has its inputs at hand, which tell the sizes
        element = self._elements.of(self._slots[stacked.result])
        shape = self._inference.fact(stacked.result).shape
        if shape is None:
            raise Unbatchable(f"gives out '{stacked.result.name}', whose rank is not known")
        if element is None or len(element.shape) != len(shape):
            raise Unbatchable(
                f"gives out '{stacked.result.name}', whose sizes are not certain if there are no"
                " trips; declare them in the body"
            )
        told = zip(element.shape, shape, strict=True)
        return [axis for axis, (size, dim) in enumerate(told) if not size and dim != 0]
