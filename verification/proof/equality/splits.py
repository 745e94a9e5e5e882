"""Split into equal parts, and by number of parts, where both have outputs."""

from ..canonicalize.attribute_to_input import lengths_of
from ..terms.term import Pair, Term
from ..terms.term_manager import Terms


def equal_parts(terms: Terms, one: Term, other: Term) -> list[Pair] | None:
    """Pairs that suffice for parts of two tensors to be equal. Equal parts exist only if their
    number divides the length of the axis, so that the last of rounded parts is as long."""
    if not (one.is_op("Split") and other.is_op("Split")) or one.index != other.index:
        return None
    equal, rounded = (one, other) if len(one.args) < len(other.args) else (other, one)
    parts, axis = equal.head.outputs, equal.head.attribute("axis")
    if (len(equal.args), len(rounded.args)) != (1, 2) or rounded.head.outputs != parts:
        return None
    if rounded.head.attribute("axis") != axis or axis is None or axis < 0:
        return None
    lengths = lengths_of(terms, rounded.head, rounded.args[0], parts)
    if lengths is None or lengths is not rounded.args[1]:
        return None
    return [(one.operands[0], other.operands[0])]
