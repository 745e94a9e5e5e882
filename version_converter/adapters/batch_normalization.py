"""BatchNormalization: inference and training.

- 1: it trains where `is_test` = 0; `spatial` = 0 normalises each element apart.
- 7: it trains where it has more than one output.
- 9: `spatial` is gone.
- 14: `training_mode` says whether it trains, and two of the four statistics are left; bfloat16.
- 15: scale and bias, and the statistics, may have types of their own.

    y, _, _, _, _ = BatchNormalization (x, scale, bias, mean, variance)
->  (opset 13 to 14)
    y, _, _ = BatchNormalization <training_mode = 1> (x, scale, bias, mean, variance)
"""

import onnx

from ..form import OperatorForm
from ..registry import AdapterResult, NodeDraft, downgrade, upgrade

_TRAINING_OUTPUTS = 5

_OWN_STATISTICS = 14
"""The opset from which on statistics may have a type of their own."""


def _gives_statistics(form: OperatorForm) -> bool:
    return form.outputs > 1


@upgrade(7, "BatchNormalization")
def train_by_outputs(draft: NodeDraft) -> AdapterResult:
    """Opset 7: it normalizes by the statistics of the batch where it returns them."""
    trains, outputs = not draft.attribute("is_test"), draft.node.outputs
    draft.drop("is_test")
    if trains == (len(outputs) == _TRAINING_OUTPUTS):
        return None
    if trains:
        draft.refuse(
            "without is_test = 1 it normalizes by the statistics of the batch, which opset 7 does"
            " with five outputs only"
        )
    if any(draft.is_used(index) for index in range(1, len(outputs))):
        draft.refuse("its statistics are used, which is_test = 1 leaves undefined")
    return [draft.emit(draft.op_type, draft.inputs, attributes=draft.attributes)]


@upgrade(14, "BatchNormalization", where=_gives_statistics)
@upgrade(9, "BatchNormalization", where=_gives_statistics)
def refuse_training_outputs(draft: NodeDraft) -> None:
    """Outputs beyond the first meant training, in ways that later versions changed."""
    if any(draft.is_used(index) for index in range(1, len(draft.node.outputs))):
        draft.refuse("its outputs are training statistics, whose meaning changed")


@upgrade(14, "BatchNormalization", where=_gives_statistics)
def train_by_attribute(draft: NodeDraft) -> AdapterResult:
    """Opset 14: an attribute, not unread outputs, normalizes by the statistics of the batch."""
    outputs = ["", "mean", "variance"]
    attributes = draft.attributes
    return draft.emit_all(
        draft.op_type, draft.inputs, outputs, attributes=attributes, training_mode=1
    )


@downgrade(15, "BatchNormalization")
def normalize_in_one_type(draft: NodeDraft) -> AdapterResult:
    """Opset 14: operands of several types are normalized in the widest, and the result rounded."""
    own, statistics = draft.elem_type(0), draft.elem_type(3)
    types = {draft.elem_type(index) for index in range(5)}
    if own is None or statistics is None or None in types or len(types) == 1:
        return None
    if own == draft.elem_type(1) and draft.final >= _OWN_STATISTICS:
        return None
    double = onnx.TensorProto.DOUBLE
    wide = double if double in types else onnx.TensorProto.FLOAT
    for index in range(5):
        draft.set_input(index, draft.as_type(draft.required(index), wide))
    labels = ["values", "mean", "variance"][: len(draft.node.outputs)]
    results = draft.emit_all(draft.op_type, draft.inputs, labels, attributes=draft.attributes)
    kinds = (own, statistics, statistics)
    return [draft.as_type(value, kind) for value, kind in zip(results, kinds, strict=False)]
