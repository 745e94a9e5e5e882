"""Compute values that depend on constants alone.

agraph (float[2] x) => (float[2] y)          agraph (float[2] x) => (float[2] y)
<float two = {2}> {                          <float four = {4}> {
   four = Mul(two, two)               ->        y = Mul(x, four)
   y = Mul(x, four)                          }
}

Constants may enlarge a model a little only: a larger result is held until a smaller one depends on
it (`held_results`), or its readers read a row of it (`broadcast_constants`).

A call of the model's own function is folded by output: each output that depends on constants and
sizes alone becomes a constant, and the call stays for the others.

Kept: random and quantizing operators, and nodes on which implementations disagree or the
specification is silent (`OperatorRules.is_settled`, `ops/departures.py`): NaN, infinities, -0 and
subnormals outside of plain arithmetic, empty tensors in operators that compute, integers that
overflow, casts of numbers out of range, elements that a scatter writes twice. All constants
together may add 64 KB or a tenth of the model.
"""

from typing import ClassVar

import onnx

from ...analysis.constants.call_results import CallResults, tells_anything
from ...analysis.constants.evaluation import construct_evaluator, is_call
from ...analysis.constants.folding import Folder
from ...ir import Graph, Model, Node, Operator, Tensor
from ...ir.io.deserialize import FlatModel
from ...ops.builder import Builder
from ...ops.schema_queries import ElementTypes
from ...records import record
from ..base import Pass, PassContext
from ..utils.branch_outputs import ends_branch
from ..utils.budget import DEFAULT_MAX_BYTES
from .broadcast_constants import narrowed
from .held_results import HeldResults

_IDLE = frozenset(("Constant",))
"""Operators without operands that are never folded, in a model without functions."""


@record(frozen=True)
class FoldConstants(Pass):
    """Compute operators and function calls on constants; random and quantizing ones stay.

    Options:
        max_bytes: the size limit of a tensor, read or computed.
        large: fold larger tensors, too, if the model does not grow.
    """

    name: ClassVar[str] = "fold-constants"
    keeps_facts: ClassVar[bool] = True
    by_default: ClassVar[bool] = True
    max_bytes: int = DEFAULT_MAX_BYTES
    large: bool = False

    def is_idle(self, flat: FlatModel) -> bool:
        """Test for a model without operators on constants alone."""
        return not (flat.computes_constants or "CastLike" in flat.kinds)

    def run(self, model: Model, context: PassContext) -> bool:
        """Fold in every graph, producers before their users."""
        folder = Folder(model, self.max_bytes)
        store = HeldResults(folder, context.meter, self.large)
        results = None
        if model.functions and tells_anything(model):
            results = CallResults(folder, lambda: context.inference(model), context.analyses.memory)
        types = ElementTypes()
        changed = False
        idle = frozenset[str]() if model.functions else _IDLE
        for graph in model.graphs():
            casts = "CastLike" in graph.kinds()
            for node in graph.nodes():
                if casts and node.is_op("CastLike") and not node.op.references:
                    cast = _as_cast(graph, node, types)
                    changed |= cast is not node
                    node = cast
                for value in node.inputs:
                    if value is None or value.constant is not None:
                        continue
                    if value not in store.tensors:
                        break
                else:
                    if node.op.qualname not in idle:
                        changed |= _fold(graph, node, folder, store, context)
                if results is not None and node.stands and is_call(node, model):
                    changed |= _fold_results(graph, node, results, store)
        return store.settle() or changed


def _as_cast(graph: Graph, node: Node, types: ElementTypes) -> Node:
    """Replace a CastLike of a constant by a Cast, where the target type is known."""
    value, like = node.operand(0), node.operand(1)
    copy = node.outputs[0]
    elem_type = types.of(like)
    if value.constant is None or elem_type is None or copy is None or copy.pinned:
        return node
    # The two have their other attributes in common, in every opset.
    attributes = [onnx.helper.make_attribute("to", elem_type), *node.op.attributes.values()]
    op = Operator("Cast").with_attributes(attributes)
    cast = Builder(graph).apply(op, [value], copy.name, node.name)
    graph.replace_uses(copy, cast)
    graph.remove(node)
    assert cast.producer is not None
    return cast.producer


def _fold(
    graph: Graph, node: Node, folder: Folder, store: HeldResults, context: PassContext
) -> bool:
    """Fold a node whose operands are all constants."""
    if any(v is not None and v.pinned for v in node.outputs):
        return False
    # Clients need the node where it stands.
    if ends_branch(graph, node) or _starts_empty(graph, node):
        return False
    tensors = [None if value is None else value.constant for value in node.inputs]
    if folder.may_fold(node):
        is_held = not store.tensors.keys().isdisjoint(node.inputs)
        results = None if is_held else folder.fold(node, tensors)
        results = store.fold(node) if results is None else results
    else:
        results = _call(node, folder) if is_call(node, folder.model) else None
    if results is None:
        return False
    constants = {v: t for v, t in zip(node.outputs, results, strict=False) if v is not None}
    if not store.admits(node, results):
        store.hold(
            constants, narrowed(graph, node, results, lambda: context.inference(folder.model))
        )
        return False
    for value, tensor in constants.items():
        graph.replace_uses(value, graph.add_initializer(value.name, tensor))
    graph.remove(node)
    return True


def _starts_empty(graph: Graph, node: Node) -> bool:
    """Test for a tensor without elements that a Loop or Scan starts with.

    OpenVINO 2026.4 loses the shape of such an initializer, and refuses the loop.
    """
    operand = node.input(0) if node.is_op("ConstantOfShape") else None
    shape = None if operand is None else operand.constant
    if shape is None or not shape.is_readable or all(shape.numpy().flat):
        return False
    users = graph.users(node.output())
    return any(isinstance(user, Node) and user.is_op("Loop", "Scan") for user in users)


def _fold_results(graph: Graph, node: Node, results: CallResults, store: HeldResults) -> bool:
    """Replace the outputs of a call that depend on its constant arguments alone."""
    outputs = {v for v in node.outputs if v is not None and not v.pinned and graph.users(v)}
    changed = False
    for value, tensor in results.of(node, outputs).items():
        if not store.admits(node, [tensor]):
            store.hold({value: tensor})
        else:
            graph.replace_uses(value, graph.add_initializer(value.name, tensor))
            changed = True
    return changed


def _call(node: Node, folder: Folder) -> list[Tensor] | None:
    """The outputs of a function call on constants; None without a fold."""
    if any(value is None for value in node.outputs):
        return None
    evaluator = construct_evaluator(node, folder.model)
    arguments = {v: v.constant for v in node.inputs if v is not None and v.constant is not None}
    if evaluator is None or any(folder.is_large(tensor) for tensor in arguments.values()):
        return None
    results = evaluator.evaluate(arguments)
    if results is None or any(folder.is_large(tensor) for tensor in results):
        return None
    return results
