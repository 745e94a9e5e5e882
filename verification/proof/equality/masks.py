"""Masks as prefixes: what a mask hides at one end of an axis is a piece of its own.

    Where (j < n, x, c)                     Concat (x[:n], c[n:])
    Softmax (Concat (x, -inf))              Concat (Softmax (x), 0)         with an element in x
    MatMul (Concat (x, y), z)               MatMul (x, z[:n]) + MatMul (y, z[n:])
    Reduce (Concat (x, y))                  Join (Reduce (x), Reduce (y))

Pieces of neutral elements join nothing. Products and reductions are opened, over the reals.
"""

from collections.abc import Sequence

import numpy as np
import onnx

from ....facts.fact import PRIVATE, Shape, element
from ....facts.polynomial import Dimension, product
from ....ops.axes import ONE
from ..definitions.opening import Definitions
from ..reals.real_terms import FLOATS
from ..simplify.slices import is_part
from ..terms.axis_maps import ELEMENTWISE
from ..terms.term import Term
from ..terms.term_manager import Terms
from .fold_forms import JOINS, REDUCTIONS
from .slice_pushdown import SlicePushdown

_OPSET = 13
_MOST_DEPTH = 6
"""Limit of operators between a mask and what reads it."""
_BELOW = {"Less": 1, "LessOrEqual": 0}
"""By operator: the least difference of its operands where it holds."""
_ABOVE = {"Greater": 1, "GreaterOrEqual": 0}


