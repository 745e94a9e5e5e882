"""What the elements of a scan output are when a Loop makes no trips, so that none is at hand."""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import onnx

from ...ir import Model, Node, Tensor
from ...reference.errors import EvaluationError
from ...reference.signature import is_static
from ..constants.evaluation import alone, reads_of
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
        """The element of a scan output; None where its type is not known.

        The body decides in the reference and in onnxruntime, which asks what it captures, too:
        what is carried into its first trip is not asked, and a shape that nothing tells is that of
        a scalar. Only the type, without which the reference does not run, may follow from there.

        Args:
            index: the position among the body's outputs.
        """
        told = self._by_body(index, self._captured())
        if told is not None:
            return told
        elem_type = self._inference.fact(self.loop.body("body").outputs[index]).elem_type
        return ScanElement(elem_type, ()) if elem_type else None

    def by_reference(self, index: int) -> ScanElement | None:
        """What the reference takes it for; None where that fails."""
        return self._by_body(index, {})

    def _by_body(self, index: int, captured: Mapping[str, onnx.TypeProto]) -> ScanElement | None:
        declared = self.loop.body("body").output_infos[index].type.tensor_type
        if declared.elem_type and is_static(declared):
            return ScanElement(declared.elem_type, tuple(d.dim_value for d in declared.shape.dim))
        try:
            dtype, shape = self._reference_body().element(index, captured=captured)
        except EvaluationError:
            return None
        return ScanElement(onnx.helper.np_dtype_to_tensor_dtype(dtype), shape)

    def _captured(self) -> dict[str, onnx.TypeProto]:
        """The types of what the body captures, by its names in `alone`."""
        captured = set(self.loop.body("body").captures())
        types_ = {
            f"i{index}": self._inference.fact(value).type_proto(private=False)
            for index, value in enumerate(reads_of(self.loop))
            if value in captured
        }
        return {name: type_ for name, type_ in types_.items() if type_ is not None}

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
