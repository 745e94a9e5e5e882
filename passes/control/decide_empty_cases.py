"""Decide Ifs that test for an empty tensor, where the branch for others serves both.

    none = Equal (count, zero)                    yes = Constant <value = bool {0}> ()
    y = If (none) <                               y = If (yes) <
       then_branch = t () => (a) {...},      ->      then_branch = t () => (a) {...},
       else_branch = e () => (b) {                   else_branch = e () => (b) {
          b = NonMaxSuppression (...) }>                b = NonMaxSuppression (...) }>

count is the number of elements of a tensor. Detectors keep NonMaxSuppression from images without
boxes so; it does not fail on them, and selects none.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import onnx

from ...analysis.safety.speculation import Hazard, Speculation
from ...analysis.shapes.inference import ShapeInference
from ...facts.bounds import Known, known
from ...facts.fact import Content, Fact
from ...facts.polynomial import Dimension, product
from ...facts.reason import Message
from ...ir import Function, FunctionKey, Model, Node, Value
from ...ops.builder import Builder
from ..base import Pass
from ..context import PassContext
from ..utils.legality import caller_attribute
from ..utils.traversal import inside_out

_Sizes = Mapping[str, Dimension]

_HAZARD = Message(
    "empty-case-may-fail", "its {branch} cannot serve a tensor without elements: {cause}"
)
_DECIDED = Message("empty-case-served", "its {branch} serves a tensor without elements as well")
_BRANCHES = ("then_branch", "else_branch")


@dataclasses.dataclass(frozen=True)
class DecideEmptyCases(Pass):
    """Decide an If on a tensor without elements, where one branch gives both results.

    Then that branch must not fail, and its outputs must have no elements either, in the shapes of
    the other branch.
    """

    name: ClassVar[str] = "decide-empty-cases"
    works_on: ClassVar[tuple[str, ...]] = ("If",)
    by_default: ClassVar[bool] = True

    def run(self, model: Model, context: PassContext) -> bool:
        """Decide inner Ifs before the ones around them."""
        changes = [
            self._decide(node, model, context) for _, node in inside_out(model.graphs(), "If")
        ]
        return any(changes)

    def _decide(self, node: Node, model: Model, context: PassContext) -> bool:
        inference = context.inference(model)
        condition = node.input(0)
        if condition is None or condition.constant is not None or caller_attribute(node):
            return False
        case = _emptiness(condition, inference)
        if case is None:
            return False
        sizes, holds = case
        empty, other = _BRANCHES if holds else reversed(_BRANCHES)
        run = _EmptyCase(inference, model.functions, sizes)
        try:
            results = run.run(node.body(other))
        except Hazard as hazard:
            context.kept(self, node, _HAZARD(str(hazard), branch=other))
            return False
        if not all(map(_are_alike_and_empty, results, run.run(node.body(empty), certain=True))):
            return False
        graph = node.graph
        assert graph is not None
        decided = Builder(graph).constant(np.array(other == "then_branch"), "decided")
        graph.set_input(node, 0, decided)
        context.rewritten(self, node, node.path, _DECIDED(branch=other))
        return True


def _are_alike_and_empty(one: Known, other: Known) -> bool:
    shapes = one.fact.shape, other.fact.shape
    return (
        shapes[0] is not None
        and shapes[0] == shapes[1]
        and product(shapes[0]) == 0
        and all(dim.value is not None for dim in shapes[0])
        and one.fact.elem_type == other.fact.elem_type != 0
    )


def _emptiness(condition: Value, inference: ShapeInference) -> tuple[_Sizes, bool] | None:
    """The case of a condition in which sizes are 0: these, and its value.

    None for a condition that tests for something else.
    """
    holds = True
    node = condition.producer
    while node is not None and node.is_op("Not", "Cast", "Identity"):
        source = node.input(0)
        if source is None or (node.is_op("Cast") and not _is_truth(source, inference)):
            return None
        holds ^= node.is_op("Not")
        node = source.producer
    if node is None or not node.is_op("Equal", "Greater"):
        return None
    size, bound = (_number(value, inference) for value in node.inputs)
    if node.is_op("Equal") and size == 0:
        size, bound = bound, size
    if size is None or bound != 0:
        return None
    sizes = _all_zero(size)
    return None if sizes is None else (sizes, holds == node.is_op("Equal"))


def _is_truth(value: Value, inference: ShapeInference) -> bool:
    return inference.fact(value).elem_type == onnx.TensorProto.BOOL


def _number(value: Value | None, inference: ShapeInference) -> Dimension | None:
    content = None if value is None else inference.fact(value).content
    if content is None or content.size != 1:
        return None
    element = content.reshape(-1)[0]
    return element if isinstance(element, Dimension) else None


def _all_zero(size: Dimension) -> _Sizes | None:
    """The sizes that are 0 where a sum of multiples of them is; None for another polynomial."""
    monomials = list(size.terms)
    names = {name for monomial in monomials for name in monomial}
    simple = all(len(monomial) == 1 for monomial in monomials) and names == size.symbols
    if not monomials or not simple or min(size.terms.values()) < 0:
        return None
    return dict.fromkeys(names, Dimension.constant(0))


class _EmptyCase(Speculation):
    """Runs a branch where some sizes are 0."""

    def __init__(
        self,
        inference: ShapeInference,
        functions: Mapping[FunctionKey, Function],
        sizes: _Sizes,
    ) -> None:
        super().__init__(inference, functions)
        self._sizes = sizes

    def outside(self, value: Value, steps: int = 0) -> Known:
        """Facts about a value outside, with the sizes that are 0."""
        fact = self.inference.fact(value)
        shape, content = fact.shape, fact.content
        if shape is not None:
            shape = tuple(dim.replaced(self._sizes) for dim in shape)
        if content is not None:
            content = self._replaced(content)
        return known(Fact(fact.elem_type, shape, content, fact.other, fact.count))

    def _replaced(self, content: Content) -> Content:
        result = content.copy()
        flat = result.reshape(-1)
        for index, element in enumerate(flat):
            if isinstance(element, Dimension):
                flat[index] = element.replaced(self._sizes)
        return result
