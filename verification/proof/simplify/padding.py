"""Constant tensors of a size that run time determines, and tensors padded with zeros.

padded(x, n) is x followed by zeros along its first axis, n elements in all.
"""

from collections.abc import Sequence

import numpy as np
import onnx

from ....facts.fact import Fact, Shape, element
from ....facts.polynomial import Dimension
from ....ir import Array, Tensor
from ..terms.budget import OpenError
from ..terms.term import Args, Head, Operands, Term
from ..terms.term_manager import Terms, rule


@rule("ConstantOfShape", constants=True)
def constant_of_shape(terms: Terms, head: Head, args: Args) -> Sequence[Term | None] | None:
    """Rewrite ConstantOfShape to Expand of its element (operator specification)."""
    scalar = onnx.TensorProto(data_type=onnx.TensorProto.FLOAT, float_data=[0])
    value = head.attribute("value")
    if value is not None:
        if list(value.dims) != [1]:
            return None
        scalar.CopyFrom(value)
        del scalar.dims[:]
    return [fill(terms, Tensor(scalar), args[0])]


def fill(terms: Terms, scalar: Tensor | Array, shape: Term | None) -> Term:
    """Scalar expanded to a shape that a term determines."""
    return terms.op("Expand", 13, terms.constant(scalar), shape)


def padded_rows(terms: Terms, term: Term, axis: int) -> Term | None:
    """Pad along one axis by a number of elements as a Concat; None for another term."""
    x, widths = term.args[:2]
    mode, numbers = term.head.text("mode") or "constant", terms.numbers(widths)
    if x is None or x.fact.shape is None or numbers is None or mode != "constant":
        return None
    rank = len(x.fact.shape)
    sides = numbers[axis], numbers[axis + rank] if len(numbers) == 2 * rank else -1
    # The sums differ where another axis is padded, too.
    if min(sides) < 0 or sum(map(abs, numbers)) != sum(sides) or len(term.args) > 3:
        return None
    value = term.args[2] if len(term.args) > 2 else terms.constant(_zero(x.fact.elem_type))
    shapes = [(*x.shape[:axis], Dimension.constant(n), *x.shape[axis + 1 :]) for n in sides]
    before, after = (
        [terms.op("Expand", 13, value, terms.sizes(shape))] if shape[axis].value else []
        for shape in shapes
    )
    return terms.op("Concat", 13, *before, x, *after, axis=axis)


@rule("NonZero", constants=True)
def non_zero(terms: Terms, head: Head, args: Args) -> Sequence[Term | None] | None:
    """Rewrite NonZero of a constant vector without zeros to all positions."""
    (x,) = args
    tensor = terms.tensor(x.args[0]) if x is not None and x.is_op("Expand") else None
    if x is None or tensor is None or x.fact.shape is None or len(x.fact.shape) != 1:
        return None
    if tensor.size != 1 or tensor.numpy().dtype.kind in "OUS" or not tensor.numpy().all():
        return None
    (size,) = x.fact.shape
    places = terms.op("Range", 11, terms.size(0), terms.size(size), terms.size(1))
    return [terms.view(places, (Dimension.constant(1), size))]


@rule("padded")
def padded(terms: Terms, head: Head, args: Operands) -> Sequence[Term | None]:
    """Drop a padding of no zeros, and make that of no elements all zeros."""
    x, number = args
    length, shape = element(number.fact), x.shape
    if shape[0] == length:
        return [x]
    full = (length, *shape[1:])
    if shape[0].value == 0:
        return [zeros(terms, x.fact.elem_type, full)]
    return [terms.keep(head, args, Fact(x.fact.elem_type, full))]


def pad_to(terms: Terms, x: Term, length: Dimension) -> Term:
    """Tensor followed by zeros along its first axis."""
    return terms.own("padded", x, terms.size(length))


def zeros(terms: Terms, elem_type: int, shape: Shape) -> Term:
    """Tensor of zeros, or of empty strings."""
    return fill(terms, _zero(elem_type), terms.sizes(shape))


def _zero(elem_type: int) -> Array:
    if not elem_type:
        raise OpenError("the type of a padded tensor is unknown")
    dtype = onnx.helper.tensor_dtype_to_np_dtype(elem_type)
    return np.array("" if dtype.kind in "OUS" else 0, dtype)


def match_padding(terms: Terms, x: Term, rest: Term) -> Term | None:
    """Rewrite x of n elements, followed by l - n zeros, to padded(x, l). None for another sum, or
    other elements.

    n is certainly not clamped to 0, since x exists and has no negative size.
    """
    shape, more = x.fact.shape, rest.fact.shape
    if not shape or not more or not rest.is_op("Expand") or len(shape) != len(more):
        return None
    filling = terms.tensor(rest.args[0])
    zero = _zero(x.fact.elem_type)
    # By bits: a filling of -0.0 is another one.
    if filling is None or filling.size != 1 or filling.numpy().tobytes() != zero.tobytes():
        return None
    missing = terms.sized.get(str(more[0]))
    if missing is not None and missing.head.name == "view":
        missing = missing.args[0]
    if missing is None or not missing.is_op("Sub"):
        return None
    whole, part = missing.args
    if whole is None or part is None or part.fact.content is not None:
        return None
    length = element(whole.fact)
    if not isinstance(length, Dimension) or shape[0] != terms.size_of(part):
        return None
    return pad_to(terms, x, length)
