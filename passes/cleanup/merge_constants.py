"""Let equal constants be one.

float[2] y = Add (x, k)                      float[2] y = Add (x, k)
float[2] z = Mul (y, l)            ->        float[2] z = Mul (y, k)
<float[2] k = {1, 2}, float[2] l = {1, 2}>   <float[2] k = {1, 2}>

A runtime takes about half as long to load a constant as a node, however small it is.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable
from typing import ClassVar

from ...analysis.constants.equal import content_key
from ...ir import Graph, Model, Value
from ..base import Pass, Run


@dataclasses.dataclass(frozen=True)
class MergeConstants(Pass):
    """Let equal constants be one, in each graph, and remove those that nothing reads."""

    name: ClassVar[str] = "merge-constants"
    cleans_up: ClassVar[bool] = True

    def run(self, model: Model, run: Run) -> bool:
        """Compare the small constants of every graph."""
        changed = False
        for graph in model.graphs():
            changed |= _merge(graph)
        return changed


def _merge(graph: Graph) -> bool:
    found: dict[Hashable, Value] = {}
    changed = False
    given = {*graph.inputs, *graph.outputs, *graph.listed}
    for value, tensor in list(graph.initializers.items()):
        if value in given or value.pinned or value.constant is None:
            continue
        if not graph.is_used(value):
            graph.remove_initializer(value)
            changed = True
            continue
        key = content_key(tensor)
        if key is None or found.setdefault(key, value) is value:
            continue
        graph.replace_uses(value, found[key])
        graph.remove_initializer(value)
        changed = True
    return changed
