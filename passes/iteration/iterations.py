"""The iterations of a Loop or Scan before run time: number, memory, sizes without any."""

from collections.abc import Iterable, Iterator

from ...analysis.iterations.trip_count import skip_identities
from ...analysis.iterations.zero_iterations import ScanElements
from ...analysis.peak_memory import bytes_of
from ...analysis.shapes.inference import ShapeInference
from ...analysis.shapes.single_node_model import reads_of
from ...facts.fact import Fact, Shape, constant_fact, decided, element, is_named
from ...facts.polynomial import Dimension
from ...ir import Value
from ...ir.lazy import lazy_property
from ...limits import limit
from ...ops.batching import Extent, Quotient, Unbatchable
from ...records import record
from .loop_view import LoopView, ScanInput, ScanOutput

_MOST_NESTED = 4
"""The limit of minima, maxima and divisions one inside the other that bound a trip count."""


class Iterations:
    """The trip count of a Loop or Scan, with symbols for sizes.

    Attributes:
        number: the symbol of the iteration number; what holds for it holds in each iteration.
    """

    def __init__(self, loop_view: LoopView, inference: ShapeInference) -> None:
        self.loop_view = loop_view
        self.inference = inference
        self.number = inference.symbols.fresh()

    def fact(self, value: Value) -> Fact:
        """The fact of an outside value, or of an initializer of the body."""
        if value.constant is not None and not self.loop_view.around.sees(value):
            return constant_fact(value.constant)
        return self.inference.fact(value)

    @lazy_property
    def starts(self) -> bool:
        """Test for a Loop condition that certainly holds before the first iteration."""
        start = self.loop_view.start
        array = None if start is None else decided(self.fact(start))
        return array is not None and bool(array.all())

    @property
    def most_iterations(self) -> int | None:
        """The maximum trip count; None if known only at run time."""
        most = None if self.most_dimension is None else self.most_dimension.value
        return None if most is None else max(most, 0)

    @lazy_property
    def most_dimension(self) -> Dimension | None:
        """The maximum trip count, with symbols for sizes."""
        if self.loop_view.maximum is None:
            first = self.loop_view.scan_inputs[0]
            return first.count(self.shape(first))
        most = element(self.fact(self.loop_view.maximum))
        return most if isinstance(most, Dimension) else None

    def extent(self, certain: bool) -> Extent:
        """The facts of the iterations.

        Args:
            certain: true if there is a first iteration for all inputs.
        """
        quotients = self._quotients
        most = self.most_dimension
        if most is None and quotients:
            most = Dimension.symbol(quotients[0].symbol)
        return Extent(self.number, most, certain, quotients)

    @lazy_property
    def _quotients(self) -> tuple[Quotient, ...]:
        """Bounds of a trip count that nodes compute, where there are iterations."""
        # A quotient or a minimum is no polynomial of sizes, so it is a symbol with bounds.
        most, maximum = (
            self.most_dimension or self.inference.symbols.fresh(),
            self.loop_view.maximum,
        )
        symbol = most.only_symbol
        if maximum is None or symbol is None or most.terms != {(symbol,): 1}:
            return ()
        bounds = self._bounds(maximum, 1, _MOST_NESTED)
        return tuple([Quotient(symbol, by, size) for by, size in bounds if size != most])

    def _bounds(self, value: Value, by: int, depth: int) -> Iterator[tuple[int, Dimension]]:
        """Numbers that a positive number is at most, each with its divisor."""
        node = skip_identities(value).producer
        inputs = [each for each in node.inputs if each is not None] if node is not None else []
        if node is None or not depth or not node.is_op("Min", "Max", "Div"):
            inputs = []
        elif node.is_op("Max"):
            numbers = [self.inference.number(each) for each in inputs]
            inputs = [
                each
                for each, number in zip(inputs, numbers, strict=True)
                if number is None or number.less(1) is not True
            ]
            inputs = inputs[:1] if len(inputs) == 1 else []
        elif node.is_op("Div"):
            divisor = self.inference.number(inputs[1])
            factor = 0 if divisor is None else divisor.value or 0
            inputs, by = inputs[: factor > 0], by * factor
        for each in inputs:
            yield from self._bounds(each, by, depth - 1)
        number = None if inputs else self.inference.number(value)
        if number is not None and by > 0:
            yield by, number

    @lazy_property
    def iteration_dimension(self) -> Dimension | None:
        """The exact trip count; None if unknown."""
        start, most = self.loop_view.start, self.most_dimension
        if most is None or most.less(0) is not False:
            return None
        return most if start is None or self.starts else None

    def is_number(self, fact: Fact) -> bool:
        """Test for a value of one element that equals the iteration number."""
        content = fact.content
        return content is not None and content.size == 1 and content.item() == self.number

    def shape(self, scanned: ScanInput) -> Shape:
        """The shape of the source of a scan input."""
        shape = self.fact(scanned.source).shape
        if shape is None or not -len(shape) <= scanned.axis < len(shape):
            raise Unbatchable(f"scans '{scanned.source.name}', whose rank is not known")
        return shape


