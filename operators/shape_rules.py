"""Shapes that onnx's inference gives up on when sizes are symbols: sums, products, quotients.

Each rule takes the facts of a node's inputs and gives the shapes of its outputs, or None to leave
the node to onnx.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..facts.dimension import Dimension, product
from ..facts.fact import Fact, Shape, Symbols, element, integers, vector
from ..ir import Node

Rule = Callable[[Node, Sequence[Fact], Symbols], list[Shape | None] | None]


def _concat(node: Node, facts: Sequence[Fact], symbols: Symbols) -> list[Shape | None] | None:
    shapes = [fact.shape for fact in facts]
    if any(shape is None for shape in shapes):
        return None
    first = list(shapes[0] or ())
    axis = node.attribute("axis", 1)
    if not -len(first) <= axis < len(first) or len({len(s or ()) for s in shapes}) != 1:
        return None
    for position, dim in enumerate(first):
        if dim.value is None:
            # All agree off the axis, so the best known of them holds for each.
            known = [s[position] for s in shapes if s and s[position].value is not None]
            first[position] = known[0] if known else dim
    first[axis] = sum((s[axis] for s in shapes if s), Dimension.constant(0))
    return [tuple(first)]


def _reshape(node: Node, facts: Sequence[Fact], symbols: Symbols) -> list[Shape | None] | None:
    target = vector(facts[1]) if len(facts) > 1 else None
    if target is None:
        return None
    source = facts[0].shape
    dims: list[Dimension] = []
    open_axis = None
    for position, size in enumerate(target):
        if size is None:
            dims.append(symbols.fresh())
        elif size == 0 and not node.attribute("allowzero", 0):
            if source is None or position >= len(source):
                return None
            dims.append(source[position])
        elif size == -1:
            open_axis = position
            dims.append(Dimension.constant(1))
        elif size.at_least is None:
            # A symbol minus something may be 0 or -1, which mean other things.
            dims.append(symbols.fresh())
        else:
            dims.append(size)
    if open_axis is not None:
        dims[open_axis] = _quotient(source, dims) or symbols.fresh()
    return [tuple(dims)]


def _quotient(source: Shape | None, dims: Sequence[Dimension]) -> Dimension | None:
    """The size that -1 stands for; a new symbol among the others divides nothing."""
    if source is None:
        return None
    total, known = list(source), []
    for dim in dims:
        if dim in total:
            # Equal sizes cancel, as the operator's own rule for -1 demands they be not 0.
            total.remove(dim)
        else:
            known.append(dim)
    return product(total).divided_by(product(known))


def _flatten(node: Node, facts: Sequence[Fact], symbols: Symbols) -> list[Shape | None] | None:
    shape = facts[0].shape
    if shape is None:
        return None
    axis = node.attribute("axis", 1)
    axis += len(shape) if axis < 0 else 0
    return [(product(shape[:axis]), product(shape[axis:]))]


def _from_content(node: Node, facts: Sequence[Fact], symbols: Symbols) -> list[Shape | None] | None:
    target = vector(facts[0])
    return None if target is None else [symbols.sizes(target)]


def _expand(node: Node, facts: Sequence[Fact], symbols: Symbols) -> list[Shape | None] | None:
    shape, target = facts[0].shape, vector(facts[1])
    if shape is None or target is None:
        return None
    rank = max(len(shape), len(target))
    one = Dimension.constant(1)
    own = [one] * (rank - len(shape)) + list(shape)
    wanted = [one] * (rank - len(target)) + list(symbols.sizes(target))
    return [tuple(_broadcast(a, b, symbols) for a, b in zip(own, wanted, strict=True))]


def _broadcast(a: Dimension, b: Dimension, symbols: Symbols) -> Dimension:
    one = Dimension.constant(1)
    if b in (a, one):
        return a
    if a == one:
        return b
    # One that is certainly not 1 decides; the other is 1 or the same.
    if a.equals(1) is False:
        return a
    return b if b.equals(1) is False else symbols.fresh()


def _tile(node: Node, facts: Sequence[Fact], symbols: Symbols) -> list[Shape | None] | None:
    shape, repeats = facts[0].shape, vector(facts[1])
    if shape is None or repeats is None or len(shape) != len(repeats):
        return None
    times = symbols.sizes(repeats)
    return [tuple(a * b for a, b in zip(shape, times, strict=True))]


def _range(node: Node, facts: Sequence[Fact], symbols: Symbols) -> list[Shape | None] | None:
    start, limit, delta = (element(fact) for fact in facts[:3])
    if start is None or limit is None or delta != 1:
        return None
    length = limit - start
    return [(length,)] if length.at_least is not None and length.at_least >= 0 else None


def _slice(node: Node, facts: Sequence[Fact], symbols: Symbols) -> list[Shape | None] | None:
    shape = facts[0].shape
    if shape is None:
        return None
    starts, ends = _bounds(node, facts, "starts", 1), _bounds(node, facts, "ends", 2)
    if starts is None or ends is None:
        return None
    if node.input(3) is not None and facts[3].content is None:
        # Any axis may be cut.
        return [tuple(symbols.fresh() for _ in shape)]
    axes = _bounds(node, facts, "axes", 3)
    steps = _bounds(node, facts, "steps", 4)
    dims = list(shape)
    for index, (start, end) in enumerate(zip(starts, ends, strict=True)):
        axis = index if axes is None else _number(axes[index])
        step = 1 if node.input(4) is None else _number(steps[index] if steps else None)
        if axis is None or not -len(dims) <= axis < len(dims):
            return None
        dims[axis] = _sliced(dims[axis], start, end, step) or symbols.fresh()
    return [tuple(dims)]


def _sliced(
    size: Dimension, start: Dimension | None, end: Dimension | None, step: int | None
) -> Dimension | None:
    """The length of a slice; None where it depends on sizes that are not known."""
    if start is None or end is None or step is None or step == 0:
        return None
    if size.value is not None and start.value is not None and end.value is not None:
        # A large negative end of a backward slice means "up to and including the first".
        stop = None if step < 0 and end.value < -size.value else end.value
        return Dimension.constant(len(range(size.value)[start.value : stop : step]))
    if step != 1:
        return None
    first = _clamped(start, size)
    last = _clamped(end, size)
    if first is None or last is None or (last - first).at_least is None:
        return None
    return last - first if (last - first).at_least >= 0 else None


_PAST_ANY_SIZE = 1 << 31


def _clamped(bound: Dimension, size: Dimension) -> Dimension | None:
    """Where a bound of a forward slice falls, if it is the same for all sizes."""
    if bound.value is not None and bound.value >= _PAST_ANY_SIZE - 1:
        return size
    if bound.less(0):
        position = size + bound
        return position if (position.at_least or 0) >= 0 and position.at_least is not None else None
    inside = size.less(bound)
    return bound if inside is False and bound.less(0) is False else None


def _bounds(
    node: Node, facts: Sequence[Fact], name: str, position: int
) -> list[Dimension | None] | None:
    values = node.attribute(name)
    if values is not None:
        return [Dimension.constant(value) for value in values]
    return vector(facts[position]) if position < len(facts) else None


def _number(dim: Dimension | None) -> int | None:
    return None if dim is None else dim.value


def _pad(node: Node, facts: Sequence[Fact], symbols: Symbols) -> list[Shape | None] | None:
    shape, pads = facts[0].shape, _bounds(node, facts, "pads", 1)
    if shape is None or pads is None or any(pad is None for pad in pads):
        return None
    axes = list(range(len(shape)))
    if len(facts) > 3 and facts[3] is not None:
        given = integers(facts[3])
        if given is None:
            return None
        axes = [int(axis) for axis in given.reshape(-1)]
    if len(pads) != 2 * len(axes):
        return None
    dims = list(shape)
    for index, axis in enumerate(axes):
        dims[axis] = dims[axis] + pads[index] + pads[index + len(axes)]  # type: ignore[operator]
    return [tuple(dims)]


RULES: dict[str, Rule] = {
    "Concat": _concat,
    "Reshape": _reshape,
    "Flatten": _flatten,
    "ConstantOfShape": _from_content,
    "Expand": _expand,
    "Tile": _tile,
    "Range": _range,
    "Slice": _slice,
    "Pad": _pad,
}
"""The operators whose shapes are computed here rather than by onnx."""
