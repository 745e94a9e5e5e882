"""Branches of Ifs that a caller vouches for."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..analysis.trips.constructs import control_flow
from ..ir import Model, Node, instead
from ..ops.builder import Builder
from .trip_bounds import AssumptionError

Branches = Mapping[str, str]
"""By the path of an If, "then" or "else"."""


def assume_branches(model: Model, branches: Branches) -> None:
    """Decide the conditions of Ifs.

    Args:
        model: is changed in place.
        branches: the branch that always runs, by the path of the If.

    Raises:
        AssumptionError: there is no such If, or a branch is neither "then" nor "else".
    """
    for path, node in assumed_ifs(model, branches).items():
        assert node.graph is not None
        chosen = np.array(branches[path] == "then")
        node.graph.set_input(node, 0, Builder(node.graph).constant(chosen, "chosen"))


def assumed_ifs(model: Model, branches: Branches) -> dict[str, Node]:
    """Return the Ifs with an assumed branch, by path.

    Raises:
        AssumptionError: there is no such If, or a branch is neither "then" nor "else".
    """
    if not branches:
        return {}
    ifs = {node.path: node for node in control_flow(model) if node.is_op("If")}
    for path, branch in branches.items():
        if path not in ifs:
            raise AssumptionError(
                f"the model has no If '{path}'; {instead(path, ifs, are='it has')}"
            )
        if branch not in ("then", "else"):
            raise AssumptionError(f"If '{path}': {branch!r} is no branch; write 'then' or 'else'")
    return {path: ifs[path] for path in branches}
