"""Operators of the same family in a row that one of them replaces."""

import itertools
from collections.abc import Mapping
from typing import Any

from ....analysis.shapes.inference import ShapeInference
from ....facts.fact import Fact
from ....ir import Node
from ..rules.match import Match
from ..rules.registry import law
from ..rules.rule import Rule


def _is_empty(fact: Fact, axis: int) -> bool:
    """Test for a size of 0 along an axis."""
    shape = fact.shape
    return shape is not None and -len(shape) <= axis < len(shape) and shape[axis].value == 0


law(
    "ConcatOfConcat: Merge a Concat into another one along the same axis.",
    """(xs..., ys..., zs...) => (y) {
        t = Concat <axis = @a> (ys...)  y = Concat <axis = @a> (xs..., t, zs...) }""",
    "(xs, ys, zs) => (y) { y = Concat <axis = @a> (xs..., ys..., zs...) }",
)


def _has_empty_part(rule: Rule, node: Node, inference: ShapeInference) -> bool:
    """Require a part without elements."""
    axis = node.attribute("axis", 1)
    return any(v is not None and _is_empty(inference.fact(v), axis) for v in node.inputs)


_EMPTY = "Slice <starts = [0], ends = [0], axes = [{}], steps = [1]> (x)"
law(
    "ConcatOfEmpty: Drop a part of a Concat that has no elements.",
    (
        "(xs..., x, e, zs...) => (y) { y = Concat <axis = @a> (xs..., x, e, zs...) }",
        "(xs..., x, e, zs...) => (y) { y = Concat <axis = @a> (xs..., e, x, zs...) }",
    ),
    "(xs, x, zs) => (y) { y = Concat <axis = @a> (xs..., x, zs...) }",
    lambda match: _is_empty(match.fact("e"), match["a"]),
    lambda ranks: [{"a": a, "e": _EMPTY.format(a)} for a in range(-1, ranks["x"])],
    sizes=("numbers",),
    may_match=_has_empty_part,
)


def _is_own_axis(match: Match) -> bool:
    """Require the axis of the Gather."""
    rank = match.rank("x")
    axis = match["a"] + rank if match["a"] < 0 and rank is not None else match["a"]
    return match.axes("u", rank) == (axis,)


law(
    "UnsqueezeOfGather: Gather with a vector of one index instead of a scalar.",
    """(x[*S, n], const i[]) => (y) {
        t = Gather <axis = @a> (x, i)  y = Unsqueeze <axes = @u> (t) }""",
    "(x, i) => (y) { j = Unsqueeze <axes = [0]> (i)  y = Gather <axis = @a> (x, j) }",
    _is_own_axis,
    lambda ranks: [{"a": a, "u": (a,)} for a in range(-1, ranks["x"])],
)


def _cuts_one(match: Match) -> bool:
    """Require one axis, and one element of it."""
    rank, starts, ends = match.rank("x"), match["s"], match["e"]
    axes = match.axes("a", rank)
    if axes is None or match.axes("u", rank) != axes or len(starts) != 1 or match["k"] != (1,):
        return False
    size = match.inference.fact(match.value("x")).dims[axes[0]].value
    # -1 + 1 is 0, the front of the axis: the last element ends at the largest number instead.
    last = starts[0] == -1 and ends[0] >= 2**31 - 1
    if size is None or not (last or ends[0] == starts[0] + 1 != 0):
        return False
    return -size <= starts[0] < size and match.bind("g", axes[0]) and match.bind("i", starts[0])


# The first, the third, the last and the last but one element of an axis.
_ONE = [(0, 1), (2, 3), (-1, 2**63 - 1), (-2, -1)]
law(
    "SqueezeOfSlice: Gather one index instead of a Slice of one element.",
    """(x[*S, n]) => (y) {
        t = Slice <starts = @s, ends = @e, axes = @a, steps = @k> (x)
        y = Squeeze <axes = @u> (t) }""",
    "(x) => (y) { y = Gather <axis = @g> (x, @i) }",
    _cuts_one,
    lambda ranks: [
        {"s": (s,), "e": (e,), "a": (a,), "u": (a,), "k": (1,)}
        for a in range(ranks["x"])
        for s, e in _ONE
    ],
    sizes=("numbers",),
)


