"""Scan outputs of loops without states as operators over all iterations.

    rows = f (x[i]) for each i              f' (x), where f' works on an axis before those of f

The slice pushdown asks for these, and checks that each row is the one of its iteration.
"""

from ....facts.fact import Shape, element
from ....facts.polynomial import Dimension
from ....ops.axes import ONE
from ..terms.axis_maps import ELEMENTWISE
from ..terms.free_variables import binding
from ..terms.term import Term
from ..terms.term_manager import Terms

_OPSET = 13
_MOST_TERMS = 64
"""Limit of operators in an iteration."""
_AXES = ("axis", "axes", "perm")


def over_all(terms: Terms, stacked: Term) -> Term | None:
    """Operators over all iterations that compute a scan output; None if there are none."""
    bound, shape, count = binding(stacked), stacked.fact.shape, stacked.args[0]
    if bound is None or bound.states or not shape or count is None:
        return None
    (part,) = stacked.head.parts
    result = _Map(terms, bound.index, shape[0]).of(part)
    return result if result is not None and result.fact.shape == shape else None


class _Map:
    """Lifts the operators of an iteration.

    Args:
        index: symbol of the iteration number.
        count: trip count.
    """

    def __init__(self, terms: Terms, index: str, count: Dimension) -> None:
        self._terms, self._index, self._count = terms, index, count
        self._done: dict[Term, Term | None] = {}

    def of(self, root: Term) -> Term | None:
        """Term of all iterations, along an axis before all others; None if that is unknown."""
        order, stack = dict[Term, None](), [root]
        while stack:
            term = stack.pop()
            # A term that is found again moves to the end: in reverse, operands precede all readers.
            order.pop(term, None)
            order[term] = None
            if len(order) > _MOST_TERMS:
                return None
            stack += [arg for arg in term.args if arg is not None and self._varies(arg)]
        for term in reversed(order):
            self._terms.budget.step()
            self._done[term] = self._lift(term)
        return self._done[root] if self._varies(root) else None

    def _varies(self, term: Term) -> bool:
        """Test for a term that depends on the iteration."""
        free = self._terms.symbols.free
        return not free(term).isdisjoint(free(self._terms.size(Dimension.symbol(self._index))))

    def _lift(self, term: Term) -> Term | None:
        shape, name = term.fact.shape, term.head.name
        if shape is None or term.index or any(self._index in dim.symbols for dim in shape):
            return None
        if name == "narrow":
            return self._slice(term)
        if None in term.args:
            return None
        args = [arg if not self._varies(arg) else self._done.get(arg) for arg in term.operands]
        if None in args:
            return None
        lifted = [arg for arg in args if arg is not None]
        if name == "view":
            return self._terms.view(lifted[0], (self._count, *shape))
        if name in ELEMENTWISE and not term.head.attribute("broadcast"):
            return self._terms.rebuild(term, self._aligned(term, lifted, len(shape)))
        if name == "MatMul" and all(len(arg.fact.shape or ()) > 1 for arg in term.operands):
            return self._terms.rebuild(term, self._aligned(term, lifted, len(shape)))
        if len(lifted) == 1 and term.head.op is not None:
            # Without an attribute of axes, the work of the operator on one axis more is unknown.
            moved = {key: self._behind(term, key) for key in _AXES}
            changed = {key: value for key, value in moved.items() if value is not None}
            return self._terms.with_attributes(term.head, *lifted, **changed) if changed else None
        return None

    def _behind(self, term: Term, key: str) -> int | list[int] | None:
        """Axes of an attribute, one axis further behind."""
        value, rank = term.head.attribute(key), len(term.operands[0].shape)
        if isinstance(value, int):
            return value % rank + 1
        if not value:
            return None
        moved = [axis % rank + 1 for axis in value]
        # The axis of the iterations stays in front.
        return [0, *moved] if key == "perm" else moved

    def _aligned(self, term: Term, args: list[Term], rank: int) -> tuple[Term, ...]:
        """Operands whose first axis is that of the iterations, at one rank."""
        aligned = []
        for arg, own in zip(args, term.operands, strict=True):
            if arg is not own:
                ones = [ONE] * (rank - len(own.shape))
                arg = self._terms.view(arg, (self._count, *ones, *own.shape))
            aligned.append(arg)
        return tuple(aligned)

    def _slice(self, term: Term) -> Term | None:
        """Rows by the number of the iteration, or a slice of all of them."""
        x, first, length = term.operands
        axis, start, size = term.head.key, element(first.fact), element(length.fact)
        if self._varies(x):
            inner = self._done.get(x)
            if inner is None or self._index in start.symbols:
                return None
            return self._terms.narrow(inner, axis + 1, start, size)
        offset = start - Dimension.symbol(self._index)
        if size != 1 or self._index in offset.symbols:
            return None
        if x.shape[axis].less(offset + self._count) is not False or offset.less(0) is not False:
            return None
        rows, rest = self._terms.narrow(x, axis, offset, self._count), x.shape
        perm = [axis, *range(axis), *range(axis + 1, len(rest))]
        moved = self._terms.op("Transpose", _OPSET, rows, perm=perm) if axis else rows
        shape: Shape = (self._count, *rest[:axis], ONE, *rest[axis + 1 :])
        return self._terms.view(moved, shape)
