"""Round: to the nearest integer, halves to the even one.

- 11: the operator appears.
- 22: bfloat16.
"""

from ..registry import AdapterResult, NodeDraft, longer_form
from ..snippets import round_half_even


@longer_form(11, "Round")
def round_by_distance(draft: NodeDraft) -> AdapterResult:
    """Below opset 11: Floor or Ceil, by the distance to the integer below."""
    return [round_half_even(draft, draft.data, draft.required_dtype(0, "a half"))]
