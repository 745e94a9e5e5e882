"""Reshape: zeros in the target shape.

- 1: floats; the target shape is an attribute, in which a zero is the dimension of the input.
- 5: the target shape is an input.
- 14: a dimension of zero with `allowzero` = 1.
- 13, 19, 21, 23, 24 and 25: more types.

    y = Reshape <allowzero = 1> (x, shape)
->  (opset 14 to 13, where the shape is computed at run time and may have a zero)
    y = Slice (Reshape (Concat (x as a vector, padding for ones in the place of zeros),
                        shape with ones in the place of zeros),
               zeros, shape)

    y = Reshape <allowzero = 1> (x[N, 1, T, 6], [N, T, -1, 3])
->  (opset 14 to 13, where a size that may be zero stands in the order of the input's)
    y = Squeeze (Reshape (x, [0, 1, 0, 2, 3]), [1])
"""

import itertools
from collections.abc import Sequence
from typing import NamedTuple

from ...facts.polynomial import Dimension, product
from ...ir import Value
from ...ops.axes import ONE
from ..attribute_to_input import Move, move_attributes
from ..form import writes
from ..registry import AdapterResult, NodeDraft, downgrade, longer_form
from ..snippets import reshape_with_zeros

move_attributes(5, "Reshape", moves=[Move("shape", 1, "ints")])


@downgrade(14, "Reshape", where=writes("allowzero"))
def drop_allowzero(draft: NodeDraft) -> AdapterResult:
    """Before opset 14: a zero in the target shape copies the input's dimension."""
    if not draft.attribute("allowzero"):
        return None
    sizes, target = draft.types.dimensions(draft.data) or (), _target(draft)
    whole = None if target is None else _aligned(sizes, _without_rest(sizes, target))
    layout = None if target is None else _aligned(sizes, target)
    # Without the -1 only where constants can say all of it.
    if whole is not None and None not in whole.numbers(sizes):
        layout = whole
    if layout is None:
        draft.refuse("a dimension of 0 with allowzero = 1 does not exist in opset 13")
    if layout.target == target and not layout.unsqueezed:
        draft.drop("allowzero")
        return None
    return [_reshape(draft, layout, layout.numbers(sizes))]


def _target(draft: NodeDraft) -> list[Dimension] | None:
    """The target shape; None where an element is unknown."""
    constant = draft.constant(1)
    if constant is not None:
        return [Dimension.constant(size) for size in constant.reshape(-1).tolist()]
    elements = draft.types.elements(draft.required(1))
    return None if elements is None or None in elements else elements


def _without_rest(sizes: Sequence[Dimension], target: list[Dimension]) -> list[Dimension]:
    """A target shape with a size in the place of -1.

    Runtimes without allowzero stop at -1 beside a size of zero.
    """
    others = product(size for size in target if size.value != -1)
    rest = None if others.value is not None else product(sizes).divided_by(others)
    return target if rest is None else [rest if s.value == -1 else s for s in target]


class _Layout(NamedTuple):
    """Shapes with axes of length 1 that align sizes.

    Each size of the target that may be zero stands at the place of one of the input's that is zero
    then.

    Attributes:
        unsqueezed: the new axes of the input.
        target: the target shape with its new axes.
        squeezed: the new axes of the target shape.
    """

    unsqueezed: list[int]
    target: list[Dimension]
    squeezed: list[int]

    def numbers(self, sizes: Sequence[Dimension]) -> list[int | None]:
        """The elements of the target that numbers and zeros can write; None for the others."""
        padded = list(sizes)
        for axis in self.unsqueezed:
            padded.insert(axis, ONE)
        return [
            0 if size.value is None and size.equals(own) else size.value
            for size, own in itertools.zip_longest(
                self.target, padded[: len(self.target)], fillvalue=ONE
            )
        ]


def _aligned(sizes: Sequence[Dimension], target: Sequence[Dimension]) -> _Layout | None:
    """The layout for a target shape; None where no order of the axes allows one."""
    layout = _Layout([], [], [])
    source = 0
    for size in target:
        # Only a size that may be 0 needs a place where a 0 copies it.
        if size.equals(0) is not False:
            # The copied size is certainly zero where this one is.
            while source < len(sizes) and not (
                sizes[source] == size or sizes[source].vanishes_with(size)
            ):
                source += 1
            if source == len(sizes):
                return None
            place, here = source + len(layout.unsqueezed), len(layout.target)
            layout.unsqueezed.extend(range(place, here))
            layout.squeezed.extend(range(here, place))
            layout.target.extend([ONE] * (place - here))
            source += 1
        layout.target.append(size)
    return layout


def _reshape(draft: NodeDraft, layout: _Layout, numbers: Sequence[int | None]) -> Value:
    """Reshape by a layout, with the elements of its target that are numbers."""
    data, shape = draft.data, _shape(draft, layout, numbers)
    if layout.unsqueezed:
        data = draft.unsqueeze(data, layout.unsqueezed)
    reshaped = draft.emit("Reshape", [data, shape], "reshaped")
    return draft.along("Squeeze", reshaped, layout.squeezed) if layout.squeezed else reshaped


def _shape(draft: NodeDraft, layout: _Layout, numbers: Sequence[int | None]) -> Value:
    """The target shape of a layout: a constant, the target as it was, or that with ones in it."""
    constant = [number for number in numbers if number is not None]
    if len(constant) == len(numbers):
        return draft.ints(constant, "shape")
    target = draft.required(1)
    if not layout.squeezed:
        return target
    count = len(numbers) - len(layout.squeezed)
    own = iter(range(count))
    places = [count if p in layout.squeezed else next(own) for p in range(len(numbers))]
    pool = draft.emit("Concat", [target, draft.ints([1], "one")], "pool", axis=0)
    return draft.emit("Gather", [pool, draft.ints(places, "places")], "shape", axis=0)


@longer_form(14, "Reshape")
def reshape_then_slice(draft: NodeDraft) -> AdapterResult:
    """Below opset 14, run-time shapes: ones in the place of zeros, padded, then sliced.

    Without allowzero, a known shape is a constant.
    """
    if not draft.attribute("allowzero"):
        target, sizes = _target(draft), draft.types.dimensions(draft.data) or ()
        numbers = [] if target is None else [s.value for s in target if s.value is not None]
        if target is not None and len(numbers) == len(target):
            return [draft.emit("Reshape", [draft.data, draft.ints(numbers, "shape")])]
        pairs = itertools.zip_longest(target or (), sizes[: len(target or ())])
        if target is None or any(_may_copy(size, own) for size, own in pairs):
            draft.refuse("a zero of its shape may copy a size")
    return [reshape_with_zeros(draft, draft.data, draft.required(1))]


def _may_copy(size: Dimension, own: Dimension | None) -> bool:
    """Test for a size that may be 0 where the input's own one is another."""
    return size.equals(0) is not False and size != own
