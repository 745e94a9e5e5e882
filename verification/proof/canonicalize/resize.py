"""Upsample and Resize: inputs and pixel positions of their versions."""

from __future__ import annotations

from collections.abc import Sequence

from ..terms.term import Args, Head, Term
from ..terms.term_manager import Terms, canonical_form
from .attribute_to_input import moved


@canonical_form("Upsample")
def upsample(terms: Terms, head: Head, args: Args, count: int) -> Sequence[Term | None] | None:
    """Rewrite Upsample to Resize (10), which takes the same inputs."""
    newer = moved(terms, head, args)
    if newer is not None:
        return terms.apply(*newer)
    if len(args) != 2:
        return None  # experimental form of opset 1
    return [terms.op("Resize", 10, *args, mode=head.text("mode"))]


@canonical_form("Resize")
def resize(terms: Terms, head: Head, args: Args, count: int) -> Sequence[Term | None] | None:
    """Omit unused inputs (13: absent rather than empty), and map the pixels of Resize 10. Version
    10 divides positions by the scale and takes the pixel below, as runtimes do where no position
    falls between pixels."""
    if head.opset >= 11:
        new = tuple([None if _is_empty(terms, n, arg) else arg for n, arg in enumerate(args)])
        return None if new == args else terms.apply(head, new)
    x, scales = args
    mode = head.text("mode")
    if mode == "nearest" and not _whole(terms, scales):
        return None
    positions = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    return [terms.op("Resize", 13, x, None, scales, mode=mode, **positions)]


def _is_empty(terms: Terms, position: int, arg: Term | None) -> bool:
    tensor = terms.tensor(arg)
    return position > 0 and tensor is not None and not tensor.size


def _whole(terms: Terms, scales: Term | None) -> bool:
    """Test whether an image shrinks by whole factors only."""
    tensor = terms.tensor(scales)
    if tensor is None:
        return False
    inverse = [1 / float(scale) for scale in tensor.numpy().reshape(-1) if 0 < scale < 1]
    return all(number.is_integer() for number in inverse)
