"""Dropout: its ratio, its mask, and the training mode.

- 1: `ratio` is an attribute, the mask has the type of the data; it draws where `is_test` = 0.
- 7: inference only.
- 10: the mask is a bool.
- 12: `ratio` and `training_mode` are inputs, and `seed` fixes what is drawn in training.
- 13 and 22: more types.
"""

from ...ir import Value
from ..attribute_to_input import Move, move_attributes
from ..registry import AdapterResult, NodeDraft, downgrade, harmless, upgrade


@upgrade(7, "Dropout")
def require_test(draft: NodeDraft) -> None:
    """Opset 7: inference only."""
    if not draft.attribute("is_test"):
        draft.refuse("without is_test = 1 it draws at random, which opset 7 does not support")
    draft.drop("is_test")


@upgrade(10, "Dropout")
@downgrade(10, "Dropout")
def refuse_mask(draft: NodeDraft) -> None:
    """Refuse a used mask, whose type is bool from opset 10 on."""
    if draft.is_used(1):
        draft.refuse("its mask is used, which has another type in the other version")


@downgrade(12, "Dropout")
def require_inference(draft: NodeDraft) -> AdapterResult:
    """Opset 11: inference only, which returns the input for any ratio."""
    if draft.input(2) is not None:
        training = draft.required_constant(2, "the training mode")
        if training.any():
            draft.refuse(
                "a Dropout in training mode draws at random, which opset 11 does not support"
            )
        draft.set_input(2, None)
    if draft.input(1) is not None and draft.constant(1) is None:
        draft.set_input(1, None)
    return _with_constant_mask(draft) if draft.is_used(1) else None


def _with_constant_mask(draft: NodeDraft) -> list[Value]:
    """Emit the mask of an inference, which is true everywhere from opset 12 on.

    Before, runtimes differ. The mask is Not (x < x), which opset 7 supports too.
    """
    ratio = draft.constant(1)
    share = 0.5 if ratio is None else float(draft.one_number(ratio, "'ratio'"))
    passed = draft.emit("Dropout", [draft.input(0)], ratio=share)
    never = draft.emit("Less", [draft.input(0), draft.input(0)], "never")
    return [passed, draft.emit("Not", [never], "mask")]


move_attributes(12, "Dropout", moves=[Move("ratio", 1, "float", absent=0.5)])
# It fixes the random numbers of a training mode that is refused.
harmless("Dropout", attribute="seed")
