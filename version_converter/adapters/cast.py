"""Cast and CastLike: the type of an attribute, or of another tensor.

- 1: the attribute `to` names a type.
- 6: it is the number of a type.
- 15: CastLike takes the type from input 1.
- 19: 8-bit floats, and `saturate`, for these only.
- 24: float8e8m0, and `round_mode`, for it only.
- 9, 13, 21, 23, 25 and 28: more types.
"""

import onnx

from ...ir import Value
from ..registry import NodeDraft, downgrade, harmless, upgrade


@upgrade(6, "Cast")
def number_the_type(draft: NodeDraft) -> None:
    """Opset 6: the number of a type in the place of its name."""
    number = dict(onnx.TensorProto.DataType.items()).get(draft.text("to").upper())
    if number is None:
        draft.refuse(f"there is no type '{draft.text('to')}'")
    draft.set("to", number)


@downgrade(15, "CastLike")
def cast_to_known_type(draft: NodeDraft) -> list[Value]:
    """Opset 14: Cast to the known type of input 1."""
    elem_type = draft.elem_type(1)
    if elem_type is None:
        draft.refuse("the type to cast to is not known; declare the type of input 1")
    return [draft.emit("Cast", [draft.input(0)], attributes=draft.attributes, to=elem_type)]


# Both matter for 8-bit floats only, which the older versions do not support at all.
harmless("Cast", "CastLike", attribute="saturate")
harmless("Cast", "CastLike", attribute="round_mode")
