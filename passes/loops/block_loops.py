"""Compute a block of a loop's iterations at once, in a Loop over the blocks.

y = Scan <body = b (e) => (r) {            ys = Loop (blocks) <body = (i) => (rs) {
   d = Sub (w, e)                    ->        es = Gather (x, i * k .. i * k + k - 1)
   r = ReduceSum (d)                           rs = ReduceSum (Sub (w, es)) }>
}> (x)                                     y = the first n of ys
"""

from typing import ClassVar

from ...analysis.iterations.block_places import is_in_block
from ...facts.notions import Equality
from ...facts.obstacle import Obstacle
from ...facts.reason import Message
from ...records import record
from ..costs.table import BLOCK_BYTES
from ..iteration.loop_view import read
from ..iteration.splice import propagate_facts, splice
from ..utils.replace_all_uses import replace_outputs
from ..utils.sites import Site, SitePass

_NOT_BLOCKED = Message("not-blocked", "it {cause}")
_IN_BLOCK = Message("in-block", "it runs for a block of iterations of a loop around it")
_BLOCKS = Message(
    "blocked", "computes a block of iterations at once, of at most {size} bytes a value"
)


@record(frozen=True)
class BlockLoops(SitePass):
    """Compute blocks of the iterations of Loops and Scans at once, for bounded memory.

    Options:
        block_bytes: the size of the largest value of a block, which should fit a cache.
        exact: add up floats in the order of the loop.
    """

    block_bytes: int = BLOCK_BYTES
    exact: bool = False

    name: ClassVar[str] = "block-loops"
    works_on: ClassVar[tuple[str, ...]] = ("Loop", "Scan")
    predicate: ClassVar[Message] = _NOT_BLOCKED
    adds: ClassVar[tuple[str, ...]] = ("Loop",)

    @property
    def exactness(self) -> Equality:
        """Sums of floats round in another order, unless exact."""
        return "bits" if self.exact else "reals"

    def visit(self, site: Site) -> None:
        """Rewrite one loop.

        Recurrences of an inner loop run for a block of the outer one if possible, else, on the
        second visit, for a block of their own.
        """
        from .blocks import BlockLoop, NeedsResidual  # imported on the first loop

        graph, inference, loop_view = site.graph, site.inference, read(site.node)
        if is_in_block(graph):
            raise Obstacle(_IN_BLOCK())
        residual = site in site.visits.later
        try:
            block_loop = BlockLoop(loop_view, inference, self.block_bytes, self.exact, residual)
        except NeedsResidual:
            site.visits.later.append(site)
            return
        copies = splice(block_loop.feeding, block_loop.results, graph)
        facts = propagate_facts(block_loop.feeding, copies)
        replace_outputs(graph, site.node, copies)
        if graph.holder is None:
            site.context.analyses.facts |= facts
        site.rewritten(_BLOCKS(size=self.block_bytes))
