"""Small random changes to a message, or to its bytes.

    mutate(message, random.Random(7), names_in(message), other)

A change may drop, double, swap or clear a field, give a name, number or kind another value, or put
there a part of the same type from another message. Most results are no valid models.
"""

import random
from collections.abc import Sequence
from typing import Any, NamedTuple

import onnx
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

INTEGERS = (
    0,
    1,
    -1,
    2,
    3,
    5,
    7,
    8,
    13,
    16,
    999,
    -2,
    2**31 - 1,
    2**31,
    -(2**31),
    2**63 - 1,
    -(2**63),
)
FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, 1e30, float("inf"), float("-inf"), float("nan"))
WORDS = (
    "",
    "x",
    "axis",
    "axes",
    "body",
    "then_branch",
    "else_branch",
    "value",
    "to",
    "perm",
    "ai.onnx",
)
OPERATORS = (
    *("Loop", "If", "Scan", "SequenceMap", "Constant", "Identity", "Add", "Concat", "Cast", "Not"),
    *("Gather", "Shape", "Slice", "Split", "Squeeze", "Unsqueeze", "Reshape", "Range", "Where"),
    *("SequenceAt", "SequenceEmpty", "SequenceInsert", "ConcatFromSequence", "SplitToSequence"),
    *("Optional", "OptionalGetElement", "OptionalHasElement", "Softmax", "Pad", "Upsample",
     "NoSuch"))  # fmt: skip


class Slot(NamedTuple):
    """A field of a message, or one entry of a repeated one."""

    holder: Message
    field: FieldDescriptor
    index: int | None


def pick(message: Message, rng: random.Random) -> Slot | None:
    """A place somewhere in a message, found from the top down; None where it holds nothing."""
    while True:
        fields = message.ListFields()
        if not fields:
            return None
        # Of long lists there is more to change.
        weights = [min(len(value), 20) if f.is_repeated else 1 for f, value in fields]
        ((field, value),) = rng.choices(fields, weights)
        slot = Slot(message, field, rng.randrange(len(value)) if field.is_repeated else None)
        if field.type != FieldDescriptor.TYPE_MESSAGE or rng.random() < 0.2:
            return slot
        if not value_of(slot).ListFields():
            return slot
        message = value_of(slot)


def names_in(message: Message) -> list[str]:
    """Every name of a value that stands in a message."""
    found: list[str] = []
    for field, value in message.ListFields():
        items = value if field.is_repeated else [value]
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            for item in items:
                found += names_in(item)
        elif field.type == FieldDescriptor.TYPE_STRING and field.name in (
            "name",
            "input",
            "output",
        ):
            found += items
    return found


def mutate(message: Message, rng: random.Random, names: Sequence[str], other: Message) -> None:
    """Change a message in one to three places.

    Args:
        names: what a name may become.
        other: where parts may be taken from.
    """
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        slot = pick(message, rng)
        if slot is not None:
            change(slot, rng, names, (message, other))


def change(
    slot: Slot, rng: random.Random, names: Sequence[str], sources: Sequence[Message]
) -> None:
    if slot.field.is_repeated and rng.random() < 0.4:
        change_list(getattr(slot.holder, slot.field.name), slot, rng)
    elif slot.field.type == FieldDescriptor.TYPE_MESSAGE:
        change_message(slot, rng, sources)
    elif slot.index is None and rng.random() < 0.1:
        slot.holder.ClearField(slot.field.name)
    else:
        assign(slot, scalar(slot, rng, names))


def value_of(slot: Slot) -> Any:
    value = getattr(slot.holder, slot.field.name)
    return value if slot.index is None else value[slot.index]


def assign(slot: Slot, value: Any) -> None:
    if slot.index is None:
        setattr(slot.holder, slot.field.name, value)
    else:
        getattr(slot.holder, slot.field.name)[slot.index] = value


