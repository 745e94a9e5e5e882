"""Peak memory of a model's computed values, as a polynomial in its symbolic sizes.

One walk over each graph in topological order: a value is live from its producer to its last user.
Inputs and constants do not count. A body counts once for any trip count, since the values of an
iteration die with it. The result is an upper bound: the maximum of each term over time.
"""

from collections import Counter

import onnx

from ..facts.fact import Fact, is_private
from ..facts.polynomial import Dimension, product
from ..ir import Graph, Model, Value
from ..limits import limit
from ..records import record
from .shapes.inference import ShapeInference
from .shapes.single_node_model import reads_of

_MOST_NODES = limit("memory_nodes")
_MOST_LEADING = 2


@record(frozen=True)
class PeakMemory:
    """The peak size of live values in bytes.

    Attributes:
        size: an upper bound in bytes for values of constant or symbolic sizes.
        whole: true where these are all values.
    """

    size: Dimension
    whole: bool

    def to_dict(self) -> dict[str, object]:
        """The peak as JSON."""
        return {"bytes": str(self.size), "whole": self.whole}

    @property
    def brief(self) -> str:
        """The leading terms alone: those of the largest degree, of which the first two are shown.

        >>> b, t = Dimension.symbol("b"), Dimension.symbol("t")
        >>> PeakMemory(b * t * 8 + b * 640 + 104, whole=True).brief
        '8*b*t + … bytes'
        """
        terms = self.size.terms
        degree = max(map(len, terms), default=0)
        leading = dict(sorted((m, f) for m, f in terms.items() if len(m) == degree)[:_MOST_LEADING])
        if len(leading) == len(terms):
            return str(self)
        return f"{Dimension(leading)} + … bytes"

    def __str__(self) -> str:
        text = f"{self.size} bytes" if self.size.value is None else size_text(self.size.value)
        return text if self.whole else f"{text} and values of dynamic size"


def size_text(size: int) -> str:
    """Format a size in bytes.

    >>> size_text(1), size_text(400), size_text(5 << 20)
    ('1 byte', '400 bytes', '5.0 MB')
    """
    for unit, scale in (("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)):
        if size >= scale:
            return f"{size / scale:.1f} {unit}"
    return f"{size} byte{'' if size == 1 else 's'}"


def bytes_of(fact: Fact) -> Dimension | None:
    """The bytes of a tensor; None for an unknown rank or element type."""
    if fact.shape is None or not fact.elem_type:
        return None
    return product(fact.shape) * onnx.helper.tensor_dtype_to_np_dtype(fact.elem_type).itemsize


def peak_memory(
    model: Model, inference: ShapeInference | None = None, *, private: int = 0
) -> PeakMemory | None:
    """The peak memory of the values that a model computes; None for a model with too many nodes.

    Args:
        inference: facts about its values; new ones if None.
        private: count also sizes with so many factors without a name, at most.
    """
    if sum(len(graph) for graph in model.graphs()) > _MOST_NODES:
        return None
    walk = _Walk(inference or ShapeInference(model), private)
    peak = walk.graph(model.graph)
    return PeakMemory(Dimension(peak), walk.whole)


_Terms = Counter[tuple[str, ...]]
"""A mutable polynomial, by terms."""


class _Walk:
    """Walk over graphs in topological order.

    Args:
        inference: facts about the model's values.
        private: count also sizes with so many factors without a name, at most.

    Attributes:
        whole: true where the sizes of all values so far are constant or symbolic.
    """

    def __init__(self, inference: ShapeInference, private: int) -> None:
        self._inference = inference
        self._private = private
        self.whole = True

    def graph(self, graph: Graph) -> _Terms:
        """The peak of a graph by itself."""
        alive, peak = _Terms(), _Terms()
        readers = Counter(value for node in graph.nodes() for value in reads_of(node))
        # Graph outputs live to the end.
        readers.update(graph.outputs)
        sizes: dict[Value, _Terms] = {}
        for node in graph.nodes():
            outputs = [value for value in node.outputs if value is not None]
            for value in outputs:
                sizes[value] = self._size(value)
                alive.update(sizes[value])
            bodies = [self.graph(body) for body in node.graphs()]
            for inside in bodies or [_Terms()]:
                # All other terms of the peak are at least their current values.
                for monomial in {m for value in outputs for m in sizes[value]} | inside.keys():
                    now = alive[monomial] + inside[monomial]
                    peak[monomial] = max(peak[monomial], now)
            read = set(reads_of(node))
            # The outputs are among them: one that nothing reads dies at once.
            for value in {*read, *outputs}:
                readers[value] -= value in read
                if value in sizes and readers[value] <= 0:
                    alive.subtract(sizes.pop(value))
        return peak

    def _size(self, value: Value) -> _Terms:
        """The size of a value in bytes; zero where unknown."""
        size = bytes_of(self._inference.fact(value))
        if size is None or any(sum(map(is_private, term)) > self._private for term in size.terms):
            self.whole = False
            return _Terms()
        return _Terms(size.terms)
