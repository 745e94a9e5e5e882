"""Types of the scan outputs' elements of a Loop, from its body and from shape inference: without an
iteration there is no element to look at."""

from __future__ import annotations

import types
from typing import NamedTuple

import numpy as np
import onnx

from ...ir import Model, Node, Tensor
from ...ir.lazy import lazy_property
from ...reference.bodies import MOST_SHOWN, Body
from ...reference.errors import EvaluationError
from ...reference.signature import is_static
from .alone import alone, reads_of
from .loop_fixpoint import Inference
from .onnx_inference_cache import shown_message


class ScanElement(NamedTuple):
    """The type of one element, with 0 for sizes that nothing tells."""

    elem_type: int
    shape: tuple[int, ...]

    def none(self) -> Tensor:
        """No such elements, one after another: a leading 0, then the sizes of one."""
        dtype = onnx.helper.tensor_dtype_to_np_dtype(self.elem_type)
        return Tensor(array=np.empty((0, *self.shape), dtype))


class ToldElements:
    """The elements of the scan outputs of one Loop as runtimes infer them, before any trip.

    Args:
        loop: the node.
        model: what holds the node.
        inference: facts about the values that its body captures.
    """

    def __init__(self, loop: Node, model: Model, inference: Inference) -> None:
        self.loop = loop
        self.model = model
        self._inference = inference
        self._body: Body | None = None

    def of(self, index: int) -> ScanElement | None:
        """Return the type of an element; None where not even its element type is known.

        Args:
            index: the position among the body's outputs.
        """
        declared = self.loop.body("body").output_infos[index].type.tensor_type
        if declared.elem_type and is_static(declared):
            return ScanElement(declared.elem_type, tuple(d.dim_value for d in declared.shape.dim))
        try:
            dtype, shape = self._reference_body().element(index, captured=self._captured)
        except EvaluationError:
            return None
        return ScanElement(onnx.helper.np_dtype_to_tensor_dtype(dtype), shape)

    @lazy_property
    def _captured(self) -> dict[str, onnx.TypeProto | onnx.TensorProto]:
        """Types or small constants of captured values, by their names in `alone`."""
        captured = set(self.loop.body("body").captures())
        types_: dict[str, onnx.TypeProto | onnx.TensorProto] = {}
        for index, value in enumerate(reads_of(self.loop)):
            if value not in captured:
                continue
            type_ = self._inference.fact(value).type_proto(private=False)
            tensor = value.constant
            if tensor is not None and tensor.size <= MOST_SHOWN and tensor.is_readable:
                types_[f"i{index}"] = shown_message(tensor)
            elif type_ is not None:
                types_[f"i{index}"] = type_
        return types_

    def _reference_body(self) -> Body:
        if self._body is None:
            proto = alone(self.loop, self.model)
            graph = next(a.g for a in proto.graph.node[-1].attribute if a.name == "body")
            opsets = {o.domain: o.version for o in proto.opset_import}
            fed = len(self.loop.body("body").inputs)
            self._body = Body(types.SimpleNamespace(proto_=graph), opsets, fed)
        return self._body
