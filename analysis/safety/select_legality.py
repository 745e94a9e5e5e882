"""Legality of a select between two values: tensors of one type and shape."""

from ...facts.fact import Fact, Shape
from ...facts.safety_context import shown as shown_dim
from ...ir.option_names import by
from ...ops.schema_queries import type_obstacle

_OLDEST_OPSET = 9


def without_select(opset: int) -> str | None:
    """The obstacle to any select in an opset; None if there is none."""
    if opset >= _OLDEST_OPSET:
        return None
    return f"opset {opset} has no Where; convert to opset {_OLDEST_OPSET} first"


def unselectable(one: Fact, other: Fact, opset: int) -> str | None:
    """The obstacle to a select between two values with these facts; None if there is none.

    The answer continues a sentence that begins with the value: "'y' differs in shape: ...".
    """
    if one.other is not None or other.other is not None:
        return "is a sequence or optional, which no operator selects"
    if not one.elem_type or one.elem_type != other.elem_type:
        return "is of unknown type"
    reason = type_obstacle(["Where"], one.elem_type, opset, "If")
    if reason is not None:
        return reason
    if one.shape is None or other.shape is None:
        return f"is of unknown shape; fix the shapes of inputs with {by('--shape')}"
    if one.shape != other.shape:
        return f"differs in shape, or may: {shape_text(one.shape)} and {shape_text(other.shape)}"
    return None


def shape_text(shape: Shape) -> str:
    """Format a shape for messages."""
    return f"[{', '.join(shown_dim(dim) for dim in shape)}]"
