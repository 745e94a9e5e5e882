"""Simplify the bodies of Loops and Scans: calls, Casts without effect, Einsums.

h1 = Scan <num_scan_inputs = 1,
   body = b (h, e) => (r) {                      body = b (h, e) => (r) {
      c = local.step (h, e, w)                      p = MatMul (e, w)
      r = Cast <to = 1> (c)               ->        s = Add (p, h)
   }                                                r = Tanh (s)
> (h0, x)                                        }

Exporters end bodies with such Casts, write cells as functions, and products as Einsum. Analyses
of recurrences then read the operators themselves.
"""

from collections.abc import Iterable, Iterator
from typing import ClassVar

from ...analysis.constants.folding import Folder
from ...facts.notions import Equality
from ...facts.reason import Message
from ...ir import Graph, Model, Node
from ...records import record
from ..base import MAY_BE_CONTROL_FLOW, Part, Pass, PassContext
from ..utils.budget import DEFAULT_MAX_NODES, Budget
from ..utils.legality import can_be_output
from ..utils.traversal import inside_out
from .binding import bind, inline_call, obstacle
from .calls import CallGraph, function_size, live_functions
from .matrix_products import as_product

_INLINED = Message("body-calls-inlined", "{count} calls in its body are inlined")
_PRODUCTS = Message("body-einsums", "{count} Einsums in its body are products of matrices")
_CASTS = Message("body-casts-dropped", "{count} Casts without effect in its body are removed")


@record(frozen=True)
class SimplifyBodies(Pass):
    """Inline calls, drop Casts without effect, and multiply by MatMul in bodies of loops.

    Options:
        max_nodes: the limit of nodes that the whole rewrite may add.
    """

    name: ClassVar[str] = "simplify-bodies"
    works_on = MAY_BE_CONTROL_FLOW
    changes: ClassVar[tuple[Part, ...]] = ("opsets", "functions")
    max_nodes: int = DEFAULT_MAX_NODES

    @property
    def exactness(self) -> Equality:
        """Runtimes round an Einsum and a MatMul differently."""
        return "reals"

    def run(self, model: Model, context: PassContext) -> bool:
        """Inline in inner bodies before outer ones, then drop Casts."""
        inlining = _BodyCalls(model, Budget(context.meter, self.max_nodes))
        changed = False
        for node in _loops([model.graph, *_inner(model.graph)]):
            count = inlining.inline(node.body("body"))
            if count:
                context.rewritten(self, node, node.path, _INLINED(count=count))
                changed = True
        if changed:
            context.analyses.invalidate(False)
            for key in model.functions.keys() - live_functions(model):
                del model.functions[key]
        changed = self._multiply(model, context) or changed
        return self._drop_casts(model, context) or changed

    def _multiply(self, model: Model, context: PassContext) -> bool:
        changed = False
        for node in _loops(model.graphs()):
            body = node.body("body")
            count = sum([as_product(body, each) for each in body.nodes_of("Einsum")])
            if count:
                context.rewritten(self, node, node.path, _PRODUCTS(count=count))
                context.analyses.invalidate(False)
                changed = True
        return changed

    def _drop_casts(self, model: Model, context: PassContext) -> bool:
        changed = False
        for node in _loops(model.graphs()):
            casts = node.body("body").nodes_of("Cast")
            if not casts:
                continue
            inference = context.inference(model)
            count = 0
            for cast in casts:
                source = cast.input(0)
                own = None if source is None else inference.fact(source).elem_type
                if cast.op.references:
                    continue
                count += own == cast.attribute("to") and _drop(node.body("body"), cast)
            if count:
                context.rewritten(self, node, node.path, _CASTS(count=count))
                changed = True
        return changed


def _loops(graphs: Iterable[Graph]) -> list[Node]:
    """The Loops and Scans with a body of their own, inner ones first."""
    nodes = [node for _, node in inside_out(graphs, "Loop", "Scan")]
    return [node for node in nodes if "body" in node.bodies]


def _inner(graph: Graph) -> Iterator[Graph]:
    """The graphs below a graph."""
    graphs = iter(graph.walk())
    next(graphs)
    return graphs


class _BodyCalls:
    """The calls of a model's functions in bodies."""

    def __init__(self, model: Model, budget: Budget) -> None:
        self._calls = CallGraph(model.functions)
        self._budget = budget
        self._folder = Folder(model)

    def inline(self, body: Graph) -> int:
        """Inline the calls in a body, and those in what they leave; return their number."""
        count, staying = 0, set[Node]()
        while calls := [node for node in self._in(body) if node not in staying]:
            for call in calls:
                function = self._calls.callee(call)
                assert function is not None
                size = function_size(function)
                if obstacle(function, call, self._calls) or self._budget.refuses(size, "it"):
                    staying.add(call)
                    continue
                inline_call(call, bind(function, call), self._folder.fold)
                self._budget.spend(size)
                count += 1
        return count

    def _in(self, body: Graph) -> list[Node]:
        return [
            node
            for graph in body.walk()
            for node in graph.nodes()
            if self._calls.callee(node) is not None
        ]


def _drop(body: Graph, cast: Node) -> bool:
    """Replace a Cast without effect by its operand, unless it names an output."""
    source, result = cast.input(0), cast.output()
    if source is None or result.pinned:
        return False
    if result in body.outputs and (source in body.outputs or not can_be_output(body, source)):
        return False
    body.pass_declaration(result, source)
    body.replace_uses(result, source)
    body.remove(cast)
    return True
