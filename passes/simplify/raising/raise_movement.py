"""Replace a transposition between two reshapes by DepthToSpace or SpaceToDepth.

a = Reshape (x, [N, 2, 2, C, H, W])
b = Transpose <perm = [0, 3, 4, 1, 5, 2]> (a)     ->     y = DepthToSpace <blocksize = 2> (x)
y = Reshape (b, [N, C, 2 * H, 2 * W])

Kept: blocks that are not square, and shapes that are not known.
"""

from typing import Any, ClassVar

from ....facts.fact import Shape
from ....facts.notions import Equality
from ....ir import Node, Operator
from .attention_scores import only_reader
from .replacement import Match, Raising, Site

_CHANNELS_LAST = [0, 3, 4, 1, 5, 2]
_CHANNELS_FIRST = [0, 1, 4, 2, 5, 3]
_TO_DEPTH = [0, 3, 5, 1, 2, 4]
_MODES = 11
"""First opset with the attribute mode."""


class RaiseMovement(Raising):
    """Replace a transposition between two reshapes by DepthToSpace or SpaceToDepth."""

    name: ClassVar[str] = "raise-movement"
    seeds: ClassVar[tuple[str, ...]] = ("Transpose",)
    least: ClassVar[Equality] = "bits"

    def match(self, site: Site, seed: Node) -> Match | None:
        """Return the movement around a transposition of rank 6."""
        perm = seed.attribute("perm")
        if perm not in (_CHANNELS_LAST, _CHANNELS_FIRST, _TO_DEPTH):
            return None
        split = site.producer(seed.input(0), "Reshape")
        root = only_reader(site, seed.output())
        if split is None or root is None or not root.is_op("Reshape") or root.output().pinned:
            return None
        source = split.input(0)
        if source is None or root.input(0) is not seed.output():
            return None
        shapes = [site.shape(value) for value in (source, split.output(), root.output())]
        op = None if None in shapes else _operator(perm, *[s for s in shapes if s is not None])
        if op is None or not site.takes(op.op_type, site.elem_type(source), doubles=True):
            return None
        if perm == _CHANNELS_FIRST and site.opset < _MODES:
            return None
        return site.completed(Match(op, [source], root))


def _operator(perm: list[int], whole: Shape, parts: Shape, result: Shape) -> Operator | None:
    """Operator whose blocks have the shapes of a split, a transposition and a join."""
    if (len(whole), len(parts), len(result)) != (4, 6, 4):
        return None
    attributes: dict[str, Any] = {}
    if perm == _TO_DEPTH:
        batch, depth, height, block, width, other = parts
        before = (batch, depth, height * block, width * other)
        after = (batch, depth * block * other, height, width)
    else:
        first = perm == _CHANNELS_FIRST
        batch, *channels, height, width = parts
        depth, block, other = channels if first else (channels[2], *channels[:2])
        before = (batch, depth * block * other, height, width)
        after = (batch, depth, height * block, width * other)
        attributes = {"mode": "CRD"} if first else {}
    size = block.value
    if block != other or size is None or size < 2 or (whole, result) != (before, after):
        return None
    name = "SpaceToDepth" if perm == _TO_DEPTH else "DepthToSpace"
    return Operator.make(name, blocksize=size, **attributes)