class Masks:
    """Opens products and reductions of what a mask lets in."""

    def __init__(self, terms: Terms, definitions: Definitions) -> None:
        self._terms, self._definitions = terms, definitions
        self._pushdown = SlicePushdown(terms)
        self._opened: dict[Term, Term | None] = {}

    def open(self, term: Term) -> Term | None:
        """Operator on what the masks of its operands let in; None for other terms."""
        if term.is_op("Trilu"):
            return self._definitions.of(term)  # a mask by position
        if not (term.is_op("MatMul") or term.head.name in REDUCTIONS):
            return None
        if term.fact.elem_type not in FLOATS or term.fact.shape is None:
            return None
        if term not in self._opened:
            rule = self._product if term.is_op("MatMul") else self._reduction
            self._opened[term] = rule(term)
        return self._opened[term]

    def _product(self, term: Term) -> Term | None:
        """Sum of the products of pieces that are not 0."""
        shapes = [each.fact.shape for each in term.operands]
        if any(shape is None or len(shape) < 2 for shape in shapes):
            return None
        axes = [len(each.shape) - back for each, back in zip(term.operands, (1, 2), strict=True)]
        for number, axis in enumerate(axes):
            pieces = self._pieces(term.operands[number], axis)
            if len(pieces) < 2:
                continue
            other, start, parts = term.operands[1 - number], Dimension.constant(0), list[Term]()
            for piece in pieces:
                size = piece.shape[axis]
                if not self._terms.is_filled(piece, 0.0):
                    part = self._pushdown.of(other, axes[1 - number], start, size)
                    both = (part, piece) if number else (piece, part)
                    parts.append(self._terms.op("MatMul", term.head, *both))
                start = start + size
            if len(parts) < len(pieces):
                return self._joined(parts, "Add", term.shape)
        return None

    def _reduction(self, term: Term) -> Term | None:
        """Reduction of the pieces that are not neutral."""
        x, axes = term.operands[0], list(term.head.attribute("axes") or ())
        if len(term.args) != 1 or len(axes) != 1 or x.fact.shape is None:
            return None
        join, numbers = REDUCTIONS[term.head.name], np.dtype(np.float64)
        neutral = float(JOINS[join].neutral(numbers))
        axis = axes[0] % len(x.shape)
        pieces = self._pieces(x, axis)
        parts = [piece for piece in pieces if not self._terms.is_filled(piece, neutral)]
        if len(parts) == len(pieces):
            return None
        if not np.isfinite(neutral) and not any(_has_row(part, axis) for part in parts):
            return None
        return self._joined(
            [self._terms.rebuild(term, (part,)) for part in parts], join, term.shape
        )

    def _joined(self, parts: Sequence[Term], join: str, shape: Shape) -> Term | None:
        """Results of the pieces as one; None without a piece, or in another shape."""
        total = None
        for part in parts:
            total = part if total is None else self._terms.op(join, _OPSET, total, part)
        return total if total is not None and total.fact.shape == shape else None

    def _pieces(self, x: Term, axis: int, depth: int = _MOST_DEPTH) -> list[Term]:
        """Pieces of a term along an axis; the term alone if there are none."""
        self._terms.budget.step()
        if x.fact.shape is None or not depth or x.shape[axis].value == 1:
            return [x]
        if x.is_op("Concat"):
            sizes = [piece.fact.shape for piece in x.operands]
            alike = x.head.attribute("axis") == axis and None not in sizes
            return list(x.operands) if alike else [x]
        if x.head.name == "view":
            return self._of_view(x, axis, depth)
        if x.is_op("Where"):
            return self._of_choice(x, axis)
        # Below opset 13, Softmax takes all axes from `axis` on as one.
        if x.is_op("Softmax") and x.head.opset >= 13:
            return self._of_weights(x, axis, depth)
        if x.head.name in ELEMENTWISE and not x.index and not x.head.attribute("broadcast"):
            return self._of_elements(x, axis, depth)
        return [x]

    def _of_view(self, x: Term, axis: int, depth: int) -> list[Term]:
        """Pieces of a view that keeps the axis."""
        below = x.operands[0].fact.shape
        if below is None:
            return [x]
        ends = product(x.shape[:axis]), product(x.shape[axis + 1 :])
        for own, size in enumerate(below):
            if size == x.shape[axis] and ends == (product(below[:own]), product(below[own + 1 :])):
                pieces = self._pieces(x.operands[0], own, depth - 1)
                if len(pieces) < 2:
                    break
                return [
                    self._terms.view(each, (*x.shape[:axis], each.shape[own], *x.shape[axis + 1 :]))
                    for each in pieces
                ]
        return [x]

    def _of_weights(self, x: Term, axis: int, depth: int) -> list[Term]:
        """Weights of the one piece that is not -inf; all others are 0."""
        pieces = self._pieces(x.operands[0], axis, depth - 1)
        own = [n for n, piece in enumerate(pieces) if not self._terms.is_filled(piece, -np.inf)]
        is_along = x.head.attribute("axis", -1) % len(x.shape) == axis
        # Without a row in the one piece, the weights are NaN instead of 0.
        if not is_along or len(pieces) < 2 or len(own) != 1 or not _has_row(pieces[own[0]], axis):
            return [x]
        return [
            self._terms.rebuild(x, (piece,))
            if number in own
            else self._filled(0.0, piece.shape, x.fact.elem_type)
            for number, piece in enumerate(pieces)
        ]

    def _of_elements(self, x: Term, axis: int, depth: int) -> list[Term]:
        """Elementwise operator on the pieces of its operands."""
        back, args = len(x.shape) - axis, x.operands
        if None in x.args or any(arg.fact.shape is None for arg in args):
            return [x]
        axes = [len(arg.shape) - back for arg in args]
        long = [n for n, own in enumerate(axes) if own >= 0 and args[n].shape[own].value != 1]
        columns = {n: self._pieces(args[n], axes[n], depth - 1) for n in long}
        masked = next((n for n in long if len(columns[n]) > 1), None)
        parts, start = list[Term](), Dimension.constant(0)
        for piece in () if masked is None else columns[masked]:
            size, own = piece.shape[axes[masked or 0]], list(args)
            for n in long:
                own[n] = piece if n == masked else self._pushdown.of(args[n], axes[n], start, size)
            parts.append(self._terms.rebuild(x, tuple(own)))
            start = start + size
        shapes = [part.fact.shape for part in parts]
        return parts if parts and None not in shapes else [x]

    def _of_choice(self, x: Term, axis: int) -> list[Term]:
        """Both operands of a choice by position, each where it is chosen."""
        condition, back = x.operands[0], len(x.shape) - axis
        own = None if condition.fact.shape is None else len(condition.shape) - back
        if own is None or own < 0 or condition.shape[own] != x.shape[axis]:
            return [x]
        if any(dim.value != 1 for n, dim in enumerate(condition.shape) if n != own):
            return [x]
        change = self._split(condition, own)
        if change is None:
            return [x]
        end, first = change
        ranges = (Dimension.constant(0), end), (end, x.shape[axis] - end)
        sources = x.operands[1:] if first else x.operands[:0:-1]
        pieces = []
        for source, (start, size) in zip(sources, ranges, strict=True):
            if source.fact.shape is None:
                return [x]
            place = len(source.shape) - back
            if place >= 0 and source.shape[place].value != 1:
                source = self._pushdown.of(source, place, start, size)
            shape = (*x.shape[:axis], size, *x.shape[axis + 1 :])
            if source.fact.shape != shape:
                source = self._terms.op("Expand", _OPSET, source, self._terms.sizes(shape))
            pieces.append(source)
        return pieces

    def _split(self, condition: Term, axis: int) -> tuple[Dimension, bool] | None:
        """Position at which a condition changes, and whether it holds before; None if unknown."""
        size = condition.shape[axis]
        name = f"{PRIVATE}place:{size}"
        self._terms.limits[name] = size
        place = self._terms.symbols.iteration(name)
        test, holds = self._bare(self._pushdown.of(condition, axis, place, ONE)), True
        while test.is_op("Not"):
            test, holds = self._bare(test.operands[0]), not holds
        least = (_BELOW | _ABOVE).get(test.head.name)
        if least is None or len(test.args) != 2:
            return None
        low, high = (self._number(each) for each in test.operands)
        if low is None or high is None:
            return None
        if test.head.name in _ABOVE:
            low, high = high, low
        # The test holds where `surplus` is at least 0, which is linear in the position.
        surplus = high - low - least
        rest = surplus.replaced({name: Dimension.constant(0)})
        step = (surplus - rest) - place
        if step == 0:
            end, first = -rest, not holds
        elif (surplus - rest) == -place:
            end, first = rest + 1, holds
        else:
            return None
        if not is_part(self._terms, Dimension.constant(0), end, size):
            return None
        return end, first

    def _bare(self, term: Term) -> Term:
        """Normal form below its views."""
        term = self._pushdown.settled(term)
        while term.head.name == "view":
            term = self._pushdown.settled(term.operands[0])
        return term

    def _number(self, term: Term) -> Dimension | None:
        """Number or size of one element."""
        fact = self._bare(term).fact
        return None if fact.content is None or fact.content.size != 1 else element(fact)

    def _filled(self, number: float, shape: Shape, elem_type: int) -> Term:
        """Tensor of one number."""
        dtype = onnx.helper.tensor_dtype_to_np_dtype(elem_type)
        constant = self._terms.constant(np.array(number, dtype))
        return self._terms.op("Expand", _OPSET, constant, self._terms.sizes(shape))


def _has_row(piece: Term, axis: int) -> bool:
    """Test for an axis that is certainly not empty."""
    return (piece.shape[axis] - 1).less(0) is False
