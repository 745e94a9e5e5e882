"""Types of the elements of a Loop's scan outputs. At zero iterations they come from the body's
declarations and shape inference, as there is no element."""

import types
from typing import NamedTuple

import numpy as np
import onnx

from ...ir import Model, Node, Tensor
from ...ir.lazy import lazy_property
from ...reference.bodies import MOST_SHOWN, Body
from ...reference.errors import EvaluationError
from ...reference.signature import is_static
from .loop_fixpoint import Inference
from .onnx_inference_cache import message_for_onnx
from .single_node_model import reads_of, single_node_model


class ScanElement(NamedTuple):
    """The type of one element, with 0 for unknown sizes."""

    elem_type: int
    shape: tuple[int, ...]

    def none(self) -> Tensor:
        """Make an empty scan output: a leading 0, then the sizes of an element."""
        dtype = onnx.helper.tensor_dtype_to_np_dtype(self.elem_type)
        return Tensor(array=np.empty((0, *self.shape), dtype))


class InferredElements:
    """The elements of a Loop's scan outputs, as runtimes infer them before any iteration.

    Args:
        inference: facts about the values that its body captures.
    """

    def __init__(self, loop: Node, model: Model, inference: Inference) -> None:
        self.loop = loop
        self.model = model
        self._inference = inference

    def of(self, index: int) -> ScanElement | None:
        """Return the type of an element; None where not even its element type is known.

        Args:
            index: the position among the body's outputs.
        """
        body = self.loop.body("body")
        # Of an output that a body repeats, the first declaration counts.
        index = body.outputs.index(body.outputs[index])
        declared = body.output_infos[index].type.tensor_type
        if declared.elem_type and is_static(declared):
            return ScanElement(declared.elem_type, tuple(d.dim_value for d in declared.shape.dim))
        try:
            dtype, shape = self._reference_body.element(index, captured=self._captured)
        except EvaluationError:
            return None
        return ScanElement(onnx.helper.np_dtype_to_tensor_dtype(dtype), shape)

    @lazy_property
    def _captured(self) -> dict[str, onnx.TypeProto | onnx.TensorProto]:
        """Types or small constants of captured values, by their names in `single_node_model`."""
        captured = set(self.loop.body("body").captures())
        types_: dict[str, onnx.TypeProto | onnx.TensorProto] = {}
        for index, value in enumerate(reads_of(self.loop)):
            if value not in captured:
                continue
            type_ = self._inference.fact(value).type_proto(private=False)
            tensor = value.constant
            if tensor is not None and tensor.size <= MOST_SHOWN and tensor.is_readable:
                types_[f"i{index}"] = message_for_onnx(tensor)
            elif type_ is not None:
                types_[f"i{index}"] = type_
        return types_

    @lazy_property
    def _reference_body(self) -> Body:
        proto = single_node_model(self.loop, self.model)
        graph = next(a.g for a in proto.graph.node[-1].attribute if a.name == "body")
        opsets = {o.domain: o.version for o in proto.opset_import}
        input_count = len(self.loop.body("body").inputs)
        return Body(types.SimpleNamespace(proto_=graph), opsets, input_count)
