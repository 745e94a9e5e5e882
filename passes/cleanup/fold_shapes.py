"""Fold values that shapes decide: sizes, products of sizes, comparisons of sizes.

    agraph (float[N,3] x) => (int64 three, bool equal)       ... => (int64 three, bool equal)
    <int64 one = {1}> {                                      <int64 three_0 = {3},
       s = Shape (x)                                    ->    bool equal_0 = {0}> {
       three = Gather (s, one)                                  three = Identity (three_0)
       longer = Add (three, one)                                equal = Identity (equal_0)
       equal = Equal (three, longer)                         }
    }

Sizes that are known only at run time are symbols. Equal symbols mean equal sizes, everywhere in a
model (ONNX IR specification, "Static tensor shapes"), so N + 5 equals N + 5, and never equals N.

A Reshape whose target holds a size of 0 at run time copies that dimension of its input, unless
`allowzero` is set; the pass reads such a size as 0, as onnx's inference does.
"""

from collections import defaultdict
from collections.abc import Set
from typing import ClassVar

from ...analysis.constants.evaluation import is_call
from ...analysis.iterations.zero_iterations import ElementsOfBodies
from ...analysis.shapes.inference import ShapeInference
from ...analysis.shapes.onnx_inference_cache import Memory
from ...facts.fact import decided
from ...ir import Graph, Model, Node, Tensor, Value
from ...ir.dataflow_graph import reach
from ...ops import OperatorRules, rules_of
from ..base import Pass, PassContext
from .infer_shapes import declare_facts

_STARTS = ("Shape", "Size")


class FoldShapes(Pass):
    """Fold values that shapes decide: sizes, sums and products of sizes, comparisons."""

    name: ClassVar[str] = "fold-shapes"
    keeps_facts: ClassVar[bool] = True
    by_default: ClassVar[bool] = True
    works_on: ClassVar[tuple[str, ...] | None] = _STARTS

    def run(self, model: Model, context: PassContext) -> bool:
        """Fold in every graph; inference runs only for the values in question."""
        inference = context.analyses.new_inference(model)  # declares no facts of other passes
        asking = _asking_sizes(model, context.analyses.memory)
        fold = _Folding(model, inference)
        followed = fold.followed
        changed = False
        for graph in model.graphs():
            for node in graph.nodes() if followed or not asking.isdisjoint(graph.kinds()) else ():
                if is_call(node, model):
                    if node.op.qualname in asking or not followed.isdisjoint(node.inputs):
                        changed |= fold.call(graph, node)
                elif _is_followed(node, followed):
                    changed |= fold.node(graph, node)
        for loop, doubt in fold.elements.doubts.items():
            if doubt:
                context.noted(self, loop, doubt)
        if changed:
            declare_facts(inference)
        context.analyses.share(inference)
        return changed


def _asking_sizes(model: Model, memory: Memory) -> Set[str]:
    """The operators that read sizes, and the functions that lead to one, by `Operator.qualname`.

    Cached for functions that do not change.
    """
    for functions, kinds in memory.asking if model.settled else ():
        if functions is model.functions:
            return kinds
    kinds = _search_asking(model)
    if model.settled:
        memory.asking.append((model.functions, kinds))
    return kinds


def _search_asking(model: Model) -> set[str]:
    users: defaultdict[str, set[str]] = defaultdict(set)
    for (domain, name, _), function in model.functions.items():
        own = f"{domain}::{name}" if domain else name
        for graph in function.graph.walk():
            for kind in graph.kinds():
                users[kind].add(own)
    return reach(users.__getitem__, _STARTS)


def _is_followed(node: Node, followed: set[Value]) -> bool:
    if followed.isdisjoint(node.inputs) and not node.is_op(*_STARTS):
        return False
    return rules_of(node.op).defines(OperatorRules.content)


class _Folding:
    """Folding under way.

    Attributes:
        followed: values with symbolic elements, and constants.
        elements: guard of the scan outputs of Loops in which values are decided.
    """

    def __init__(self, model: Model, inference: ShapeInference) -> None:
        self._inference = inference
        self.followed: set[Value] = set()
        self.elements = ElementsOfBodies(model, inference)

    def call(self, graph: Graph, node: Node) -> bool:
        """Fold outputs of a call; the call stays for readers of the others."""
        outputs = [v for v in node.outputs if v is not None and not v.pinned and graph.users(v)]
        changes = [self._value(graph, value) for value in outputs]
        return any(changes)

    def node(self, graph: Graph, node: Node) -> bool:
        value = node.outputs[0]
        if value is None or value.pinned or not self._value(graph, value):
            return False
        graph.remove(node)
        return True

    def _value(self, graph: Graph, value: Value) -> bool:
        """Replace the uses of a decided value by a constant; follow one with symbolic elements."""
        fact = self._inference.fact(value)
        array = decided(fact)
        if array is not None and not self.elements.stay(graph):
            return False
        if array is not None:
            constant = graph.add_initializer(value.name, Tensor(array=array))
            self.followed.add(constant)
            graph.replace_uses(value, constant)
        elif fact.content is not None:
            self.followed.add(value)
        return array is not None
