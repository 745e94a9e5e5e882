"""Read states that grow by rows, and first rows, as masked prefixes of all rows.

ks, y = Loop (n, , k0) <                      rows = Loop (n) < ... row >
   body = b (i, c, k) => (c2, t, o) {         all = Concat (k0, rows)
      row = MatMul (e, w)                     y = Loop (n) <
      t = Concat (k, row)                ->      body = b (i, c) => (c2, o) {
      s = MatMul (q, Transpose (t))                 s = MatMul (q, Transpose (all))
      p = Softmax (s)                               p = Softmax (Where (places < end, s, -inf))
      o = MatMul (p, t)                             o = MatMul (p, all)
   }                                             }
>                                             >

Such a state is the cache of attention. The rows must not depend on it, or on another such state.
So is a Slice of the first rows of an outside value, if a Softmax reads it.
"""

from typing import ClassVar

from ...analysis.shapes.inference import ShapeInference
from ...facts.notions import Equality
from ...facts.reason import Message
from ...ir import Graph
from ...ops.schema_queries import MIN_OF_INTEGERS
from ..iteration.loop_view import LoopView, read
from ..iteration.places import moving_indices
from ..iteration.splice import is_used
from ..utils.legality import can_carry
from ..utils.replace_all_uses import replace_value
from ..utils.sites import Site, SitePass

_KEPT = Message("prefix-kept", "it {cause}")
_READ = Message("prefixes-masked", "{count} value{s} became masked prefixes of all rows")
_OLDEST = 11
"""The first opset with CumSum, and a Pad with inputs."""


class MaskPrefixes(SitePass):
    """Read states that grow by rows, and first rows, as masked prefixes of all rows."""

    name: ClassVar[str] = "mask-prefixes"
    works_on: ClassVar[tuple[str, ...]] = ("Loop",)
    predicate: ClassVar[Message] = _KEPT
    repeats: ClassVar[bool] = True  # layers, one after the other
    keeps_facts_of_others: ClassVar[bool] = False
    adds: ClassVar[tuple[str, ...]] = ("Loop",)

    @property
    def exactness(self) -> Equality:
        """Sums have zeros beyond the prefix."""
        return "reals"

    def visit(self, site: Site) -> None:
        """Rewrite the states of one Loop."""
        if site.graph.root.opset() >= _OLDEST and site.holds("Concat", "Slice"):
            count = _rewrite(site.graph, read(site.node), site.inference)
            if count:
                site.rewritten(_READ(count=count))


def _rewrite(graph: Graph, loop_view: LoopView, inference: ShapeInference) -> int:
    """Rewrite the states of one Loop, and return their number."""
    from .prefix_values import PrefixBody, emit_all_rows, growing_states, prefix_slices

    growing = [
        each
        for each in growing_states(loop_view, inference)
        if each.state.final is None or can_carry(graph, each.state.final, each.state.initial)
    ]
    finals = {each.state.final for each in growing}
    if not any(is_used(graph, v) for v in loop_view.node.outputs if v not in finals):
        return 0
    indices = moving_indices(loop_view, inference)
    takes_min = graph.root.opset() >= MIN_OF_INTEGERS
    cuts = prefix_slices(loop_view, inference, indices) if takes_min else {}
    if not growing and not cuts:
        return 0
    rows, others = emit_all_rows(graph, loop_view, growing, inference) if growing else ([], {})
    pairs = list(zip(growing, rows, strict=True))
    body = PrefixBody(loop_view, inference, pairs, indices, cuts)
    places = {loop_view.states.index(each.state) for each in growing}
    results, infos = loop_view.body.outputs, loop_view.body.output_infos
    staying = [at for at in range(len(results)) if at - 1 not in places]
    loop_view.body.set_outputs([results[at] for at in staying], [infos[at] for at in staying])
    body.read_rows(others)
    body.rewrite()
    for each, whole in pairs:
        if each.state.final is not None and graph.is_used(each.state.final):
            replace_value(graph, each.state.final, whole.rows)
    _remove_states(graph, loop_view, places)
    return len(growing) + len(cuts)


def _remove_states(graph: Graph, loop_view: LoopView, places: set[int]) -> None:
    """Remove states that nothing reads, and that the body does not return."""
    node = loop_view.node
    for place in places:
        loop_view.body.remove_input(loop_view.states[place].argument)
    inputs = [value for at, value in enumerate(node.inputs) if at - 2 not in places]
    outputs = [value for at, value in enumerate(node.outputs) if at not in places]
    for at, value in enumerate(inputs):
        graph.set_input(node, at, value)
    graph.resize_inputs(node, len(inputs))
    graph.set_node_outputs(node, outputs)