def _merges_new_axes(match: Match) -> bool:
    """Count the axes in the last shape."""
    rank = len(match.stars["S"]) + len(match["a"])
    first, second = match.axes("a", rank), match.axes("b", rank + len(match["b"]))
    if first is None or second is None:
        return False
    others = [axis for axis in range(rank + len(second)) if axis not in second]
    return match.bind("r", tuple(sorted([*second, *(others[axis] for axis in first)])))


def _new_axes(ranks: Mapping[str, int]) -> list[dict[str, Any]]:
    """One axis after another, and two."""
    rank = ranks["S"]
    pairs = [((a,), (b,)) for a in range(-1, rank + 1) for b in range(-1, rank + 2)]
    return [{"a": a, "b": b} for a, b in (*pairs, ((0, 1), (1,)), ((0,), (0, 2)))]


law(
    "UnsqueezeOfUnsqueeze: Insert all axes at once.",
    "(x[*S]) => (y) { t = Unsqueeze <axes = @a> (x)  y = Unsqueeze <axes = @b> (t) }",
    "(x) => (y) { y = Unsqueeze <axes = @r> (x) }",
    _merges_new_axes,
    _new_axes,
    ranks=range(5),
)


def _merges_old_axes(match: Match) -> bool:
    """Count the axes in the first shape."""
    rank = len(match.stars["S"])
    first, second = match.axes("a", rank), match.axes("b", rank - len(match["a"]))
    if first is None or second is None:
        return False
    others = [axis for axis in range(rank) if axis not in first]
    return match.bind("r", tuple(sorted([*first, *(others[axis] for axis in second)])))


law(
    "SqueezeOfSqueeze: Remove all axes at once.",
    "(x[*S]) => (y) { t = Squeeze <axes = @a> (x)  y = Squeeze <axes = @b> (t) }",
    "(x) => (y) { y = Squeeze <axes = @r> (x) }",
    _merges_old_axes,
    lambda ranks: [
        {"a": (a,), "b": (b,)}
        for a in range(-1, ranks["S"])
        for b in range(-1, ranks["S"] - 1)
        if ranks["S"] > 1
    ],
    sizes=("ones",),
    ranks=range(5),
)


def _cuts_other_axes(match: Match) -> bool:
    """Require steps of 1, along different axes."""
    rank = len(match.stars["S"])
    first, second = match.axes("c", rank), match.axes("g", rank)
    if first is None or second is None or set(first) & set(second):
        return False
    lists = (("s", "a", "e"), ("u", "b", "f"), ("k", "d", "h"))
    bound = [match.bind(name, match[one] + match[other]) for name, one, other in lists]
    return all(bound) and match.bind("v", first + second) and set(match["k"]) <= {1}


# Bounds from both ends.
_CUTS = {"a": (1,), "b": (5,), "d": (1,), "e": (0,), "f": (-1,), "h": (1,)}
law(
    "SliceOfSlice: Cut along all axes at once.",
    """(x[*S]) => (y) {
        t = Slice <starts = @a, ends = @b, axes = @c, steps = @d> (x)
        y = Slice <starts = @e, ends = @f, axes = @g, steps = @h> (t) }""",
    "(x) => (y) { y = Slice <starts = @s, ends = @u, axes = @v, steps = @k> (x) }",
    _cuts_other_axes,
    lambda ranks: [
        {**_CUTS, "c": (c,), "g": (g,)} for c in range(ranks["S"]) for g in range(-1, ranks["S"])
    ],
)
for _op in ("Relu", "Abs", "Ceil", "Floor", "Round", "Sign"):
    law(
        f"{_op}Of{_op}: Remove a second {_op}.",
        f"(x) => (y) {{ t = {_op} (x)  y = {_op} (t) }}",
        f"(x) => (y) {{ y = {_op} (x) }}",
    )


