"""Elements of scan outputs of Loops and Scans that make no iterations."""

from collections.abc import Iterator

import onnx

from ...facts.bounds import known
from ...facts.fact import Shape
from ...ir import Function, Graph, Model, Node, Value
from ...ir.lazy import lazy_property
from ...reference.signature import is_static
from ..shapes.inference import ShapeInference
from ..shapes.nonzero_iterations import runs_certainly
from ..shapes.scan_elements import InferredElements, ScanElement
from .empty_scans import uncertain_output


class ScanElements:
    """The elements of one Loop's scan outputs at zero iterations.

    Args:
        inference: facts about its values; new ones by default.
    """

    def __init__(self, loop: Node, model: Model, inference: ShapeInference | None = None) -> None:
        self.loop = loop
        self.model = model
        self._inference = ShapeInference(model) if inference is None else inference
        self._inferred = InferredElements(loop, model, self._inference)

    def of(self, index: int) -> ScanElement | None:
        """The element of a scan output; None where runtimes may differ.

        A runtime uses the body's declarations, unless inference contradicts them, and shape
        inference from the types and constants of captured values; a size that it does not infer is
        0. Of initial values only the element type counts. A size that is known here, or declared
        for the output, and not inferred there is in doubt: a runtime that folds constants may infer
        it. So is one that a function does not determine: a runtime that inlines its calls infers it
        from their arguments.

        Args:
            index: the position among the body's outputs.
        """
        element, result = self._inferred.of(index), self._body_output(index)
        if element is None:
            elem_type = self._inference.fact(result).elem_type
            element = ScanElement(elem_type, ()) if elem_type else None
        if is_static(self.loop.body("body").output_infos[index].type.tensor_type):
            own = self._inference.fact(result).shape
            return element if element is not None and _agrees(element.shape, own) else None
        if self._is_of_function and not self._is_determined(element, result):
            return None
        sizes = [self._before_iterations.fact(result).shape, *self._declared_sizes(index)]
        if element is None or not all(_agrees(element.shape, shape) for shape in sizes):
            return None
        return element

    def stays(self, index: int, element: ScanElement) -> bool:
        """Test whether a scan output keeps these elements once the body captures initial values."""
        return _agrees(element.shape, self._inference.fact(self._body_output(index)).shape)

    def has_iteration(self) -> bool:
        """Test whether the Loop certainly makes an iteration."""
        return runs_certainly(self.loop, lambda value: known(self._inference.fact(value)))

    def _is_determined(self, element: ScanElement | None, result: Value) -> bool:
        """Test for sizes that no argument of a call changes."""
        # A size of 0 is one that inference did not find, and an argument may tell it.
        if element is None or not all(element.shape):
            return False
        return bool(element.shape) or self._inference.fact(result).shape == ()

    @property
    def _is_of_function(self) -> bool:
        return isinstance(self.loop.root, Function)

    def _body_output(self, index: int) -> Value:
        return self.loop.body("body").outputs[index]

    @lazy_property
    def _before_iterations(self) -> ShapeInference:
        """Facts in the body from the declarations of its inputs alone."""
        body, fact = self.loop.body("body"), self._inference.symbols.fact
        return self._inference.within(body, [fact(value.type) for value in body.inputs])

    def _declared_sizes(self, index: int) -> Iterator[Shape | None]:
        """The element sizes in declarations of graph outputs that equal the scan output."""
        outputs, position = self.loop.outputs, index - 1
        waiting = [outputs[position]] if position < len(outputs) else []
        # The list grows while it is walked, by the Identities that pass the output on.
        for value in waiting:
            if value is None or value.graph is None:
                continue
            if value.graph.holder is None and value in value.graph.outputs and value.info:
                shape = self._inference.symbols.fact(value.info.type).shape
                # The first axis counts the iterations.
                yield None if shape is None else shape[1:]
            users = [use.user for use in value.graph.uses(value)]
            waiting += [u.output() for u in users if isinstance(u, Node) and u.is_op("Identity")]


def _agrees(inferred: tuple[int, ...], shape: Shape | None) -> bool:
    """Test whether inferred sizes (0 if unknown) are all constant sizes of a shape."""
    if shape is None:
        return True
    return len(inferred) == len(shape) and all(
        dim.value is None or dim == size for size, dim in zip(inferred, shape, strict=True)
    )


def declare_elements(loop: Node, model: Model, inference: ShapeInference | None = None) -> str:
    """Declare the sizes of a Loop's scan outputs at zero iterations.

    A rewrite that changes the inputs or constants of the body calls it first, as these determine
    the sizes. Those of a Scan need no declaration if they are certain.

    Args:
        inference: facts about its values; new ones by default.

    Returns:
        The obstacle, without any declaration; empty on success.
    """
    if loop.is_op("Scan"):
        facts = ShapeInference(model) if inference is None else inference
        uncertain = uncertain_output(loop, model, facts)
        return "" if uncertain is None else in_doubt(uncertain)
    body, elements = loop.body("body"), ScanElements(loop, model, inference)
    infos = list(body.output_infos)
    # Outputs of the body: its condition, the carried values, then the scan outputs.
    for index in range(len(loop.inputs) - 1, len(infos)):
        read = index - 1 < len(loop.outputs) and loop.outputs[index - 1] is not None
        # Sizes that nothing reads are of no concern.
        if not read:
            continue
        element = elements.of(index)
        if element is not None and is_static(infos[index].type.tensor_type):
            continue
        stays = element is not None and elements.stays(index, element)
        if not stays and not elements.has_iteration():
            return in_doubt(body.outputs[index])
        if element is not None and stays and element.shape:
            # 0 stands for a size that is not inferred.
            sizes = [size or None for size in element.shape]
            type_ = onnx.helper.make_tensor_type_proto(element.elem_type, sizes)
            infos[index] = onnx.ValueInfoProto()
            infos[index].CopyFrom(body.output_infos[index])
            infos[index].type.CopyFrom(type_)
    body.set_outputs(body.outputs, infos)
    return ""


class ElementsOfBodies:
    """Guard of the sizes of scan outputs, while nodes in bodies are replaced.

    A runtime infers these sizes from the constants of the body, where a Loop makes no iteration.

    Attributes:
        doubts: the obstacle of each Loop that was asked about; empty if there is none.
    """

    def __init__(self, model: Model, inference: ShapeInference) -> None:
        self.doubts: dict[Node, str] = {}
        self._model = model
        self._inference = inference

    def stay(self, graph: Graph) -> bool:
        """Test whether scan outputs of the Loops and Scans around a graph keep their sizes.

        They do whatever its nodes are replaced by: the bodies declare these sizes then.
        """
        loop = graph.holder
        while loop is not None and loop.graph is not None:
            if loop.is_op("Loop", "Scan") and loop not in self.doubts:
                self.doubts[loop] = declare_elements(loop, self._model, self._inference)
            if self.doubts.get(loop):
                return False
            loop = loop.graph.holder
        return True


def in_doubt(result: Value) -> str:
    """The message for a construct with uncertain sizes of a scan output at zero iterations."""
    return (
        f"it may make no iteration, and the sizes of its scan output '{result.name}' are not"
        " certain then; declare them in the body"
    )
