"""Decide Ifs that test for an empty tensor, where the branch for others serves both.

    none = Equal (count, zero)                    yes = Constant <value = bool {0}> ()
    y = If (none) <                               y = If (yes) <
       then_branch = t () => (a) {...},      ->      then_branch = t () => (a) {...},
       else_branch = e () => (b) {                   else_branch = e () => (b) {
          b = NonMaxSuppression (...) }>                b = NonMaxSuppression (...) }>

count is the number of elements of a tensor. Detectors keep NonMaxSuppression from images without
boxes so; it does not fail on them, and selects none.

Kept: a branch with a node that may fail on such a tensor (ArgMax), or that draws random numbers.
`--assume PATH=else` decides an If of which you know the case.
"""

from typing import ClassVar

import numpy as np

from ...analysis.safety.size_cases import Sizes, size_cases
from ...analysis.safety.speculation import Hazard, Speculation
from ...analysis.shapes.inference import ShapeInference
from ...facts.bounds import Known
from ...facts.polynomial import product
from ...facts.reason import Message
from ...ir import Model, Node
from ...ir.subgraph_arity import BRANCHES
from ...ops.builder import Builder
from ..utils.legality import caller_attribute
from ..utils.sites import Site, SitePass

_HAZARD = Message(
    "empty-case-may-fail", "its {branch} cannot serve a tensor without elements: {cause}"
)
_DECIDED = Message("empty-case-served", "its {branch} serves a tensor without elements as well")


class DecideEmptyCases(SitePass):
    """Decide an If on a tensor without elements, where one branch gives both results.

    Then that branch must not fail, and its outputs must have no elements either, in the shapes of
    the other branch.
    """

    name: ClassVar[str] = "decide-empty-cases"
    works_on: ClassVar[tuple[str, ...]] = ("If",)
    by_default: ClassVar[bool] = True

    def visit(self, site: Site) -> None:
        """Decide one If."""
        node, inference = site.node, site.inference
        condition = node.input(0)
        if condition is None or condition.constant is not None or caller_attribute(node):
            return
        for empty, other in (BRANCHES, BRANCHES[::-1]):
            cases = size_cases([(condition, empty == "then_branch")], inference)
            # A case with elements needs the branch that it takes.
            if not cases or not all(0 in case.values() for case in cases):
                continue
            try:
                serves = all(_serves(node, other, inference, site.model, case) for case in cases)
            except Hazard as hazard:
                site.kept(_HAZARD(str(hazard), branch=other))
                continue
            if serves:
                decided = Builder(site.graph).constant(np.array(other == "then_branch"), "decided")
                site.graph.set_input(node, 0, decided)
                site.rewritten(_DECIDED(branch=other))
                return


def _serves(node: Node, branch: str, inference: ShapeInference, model: Model, case: Sizes) -> bool:
    """Test whether a branch returns in a case what the other one returns, without elements.

    Raises:
        Hazard: it may fail there.
    """
    (other,) = {*BRANCHES} - {branch}
    run = Speculation(inference, model.functions, case)
    results = run.run(node.body(branch))
    return all(map(_are_alike_and_empty, results, run.run(node.body(other), certain=True)))


def _are_alike_and_empty(one: Known, other: Known) -> bool:
    shapes = one.fact.shape, other.fact.shape
    return (
        shapes[0] is not None
        and shapes[0] == shapes[1]
        and product(shapes[0]) == 0
        and all(dim.value is not None for dim in shapes[0])
        and one.fact.elem_type == other.fact.elem_type != 0
    )
