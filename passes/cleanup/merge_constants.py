"""Merge equal constants.

float[2] y = Add (x, k)                      float[2] y = Add (x, k)
float[2] z = Mul (y, l)            ->        float[2] z = Mul (y, k)
<float[2] k = {1, 2}, float[2] l = {1, 2}>   <float[2] k = {1, 2}>

A runtime takes about half as long to load a constant as a node, however small it is.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from ...analysis.constants.equal import ContentKeys
from ...ir import Model
from ..base import Pass
from ..context import PassContext
from ..utils.value_numbering import merge_constants


@dataclasses.dataclass(frozen=True)
class MergeConstants(Pass):
    """Merge equal constants, in each graph, and remove constants without a reader."""

    name: ClassVar[str] = "merge-constants"
    cleans_up: ClassVar[bool] = True

    def run(self, model: Model, context: PassContext) -> bool:
        """Compare the constants of every graph."""
        keys = ContentKeys()
        changes = [merge_constants(graph, key_of=keys.of) for graph in model.graphs()]
        return any(changes)
