"""Declare the inferred types and shapes of all values.

y = Concat <axis = 0> (x, five)     ->     float[N + 5] y = Concat <axis = 0> (x, five)
"""

from typing import ClassVar

import onnx

from ...analysis.shapes.inference import ShapeInference
from ...facts.fact import Fact
from ...ir import Graph, Model, Value
from ...reference.signature import is_static
from ..base import Pass, PassContext


class InferShapes(Pass):
    """Write types and shapes to value_info, in every graph, with symbols for unknown sizes."""

    name: ClassVar[str] = "infer-shapes"
    keeps_sizes: ClassVar[bool] = True
    cleans_up: ClassVar[bool] = True

    def run(self, model: Model, context: PassContext) -> bool:
        """Infer the facts of every value, and declare them."""
        inference = context.analyses.new_inference(model)
        nodes = (node for graph in model.graphs() for node in graph.nodes())
        for value in (value for node in nodes for value in node.outputs if value is not None):
            inference.fact(value)
        return declare_facts(inference)


def declare_facts(inference: ShapeInference) -> bool:
    """Declare the inferred facts of values without a declared shape.

    Not in the body of a Loop with undeclared sizes of its scan outputs: without iterations,
    runtimes use the sizes that follow from the declarations in the body.
    """
    open_: dict[Graph, bool] = {}
    outputs = {value for graph in inference.model.graphs() for value in graph.outputs}
    changed = False
    for value, fact in inference.known():
        graph = value.graph
        if value in outputs or graph is None:
            continue
        if graph not in open_:
            open_[graph] = _leaves_sizes_open(graph)
        if not open_[graph]:
            changed |= _declare(value, fact)
    return changed


def _leaves_sizes_open(graph: Graph) -> bool:
    """Test for a Loop around a graph with undeclared sizes of its scan outputs."""
    inner: Graph | None = graph
    while inner is not None and inner.holder is not None:
        loop = inner.holder
        # The body returns its condition and states first: as many as the Loop has inputs, less one.
        rows = inner.output_infos[len(loop.inputs) - 1 :] if loop.is_op("Loop") else ()
        if any(not is_static(info.type.tensor_type) for info in rows):
            return True
        inner = loop.graph
    return False


def _declare(value: Value, fact: Fact) -> bool:
    node, graph = value.producer, value.graph
    if node is None or graph is None:
        return False
    type_ = fact.type_proto(private=False)
    if type_ is None or not _tells_more(type_, value.type):
        return False
    declared = value.info is not None
    value.type = type_
    if not declared:
        graph.value_infos.append(value)
    return True


def _tells_more(new: onnx.TypeProto, old: onnx.TypeProto | None) -> bool:
    if old is None or old.WhichOneof("value") is None:
        return True
    missing = old.HasField("tensor_type") and not old.tensor_type.HasField("shape")
    return missing and new.HasField("tensor_type") and new.tensor_type.HasField("shape")
