"""Sizes of the scan outputs of a Scan that makes no iterations."""

import types
from collections.abc import Sequence

import onnx

from ...facts.bounds import known
from ...facts.fact import Fact
from ...facts.polynomial import Dimension
from ...ir import Model, Node, Value
from ...reference.bodies import Body
from ...reference.errors import EvaluationError
from ..shapes.inference import ShapeInference
from ..shapes.nonzero_iterations import runs_certainly
from ..shapes.single_node_model import reads_of, single_node_model


def uncertain_output(scan: Node, model: Model, inference: ShapeInference) -> Value | None:
    """Find a scan output with uncertain element sizes at length 0.

    Without an iteration these sizes are declared, or inferred from the sizes of inputs and captured
    values; what is not inferred is 0. A rewrite of the body may let more be inferred, so sizes are
    certain only if all of them are inferred. Names of sizes speak of the body alone.

    Returns:
        The output of the body; None if all are certain.
    """
    if runs_certainly(scan, lambda value: known(inference.fact(value))):
        return None
    body, sizes = scan.body("body"), _Sizes()
    states = len(body.inputs) - scan.attribute("num_scan_inputs", 0)
    read = [
        index
        for index in range(states, len(body.outputs))
        if index < len(scan.outputs) and scan.outputs[index] is not None
    ]
    reader = _reader(scan, model)
    inputs = [sizes.type_of(fact) for fact in _elements(scan, states, inference)]
    outer = set(body.captures())
    captured = {
        f"i{k}": sizes.type_of(inference.fact(value))
        for k, value in enumerate(reads_of(scan))
        if value in outer
    }
    for index in read:
        try:
            inferred = reader.inferred(index, inputs, captured)
        except EvaluationError:
            return body.outputs[index]
        if not sizes.cover(inferred):
            return body.outputs[index]
    return None


def _reader(scan: Node, model: Model) -> Body:
    """Reader of the body, without its names of sizes."""
    proto = single_node_model(scan, model)
    graph = next(a.g for a in proto.graph.node[-1].attribute if a.name == "body")
    for info in (*graph.output, *graph.value_info):
        for dim in info.type.tensor_type.shape.dim:
            if dim.dim_param:
                dim.Clear()
    opsets = {entry.domain: entry.version for entry in proto.opset_import}
    return Body(types.SimpleNamespace(proto_=graph), opsets, len(scan.body("body").inputs))


def _elements(scan: Node, states: int, inference: ShapeInference) -> Sequence[Fact]:
    """Facts of the inputs of the body."""
    in_8 = scan.root.opset() < 9
    values = scan.inputs[1:] if in_8 else scan.inputs
    axes = scan.attribute("scan_input_axes") or [0] * (len(values) - states)
    facts = []
    for position, value in enumerate(values):
        fact = Fact() if value is None else inference.fact(value)
        shape = fact.shape
        if shape is not None and in_8:
            # The body of a Scan 8 sees neither the batch nor the length.
            shape = shape[1 if position < states else 2 :]
        elif shape is not None and position >= states:
            axis = axes[position - states] % max(len(shape), 1)
            shape = shape[:axis] + shape[axis + 1 :]
        facts.append(Fact(fact.elem_type, shape, None, fact.other))
    return facts


class _Sizes:
    """Sizes by names of their own, which no body has."""

    def __init__(self) -> None:
        self._names: dict[Dimension, str] = {}

    def type_of(self, fact: Fact) -> onnx.TypeProto:
        """Make the type of a fact."""
        if fact.other is not None:
            return fact.other
        dims = None if fact.shape is None else [self._written(dim) for dim in fact.shape]
        return onnx.helper.make_tensor_type_proto(fact.elem_type, dims)

    def _written(self, dim: Dimension) -> int | str:
        number = dim.value
        return self._names.setdefault(dim, f"?{len(self._names)}") if number is None else number

    def cover(self, type_: onnx.TypeProto.Tensor) -> bool:
        """Test whether all sizes of a type are numbers or have names from here."""
        names = set(self._names.values())
        return type_.HasField("shape") and all(
            dim.HasField("dim_value") or dim.dim_param in names for dim in type_.shape.dim
        )
