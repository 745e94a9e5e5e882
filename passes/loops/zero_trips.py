"""Sizes of scan outputs where a Loop makes no trips: what its body does not tell is 0 then."""

from __future__ import annotations

from ...analysis.shapes.inference import ShapeInference
from ...analysis.trips.zero_trips import scanned_element
from ...operators.batching import Unbatchable
from .repetition import Repetition, Stacked


def sizes_to_drop(repetition: Repetition, stacked: Stacked, inference: ShapeInference) -> list[int]:
    """The axes of one element whose size must be 0 where there are no trips.

    Raises:
        Unbatchable: that is not known.
    """
    if repetition.maximum is None:
        return []  # a Scan has its inputs at hand, which tell the sizes
    index = next(i for i, v in enumerate(repetition.body.outputs) if v is stacked.result)
    element = scanned_element(repetition.node, index, inference.model)
    shape = inference.fact(stacked.result).shape
    if element is None or shape is None or len(element.shape) != len(shape):
        raise Unbatchable(f"gives out '{stacked.result.name}', whose rank is not known")
    told = zip(element.shape, shape, strict=True)
    return [axis for axis, (size, dim) in enumerate(told) if not size and dim != 0]
