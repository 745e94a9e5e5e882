"""Operators of the same family in a row that one of them replaces."""

from typing import Any

from ....analysis.shapes.inference import ShapeInference
from ....facts.fact import Fact
from ....ir import Node
from ..rules.match import Match
from ..rules.registry import shipped
from ..rules.rule import Rule


def _is_empty(fact: Fact, axis: int) -> bool:
    """Test for a size of 0 along an axis."""
    shape = fact.shape
    return shape is not None and -len(shape) <= axis < len(shape) and shape[axis].value == 0


@shipped
class ConcatOfConcat(Rule):
    """Merge a Concat into another one along the same axis."""

    before = """(xs..., ys..., zs...) => (y) {
        t = Concat <axis = @a> (ys...)
        y = Concat <axis = @a> (xs..., t, zs...)
    }"""
    after = "(xs, ys, zs) => (y) { y = Concat <axis = @a> (xs..., ys..., zs...) }"


@shipped
class ConcatOfEmpty(Rule):
    """Drop a part of a Concat that has no elements."""

    before = (
        "(xs..., x, e, zs...) => (y) { y = Concat <axis = @a> (xs..., x, e, zs...) }",
        "(xs..., x, e, zs...) => (y) { y = Concat <axis = @a> (xs..., e, x, zs...) }",
    )
    after = "(xs, x, zs) => (y) { y = Concat <axis = @a> (xs..., x, zs...) }"
    sizes = ("numbers",)

    def may_match(self, node: Node, inference: ShapeInference) -> bool:
        """Require a part without elements."""
        axis = node.attribute("axis", 1)
        return any(v is not None and _is_empty(inference.fact(v), axis) for v in node.inputs)

    def where(self, match: Match) -> bool:
        """Require a size of 0 along the axis."""
        return _is_empty(match.fact("e"), match["a"])

    def cases(self, ranks: Any) -> list[dict[str, Any]]:
        """Take each axis."""
        empty = "Slice <starts = [0], ends = [0], axes = [%d], steps = [1]> (x)"
        return [{"a": a, "e": empty % a} for a in range(-1, ranks["x"])]


@shipped
class UnsqueezeOfGather(Rule):
    """Gather with a vector of one index instead of a scalar."""

    before = """(x[*S, n], const i[]) => (y) {
        t = Gather <axis = @a> (x, i)
        y = Unsqueeze <axes = @u> (t)
    }"""
    after = "(x, i) => (y) { j = Unsqueeze <axes = [0]> (i)  y = Gather <axis = @a> (x, j) }"

    def where(self, match: Match) -> bool:
        """Require the axis of the Gather."""
        rank = match.rank("x")
        axis = match["a"] + rank if match["a"] < 0 and rank is not None else match["a"]
        return match.axes("u", rank) == (axis,)

    def cases(self, ranks: Any) -> list[dict[str, Any]]:
        """Take each axis."""
        return [{"a": a, "u": (a,)} for a in range(-1, ranks["x"])]


@shipped
class SqueezeOfSlice(Rule):
    """Gather one index instead of a Slice of one element."""

    before = """(x[*S, n]) => (y) {
        t = Slice <starts = @s, ends = @e, axes = @a, steps = @k> (x)
        y = Squeeze <axes = @u> (t)
    }"""
    after = "(x) => (y) { y = Gather <axis = @g> (x, @i) }"
    sizes = ("numbers",)

    def where(self, match: Match) -> bool:
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

    def cases(self, ranks: Any) -> list[dict[str, Any]]:
        """Take the first, the third and the last element of an axis."""
        bounds = [(0, 1), (2, 3), (-1, 2**63 - 1), (-2, -1)]
        axes = range(ranks["x"])
        return [
            {"s": (s,), "e": (e,), "a": (a,), "u": (a,), "k": (1,)} for a in axes for s, e in bounds
        ]


