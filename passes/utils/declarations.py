"""Correction of declarations that a rewrite proves false.

    float[N,M] z = If (yes) <then_branch = t () => (float[2,3] a) {...}, else_branch = ...>
    float[6] q = Neg (z)
->
    float[2,3] q = Neg (a)

An If's output has no shape while its branches differ, and a Loop's state never has one, so wrong
shapes after them go unnoticed. Without the construct, checkers reject the model.

onnx's inference of Slice 10 keeps the name of a dynamic axis: of x [n], x[1:] is [n], too. So does
onnxruntime 1.32, which then lets values of the same sizes share memory, and fails. A declaration
with a name of its own keeps these apart; opsets 9 and 11 need none.
"""

import operator
from collections.abc import Callable, Iterable, Iterator
from typing import ClassVar

import onnx

from ...analysis.shapes.inference import ShapeInference
from ...analysis.shapes.loop_fixpoint import outside
from ...facts.fact import Fact, is_named
from ...ir import Graph, Model, Node, Value
from ...reference.signature import type_text
from ..base import Pass, PassContext


class CorrectDeclarations(Pass):
    """Replace declarations that contradict inference; pipelines end with this pass.

    A remark reports the correction of a model's output, without which checkers reject the model. A
    declaration of a function's output stays, with a remark.
    """

    name: ClassVar[str] = "correct-declarations"
    cleans_up: ClassVar[bool] = True

    def run(self, model: Model, context: PassContext) -> bool:
        """Correct the declarations in every graph."""
        values = [value for graph in model.graphs() for value in _declarations(graph)]
        dissolved = {r.op_type for r in context.remarks if r.action == "rewritten"}
        bodies = any(graph.holder is not None for graph in model.graphs())
        # A rewrite without declarations or bodies can only affect outputs.
        if not values and not bodies and not dissolved:
            return False
        return self.correct(model, context)

    def correct(self, model: Model, context: PassContext) -> bool:
        """Correct every declaration that contradicts inference."""
        values = [value for graph in model.graphs() for value in _declarations(graph)]
        inference = context.analyses.inference(model).trial()
        for value, fact in context.analyses.facts.items():
            inference.assume(value, outside(inference.symbols, fact, ()))
        changed = complete_outputs(model, inference)
        for value in values:
            assert value.type is not None
            type_ = correct_type(value.type, inference.fact(value))
            if type_ != value.type:
                value.type = type_
                changed = True
        for graph in model.graphs():
            changed |= _complete_inputs(graph, inference)
            changed |= self._correct_outputs(graph, inference, context)
        return changed

    def _correct_outputs(
        self, graph: Graph, inference: ShapeInference, context: PassContext
    ) -> bool:
        infos = list(graph.output_infos)
        of_scan = graph.holder is not None and graph.holder.is_op("Scan", "SequenceMap")
        for slot, (value, info) in enumerate(zip(graph.outputs, infos, strict=True)):
            if of_scan and (type_ := _ranked(info.type, inference.fact(value))) is not None:
                infos[slot] = onnx.helper.make_value_info(info.name, type_)
                continue
            if not info.HasField("type"):
                continue
            type_ = correct_type(info.type, inference.fact(value))
            if type_ == info.type or (graph.name, info.name) in context.analyses.false_sizes:
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
                was, is_ = type_text(info.type), type_text(type_)
                what = f"the output '{info.name}' was declared as {was}, but is {is_}"
                context.noted(self, value.producer, f"{what}; {does}")
        changed = any(new is not old for new, old in zip(infos, graph.output_infos, strict=True))
        graph.output_infos = tuple(infos)
        return changed


def _complete_inputs(graph: Graph, inference: ShapeInference) -> bool:
    """Declare the types of a SequenceMap's body, which a function leaves out: onnxruntime requires
    them in a graph."""
    if graph.holder is None or not graph.holder.is_op("SequenceMap"):
        return False
    changed = False
    for value in graph.inputs:
        type_ = None if value.type else inference.fact(value).type_proto(private=False)
        if type_ is not None:
            value.type, changed = type_, True
    return changed


