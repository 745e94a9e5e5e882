"""Apply rewrite rules to a fixpoint.

y = Transpose <perm = [1, 0]> (x)
z = Transpose <perm = [1, 0]> (y)     ->     w = Relu (x)
w = Relu (z)
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from ...facts.notions import Equality
from ...ir import Model
from ..base import Pass
from ..context import PassContext


@dataclasses.dataclass(frozen=True)
class ApplyRules(Pass):
    """Replace subgraphs by smaller equal ones, by rules that are proved.

    Options:
        exactness: the weakest notion of equality that a rule may keep.
    """

    name: ClassVar[str] = "apply-rules"
    exactness: Equality = "values"

    def run(self, model: Model, context: PassContext) -> bool:
        """Apply the rules in every graph."""
        return False  # there are no rules yet