@shipped
class UnsqueezeOfUnsqueeze(Rule):
    """Insert all axes at once."""

    before = "(x[*S]) => (y) { t = Unsqueeze <axes = @a> (x)  y = Unsqueeze <axes = @b> (t) }"
    after = "(x) => (y) { y = Unsqueeze <axes = @r> (x) }"
    ranks = range(5)

    def where(self, match: Match) -> bool:
        """Count the axes in the last shape."""
        rank = len(match.stars["S"]) + len(match["a"])
        first, second = match.axes("a", rank), match.axes("b", rank + len(match["b"]))
        if first is None or second is None:
            return False
        others = [axis for axis in range(rank + len(second)) if axis not in second]
        return match.bind("r", tuple(sorted([*second, *(others[axis] for axis in first)])))

    def cases(self, ranks: Any) -> list[dict[str, Any]]:
        """Take one axis after another, and two."""
        rank = ranks["S"]
        pairs = [((a,), (b,)) for a in range(-1, rank + 1) for b in range(-1, rank + 2)]
        return [{"a": a, "b": b} for a, b in (*pairs, ((0, 1), (1,)), ((0,), (0, 2)))]


@shipped
class SqueezeOfSqueeze(Rule):
    """Remove all axes at once."""

    before = "(x[*S]) => (y) { t = Squeeze <axes = @a> (x)  y = Squeeze <axes = @b> (t) }"
    after = "(x) => (y) { y = Squeeze <axes = @r> (x) }"
    sizes = ("ones",)
    ranks = range(5)

    def where(self, match: Match) -> bool:
        """Count the axes in the first shape."""
        rank = len(match.stars["S"])
        first, second = match.axes("a", rank), match.axes("b", rank - len(match["a"]))
        if first is None or second is None:
            return False
        others = [axis for axis in range(rank) if axis not in first]
        return match.bind("r", tuple(sorted([*first, *(others[axis] for axis in second)])))

    def cases(self, ranks: Any) -> list[dict[str, Any]]:
        """Take one axis after another."""
        rank = ranks["S"]
        pairs = [((a,), (b,)) for a in range(-1, rank) for b in range(-1, rank - 1)]
        return [{"a": a, "b": b} for a, b in pairs if rank > 1]


@shipped
class SliceOfSlice(Rule):
    """Cut along all axes at once."""

    before = """(x[*S]) => (y) {
        t = Slice <starts = @a, ends = @b, axes = @c, steps = @d> (x)
        y = Slice <starts = @e, ends = @f, axes = @g, steps = @h> (t)
    }"""
    after = "(x) => (y) { y = Slice <starts = @s, ends = @u, axes = @v, steps = @k> (x) }"

    def where(self, match: Match) -> bool:
        """Require steps of 1, along different axes."""
        rank = len(match.stars["S"])
        first, second = match.axes("c", rank), match.axes("g", rank)
        if first is None or second is None or set(first) & set(second):
            return False
        lists = (("s", "a", "e"), ("u", "b", "f"), ("k", "d", "h"))
        bound = [match.bind(name, match[one] + match[other]) for name, one, other in lists]
        return all(bound) and match.bind("v", first + second) and set(match["k"]) <= {1}

    def cases(self, ranks: Any) -> list[dict[str, Any]]:
        """Take pairs of axes, and bounds from both ends."""
        one = {"a": (1,), "b": (5,), "d": (1,), "e": (0,), "f": (-1,), "h": (1,)}
        axes = [(c, g) for c in range(ranks["S"]) for g in range(-1, ranks["S"])]
        return [{**one, "c": (c,), "g": (g,)} for c, g in axes]


def _idempotent(op_type: str) -> type[Rule]:
    """A rule that removes an operator applied twice."""
    before = f"(x) => (y) {{ t = {op_type} (x)  y = {op_type} (t) }}"
    content = {"before": before, "after": f"(x) => (y) {{ y = {op_type} (x) }}"}
    content["__doc__"] = f"Remove a second {op_type}."
    return type(f"{op_type}Of{op_type}", (Rule,), content)


for _op_type in ("Relu", "Abs", "Ceil", "Floor", "Round", "Sign"):
    shipped(_idempotent(_op_type))


_REDUCTIONS = ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare")


