"""What the elements of a scan output are when a Loop makes no trips, so that none is at hand."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import onnx

from ...ir import Model, Node, Tensor
from ...reference.errors import EvaluationError
from ...reference.signature import is_static
from ..constants.evaluation import alone
from ..shapes.inference import ShapeInference

if TYPE_CHECKING:
    from ...reference.bodies import Body


class ScanElement(NamedTuple):
    """The type of one element, with 0 for sizes that nothing tells."""

    elem_type: int
    shape: tuple[int, ...]

    def none(self) -> Tensor:
        """No such elements, one after another: a leading 0, then the sizes of one."""
        dtype = onnx.helper.tensor_dtype_to_np_dtype(self.elem_type)
        return Tensor(array=np.empty((0, *self.shape), dtype))


class ScanElements:
    """The elements of the scan outputs of one Loop, where it makes no trips.

    Args:
        loop: the node.
        model: what holds the node.
        inference: facts about its values; made anew where it is not given.
    """

    def __init__(self, loop: Node, model: Model, inference: ShapeInference | None = None) -> None:
        self.loop = loop
        self.model = model
        self._inference = ShapeInference(model) if inference is None else inference
        self._body: Body | None = None

    def of(self, index: int) -> ScanElement | None:
        """The element of a scan output; None where its type or its rank is not known.

        The reference decides by the body alone, so it comes first; what it leaves open may follow
        from the values around the Loop.

        Args:
            index: the position among the body's outputs.
        """
        fact = self._inference.fact(self.loop.body("body").outputs[index])
        shape = None if fact.shape is None else tuple(dim.value or 0 for dim in fact.shape)
        told = self.by_reference(index)
        if told is None:
            known = shape is not None and fact.elem_type
            return ScanElement(fact.elem_type, shape or ()) if known else None
        if shape is not None and len(told.shape) == len(shape):
            merged = tuple(a or b for a, b in zip(told.shape, shape, strict=True))
            return ScanElement(told.elem_type, merged)
        if told.shape or _is_declared(self.loop, index):
            return told
        # For the reference a shape that nothing tells is that of a scalar.
        return None if shape is None else ScanElement(told.elem_type, shape)

    def by_reference(self, index: int) -> ScanElement | None:
        """What the reference takes it for; None where that fails."""
        declared = self.loop.body("body").output_infos[index].type.tensor_type
        if declared.elem_type and is_static(declared):
            return ScanElement(declared.elem_type, tuple(d.dim_value for d in declared.shape.dim))
        try:
            dtype, shape = self._reference_body().element(index)
        except EvaluationError:
            return None
        return ScanElement(onnx.helper.np_dtype_to_tensor_dtype(dtype), shape)

    def _reference_body(self) -> Body:
        from ...reference.bodies import Body

        if self._body is None:
            proto = alone(self.loop, self.model)
            graph = next(a.g for a in proto.graph.node[-1].attribute if a.name == "body")
            opsets = {o.domain: o.version for o in proto.opset_import}
            fed = len(self.loop.body("body").inputs)
            self._body = Body(types.SimpleNamespace(proto_=graph), opsets, fed)
        return self._body


def scanned_element(loop: Node, index: int, model: Model) -> ScanElement | None:
    """The element of one scan output: see `ScanElements`."""
    return ScanElements(loop, model).of(index)


def declare_elements(loop: Node, model: Model) -> None:
    """Declare of a Loop's scan outputs the sizes that its body alone tells.

    For a rewrite that is about to take inputs from the body: what follows from their types are the
    sizes that these outputs have when the Loop makes no trips.
    """
    body, elements = loop.body("body"), ScanElements(loop, model)
    infos = list(body.output_infos)
    for index in range(len(loop.inputs) - 1, len(infos)):
        known = is_static(infos[index].type.tensor_type)
        told = None if known else elements.by_reference(index)
        if told is not None and told.shape:
            type_ = onnx.helper.make_tensor_type_proto(
                told.elem_type, [size or None for size in told.shape]
            )
            infos[index] = onnx.ValueInfoProto()
            infos[index].CopyFrom(body.output_infos[index])
            infos[index].type.CopyFrom(type_)
    body.set_outputs(body.outputs, infos)


def _is_declared(loop: Node, index: int) -> bool:
    body = loop.body("body")
    info = body.output_infos[index]
    return body.outputs[index].shape is not None or info.type.tensor_type.HasField("shape")
