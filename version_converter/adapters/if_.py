"""If: types and shapes of its outputs.

- 1: tensors of the same shapes.
- 11: the shapes may differ.
- 13: sequences.
- 16: optionals, bfloat16.
- 19, 21, 23, 24 and 25: more types.
"""

from ..registry import NodeDraft, downgrade
from ..types import shape_text


@downgrade(11, "If")
def require_equal_shapes(draft: NodeDraft) -> None:
    """Before opset 11: branches with outputs of the same shapes."""
    bodies = (draft.body("then_branch"), draft.body("else_branch"))
    for one, other in zip(bodies[0].outputs, bodies[1].outputs, strict=True):
        a, b = draft.types.shape(one), draft.types.shape(other)
        if a is not None and b is not None and len(a) != len(b):
            kinds = f"'{one.name}' of rank {len(a)} and '{other.name}' of rank {len(b)}"
            draft.refuse(f"its branches return {kinds}, and opset 10 requires one shape")
        pairs = list(zip(a or (), b or (), strict=False))
        if any(x is not None and y is not None and x != y for x, y in pairs):
            shapes = f"the shapes {shape_text(a or ())} and {shape_text(b or ())}"
            draft.refuse(f"its branches return {shapes}, and opset 10 requires one")
        # Where the condition is known, later nodes fit one branch alone: onnx infers one shape for
        # both before opset 11, and refuses these nodes.
        is_open = a is None or b is None or None in (*a, *b)
        if is_open and draft.types.decided(draft.required(0)) is not None:
            why = "and opset 10 requires one shape"
            draft.refuse(f"its condition is known, its branches may return several shapes, {why}")
