"""Pipeline `simplify`: `straighten`, then passes that make flat graphs smaller."""

import dataclasses
from typing import ClassVar

from ...ir import Model
from ..base import Pass, PassContext
from ..utils.fixpoint import Repeated, run_passes
from . import registry

SIMPLIFIERS: tuple[type[Pass], ...] = (
    # A pass of `simplify` is added here, and imported in `registry.py`. Its option `exactness`, if
    # it has one, is that of the pipeline.
    registry.FoldConstants,
    registry.MergeConstants,
    registry.MergeSubexpressions,
    registry.SimplifySizes,
    registry.ReadOperands,
    registry.MergeSlices,
    registry.OmitZeroStates,
    registry.FlattenStacks,
    registry.CancelMovement,
    registry.RaiseNormalizations,
    registry.RaiseActivations,
    registry.RaiseRotations,
    registry.RaiseAttention,
    registry.RaiseReductions,
    registry.RaiseMovement,
    registry.EliminateDeadNodes,  # which would count as readers
    registry.ApplyRules,
    registry.MergeProducts,
    registry.HoistBeforeSplits,
    registry.RaiseProducts,
    registry.EliminateIdentities,
    registry.EliminateDeadNodes,
)
"""The passes after `straighten`, in their order; they run to a fixed point."""


class Simplify(Repeated):
    """Straighten, then make the flat graph smaller, to a fixed point.

    Options:
        passes: `straighten`, then the passes that make graphs smaller.
    """

    name: ClassVar[str] = "simplify"

    def run(self, model: Model, context: PassContext) -> bool:
        """Run them; only control flow gives `straighten` new work."""
        straighten, *simplifiers = self.passes
        changed = run_passes([_needed(straighten, model)], model, context, repeat=False)
        if any(graph.holders() for graph in model.graphs()):
            return super().run(model, context) or changed
        return run_passes(simplifiers, model, context, repeat=True) or changed


def _needed(straighten: Pass, model: Model) -> Pass:
    """Drop fold-shapes where only control flow would need it: simplify-sizes folds the same."""
    assert isinstance(straighten, Repeated)
    if model.functions or any(graph.holders() for graph in model.graphs()):
        return straighten
    passes = tuple([p for p in straighten.passes if not isinstance(p, registry.FoldShapes)])
    return dataclasses.replace(straighten, passes=passes)
