"""Constant: types and forms of its value.

- 1: a dense tensor of floats.
- 9: a dense tensor of any type.
- 11: a sparse tensor too.
- 12: numbers and strings too, and lists of them.
- 13, 19, 21, 23, 24 and 25: more types.
"""

from ...ir import Function, Tensor, constant_operator
from ..registry import AdapterResult, NodeDraft, downgrade


@downgrade(9, "Constant")
def replace_by_initializer(draft: NodeDraft) -> AdapterResult:
    """Before opset 9 a Constant holds floats; an initializer holds anything."""
    value = draft.node.outputs[0]
    if value is None or value.constant is None or draft.takes_constant(value.constant):
        return None
    if isinstance(draft.graph.root, Function):
        return [draft.cast_constant(value.constant, value.name)]
    return [draft.graph.add_initializer(value.name, value.constant)]


@downgrade(11, "Constant")
@downgrade(12, "Constant")
def convert_value(draft: NodeDraft) -> None:
    """Before opset 12 a Constant has no numbers and strings of its own, only tensors; before opset
    11 only dense ones."""
    if "value" in draft.attributes or ("sparse_value" in draft.attributes and draft.source == 12):
        return
    sparse, value = draft.attributes.get("sparse_value"), draft.node.output()
    tensor = value.constant if sparse is None else Tensor(sparse.sparse_tensor)
    if tensor is None:
        draft.refuse("its value comes from the calls of the function")
    draft.attributes = dict(constant_operator(tensor).attributes)