def shape_of_row(stacked: ScanOutput, inference: ShapeInference) -> Shape:
    """The shape of one element of a scan output.

    Raises:
        Unbatchable: an unknown rank.
    """
    shape = inference.fact(stacked.result).shape
    if shape is None:
        raise Unbatchable(f"returns '{stacked.result.name}', whose rank is not known")
    return shape


class ZeroIterationSizes:
    """The axes of scan output elements that are empty without iterations.

    Args:
        loop_view: the Loop, Scan or SequenceMap.
    """

    def __init__(self, loop_view: LoopView, inference: ShapeInference) -> None:
        self._loop_view = loop_view
        self._inference = inference
        self._elements = ScanElements(loop_view.node, inference.model, inference)
        self._slots = {v: i for i, v in reversed([*enumerate(loop_view.body.outputs)])}

    def of(self, stacked: ScanOutput) -> list[int]:
        """The axes of one element whose size must be 0 without iterations.

        Raises:
            Unbatchable: unknown sizes.
        """
        if self._loop_view.maximum is None:
            return []  # a Scan reads the sizes from its inputs
        element = self._elements.of(self._slots[stacked.result])
        shape = shape_of_row(stacked, self._inference)
        if element is None or len(element.shape) != len(shape):
            raise Unbatchable(
                f"returns '{stacked.result.name}', whose sizes are not certain if there are no"
                " iterations; declare them in the body"
            )
        pairs = list(zip(element.shape, shape, strict=True))
        # Without iterations a declaration is the size, though it may be no iteration's. A size of
        # which nothing is inferred is the declared one.
        if any(size and dim != size and is_named(dim) for size, dim in pairs):
            raise Unbatchable(
                f"returns '{stacked.result.name}', whose sizes may not be those that the body"
                " declares, which are its sizes if there are no iterations"
            )
        return [axis for axis, (size, dim) in enumerate(pairs) if not size and dim != 0]

    def sizes(self, stacked: ScanOutput) -> list[int]:
        """The sizes of one element without iterations; empty if a Scan's inputs determine them."""
        element = self._elements.of(self._slots[stacked.result])
        if self._loop_view.maximum is None or element is None:
            return []
        return [size or 0 for size in element.shape]


ROW_BYTES = limit("row_bytes")

_OPEN_ITERATIONS = 1 << 12
"""The iterations of which a block holds all values, where only run time tells how many there
are."""
_IN_BLOCKS = "is large for all iterations, and is left to blocks of them"


@record(frozen=True)
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

    Attributes:
        refused: true after a value over `row_bytes` with an unknown trip count.
        needs_iteration: true after a node that must not run without iterations.
    """

    def __init__(
        self, loop_view: LoopView, inference: ShapeInference, bounds: MemoryBounds
    ) -> None:
        self._loop_view = loop_view
        self._inference = inference
        self._bounds = bounds
        self._open: list[Dimension] = []
        self.refused = self.needs_iteration = False

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
