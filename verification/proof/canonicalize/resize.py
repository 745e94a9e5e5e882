"""Upsample and Resize: inputs and pixel positions of their versions."""

from collections.abc import Sequence

import numpy as np

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
        return _in_place(terms, head, new) or (None if new == args else terms.apply(head, new))
    x, scales = args
    mode = head.text("mode")
    if mode == "nearest" and not _whole(terms, scales):
        return None
    return [terms.op("Resize", 13, x, None, scales, mode=mode, **_BY_SCALES)]


_WHOLE_IN_PLACE = ("align_corners", "asymmetric", "half_pixel", "pytorch_half_pixel")
"""Modes in which the positions in an image of the same size are its pixels."""

_BY_SCALES = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}


def _in_place(terms: Terms, head: Head, args: Args) -> Sequence[Term | None] | None:
    """Interpolation in the same size, by scales; None for any other Resize or for that itself."""
    (x, _, scales, sizes), mode = (*args, None, None, None)[:4], head.text("mode")
    positions = head.text("coordinate_transformation_mode")
    if x is None or x.fact.shape is None or mode == "nearest" or positions not in _WHOLE_IN_PLACE:
        return None
    if head.attribute("axes") is not None or (scales is None) is (sizes is None):
        return None
    ones = np.ones(len(x.fact.shape), np.float32)
    if sizes is not None:
        content = sizes.fact.content
        stays = content is not None and tuple(content.reshape(-1)) == x.fact.shape
    else:
        tensor = terms.tensor(scales)
        stays = tensor is not None and np.array_equal(tensor.numpy(), ones)
    if not stays:
        return None
    same = terms.heads.with_attributes(head, **_BY_SCALES), (x, None, terms.constant(ones))
    return None if same == (head, args) else terms.apply(*same)


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