def _kept(op_type: str, keeps: bool) -> type[Rule]:
    """A rule by which a reduction keeps its axes, or drops them, by itself.

    Args:
        op_type: the reduction.
        keeps: true for one that drops axes, which come back.
    """
    first = f"{op_type} <axes = @a, keepdims = {int(not keeps)}> (x)"
    last = "Unsqueeze" if keeps else "Squeeze"

    def where(self: Rule, match: Match) -> bool:
        rank = match.rank("x")
        reduced, moved = match.axes("a", rank), match.axes("b", rank)
        return bool(reduced) and moved is not None and sorted(reduced or ()) == sorted(moved)

    def cases(self: Rule, ranks: Any) -> list[dict[str, Any]]:
        rank = ranks["S"]
        pairs = [((axis,), (axis,)) for axis in range(-min(rank, 1), rank)]
        return [{"a": a, "b": b} for a, b in (*pairs, *([((0, 1), (1, 0))] if rank > 1 else []))]

    content = {
        "before": f"(x[*S]) => (y) {{ t = {first}  y = {last} <axes = @b> (t) }}",
        "after": f"(x) => (y) {{ y = {op_type} <axes = @a, keepdims = {int(keeps)}> (x) }}",
        "where": where,
        "cases": cases,
        "ranks": range(1, 5),
        "__doc__": f"{'Keep' if keeps else 'Drop'} axes by {op_type} itself.",
    }
    return type(f"{last}Of{op_type}", (Rule,), content)


for _op_type in _REDUCTIONS:
    for _keeps in (False, True):
        shipped(_kept(f"Reduce{_op_type}", _keeps))


def _reduced_one(op_type: str, exactness: str, keeps: bool) -> type[Rule]:
    """A rule that removes a reduction of axes of size 1.

    Args:
        op_type: the reduction.
        exactness: a sum from 0 on makes 0.0 of -0.0.
        keeps: true for one that keeps the axes.
    """
    result = "y[*S]" if keeps else "y"

    def where(self: Rule, match: Match) -> bool:
        axes, shape = match.axes("a", match.rank("x")), match.shape("x")
        return bool(axes) and shape is not None and all(shape[a].value == 1 for a in axes or ())

    def cases(self: Rule, ranks: Any) -> list[dict[str, Any]]:
        rank = ranks["S"]
        lists = [(axis,) for axis in range(-min(rank, 1), rank)]
        return [{"a": axes} for axes in (*lists, *([(1, 0)] if rank > 1 else []))]

    node = f"{op_type} <axes = @a, keepdims = {int(keeps)}> (x)"
    content = {
        "before": f"(floats x[*S]) => ({result}) {{ y = {node} }}",
        "after": "(x) => (x)" if keeps else "(x) => (y) { y = Squeeze <axes = @a> (x) }",
        "exactness": exactness,
        "sizes": ("ones",),
        "where": where,
        "cases": cases,
        "ranks": range(1, 5),
        "__doc__": "Remove a reduction of axes of size 1.",
    }
    return type(f"{op_type}OfOne{'' if keeps else 'Dropped'}", (Rule,), content)


_OF_ONE = {"Max": "bits", "Min": "bits", "Prod": "bits", "Sum": "values", "Mean": "values"}
for _op_type, _exactness in _OF_ONE.items():
    for _keeps in (False, True):
        shipped(_reduced_one(f"Reduce{_op_type}", _exactness, _keeps))


@shipped
class GlobalPoolOfOne(Rule):
    """Remove a mean over images of one pixel."""

    before = tuple(
        f"(floats x[n, c{', 1' * rank}]) => (y) {{ y = GlobalAveragePool (x) }}"
        for rank in (1, 2, 3)
    )
    after = "(x) => (x)"
    exactness = "reals"


def _of_softmax(op_type: str) -> type[Rule]:
    """A rule that finds the largest element without a Softmax, which grows with each."""

    def where(self: Rule, match: Match) -> bool:
        rank = match.rank("x")
        if not rank:
            return False
        axis, own = match["a"] % rank, match["A"].get("axis", 0) % rank
        # Below opset 13 Softmax runs over all axes from one on.
        return axis == own and (match.opset >= 13 or axis == rank - 1)

    def cases(self: Rule, ranks: Any) -> list[dict[str, Any]]:
        rank = ranks["x"]
        axes = range(-min(rank, 1), rank)
        return [{"a": a, "A": {"axis": a, "keepdims": k}} for a in axes for k in (0, 1)]

    content = {
        "before": f"(floats x) => (y) {{ t = {op_type} <axis = @a> (x)  y = ArgMax <*A> (t) }}",
        "after": "(x) => (y) { y = ArgMax <*A> (x) }",
        # Softmax may round different numbers to equal ones, of which ArgMax takes the first.
        "exactness": "reals",
        "where": where,
        "cases": cases,
        "ranks": range(1, 5),
        "__doc__": f"Take the place of the largest element without {op_type}.",
    }
    return type(f"ArgMaxOf{op_type}", (Rule,), content)


for _op_type in ("Softmax", "LogSoftmax"):
    shipped(_of_softmax(_op_type))
