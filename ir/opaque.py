"""Opaque constants: they record reads of their elements and their own computation."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from .tensor import BLOCK, Array, Tensor, TensorMessage

Compute = Callable[[Sequence[Tensor | None]], list[Tensor] | None]
"""Computes results from operands; None where it does not."""


class Reads:
    """A note of whether the elements of some constants decided anything.

    Attributes:
        any: some were read, other than as operands of a computation that takes the same course
            with all elements.
    """

    def __init__(self) -> None:
        self.any = False


class Recipe(NamedTuple):
    """The computation of a constant.

    Attributes:
        compute: computes it, and other results, from operands.
        position: its position among the results.
    """

    compute: Compute
    operands: Sequence[Tensor | None]
    position: int


class OpaqueTensor(Tensor):
    """A constant, with the notes to write when its elements are read.

    Args:
        tensor: the constant; its own notes stay.
        recipe: its computation from other constants; None for one that was not computed.
    """

    __slots__ = ("_tensor", "notes", "recipe")

    def __init__(
        self, tensor: Tensor, notes: Iterable[Reads] = (), recipe: Recipe | None = None
    ) -> None:
        super().__init__(tensor._message, tensor._array, tensor.base_dir)
        self._tensor = transparent(tensor)
        self.notes = frozenset(notes) | notes_of((tensor,))
        self.recipe = recipe

    def read(self) -> Tensor:
        """Note that the elements are read, and return the constant without notes."""
        for note in self.notes:
            note.any = True
        return self._tensor

    def message(self) -> TensorMessage:
        """Note the read, and return the message."""
        return self.read().message()

    def raw_data(self) -> bytes:
        """Note the read, and return the bytes."""
        return self.read().raw_data()

    def numpy(self) -> Array:
        """Note the read, and return the elements."""
        return self.read().numpy()

    def content(self, block: int = BLOCK) -> Iterator[memoryview]:
        """Note the read, and return the blocks."""
        return self.read().content(block)


def transparent(tensor: Tensor) -> Tensor:
    """Return a constant without its notes."""
    return tensor._tensor if isinstance(tensor, OpaqueTensor) else tensor


def notes_of(tensors: Iterable[Tensor | None]) -> frozenset[Reads]:
    """Collect the notes of constants."""
    return frozenset().union(*(t.notes for t in tensors if isinstance(t, OpaqueTensor)))


def recompute(tensor: Tensor, note: Reads, sources: dict[Tensor, Tensor | None]) -> Tensor | None:
    """Compute a constant again from other sources; None where that fails.

    Args:
        sources: the original constants with the note, and their replacements; recomputed ones are
            added.
    """
    if not isinstance(tensor, OpaqueTensor) or note not in tensor.notes:
        return tensor
    if tensor not in sources:
        recipe, operands = tensor.recipe, list[Tensor | None]()
        assert recipe is not None
        for operand in recipe.operands:
            operands.append(None if operand is None else recompute(operand, note, sources))
            # None for a present operand: it could not be computed.
            if operand is not None and operands[-1] is None:
                return None
        results = recipe.compute(operands)
        sources[tensor] = None if results is None else results[recipe.position]
    return sources[tensor]
