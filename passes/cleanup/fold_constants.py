"""Compute what depends on constants alone.

agraph (float[2] x) => (float[2] y)          agraph (float[2] x) => (float[2] y)
<float two = {2}> {                          <float four = {4}> {
   four = Mul(two, two)               ->        y = Mul(x, four)
   y = Mul(x, four)                          }
}

Of a call of the model's own function also those outputs are computed that depend on constants and
sizes alone, whatever else it is given; it stays for the others.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import onnx

from ...analysis.constants.call_results import CallResults, tells_anything
from ...analysis.constants.evaluation import construct_evaluator, is_call
from ...analysis.constants.folding import Folder
from ...ir import Graph, Model, Node, Operator, Tensor
from ...ops.builder import Builder
from ...ops.element_types import ElementTypes
from ..base import Pass
from ..context import PassContext
from ..utils.budget import DEFAULT_MAX_BYTES


@dataclasses.dataclass(frozen=True)
class FoldConstants(Pass):
    """Compute operators and function calls on constants; random and quantizing ones stay.

    Options:
        max_bytes: the largest tensor that is read or made.
    """

    name: ClassVar[str] = "fold-constants"
    by_default: ClassVar[bool] = True
    max_bytes: int = DEFAULT_MAX_BYTES

    def run(self, model: Model, context: PassContext) -> bool:
        """Fold in every graph, inputs before what depends on them."""
        folder = Folder(model, self.max_bytes)
        results = None
        if model.functions and tells_anything(model):
            results = CallResults(folder, lambda: context.inference(model), context.analyses.memory)
        types = ElementTypes()
        changed = False
        for graph in model.graphs():
            for node in graph.nodes():
                if node.is_op("CastLike") and not node.op.references:
                    cast = _as_cast(graph, node, types)
                    changed |= cast is not node
                    node = cast
                changed |= _fold(graph, node, folder)
                if results is not None and node.stands and is_call(node, model):
                    changed |= _fold_results(graph, node, results)
        return changed


def _as_cast(graph: Graph, node: Node, types: ElementTypes) -> Node:
    """A CastLike of a constant as the Cast that it is, where the type of the other is known."""
    value, like = node.inputs[0], node.inputs[1]
    copy = node.outputs[0]
    assert value is not None and like is not None
    known = types.of(like)
    if value.constant is None or known is None or copy is None or copy.pinned:
        return node
    # The two have their other attributes in common, in every opset.
    attributes = [onnx.helper.make_attribute("to", known), *node.op.attributes.values()]
    op = Operator("Cast").with_attributes(attributes)
    cast = Builder(graph).apply(op, [value], copy.name, node.name)
    graph.replace_uses(copy, cast)
    graph.remove(node)
    assert cast.producer is not None
    return cast.producer


def _fold(graph: Graph, node: Node, folder: Folder) -> bool:
    tensors: list[Tensor | None] = []
    for value in node.inputs:
        if value is not None and value.constant is None:
            return False
        tensors.append(None if value is None else value.constant)
    if any(v is not None and v.pinned for v in node.outputs):
        return False
    if folder.may_fold(node):
        results = folder.fold(node, tensors)
    else:
        results = _call(node, folder) if is_call(node, folder.model) else None
    if results is None:
        return False
    for value, tensor in zip(node.outputs, results, strict=False):
        if value is not None:
            graph.replace_uses(value, graph.add_initializer(value.name, tensor))
    graph.remove(node)
    return True


def _fold_results(graph: Graph, node: Node, results: CallResults) -> bool:
    """What a call gives out that does not depend on the rest of what it is given."""
    wanted = {v for v in node.outputs if v is not None and not v.pinned and graph.users(v)}
    known = results.of(node, wanted)
    for value, tensor in known.items():
        graph.replace_uses(value, graph.add_initializer(value.name, tensor))
    return bool(known)


def _call(node: Node, folder: Folder) -> list[Tensor] | None:
    """What a call of a model function gives for constants; None if it is not to be folded."""
    if any(value is None for value in node.outputs):
        return None
    evaluator = construct_evaluator(node, folder.model)
    known = {v: v.constant for v in node.inputs if v is not None and v.constant is not None}
    if evaluator is None or any(folder.is_large(tensor) for tensor in known.values()):
        return None
    results = evaluator.evaluate(known)
    if results is None or any(folder.is_large(tensor) for tensor in results):
        return None
    return results
