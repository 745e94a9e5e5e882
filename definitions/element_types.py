"""Element types by the names that patterns use."""

import onnx

_Type = onnx.TensorProto
FLOATS = (_Type.FLOAT, _Type.DOUBLE, _Type.FLOAT16)
SIGNED = (_Type.INT64, _Type.INT32, _Type.INT8, _Type.INT16)
UNSIGNED = (_Type.UINT8, _Type.UINT16, _Type.UINT32, _Type.UINT64)
UNIVERSE: tuple[int, ...] = (*FLOATS, *SIGNED, *UNSIGNED, _Type.BOOL)
"""The element types that rules are for, the most common first."""

GROUPS: dict[str, tuple[int, ...]] = {
    "floats": FLOATS,
    "integers": (*SIGNED, *UNSIGNED),
    "signed": SIGNED,
    "numbers": (*FLOATS, *SIGNED, *UNSIGNED),
}
NUMBERS = {f"tensor({_Type.DataType.Name(number).lower()})": number for number in UNIVERSE}


def types_named(name: str) -> tuple[int, ...] | None:
    """The element types of a name such as "float" or "integers"; None for another name."""
    if name in GROUPS:
        return GROUPS[name]
    number = NUMBERS.get(f"tensor({name})")
    return None if number is None else (number,)
