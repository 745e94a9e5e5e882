"""Products of matrices over the reals, as terms: Gemm, and sums over concatenated operands."""

from collections.abc import Sequence

from ....facts.polynomial import Dimension, product
from ....ops.axes import ONE
from ..terms.term import Term, below_view
from ..terms.term_manager import Terms
from .real_terms import FLOATS, rewriting

_FIRST_OPSET = 7
_AXES_AS_ATTRIBUTE = 13
"""First opset with the broadcasting of today."""


@rewriting("Conv", "ConvTranspose")
def convolution(terms: Terms, term: Term) -> Term | None:
    """Rewrite a bias to a sum, and a Pad before a convolution to its pads."""
    padding = _padding(terms, term) if term.is_op("Conv") else None
    if padding is not None:
        return padding
    if len(term.args) < 3 or term.fact.elem_type not in FLOATS or term.fact.shape is None:
        return None
    x, weights, bias = term.args
    if x is None or weights is None or bias is None or len(bias.fact.shape or ()) != 1:
        return None
    (result,) = terms.apply(term.head, (x, weights))[:1]
    if result is None or result.fact.shape != term.shape:
        return None
    channels = (bias.shape[0], *[ONE] * (len(term.shape) - 2))
    return terms.op("Add", _FIRST_OPSET, result, terms.view(bias, channels))


@rewriting("AveragePool")
def pool(terms: Terms, term: Term) -> Term | None:
    """Rewrite a mean over windows of a Pad to one that pads."""
    head, pads = term.head, term.head.attribute("pads")
    counts = head.attribute("count_include_pad", 0)
    # Pads that do not count make a mean of fewer elements; those of the Pad count.
    if head.attribute("ceil_mode", 0) or (pads and any(pads) and not counts):
        return None
    return _padding(terms, term, count_include_pad=1)


def _padding(terms: Terms, term: Term, **changes: int) -> Term | None:
    """Operator that adds the zeros of a Pad before it."""
    image, rank = term.args[0], len(term.fact.shape or ())
    if image is None or not image.is_op("Pad") or not 1 < len(image.args) < 4 or rank < 3:
        return None
    x, widths, *value = image.args
    numbers, zero = terms.numbers(widths), terms.tensor(value[0]) if value else None
    is_zero = not value or value[0] is None or (zero is not None and not zero.numpy().any())
    if x is None or numbers is None or len(numbers) != 2 * rank or min(numbers) < 0 or not is_zero:
        return None
    own = term.head.attribute("pads") or [0] * 2 * (rank - 2)
    modes = image.head.text("mode"), term.head.text("auto_pad")
    if modes[0] not in ("", "constant") or modes[1] not in ("", "NOTSET"):
        return None
    starts, ends = numbers[:rank], numbers[rank:]
    # A convolution pads neither batch nor channels.
    if any((*starts[:2], *ends[:2])):
        return None
    pads = [a + b for a, b in zip(own, (*starts[2:], *ends[2:]), strict=True)]
    head = terms.heads.with_attributes(term.head, pads=pads, **changes)
    return terms.apply(head, (x, *term.args[1:]))[0]


@rewriting("ArgMax")
def largest(terms: Terms, term: Term) -> Term | None:
    """Rewrite ArgMax of Softmax or LogSoftmax, which grow with each element, to that of these."""
    below = term.args[0]
    # Below opset 13, Softmax takes all axes from `axis` on as one.
    if below is None or not below.is_op("Softmax", "LogSoftmax") or below.head.opset < 13:
        return None
    rank = len(below.fact.shape or ())
    if not rank or term.fact.shape is None:
        return None
    axis, own = term.head.attribute("axis", 0), below.head.attribute("axis", -1)
    if axis % rank != own % rank:
        return None
    return terms.apply(term.head, below.args)[0]


@rewriting("MatMul")
def product_of_pieces(terms: Terms, term: Term) -> Term | None:
    """Rewrite products of vectors and along a Concat to sums, outer ones to Mul."""
    a, b = term.args
    if a is None or b is None or term.fact.elem_type not in FLOATS:
        return None
    if len(a.fact.shape or ()) < 2 or len(b.fact.shape or ()) < 2:
        return None
    length = a.shape[-1]
    if length == b.shape[-2] == 1:
        return terms.op("Mul", _FIRST_OPSET, a, b)
    if length.value != 1 and product(a.shape) == product(b.shape) == length == b.shape[-2]:
        factors = [terms.view(each, (length,)) for each in (a, b)]
        each = terms.op("Mul", _FIRST_OPSET, *factors)
        return terms.view(terms.op("ReduceSum", _FIRST_OPSET, each, axes=[0]), term.shape)
    axes = len(a.shape) - 1, len(b.shape) - 2
    for number, (x, axis) in enumerate(zip((a, b), axes, strict=True)):
        pieces = _pieces(terms, x, axis)
        other = (b, a)[number]
        if pieces is None or other.shape[axes[1 - number]] != x.shape[axis]:
            continue
        parts, start = [], Dimension.constant(0)
        for piece in pieces:
            size = piece.shape[axis]
            part = terms.narrow(other, axes[1 - number], start, size)
            operands = (piece, part) if number == 0 else (part, piece)
            parts.append(terms.op("MatMul", term.head, *operands))
            start = start + size
        total = parts[0]
        for part in parts[1:]:
            total = terms.op("Add", _FIRST_OPSET, total, part)
        return total
    return None


def _pieces(terms: Terms, x: Term, axis: int) -> Sequence[Term] | None:
    """Pieces of a Concat along an axis, of known sizes other than 0."""
    joined = below_view(x)
    if not joined.is_op("Concat") or len(joined.args) < 2:
        return None
    own = joined.head.attribute("axis")
    if joined is not x and not _ends_alike(x, axis, joined, own):
        return None
    ends = terms.ends_of(joined, own)
    if not ends or (joined is x and own != axis):
        return None
    if any(a >= b for a, b in zip([0, *ends], ends, strict=False)):
        return None
    if joined is x:
        return x.operands
    shapes = [
        (*x.shape[:axis], piece.shape[own], *x.shape[axis + 1 :]) for piece in joined.operands
    ]
    return [terms.view(p, shape) for p, shape in zip(joined.operands, shapes, strict=True)]


def _ends_alike(x: Term, axis: int, joined: Term, own: int) -> bool:
    """Test whether a view keeps an axis that only axes of size 1 follow."""
    behind = (*x.shape[axis + 1 :], *joined.shape[own + 1 :])
    return x.shape[axis] == joined.shape[own] and all(dim.value == 1 for dim in behind)


@rewriting("TopK")
def first_of_all(terms: Terms, term: Term) -> Term | None:
    """Rewrite the one largest or smallest element, and the place of the first such one."""
    if terms.numbers(term.args[1]) != [1]:
        return None
    is_largest, axis = term.head.attribute("largest", 1), term.head.attribute("axis", -1)
    kind = ("ReduceMax", "ReduceMin") if not term.index else ("ArgMax", "ArgMin")
    along = {"axis": axis} if term.index else {"axes": [axis]}
    return terms.op(kind[not is_largest], _AXES_AS_ATTRIBUTE, term.operands[0], **along, keepdims=1)