def _ranked(declared: onnx.TypeProto, fact: Fact) -> onnx.TypeProto | None:
    """A type with the rank that an output of a body lacks; None if it has one.

    onnxruntime 1.32 refuses a Scan whose body has an output of unknown rank, and infers less of
    some nodes that passes write than of those before.
    """
    if declared.tensor_type.HasField("shape") or fact.shape is None or not fact.elem_type:
        return None
    if declared.WhichOneof("value") not in (None, "tensor_type"):
        return None
    return onnx.helper.make_tensor_type_proto(fact.elem_type, [None] * len(fact.shape))


def complete_outputs(model: Model, inference: ShapeInference, *, names: bool = False) -> bool:
    """Declare inferred numbers for open sizes of a model's outputs, and shapes where none stood.

    OpenCV 5.0 refuses an output without a shape, and compilers of static shapes one of open size.

    Args:
        names: replace names of sizes, too; by default those of the caller stay.
    """
    infos = []
    for value, info in zip(model.graph.outputs, model.graph.output_infos, strict=True):
        infos.append(info)
        if (type_ := _completed(info.type, inference, value, names)) is not None:
            infos[-1] = onnx.ValueInfoProto()
            infos[-1].CopyFrom(info)
            infos[-1].type.CopyFrom(type_)
    changed = any(map(operator.is_not, infos, model.graph.output_infos))
    model.graph.output_infos = tuple(infos)
    return changed


def _completed(
    declared: onnx.TypeProto, inference: ShapeInference, value: Value, names: bool
) -> onnx.TypeProto | None:
    """A type with the inferred sizes that an output's declaration lacks; None if it lacks none."""
    tensor = declared.tensor_type
    is_open = not tensor.HasField("shape") or any(_is_open(dim, names) for dim in tensor.shape.dim)
    if declared.WhichOneof("value") != "tensor_type" or not is_open:
        return None
    fact = inference.fact(value)
    inferred = fact.type_proto(private=False)
    if fact.shape is None or inferred is None or fact.elem_type != tensor.elem_type:
        return None
    type_ = onnx.TypeProto()
    type_.CopyFrom(declared)
    dims, sizes = type_.tensor_type.shape.dim, inferred.tensor_type.shape.dim
    if not tensor.HasField("shape"):
        type_.CopyFrom(inferred)
    elif len(dims) == len(sizes):
        for dim, size in zip(dims, sizes, strict=True):
            if size.HasField("dim_value") and _is_open(dim, names):
                dim.dim_value = size.dim_value
    return None if type_ == declared else type_


def _is_open(dim: onnx.TensorShapeProto.Dimension, names: bool) -> bool:
    return not dim.HasField("dim_value") and (names or not dim.dim_param)


def correct_type(declared: onnx.TypeProto, fact: Fact) -> onnx.TypeProto:
    """Correct the parts of a declared type that contradict a fact."""
    if fact.other is None and fact.elem_type and _agrees(declared, fact):
        return declared
    inferred = fact.type_proto(private=False)
    if inferred is None or declared.WhichOneof("value") is None:
        return declared
    if not (declared.HasField("tensor_type") and inferred.HasField("tensor_type")):
        return (
            declared if declared.WhichOneof("value") == inferred.WhichOneof("value") else inferred
        )
    type_ = onnx.TypeProto()
    type_.CopyFrom(declared)
    tensor, dims = type_.tensor_type, fact.shape
    tensor.elem_type = fact.elem_type
    if dims is None or not tensor.HasField("shape"):
        return type_
    if len(tensor.shape.dim) != len(dims):
        tensor.shape.CopyFrom(inferred.tensor_type.shape)
    for dim, size in zip(tensor.shape.dim, dims, strict=True):
        if dim.HasField("dim_value") and size.value not in (None, dim.dim_value):
            dim.dim_value = size.value
    return type_


def _agrees(declared: onnx.TypeProto, fact: Fact) -> bool:
    """Test for the declaration of a tensor that no part of a fact contradicts."""
    if not declared.HasField("tensor_type"):
        return False
    tensor = declared.tensor_type
    if tensor.elem_type != fact.elem_type or not tensor.HasField("elem_type"):
        return False
    if fact.shape is None or not tensor.HasField("shape"):
        return True
    dims = tensor.shape.dim[:]
    return len(dims) == len(fact.shape) and all(
        size.value in (None, dim.dim_value) or not dim.HasField("dim_value")
        for dim, size in zip(dims, fact.shape, strict=True)
    )


