"""Memory limits of batched values."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from ...analysis.peak_memory import bytes_of
from ...analysis.shapes.inference import ShapeInference
from ...analysis.shapes.single_node_model import reads_of
from ...facts.fact import Fact, is_named
from ...facts.polynomial import Dimension
from ...ir import Value
from ...limits import limit
from ...ops.batching import Unbatchable
from .loop_view import LoopView

ROW_BYTES = limit("row_bytes")

_OPEN_ITERATIONS = 1 << 12
"""The iterations of which a block holds all values, where only run time tells how many there
are."""
_IN_BLOCKS = "is large for all iterations, and is left to blocks of them"


@dataclasses.dataclass(frozen=True)
class MemoryBounds:
    """Size limits of batched values.

    Attributes:
        max_bytes: the limit of the whole value, where all sizes are known.
        row_bytes: the limit of one iteration's value, for a trip count known only at run time.
        block_bytes: the size of a block of iterations that block-loops computes; then values that
            outgrow it and the loop's inputs and outputs are over the limit, too. 0 for no blocks.
    """

    max_bytes: int = 1 << 28
    row_bytes: int = ROW_BYTES
    block_bytes: int = 0


class IterationMemory:
    """The check of a loop's batched values against limits.

    Args:
        loop_view: the loop.
        inference: the facts of the model's values.
        bounds: the limits.

    Attributes:
        refused: true after a value over `row_bytes` with an unknown trip count.
    """

    def __init__(
        self, loop_view: LoopView, inference: ShapeInference, bounds: MemoryBounds
    ) -> None:
        self._loop_view = loop_view
        self._inference = inference
        self._bounds = bounds
        self._open: list[Dimension] = []
        self.refused = False

    def require(self, what: str, fact: Fact, iterations: int | None) -> None:
        """Check the size of a batched value.

        Args:
            what: the start of the message, which names the producer.
            fact: the fact of one iteration's value.
            iterations: the maximum trip count; None if known only at run time.

        Raises:
            Unbatchable: a value over the limit.
        """
        row = bytes_of(fact)
        if row is None:
            return
        if self._bounds.block_bytes and self._outgrows(row, iterations):
            raise Unbatchable(f"{what}, which {_IN_BLOCKS}")
        # An unknown size is no reason to refuse; `growth` tells of it.
        if row.value is None:
            self._open.append(row)
        elif iterations is None:
            # All rows of a scan output are held anyway.
            if row.value > max(self._bounds.row_bytes, self._largest_output):
                self.refused = True
                raise Unbatchable(
                    f"{what}, of which one iteration takes {row.value} bytes, over"
                    f" row_bytes={self._bounds.row_bytes} for an open"
                    " trip count"
                )
        elif iterations * row.value > self._bounds.max_bytes:
            raise Unbatchable(
                f"{what}, of which all iterations take {iterations * row.value} bytes, over"
                f" max_bytes={self._bounds.max_bytes}"
            )

    def _outgrows(self, row: Dimension, iterations: int | None) -> bool:
        """Test for rows that outgrow a block, and the inputs and outputs of the loop."""
        block = self._bounds.block_bytes
        if row.value is not None:
            most = block // (_OPEN_ITERATIONS if iterations is None else max(iterations, 1))
            return row.value > max(most, self._largest_output)
        stacked = [one.result for one in self._loop_view.scan_outputs]
        scanned = [one.argument for one in self._loop_view.scan_inputs]
        rows = list(self._sizes([*stacked, *scanned]))
        return not all(any(_grows_as(size, term) for size in rows) for term in row.terms)

    @property
    def _largest_output(self) -> int:
        """The bytes of an iteration's largest scan output."""
        around = self._loop_view.around
        return self._largest(
            one.result
            for one in self._loop_view.scan_outputs
            if one.output is not None and around.is_used(one.output)
        )

    def enough(self) -> int:
        """The limit that allows each value of the body."""
        nodes = (node for graph in self._loop_view.body.walk() for node in graph.nodes())
        return self._largest(value for node in nodes for value in node.outputs)

    def _largest(self, values: Iterable[Value | None]) -> int:
        return max([size.value or 0 for size in self._sizes(values)], default=0)

    def growth(self, iterations: Dimension | None) -> str | None:
        """Describe how memory grows with unknown sizes, for a remark.

        None where an input or output of the loop grows as fast.

        Args:
            iterations: the trip count; None if it is no size.
        """
        rows = [row for row in self._open if is_named(row)]
        if not rows or iterations is None or not is_named(iterations):
            return None
        products = [row * iterations for row in rows]
        every = max(products, key=lambda size: max(map(len, size.terms), default=0))
        term, node = max(every.terms, key=len, default=()), self._loop_view.node
        around = [*reads_of(node), *node.outputs]
        if not term or any(_grows_as(size, term) for size in self._sizes(around)):
            return None
        return f"values of all of them take {every} bytes"

    def _sizes(self, values: Iterable[Value | None]) -> list[Dimension]:
        sizes = [bytes_of(self._inference.fact(value)) for value in values if value is not None]
        return [size for size in sizes if size is not None]


def _grows_as(size: Dimension, term: tuple[str, ...]) -> bool:
    """Test whether a term of a size holds all symbols of another term."""
    return any(all(one.count(name) >= term.count(name) for name in term) for one in size.terms)
