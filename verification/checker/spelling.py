"""One spelling of each operator: attributes as the inputs that they became, axes from the front."""

#     Squeeze <axes = [-1]> (x [n, 1])     Squeeze (x, [1])
#
# Both fail on the same operands, and runtimes infer the same types of both.

from .inference import REDUCED
from .meaning import head_of
from .rows import integers
from .terms import ABSENT, Args, Head, Terms, names

_MOVED: dict[str, tuple[int, list[str]]] = {
    **dict.fromkeys(["Squeeze", "Unsqueeze", "ReduceSum"], (13, ["axes"])),
    "Slice": (10, ["starts", "ends", "axes"]),
    "Split": (18, ["split"]),
}
_MOVED |= {f"Reduce{name}": (18, ["axes"]) for name in REDUCED - {"Sum"}}
# First version with attributes as inputs, and the attributes in the order of these inputs.
REDUCTIONS = [name for name in _MOVED if name.startswith("Reduce")]
_ALONG = names("""ArgMax ArgMin Compress Concat Flatten Gather GatherElements Hardmax
    LayerNormalization LogSoftmax LpNormalization Reshape ScatterElements Softmax Split TopK""")
SPELLED = {*_ALONG, *_MOVED}


def spelled(terms: Terms, head: Head, args: Args) -> tuple[Head, Args]:
    """Head and arguments in the newest spelling that the sizes of the operands allow."""
    if head.name not in _ALONG and head.name not in _MOVED:
        return head, args
    # Values of weights are not read: see `rounded_constant`.
    numbers = terms.numbers((*args, ABSENT)[1]) if head.name in ("Gather", "Reshape") else None
    shape, axis = terms.fact(args[0]).shape, head.attribute("axis")
    rank, (since, lists) = len(shape or ()), _MOVED.get(head.name, (0, []))
    # Before opset 13 a Softmax is one of a matrix: the same if axes of size 1 alone follow.
    if head.name in ("Hardmax", "LogSoftmax", "Softmax") and head.version == 11:
        ends = shape and -rank <= axis < rank and {*shape[axis % rank + 1 :]} <= {1}
        head = head._replace(version=13) if ends or axis == -1 else head
    # Negative indices count from the end from opset 11 on; before, they were out of range.
    if head.name == "Gather" and head.version < 11 and numbers and min(numbers) >= 0:
        head = head_of("Gather", "", 11, head.attributes, 1)
    # A zero alone is another size by that attribute.
    if head.integer("allowzero") and numbers and 0 not in numbers:
        head = head.changed(allowzero=0)
    if head.name in _ALONG and isinstance(axis, int) and -rank <= axis < 0:
        head = head.changed(axis=axis + rank)
    if head.name == "Split" and len(args) == 1 and head.attribute("split") is None:
        size, count, since = (*(shape or ())[head.integer("axis") :], None)[0], head.outputs, 13
        # Parts of an axis that they divide are equal by all versions.
        if isinstance(size, int) and size >= count and size % count == 0:
            head = head.changed(num_outputs=None, split=[size // count] * count)
            head, since = head._replace(version=min(head.version, 13)), 18
    if head.version < since:
        if head.version < 11 and min(head.integers("axes") or [0]) < 0:  # not before opset 11
            return head, args
        values = [head.integers(name) for name in lists] if len(args) == 1 else []
        args = (*args, *[ABSENT if n is None else integers(terms, n) for n in values])
        attributes = head.changed(**dict.fromkeys(lists)).attributes
        head = head_of(head.name, "", since, attributes, head.outputs)
    place, counts = 3 if head.name == "Slice" else 1, since > 0 and head.name != "Split"
    axes = terms.numbers((*args, *[ABSENT] * place)[place]) if counts else None
    is_left_out = axes == [] or (args[place:] or (ABSENT,))[0] == ABSENT
    if head.name in REDUCTIONS and is_left_out and not head.integer("noop_with_empty_axes"):
        axes = [*range(rank)]
    rank += len(axes or ()) if head.name == "Unsqueeze" else 0
    if axes and shape is not None and all(-rank <= axis < rank for axis in axes):
        counted = integers(terms, [axis % rank for axis in axes])
        args = (*args[:place], *[ABSENT] * (place - len(args)), counted, *args[place + 1 :])
    return head, args