def _declarations(graph: Graph) -> Iterator[Value]:
    """Yield the values of a graph with a redundant declaration, except outputs."""
    holder = graph.holder
    if holder is not None:
        # A body declares the ranks of its iteration number and condition itself.
        arguments = graph.inputs[2:] if holder.is_op("Loop") else graph.inputs
        yield from (value for value in arguments if value.type)
    outputs = set(graph.outputs)
    for entry in graph.value_infos:
        if not isinstance(entry, Value) or entry.graph is not graph or entry in outputs:
            continue
        if entry.producer is not None and entry.type is not None:
            yield entry


def _has_scan_outputs(loop: Node) -> bool:
    bodies = loop.bodies.get("body", ())  # none where a function's caller gives it
    return any(len(body.outputs) > len(loop.inputs) - 1 for body in bodies)


def note_false_sizes(model: Model, context: PassContext) -> None:
    """Note outputs of bodies whose declarations are false before any rewrite.

    Without iterations runtimes join a false one with what they infer, so another declaration would
    give the Loop's scan outputs other sizes.
    """
    loops = [node for graph in model.graphs() for node in graph.nodes_of("Loop")]
    for body in [loop.body("body") for loop in loops if _has_scan_outputs(loop)]:
        for value, info in zip(body.outputs[1:], body.output_infos[1:], strict=True):
            if info.type.tensor_type.HasField("shape"):
                inference = context.analyses.inference(model)
                if correct_type(info.type, inference.fact(value)) != info.type:
                    context.analyses.false_sizes.add((body.name, info.name))


def _is_promise(graph: Graph) -> bool:
    """Test for an output whose declaration binds other graphs."""
    return graph.holder is None or graph.holder.op.references


def _is_same_but_for_sizes(one: onnx.TypeProto, other: onnx.TypeProto) -> bool:
    """Test for two tensor types of one element type."""
    types = [type_.tensor_type.elem_type for type_ in (one, other) if type_.HasField("tensor_type")]
    return len(types) == len((one, other)) and len(set(types)) == 1


_OPSET = 10


def declare_slices(model: Model, facts: Callable[[], Callable[[Value], Fact]]) -> bool:
    """Declare the outputs of all Slices of opset 10 that have no declaration.

    Args:
        model: the model, changed in place.
        facts: returns an inference of facts; called if there is a Slice.
    """
    if model.opset() != _OPSET:
        return False
    graphs = [graph for graph in model.graphs() if isinstance(graph.root, Model)]
    nodes = [node for graph in graphs for node in graph.nodes_of("Slice")]
    values = [node.output() for node in nodes if not _names_sizes(node.output())]
    if not values:
        return False
    names, fact_of = _Names(model), facts()
    outputs = {value for graph in graphs for value in graph.outputs}
    changed = [_declare(v, fact_of(v), names) for v in values if v not in outputs]
    return any(changed)


def _names_sizes(value: Value) -> bool:
    """Test for a declaration in which each size has a number or a name."""
    dims = () if value.info is None else value.info.type.tensor_type.shape.dim
    return value.info is not None and all(dim.WhichOneof("value") for dim in dims)


def _declare(value: Value, fact: Fact, names: "_Names") -> bool:
    graph = value.graph
    assert graph is not None
    if fact.shape is None or not fact.elem_type or all(dim.value is not None for dim in fact.shape):
        return False
    sizes = [
        dim.value if dim.value is not None else str(dim) if is_named(dim) else names.new()
        for dim in fact.shape
    ]
    value.type = onnx.helper.make_tensor_type_proto(fact.elem_type, sizes)
    if value not in graph.value_infos:
        graph.value_infos.append(value)
    return True


class _Names:
    """Names of sizes that no declaration of a model has."""

    def __init__(self, model: Model) -> None:
        self._taken = {
            dim.dim_param
            for graph in model.graphs()
            for info in _infos(graph)
            for dim in info.type.tensor_type.shape.dim
        }
        self._count = 0

    def new(self) -> str:
        """A new name."""
        while True:
            self._count += 1
            name = f"sliced_{self._count}"
            if name not in self._taken:
                self._taken.add(name)
                return name


def _infos(graph: Graph) -> Iterable[onnx.ValueInfoProto]:
    yield from graph.output_infos
    for entry in (*graph.inputs, *graph.value_infos):
        if isinstance(entry, onnx.ValueInfoProto):
            yield entry
        elif entry.info is not None:
            yield entry.info
