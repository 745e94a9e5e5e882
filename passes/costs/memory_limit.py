"""Predicted peak memory of forms of a model, and the limit for them."""

from ...analysis.iterations.block_places import computes_blocks
from ...analysis.peak_memory import PeakMemory, bytes_of, peak_memory, size_text
from ...analysis.shapes.inference import ShapeInference
from ...ir import Model
from ...records import record

MOST_BYTES = 1 << 30
"""The default limit where sizes are known."""
_LARGE = 1 << 14
"""The number that open sizes count as."""
_MOST_TIMES = 64
"""The limit where sizes are open, in times of the original's memory or of a block."""


_ALL_DEGREES = 99


@record(frozen=True)
class FormMemory:
    """The predicted memory of a form.

    Attributes:
        peak: the peak of computed values; None for a model with too many nodes.
        block: bytes of blocks of iterations besides.
    """

    peak: PeakMemory | None
    block: int

    @classmethod
    def of(cls, model: Model, inference: ShapeInference, block: int) -> "FormMemory":
        """The memory of a model, without products of unnamed sizes, which may be small.

        Args:
            block: the bytes of a block of iterations.
        """
        loops = [node for graph in model.graphs() for node in graph.nodes_of("Loop")]
        blocks = any(computes_blocks(node.body("body")) for node in loops)
        # The sizes of blocks have no names.
        peak = peak_memory(model, inference, private=0 if blocks else 1)
        is_open = blocks and peak is not None and not peak.whole
        return cls(peak, _LIVE * block if is_open else 0)

    @property
    def bytes(self) -> int:
        """The bytes at large open sizes."""
        return 0 if self.peak is None else self.peak.size.at(_LARGE) + self.block

    @property
    def is_open(self) -> bool:
        """Test for open sizes."""
        return self.peak is not None and self.peak.size.value is None

    def __str__(self) -> str:
        if self.peak is None:
            return "too many nodes to predict memory"
        blocks = f" and blocks of {size_text(self.block)}" if self.block else ""
        if len(self.peak.size.terms) <= _MOST_TERMS:
            return f"at most {self.peak}{blocks} of memory"
        size = size_text(self.peak.size.at(_LARGE))
        return f"at most {size}{blocks} of memory where open sizes are {_LARGE}"


_LIVE = 3
"""The values of a block that are alive at a time."""
_MOST_TERMS = 4
"""The limit of terms of a polynomial in messages."""


@record(frozen=True)
class MemoryLimit:
    """The limit of memory of the forms of a model.

    Attributes:
        most: the bytes where sizes are known; 0 for no limit at any sizes.
        open: the bytes where sizes are open, at large ones; None for no limit.
    """

    most: int
    open: int | None

    @classmethod
    def of(cls, model: Model, inference: ShapeInference, most: int, block: int) -> "MemoryLimit":
        """The limit for the forms of a model.

        Args:
            most: the limit where sizes are known, if the model itself takes less; 0 for none.
            block: the bytes of a block of iterations.
        """
        peak = peak_memory(model, inference, private=_ALL_DEGREES)
        if peak is None:
            return cls(0, None)
        sizes = [bytes_of(inference.fact(value)) for value in model.graph.inputs]
        before = peak.size.at(_LARGE)
        inputs = sum(size.at(_LARGE) for size in sizes if size is not None)
        is_whole = peak.whole and None not in sizes
        least = max(before, FormMemory.of(model, inference, block).bytes)
        return cls(
            most and max(most, least),
            _MOST_TIMES * max(least + inputs, block) if is_whole else None,
        )

    def allows(self, memory: FormMemory) -> bool:
        """Test for a form within the limit."""
        limit = self.open if memory.is_open else self.most
        return not self.most or limit is None or memory.bytes <= limit
