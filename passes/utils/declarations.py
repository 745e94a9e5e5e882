"""Declarations that a rewrite has shown to be false.

    float[N,M] z = If (yes) <then_branch = t () => (float[2,3] a) {...}, else_branch = ...>
    float[6] q = Neg (z)
->
    float[2,3] q = Neg (a)

What an If gives out has no shape as long as its branches differ, and what a Loop carries has none
at all, so exporters get away with wrong shapes behind them. When the construct dissolves, checkers
find them and refuse the model.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import ClassVar

import onnx

from ...analysis.shapes.inference import ShapeInference
from ...analysis.shapes.loop_fixpoint import outside
from ...facts.fact import Fact
from ...ir import Graph, Model, Value
from ...reference.signature import type_text
from ..base import Pass
from ..context import PassContext


@dataclasses.dataclass(frozen=True)
class CorrectDeclarations(Pass):
    """Declare what is inferred where what is declared contradicts it; pipelines end with this.

    That of an output of the model is corrected with a remark, since checkers refuse the model else.
    What a function promises its callers stays, with a remark.
    """

    name: ClassVar[str] = "correct-declarations"
    cleans_up: ClassVar[bool] = True

    def run(self, model: Model, context: PassContext) -> bool:
        """Correct the declarations in every graph that say more than nothing."""
        declared = [value for graph in model.graphs() for value in _declared(graph)]
        dissolved = {r.op_type for r in context.remarks if r.action == "rewritten"}
        bodies = any(graph.holder is not None for graph in model.graphs())
        # The way to the outputs may be all that was unrolled; what hides a shape well is an If.
        if not declared and not bodies and not dissolved:
            return False
        return self.correct(model, context)

    def correct(self, model: Model, context: PassContext) -> bool:
        """Compare every declaration with what is inferred, whether or not a construct was there."""
        declared = [value for graph in model.graphs() for value in _declared(graph)]
        inference = context.analyses.new_inference(model)
        for value, fact in context.analyses.facts.items():
            inference.assume(value, outside(inference.symbols, fact, ()))
        changed = False
        for value in declared:
            assert value.type is not None
            type_ = corrected(value.type, inference.fact(value))
            if type_ != value.type:
                value.type = type_
                changed = True
        for graph in model.graphs():
            changed |= self._correct_outputs(graph, inference, context)
        return changed

    def _correct_outputs(
        self, graph: Graph, inference: ShapeInference, context: PassContext
    ) -> bool:
        infos = list(graph.output_infos)
        for slot, (value, info) in enumerate(zip(graph.outputs, infos, strict=True)):
            if not info.HasField("type"):
                continue
            type_ = corrected(info.type, inference.fact(value))
            if type_ == info.type:
                continue
            of_model = graph is graph.root.graph
            if of_model and not _is_same_but_for_sizes(info.type, type_):
                continue  # an output keeps its type
            if of_model or not _is_promise(graph):
                infos[slot] = onnx.ValueInfoProto()
                infos[slot].CopyFrom(info)
                infos[slot].type.CopyFrom(type_)
            if _is_promise(graph) and value.producer is not None:
                does = "which is declared now" if of_model else "correct the declaration there"
                context.noted(self, value.producer, f"{_false(info, type_)}; {does}")
        changed = any(new is not old for new, old in zip(infos, graph.output_infos, strict=True))
        graph.output_infos = tuple(infos)
        return changed


def corrected(declared: onnx.TypeProto, fact: Fact) -> onnx.TypeProto:
    """A declared type with what contradicts a fact replaced by what the fact says."""
    found = fact.type_proto(private=False)
    if found is None or declared.WhichOneof("value") is None:
        return declared
    if not (declared.HasField("tensor_type") and found.HasField("tensor_type")):
        return declared if declared.WhichOneof("value") == found.WhichOneof("value") else found
    type_ = onnx.TypeProto()
    type_.CopyFrom(declared)
    tensor, dims = type_.tensor_type, fact.shape
    tensor.elem_type = fact.elem_type
    if dims is None or not tensor.HasField("shape"):
        return type_
    if len(tensor.shape.dim) != len(dims):
        tensor.shape.CopyFrom(found.tensor_type.shape)
    for dim, known in zip(tensor.shape.dim, dims, strict=True):
        if dim.HasField("dim_value") and known.value not in (None, dim.dim_value):
            dim.dim_value = known.value
    return type_


def _declared(graph: Graph) -> Iterator[Value]:
    """The values of which a graph declares a type that follows from others, but its outputs."""
    holder = graph.holder
    if holder is not None:
        # Of the iteration number and the condition a body says itself what rank they have.
        handed = graph.inputs[2:] if holder.is_op("Loop") else graph.inputs
        yield from (value for value in handed if value.type)
    outputs = set(graph.outputs)
    for entry in graph.value_infos:
        if not isinstance(entry, Value) or entry.graph is not graph or entry in outputs:
            continue
        if entry.producer is not None and entry.type is not None:
            yield entry


def _is_promise(graph: Graph) -> bool:
    """Whether the declaration of an output is more than a hint."""
    return graph.holder is None or graph.holder.op.references


def _is_same_but_for_sizes(one: onnx.TypeProto, other: onnx.TypeProto) -> bool:
    """Whether two types are tensors of one element type."""
    types = [type_.tensor_type.elem_type for type_ in (one, other) if type_.HasField("tensor_type")]
    return len(types) == len((one, other)) and len(set(types)) == 1


def _false(info: onnx.ValueInfoProto, is_: onnx.TypeProto) -> str:
    return (
        f"the output '{info.name}' was declared as {type_text(info.type)}, but is {type_text(is_)}"
    )
