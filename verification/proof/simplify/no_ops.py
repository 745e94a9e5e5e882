"""Operators that return their input: Tile by 1, Pad by 0, Split into one part and the like."""

from collections.abc import Sequence

from ....facts.fact import vector
from ....facts.types import INTEGER_BITS
from ....ops.axes import REDUCTIONS
from ..terms.term import Args, Head, Term, rank_of
from ..terms.term_manager import Terms, canonical_form, rule
from .slices import backward

_OF_ONE = frozenset(["ReduceMax", "ReduceMin", "ReduceProd"])
"""Reductions of which one number is that number. A sum adds 0, which makes 0 of -0."""
_EXACT_POSITIONS = ("half_pixel", "pytorch_half_pixel", "asymmetric")
"""Pixel positions that have no rounding in an image of the same size."""
_OF_ONE_INTEGER = _OF_ONE | {"ReduceSum", "ReduceMean"}


@rule("Tile", constants=True)
def tile(terms: Terms, head: Head, args: Args) -> Sequence[Term | None] | None:
    """Drop a Tile that repeats nothing; one of axes of length 1 is an Expand."""
    if len(args) != 2:
        return None  # of opset 1
    x, numbers = args[0], terms.numbers(args[1])
    shape = None if x is None else x.fact.shape
    if x is None or shape is None or numbers is None or len(numbers) != len(shape):
        return None
    repeated = [dim for dim, count in zip(shape, numbers, strict=True) if count != 1]
    if not repeated:
        return [x]
    if min(numbers) < 1 or any(dim.value != 1 for dim in repeated):
        return None
    sizes = [dim * count for dim, count in zip(shape, numbers, strict=True)]
    return [terms.op("Expand", 13, x, terms.sizes(sizes))]


@canonical_form("Pad")
def pad(terms: Terms, head: Head, args: Args, count: int) -> Sequence[Term | None] | None:
    """Drop a Pad that adds nothing."""
    numbers = terms.numbers(args[1]) if len(args) > 1 else None
    rank = rank_of(args[0])
    if numbers is None or rank is None or any(numbers):
        return None
    axes = terms.numbers(args[3]) if len(args) > 3 and args[3] is not None else range(rank)
    # A list of another length is invalid, and an invalid node has no result to replace.
    fits = axes is not None and len(numbers) == 2 * len(set(axes))
    return [args[0]] if fits else None


@canonical_form("Resize")
def resize(terms: Terms, head: Head, args: Args, count: int) -> Sequence[Term | None] | None:
    """Drop a Resize to the nearest pixels in the same size. Interpolation multiplies a pixel by 0,
    which makes NaN of infinity."""
    (x, _, scales, sizes), rank = (*args, None, None, None)[:4], rank_of(args[0])
    positions = head.text("coordinate_transformation_mode")
    if x is None or rank is None or head.opset < 11 or head.text("mode") != "nearest":
        return None
    if positions not in _EXACT_POSITIONS or head.attribute("axes") or head.attribute("antialias"):
        return None
    if sizes is not None:
        content = sizes.fact.content
        same = content is not None and tuple(content.reshape(-1)) == x.shape
        return [x] if same else None
    tensor = terms.tensor(scales)
    same = tensor is not None and list(tensor.dims) == [rank] and bool((tensor.numpy() == 1).all())
    return [x] if same else None


@canonical_form("Split")
def split(terms: Terms, head: Head, args: Args, count: int) -> Sequence[Term | None] | None:
    """Drop a Split into one part, which must be as long as the axis."""
    sizes = args[1] if len(args) > 1 else None
    if head.outputs != 1 or head.attribute("num_outputs", 1) != 1 or args[0] is None:
        return None
    shape, axis = args[0].fact.shape, head.attribute("axis")
    if not shape or not -len(shape) <= axis < len(shape):
        return None
    listed = None if sizes is None else vector(sizes.fact)
    same = sizes is None or (listed is not None and list(listed) == [shape[axis]])
    # Before opset 13 the lengths are an attribute, which is not compared with the axis here.
    return [args[0]] if same and not head.attribute("split") else None


@canonical_form(*REDUCTIONS)
def reduction(terms: Terms, head: Head, args: Args, count: int) -> Sequence[Term | None] | None:
    """Drop a reduction of axes of length 1, or of none: each result is one number."""
    x = args[0]
    is_whole = x is not None and x.fact.elem_type in INTEGER_BITS
    if head.name not in (_OF_ONE_INTEGER if is_whole else _OF_ONE):
        return None
    single = reduction_of_one(terms, head, args)
    return None if single is None else [single]


def reduction_of_one(terms: Terms, head: Head, args: Args) -> Term | None:
    """Operand of a reduction of axes of length 1, reshaped to its result."""
    x, shape = args[0], None if args[0] is None else args[0].fact.shape
    if x is None or shape is None:
        return None
    listed = head.attribute("axes")
    axes = listed if listed or len(args) < 2 else terms.numbers(args[1])
    if not axes and head.attribute("noop_with_empty_axes"):
        return None if axes is None and len(args) > 1 and args[1] is not None else x
    # Axes that are no constant may be any; only absent ones mean all.
    if axes is None and len(args) > 1 and args[1] is not None:
        return None
    places = axes or range(len(shape))
    if not all(-len(shape) <= axis < len(shape) and shape[axis].value == 1 for axis in places):
        return None
    dropped = set() if head.attribute("keepdims") else {axis % len(shape) for axis in places}
    return terms.view(x, tuple([dim for axis, dim in enumerate(shape) if axis not in dropped]))


@canonical_form("CumSum")
def cumulative_sum(
    terms: Terms, head: Head, args: Args, count: int
) -> Sequence[Term | None] | None:
    """Drop a CumSum along an axis of length 1; one from behind adds reversed values."""
    (x, axis), numbers = args, terms.numbers(args[1])
    rank = rank_of(x)
    if x is None or axis is None or rank is None or numbers is None or len(numbers) != 1:
        return None
    if head.attribute("reverse") and -rank <= numbers[0] < rank:
        place = numbers[0] % rank
        values = backward(terms, x, place)
        exclusive = head.attribute("exclusive")
        total = terms.op("CumSum", 14, values, axis, reverse=0, exclusive=exclusive)
        return [backward(terms, total, place)]
    # An exclusive sum begins with 0, also along an axis of length 1.
    if head.attribute("exclusive"):
        return None
    same = -rank <= numbers[0] < rank and x.shape[numbers[0]].value == 1
    return [x] if same else None


@canonical_form("Trilu")
def triangle(terms: Terms, head: Head, args: Args, count: int) -> Sequence[Term | None] | None:
    """Omit the diagonal 0, which is the default."""
    numbers = terms.numbers(args[1]) if len(args) > 1 else None
    return terms.apply(head, args[:1], count) if numbers == [0] else None