def _are_reduced(match: Match) -> bool:
    """Require that the same axes are reduced and inserted, or removed."""
    rank = match.rank("x")
    reduced, moved = match.axes("a", rank), match.axes("b", rank)
    return bool(reduced) and moved is not None and sorted(reduced or ()) == sorted(moved)


def _same_axes(ranks: Mapping[str, int]) -> list[dict[str, Any]]:
    rank = ranks["S"]
    pairs = [((axis,), (axis,)) for axis in range(-min(rank, 1), rank)]
    return [{"a": a, "b": b} for a, b in (*pairs, *([((0, 1), (1, 0))] if rank > 1 else []))]


_REDUCTIONS = ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare")
for _op, _keeps in itertools.product(_REDUCTIONS, (0, 1)):
    _node, _last = f"Reduce{_op} <axes = @a, keepdims = {{}}> (x)", ("Squeeze", "Unsqueeze")[_keeps]
    law(
        f"{_last}OfReduce{_op}: {('Drop', 'Keep')[_keeps]} axes by Reduce{_op} itself.",
        f"(x[*S]) => (y) {{ t = {_node.format(1 - _keeps)}  y = {_last} <axes = @b> (t) }}",
        f"(x) => (y) {{ y = {_node.format(_keeps)} }}",
        _are_reduced,
        _same_axes,
        ranks=range(1, 5),
    )


def _are_ones(match: Match) -> bool:
    """Require sizes of 1 along the axes."""
    axes, shape = match.axes("a", match.rank("x")), match.shape("x")
    return bool(axes) and shape is not None and all(shape[a].value == 1 for a in axes or ())


def _few_axes(ranks: Mapping[str, int]) -> list[dict[str, Any]]:
    rank = ranks["S"]
    lists = [(axis,) for axis in range(-min(rank, 1), rank)]
    return [{"a": axes} for axes in (*lists, *([(1, 0)] if rank > 1 else []))]


# A sum from 0 on makes 0.0 of -0.0.
_OF_ONE = {"Max": "bits", "Min": "bits", "Prod": "bits", "Sum": "values", "Mean": "values"}
for (_op, _claim), _keeps in itertools.product(_OF_ONE.items(), (False, True)):
    law(
        f"Reduce{_op}OfOne{'' if _keeps else 'Dropped'} ({_claim}):"
        " Remove a reduction of axes of size 1.",
        f"""(floats x[*S]) => ({"y[*S]" if _keeps else "y"}) {{
            y = Reduce{_op} <axes = @a, keepdims = {int(_keeps)}> (x) }}""",
        "(x) => (x)" if _keeps else "(x) => (y) { y = Squeeze <axes = @a> (x) }",
        _are_ones,
        _few_axes,
        sizes=("ones",),
        ranks=range(1, 5),
    )
law(
    "GlobalPoolOfOne (reals): Remove a mean over images of one pixel.",
    tuple(
        f"(floats x[n, c{', 1' * rank}]) => (y) {{ y = GlobalAveragePool (x) }}"
        for rank in (1, 2, 3)
    ),
    "(x) => (x)",
)


def _is_last_axis(match: Match) -> bool:
    """Require the axis of the Softmax."""
    rank = match.rank("x")
    if not rank:
        return False
    axis = match["a"] % rank
    # Below opset 13 Softmax runs over all axes from one on.
    return axis == match["A"].get("axis", 0) % rank and (match.opset >= 13 or axis == rank - 1)


for _op in ("Softmax", "LogSoftmax"):
    # Softmax grows with each element, but may round different ones to equal ones, of which ArgMax
    # takes the first.
    law(
        f"ArgMaxOf{_op} (reals): Take the place of the largest element without {_op}.",
        f"(floats x) => (y) {{ t = {_op} <axis = @a> (x)  y = ArgMax <*A> (t) }}",
        "(x) => (y) { y = ArgMax <*A> (x) }",
        _is_last_axis,
        lambda ranks: [
            {"a": a, "A": {"axis": a, "keepdims": k}}
            for a in range(-min(ranks["x"], 1), ranks["x"])
            for k in (0, 1)
        ],
        ranks=range(1, 5),
    )
