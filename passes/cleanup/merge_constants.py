"""Merge equal constants.

float[2] y = Add (x, k)                      float[2] y = Add (x, k)
float[2] l = Constant <value = {1, 2}> ()    float[2] z = Mul (y, k)
float[2] z = Mul (y, l)            ->        <float[2] k = {1, 2}>
<float[2] k = {1, 2}>

A runtime takes about half as long to load a constant as a node, however small it is.

Constants are equal by type, shape and bits, so 0.0 and -0.0 stay apart. Kept: defaults of inputs,
values that training information or a quantization annotation names, and Constant nodes that are
outputs or below IR version 4.
"""

from collections.abc import Hashable
from typing import ClassVar

from ...analysis.constants.equal import ContentKeys
from ...ir import Graph, Model, Value
from ..base import Pass, PassContext
from ..utils.value_numbering import merge_constants


class MergeConstants(Pass):
    """Merge equal constants, Constant nodes among them, and remove constants without a reader."""

    name: ClassVar[str] = "merge-constants"
    keeps_facts: ClassVar[bool] = True
    cleans_up: ClassVar[bool] = True

    def run(self, model: Model, context: PassContext) -> bool:
        """Compare the constants of every graph."""
        keys = ContentKeys(context.analyses.keys)
        # Below IR version 4 and in functions, constants are written as nodes.
        graphs = model.graph.walk() if model.allows_overrides else ()
        lifted = [_lift(graph, keys) for graph in graphs]
        changes = [merge_constants(graph, key_of=keys.of) for graph in model.graphs()]
        return any(lifted) or any(changes)


def _lift(graph: Graph, keys: ContentKeys) -> bool:
    """Replace the Constant nodes of a graph by initializers, equal ones by one."""
    outputs = set(graph.outputs)
    lifted: dict[Value, Value] = {}
    first: dict[Hashable, Value] = {}
    for node in graph.nodes_of("Constant"):
        (value,) = node.outputs
        if value is None or value.constant is None or value.pinned or value in outputs:
            continue
        key = keys.of(value.constant)
        equal = None if key is None else first.get(key)
        if equal is None:
            equal = graph.add_initializer(value.name, value.constant)
            if key is not None:
                first[key] = equal
        lifted[value] = equal
    graph.replace_all_uses(lifted)
    for value in lifted:
        assert value.producer is not None
        graph.remove(value.producer)
    return bool(lifted)