def change_list(entries: Any, slot: Slot, rng: random.Random) -> None:
    """Drop, double or swap entries of a repeated field."""
    index, other = slot.index or 0, rng.randrange(len(entries))
    kind = rng.randrange(4)
    if kind == 0:
        del entries[index]
    elif kind == 1:
        entries.append(entries[index])
    elif kind == 2:
        del entries[:]
    elif slot.field.type == FieldDescriptor.TYPE_MESSAGE:
        first = type(entries[index])()
        first.CopyFrom(entries[index])
        entries[index].CopyFrom(entries[other])
        entries[other].CopyFrom(first)
    else:
        entries[index], entries[other] = entries[other], entries[index]


def change_message(slot: Slot, rng: random.Random, sources: Sequence[Message]) -> None:
    """Clear a message, or put there another of its type, from here or from another model."""
    target = value_of(slot)
    if isinstance(target, onnx.AttributeProto) and rng.random() < 0.5:
        change_attribute(target, rng)
        return
    if rng.random() < 0.2:
        target.Clear()
        return
    for _ in range(30):
        other = pick(rng.choice(sources), rng)
        if other is not None and isinstance(value_of(other), type(target)):
            copy = type(target)()
            copy.CopyFrom(value_of(other))
            target.CopyFrom(copy)
            return


def change_attribute(attribute: onnx.AttributeProto, rng: random.Random) -> None:
    """Give an attribute another kind, with or without a value of it."""
    kinds = onnx.AttributeProto.AttributeType
    kind = rng.choice(kinds.values())
    name = attribute.name
    if rng.random() < 0.5:
        attribute.Clear()
        attribute.name = name
    attribute.type = kind
    values = {
        "f": rng.choice(FLOATS),
        "i": rng.choice(INTEGERS),
        "s": b"text",
        "floats": [rng.choice(FLOATS)],
        "ints": [rng.choice(INTEGERS) for _ in range(rng.randrange(3))],
        "strings": [b"a", b"\xff"],
        "ref_attr_name": rng.choice(("k", "axis", "no_such")),
    }
    field = rng.choice(list(values))
    if isinstance(values[field], list):
        getattr(attribute, field).extend(values[field])
    else:
        setattr(attribute, field, values[field])


def scalar(slot: Slot, rng: random.Random, names: Sequence[str]) -> Any:
    """Another value for a field that holds no message."""
    value = value_of(slot)
    if slot.field.enum_type is not None:
        return rng.choice(slot.field.enum_type.values).number
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return integer(slot, value, rng)
    if isinstance(value, float):
        return rng.choice(FLOATS)
    if isinstance(value, bytes) and slot.field.type == FieldDescriptor.TYPE_BYTES:
        return mutate_bytes(value, rng)
    if slot.field.name == "op_type" and rng.random() < 0.7:
        return rng.choice(OPERATORS)
    # A name that stands elsewhere: what is read comes from somewhere else then.
    return rng.choice(names if names and rng.random() < 0.7 else WORDS)


def integer(slot: Slot, value: int, rng: random.Random) -> int:
    """A number near the old one, or one that is special, in the range of the field."""
    small = slot.field.type in (FieldDescriptor.TYPE_INT32, FieldDescriptor.TYPE_SINT32)
    new = rng.choice((*INTEGERS, value + 1, value - 1, -value, value * 2, rng.randrange(30)))
    low, high = (-(2**31), 2**31 - 1) if small else (-(2**63), 2**63 - 1)
    if slot.field.type == FieldDescriptor.TYPE_UINT64:
        low, high = 0, 2**64 - 1
    return min(max(new, low), high)


def mutate_bytes(content: bytes, rng: random.Random) -> bytes:
    """Bytes with one to four of them flipped, written over, inserted, doubled or cut off."""
    changed = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 4))):
        place = rng.randrange(len(changed) + 1)
        kind = rng.randrange(6)
        if kind < 2 and place < len(changed):
            changed[place] ^= 1 << rng.randrange(8)
        elif kind == 2 and place < len(changed):
            changed[place] = rng.randrange(256)
        elif kind == 3:
            changed[place:place] = rng.randbytes(rng.randrange(1, 5))
        elif kind == 4:
            changed[place:place] = changed[place : place + rng.randrange(1, 30)]
        else:
            del changed[place : place + rng.choice((1, 1, 2, 8, len(changed)))]
    return bytes(changed)
