"""What the elements of a scan output are when a Loop makes no trips, so that none is at hand."""

from __future__ import annotations

from collections.abc import Iterator

import onnx

from ...facts.bounds import known
from ...facts.fact import Shape
from ...ir import Model, Node, Value
from ...ir.lazy import lazy_property
from ...reference.signature import is_static
from ..shapes.inference import ShapeInference
from ..shapes.nonzero_trips import runs_certainly
from ..shapes.scan_elements import ScanElement, ToldElements


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
        self._told = ToldElements(loop, model, self._inference)

    def of(self, index: int) -> ScanElement | None:
        """The element of a scan output; None where runtimes may differ about it.

        A runtime takes what the body declares and what shape inference finds, which knows the types
        and constants that the body captures; a size that it does not find is 0. What is carried
        into the first trip is not asked but for its element type. A size that is known here, or
        that the model declares of its output, and that inference does not find is in doubt: a
        runtime that folds constants may find it.

        Args:
            index: the position among the body's outputs.
        """
        element, result = self._told.of(index), self._body_output(index)
        if element is None:
            elem_type = self._inference.fact(result).elem_type
            element = ScanElement(elem_type, ()) if elem_type else None
        if self._is_declared(index):
            return element
        sizes = [self._before_trips.fact(result).shape, *self._declared(index)]
        if element is None or not all(_agrees(element.shape, shape) for shape in sizes):
            return None
        return element

    def stays(self, index: int, element: ScanElement) -> bool:
        """Whether a scan output has these elements without a trip, too, once the body reads what is
        carried into it from around it."""
        return _agrees(element.shape, self._inference.fact(self._body_output(index)).shape)

    def has_trip(self) -> bool:
        """Whether the Loop certainly makes a trip."""
        return runs_certainly(self.loop, lambda value: known(self._inference.fact(value)))

    def _body_output(self, index: int) -> Value:
        return self.loop.body("body").outputs[index]

    def _is_declared(self, index: int) -> bool:
        return is_static(self.loop.body("body").output_infos[index].type.tensor_type)

    @lazy_property
    def _before_trips(self) -> ShapeInference:
        """What is known in the body of nothing but what it declares of its inputs."""
        body, fact = self.loop.body("body"), self._inference.symbols.fact
        return self._inference.within(body, [fact(value.type) for value in body.inputs])

    def _declared(self, index: int) -> Iterator[Shape | None]:
        """The sizes of one element that graph outputs declare which are the scan output."""
        outputs, position = self.loop.outputs, index - 1
        waiting = [outputs[position]] if position < len(outputs) else []
        for value in waiting:
            if value is None or value.graph is None:
                continue
            if value.graph.holder is None and value in value.graph.outputs and value.info:
                shape = self._inference.symbols.fact(value.info.type).shape
                yield None if shape is None else shape[1:]
            users = [use.user for use in value.graph.uses(value)]
            waiting += [u.output() for u in users if isinstance(u, Node) and u.is_op("Identity")]


def _agrees(told: tuple[int, ...], shape: Shape | None) -> bool:
    """Whether sizes that inference finds, 0 for others, are all numbers among the known ones."""
    if shape is None:
        return True
    pairs = zip(told, shape, strict=True)
    return len(told) == len(shape) and all(size or dim.value in (None, 0) for size, dim in pairs)


def scanned_element(loop: Node, index: int, model: Model) -> ScanElement | None:
    """The element of one scan output: see `ScanElements`."""
    return ScanElements(loop, model).of(index)


def declare_elements(loop: Node, model: Model) -> str:
    """Declare the sizes that the scan outputs of a Loop have when it makes no trips.

    For a rewrite that is about to change what the body reads: what follows from that are these
    sizes.

    Returns:
        Why that cannot be said, nothing being declared then; empty where it is done.
    """
    body, elements = loop.body("body"), ScanElements(loop, model)
    infos = list(body.output_infos)
    for index in range(len(loop.inputs) - 1, len(infos)):
        read = index - 1 < len(loop.outputs) and loop.outputs[index - 1] is not None
        if not read or is_static(infos[index].type.tensor_type):
            continue
        element = elements.of(index)
        stays = element is not None and elements.stays(index, element)
        if not stays and not elements.has_trip():
            return in_doubt(body.outputs[index])
        if element is not None and stays and element.shape:
            sizes = [size or None for size in element.shape]
            type_ = onnx.helper.make_tensor_type_proto(element.elem_type, sizes)
            infos[index] = onnx.ValueInfoProto()
            infos[index].CopyFrom(body.output_infos[index])
            infos[index].type.CopyFrom(type_)
    body.set_outputs(body.outputs, infos)
    return ""


def in_doubt(result: Value) -> str:
    """Why a Loop stays whose scan output may be of several sizes where it makes no trips."""
    return (
        f"there may be no trips, and the sizes of its scan output '{result.name}' are not certain"
        " then; declare them in the body"
    )
