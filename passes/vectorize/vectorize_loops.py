"""Vectorize the iterations of a Loop, Scan or SequenceMap.

y = Scan <body = b (e) => (r) {            a = MatMul (x, w)
   a = MatMul (e, w)                 ->    y = Relu (a)
   r = Relu (a)
}> (x)
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from ...analysis.iterations.constructs_in_doubt import constructs_in_doubt
from ...analysis.shapes.inference import ShapeInference
from ...facts.notions import Equality
from ...facts.obstacle import Obstacle
from ...facts.reason import Message, Reason
from ...ir.option_names import by
from ...ops.batching import Unbatchable
from ...ops.builder import RewriteError
from ...ops.cost_estimates import LONG
from ...ops.partial_axes import ORDERED
from ...records import field, record, replace
from ..iteration.iterations import ROW_BYTES, IterationMemory, MemoryBounds
from ..iteration.loop_view import LoopView, read, read_map, read_tensors
from ..iteration.splice import TripCountGuard
from ..remarks import BY_DEFINITION, OF_ROWS
from ..utils.sites import Site, SitePass
from .reassociation import reassociate

_NOT_BATCHED = Message("not-vectorized", "it {cause}", rank=1)
_AT_ONCE = Message("vectorized", "all iterations are computed at once")
_GUARDED = Message(
    "vectorized-under-if",
    "all iterations are computed at once, in an If as there may be no iterations",
)
_LONG_TOO = Message(
    "vectorized-blocks",
    "all iterations are computed at once, which takes longer than the loop where blocks of rows are"
    " long: {option} decides that at run time",
)
_BY_LENGTH = Message(
    "vectorized-by-length",
    "all iterations are computed at once, in an If where blocks of rows are short",
)
_IS_LONG = Message(
    "long-blocks",
    "it runs where blocks of rows are long; compute these at once as well with {option}",
)
_REASSOCIATED = Message("reassociated", "sums in its body add independent operands first")
_ROWS = Message("reads-tensors", "it reads rows of a tensor, not elements of a sequence")


@record(frozen=True)
class VectorizeLoops(SitePass):
    """Batch the nodes of Loops and Scans over all iterations, except recurrences.

    Attributes:
        max_bytes: the size limit of a batched value of known size.
        row_bytes: the size limit of one iteration of a batched value with an unknown trip count.
        block_bytes: the size of a block of iterations for block-loops, which gets values
            that outgrow it and the loop's inputs and outputs; 0 for no blocks.
        exact: add and multiply floats in the order of the loop; remarks offer the other forms.
        straight: reduce long blocks of rows at once, too, without an If.
    """

    max_bytes: int = 1 << 28
    row_bytes: int = ROW_BYTES
    block_bytes: int = field(default=0, metadata={"code_only": True})
    exact: bool = False
    straight: bool = False

    name: ClassVar[str] = "vectorize-loops"
    dissolves_loops: ClassVar[bool] = True
    by_default: ClassVar[bool] = True
    keeps_sizes: ClassVar[bool] = True  # it asks by itself: an outer loop may go with its inner one
    default_options: ClassVar[Mapping[str, Any]] = {"exact": True, "straight": True}
    works_on: ClassVar[tuple[str, ...]] = ("Loop", "Scan", "SequenceMap")
    adds: ClassVar[tuple[str, ...]] = ("If",)

    @property
    def exactness(self) -> Equality:
        """Sums of windows round in another order, unless exact."""
        return "bits" if self.exact else "reals"

    def visit(self, site: Site) -> None:
        """Vectorize one construct, or the part of it that is no recurrence."""
        from .vectorization import Vectorization  # imported on the first loop

        node, inference, context = site.node, site.inference, site.context
        if site.graph.holder is not None or site.model.functions:
            if site.graph.header.name == LONG:
                raise Obstacle(_IS_LONG(option=by("--passes 'accelerate{straight=true}'")))
            doubt = constructs_in_doubt(site.model, inference).get(node)
            if doubt is not None:
                raise Obstacle(doubt)
        _read_tensors(site)
        loop_view = self._read(site)
        bounds = MemoryBounds(self.max_bytes, self.row_bytes, self.block_bytes)
        memory, offer = IterationMemory(loop_view, inference, bounds), ""
        try:
            vectorization = Vectorization(loop_view, inference, memory, self.exact)
            if vectorization.distribution.inside:
                if memory.needs_iteration and self._guard(site, loop_view, bounds):
                    return
                offer = self._offer(loop_view, inference, memory)
            growth = memory.growth(vectorization.feeding.most_dimension)
            is_choice = self._chooses(site, vectorization)
            loop = None if is_choice else vectorization.splice(site.graph)
        except (Unbatchable, RewriteError) as reason:
            if memory.needs_iteration and self._guard(site, loop_view, bounds):
                return
            offer = self._offer(loop_view, inference, memory)
            raise Obstacle(_NOT_BATCHED(str(reason)) + offer) from reason
        if site.graph.holder is None:
            context.analyses.facts |= vectorization.facts
        site.visits.revisits |= vectorization.feeding.adds_loops
        feeding = vectorization.feeding
        for message, names in ((BY_DEFINITION, feeding.defined), (OF_ROWS, feeding.of_rows)):
            if names:
                site.rewritten(message(operators=", ".join(names)))
        if loop is None:
            how = _BY_LENGTH() if is_choice else self._at_once(vectorization)
            site.rewritten(Reason.join([how, *([] if growth is None else [growth])]))
            return
        site.rewritten(vectorization.summary)
        if node.op in context.offers:
            context.offers[loop.op] = context.offers.pop(node.op)
        context.kept(self, loop, _NOT_BATCHED(vectorization.reason) + offer)

    def _read(self, site: Site) -> LoopView:
        """Read a construct, with sums in an order that lets more of them be batched."""
        node, inference = site.node, site.inference
        if node.is_op("SequenceMap"):
            return read_map(node, inference)
        loop_view = read(node)
        if not self.exact and reassociate(loop_view, inference):
            site.rewritten(_REASSOCIATED())
            inference.forget_inside(loop_view.body)
            return read(node)
        return loop_view

    def _at_once(self, vectorization: Any) -> Reason:
        """How the whole loop is vectorized."""
        is_slow = self.straight and _blocks(vectorization)
        return _LONG_TOO(option=by("--passes accelerate")) if is_slow else _AT_ONCE()

    def _chooses(self, site: Site, vectorization: Any) -> bool:
        """Vectorize under an If, where rows of long blocks take longer than the Loop."""
        node, supports, opset = site.node, site.context.supports, site.graph.root.opset()
        if self.straight or not _blocks(vectorization):
            return False
        if site.graph.holder is not None:  # a loop around it may go with it
            return False
        if supports is not None and not (supports(node.op_type, opset) and supports("If", opset)):
            return False
        if any(value and not site.inference.fact(value).elem_type for value in node.outputs):
            return False
        vectorization.splice_by_length()
        return True

    def _guard(self, site: Site, loop_view: LoopView, bounds: MemoryBounds) -> bool:
        """Vectorize all of a Loop under an If, so that no node runs without iterations."""
        from .vectorization import Vectorization

        inference = site.inference
        if not site.node.is_op("Loop"):
            return False
        memory = IterationMemory(loop_view, inference, bounds)
        try:
            guard = TripCountGuard(loop_view, inference)
            vectorization = Vectorization(loop_view, inference, memory, self.exact, certain=True)
        except (Obstacle, RewriteError):
            return False
        if vectorization.distribution.inside:
            return False
        vectorization.splice_guarded(guard)
        site.visits.revisits |= vectorization.feeding.adds_loops
        site.rewritten(_GUARDED())
        return True

    def _offer(
        self, loop_view: LoopView, inference: ShapeInference, memory: IterationMemory
    ) -> str:
        """The fewest options that vectorize all of a loop, after trials."""
        larger: dict[str, Any] = {"row_bytes": memory.enough()} if memory.refused else {}
        looser: dict[str, Any] = {"exact": False} if self.exact and _reduces(loop_view) else {}
        for options in (larger, looser, {**larger, **looser}):
            pass_ = replace(self, **options)
            if options and pass_.vanishes(loop_view, inference):
                listed = ",".join(f"{name}={value}".lower() for name, value in options.items())
                rounded = "" if pass_.exact == self.exact else ", up to rounding,"
                way = by(f"--passes 'straighten{{{listed}}}'")
                return f"; compute them at once{rounded} with {way}"
        return ""

    def vanishes(self, loop_view: LoopView, inference: ShapeInference) -> bool:
        """Test for a loop of which nothing would stay."""
        from .vectorization import Vectorization

        bounds = MemoryBounds(self.max_bytes, self.row_bytes)
        memory = IterationMemory(loop_view, inference, bounds)
        try:
            trial = Vectorization(loop_view, inference, memory, self.exact)
        except (Unbatchable, RewriteError):
            return False
        return not trial.distribution.inside


def _read_tensors(site: Site) -> None:
    """Read rows of tensors in the bodies where these read elements of sequences."""
    changes = [read_tensors(body, site.inference) for body in site.node.graphs()]
    if any(changes):
        site.rewritten(_ROWS())
        for body in site.node.graphs():  # of rows, more is known than of parts
            site.inference.forget_inside(body)


def _blocks(vectorization: Any) -> Sequence[Any]:
    """The reductions of blocks of run-time sizes where the whole loop is vectorized."""
    return [] if vectorization.distribution.inside else vectorization.batcher.combined


def _reduces(loop_view: LoopView) -> bool:
    """Test for sums and products, whose order `exact` keeps."""
    graphs = loop_view.body.walk()
    return any(node.is_op(*ORDERED) for graph in graphs for node in graph.nodes())
