"""Memory of values that are computed for all iterations of a loop at once."""

from __future__ import annotations

import dataclasses

import onnx

from ...analysis.shapes.inference import ShapeInference
from ...facts.fact import Fact, is_named
from ...facts.polynomial import Dimension, product
from ...ir import Value, captured_by
from ...limits import limit
from ...ops.batching import Unbatchable
from .loop_view import Repetition

ROW_BYTES = limit("row_bytes")


@dataclasses.dataclass(frozen=True)
class MemoryBounds:
    """Bounds on values that are computed for all iterations at once.

    Attributes:
        max_bytes: of the values of all iterations, where all sizes are known.
        row_bytes: of the value of one iteration, where only run time tells how many there are.
    """

    max_bytes: int = 1 << 28
    row_bytes: int = ROW_BYTES


def bytes_of(fact: Fact) -> Dimension | None:
    """The bytes of a tensor; None where its rank or element type is not known."""
    if fact.shape is None or not fact.elem_type:
        return None
    return product(fact.shape) * onnx.helper.tensor_dtype_to_np_dtype(fact.elem_type).itemsize


class IterationMemory:
    """Holds the values of a loop that are computed for all iterations at once to bounds.

    Args:
        repetition: the loop.
        inference: facts about the model's values.
        bounds: the bounds.

    Attributes:
        refused: whether a value was too large for an open number of iterations.
    """

    def __init__(
        self, repetition: Repetition, inference: ShapeInference, bounds: MemoryBounds
    ) -> None:
        self._repetition = repetition
        self._inference = inference
        self._bounds = bounds
        self._open: list[Dimension] = []
        self.refused = False

    def require(self, what: str, fact: Fact, iterations: int | None) -> None:
        """Check that the values of all iterations are not too large.

        Args:
            what: makes the value; the reason begins with it.
            fact: about the value of one iteration.
            iterations: how many there are at most; None where only run time tells.

        Raises:
            Unbatchable: they are too large.
        """
        row = bytes_of(fact)
        if row is None:
            return
        if row.value is None:
            self._open.append(row)
        elif iterations is None:
            if row.value > max(self._bounds.row_bytes, self._given_out):
                self.refused = True
                raise Unbatchable(
                    f"{what}, of which one iteration takes {row.value} bytes, over"
                    f" row_bytes={self._bounds.row_bytes}, and only run time tells how many there"
                    " are"
                )
        elif iterations * row.value > self._bounds.max_bytes:
            raise Unbatchable(
                f"{what}, of which all trips take {iterations * row.value} bytes, over"
                f" max_bytes={self._bounds.max_bytes}"
            )

    @property
    def _given_out(self) -> int:
        """Bytes of the largest value that the loop gives out for each iteration anyway."""
        around = self._repetition.around
        found = [
            bytes_of(self._inference.fact(one.result))
            for one in self._repetition.stacked
            if one.output is not None and around.is_used(one.output)
        ]
        return max([0, *(size.value for size in found if size is not None and size.value)])

    def enough(self) -> int:
        """A limit that allows each value of the body."""
        sizes = [
            bytes_of(self._inference.fact(value))
            for graph in self._repetition.body.walk()
            for node in graph.nodes()
            for value in node.outputs
            if value is not None
        ]
        return max([0, *(size.value for size in sizes if size is not None and size.value)])

    def growth(self, iterations: Dimension | None) -> str | None:
        """How the memory of all iterations grows with open sizes, for a remark; None where an input
        or output of the loop grows as fast.

        Args:
            iterations: how many there are; None where that is no size.
        """
        named = [row for row in self._open if is_named(row)]
        if not named or iterations is None or not is_named(iterations):
            return None
        every = max([row * iterations for row in named], key=_degree)
        term = max(every.terms, key=len, default=())
        if not term or any(_grows_as(size, term) for size in self._sizes_around()):
            return None
        return f"values of all of them take {every} bytes"

    def _sizes_around(self) -> list[Dimension]:
        node = self._repetition.node
        values: list[Value | None] = [*node.inputs, *captured_by(node), *node.outputs]
        sizes = [bytes_of(self._inference.fact(value)) for value in values if value is not None]
        return [size for size in sizes if size is not None]


def _degree(size: Dimension) -> int:
    return max(map(len, size.terms), default=0)


def _grows_as(size: Dimension, term: tuple[str, ...]) -> bool:
    """Whether a term of a size holds all symbols of another term."""
    return any(all(one.count(name) >= term.count(name) for name in term) for one in size.terms)
