"""Reshape, Squeeze, Unsqueeze and Flatten as one head, "view"; Transpose, Expand and Cast."""

import math
from collections.abc import Sequence
from typing import Any

from ....facts.fact import Content, Fact, Shape, vector
from ....facts.polynomial import Dimension
from ..terms.budget import OpenError
from ..terms.term import Args, Head, Operands, Term
from ..terms.term_manager import Terms, rule
from .dynamic_sizes import sizes_of
from .leading_axes import ones_in_front

_COMPARISONS = ("Equal", "Less", "LessOrEqual")


@rule("Identity")
def identity(terms: Terms, head: Head, args: Args) -> Sequence[Term | None]:
    """Rewrite Identity(x) to x (operator specification)."""
    return [args[0]]


@rule("Cast")
def cast(terms: Terms, head: Head, args: Operands) -> Sequence[Term | None] | None:
    """Rewrite Cast(x) to x if x has the type."""
    (x,) = args
    if x.fact.elem_type and x.fact.elem_type == head.attribute("to"):
        return [x]
    return terms.fold(head, args)


@rule("CastLike")
def cast_like(terms: Terms, head: Head, args: Operands) -> Sequence[Term | None] | None:
    """Rewrite CastLike(x, y) to a Cast to the type of y."""
    x, y = args
    if not y.fact.elem_type:
        return None
    saturate = head.attribute("saturate", 1)
    attributes = {} if head.opset < 19 else {"saturate": saturate}
    return [terms.op("Cast", head, x, to=y.fact.elem_type, **attributes)]


@rule("Reshape", "Squeeze", "Unsqueeze", "Flatten", constants=True)
def reshaping(terms: Terms, head: Head, args: Operands) -> Sequence[Term | None] | None:
    """Rewrite operators that move no element to a view in the output shape."""
    x, shape = args[0], terms.facts_of(head, args)[0].shape
    if shape is None or x.fact.other is not None:
        return None
    return [terms.view(x, shape)]


@rule("view")
def view(terms: Terms, head: Head, args: Operands) -> Sequence[Term | None]:
    """Fuse views, and drop a view in the same shape. One truth value is that of scalars."""
    x, sizes = args
    shape = tuple(vector(sizes.fact) or ())
    if x.head is head:
        x = x.operands[0]
    if x.fact.shape == shape:
        return [x]
    if not shape and x.is_op(*_COMPARISONS) and all(map(_is_one, x.operands)):
        return [terms.rebuild(x, tuple([terms.view(arg, ()) for arg in x.operands]))]
    tensor = terms.tensor(x)
    numbers = [dim.value for dim in shape if dim.value is not None]
    elements = x.fact.content if tensor is None else tensor
    if elements is not None and len(numbers) == len(shape) and math.prod(numbers) != elements.size:
        raise OpenError("a Reshape fails on all inputs")
    if tensor is not None and len(numbers) == len(shape) and tensor.is_readable:
        return [terms.constant(tensor.numpy().reshape(numbers))]
    content = _content(x, shape)
    if x.head.name == "sizes" and content is not None:
        return [terms.content(content, x.fact.elem_type)]
    return [terms.keep(head, (x, sizes), Fact(x.fact.elem_type, shape, content))]


def _content(x: Term, shape: Shape) -> Content | None:
    content = x.fact.content
    sizes = [dim.value for dim in shape if dim.value is not None]
    return None if content is None or len(sizes) < len(shape) else content.reshape(sizes)


@rule("Transpose")
def transpose(terms: Terms, head: Head, args: Operands) -> Sequence[Term | None] | None:
    """Fuse Transposes, and replace movement of unit axes by a view."""
    (x,) = args
    shape = x.fact.shape
    if shape is None:
        return None
    perm = list(head.attribute("perm") or range(len(shape))[::-1])
    if sorted(perm) != list(range(len(shape))):
        return None
    long = [axis for axis in range(len(shape)) if shape[axis].value != 1]
    order = [long.index(axis) for axis in perm if axis in long]
    result_shape = tuple(shape[axis] for axis in perm)
    below = terms.view(x, tuple(shape[axis] for axis in long))
    if below.head.name == "Transpose":
        inner = list(below.head.attribute("perm"))
        order = [inner[axis] for axis in order]
        (below,) = below.operands
    # Only unit axes move, so the elements stay in their order.
    if order == sorted(order):
        return [terms.view(below, result_shape)]
    # Without unit axes to drop, the rule would apply to its own result.
    if below is x and order == head.attribute("perm"):
        return None
    return [terms.view(terms.op("Transpose", head, below, perm=order), result_shape)]


@rule("Expand", constants=True)
def expand(terms: Terms, head: Head, args: Operands) -> Sequence[Term | None] | None:
    """Rewrite Expand(x, shape) to x in that shape, else to Expand to the output shape."""
    x, target = args
    target_sizes = vector(target.fact)
    if x.fact.shape == () and (target_sizes is None or None in target_sizes):
        sizes = sizes_of(terms, target)
        return None if sizes is None else terms.apply(head, (x, terms.sizes(sizes)))
    shape = terms.facts_of(head, args)[0].shape
    if shape is None:
        return None
    own = x.fact.shape
    if own is not None and _is_at_odds(own, target_sizes or []):
        raise OpenError("the input of an Expand does not broadcast to its shape")
    if own is not None and _is_kept(own, shape):
        return [terms.view(x, shape)]
    if own is not None and not _is_stretched(own, shape):
        return None  # the output shape is a new one whenever it is inferred
    spare = ones_in_front(shape)
    if spare:
        bare = terms.op("Expand", head, _without_ones(terms, x), terms.sizes(shape[spare:]))
        return [terms.view(bare, shape)]
    x, vector_of_sizes = _without_ones(terms, x), terms.sizes(shape)
    if vector_of_sizes is target and x is args[0]:
        return None
    return terms.apply(head, (x, vector_of_sizes))


def _is_one(x: Term) -> bool:
    """Test whether a tensor has one element."""
    return x.fact.shape is not None and all(dim.value == 1 for dim in x.fact.shape)


def _without_ones(terms: Terms, x: Term) -> Term:
    shape = x.fact.shape
    return x if not shape else terms.view(x, shape[ones_in_front(shape) :])


def _is_at_odds(shape: Shape, target: Sequence[Any]) -> bool:
    """Test whether a shape certainly does not broadcast to sizes."""
    pairs = zip(reversed(shape), reversed(target), strict=False)
    sizes = [(own.value, w.value) for own, w in pairs if isinstance(w, Dimension)]
    return any(None not in pair and 1 not in pair and pair[0] != pair[1] for pair in sizes)


def _is_stretched(shape: Shape, expanded: Shape) -> bool:
    """Test whether each axis certainly has size 1 or that of the output."""
    pairs = zip(reversed(shape), reversed(expanded), strict=False)
    return all(own.value == 1 or own == size for own, size in pairs)


def _is_kept(shape: Shape, expanded: Shape) -> bool:
    """Test whether Expand adds nothing but leading unit axes."""
    new = len(expanded) - len(shape)
    return expanded[new:] == shape and all(dim.value == 1 for dim in expanded[:new])
