"""Constructs whose replacement may change a result at zero iterations of the Loop around them.

A Loop without an iteration takes the sizes of a scan output from inference, which knows less of
the results of a construct than of the nodes in its place:

    y = Loop (n, yes) <                        y = Loop (n, yes) <
       body = b (i, c) => (c, e) {                body = b (i, c) => (c, e) {
          e = Loop (two, , w) <...>      ->          e_0 = Neg (w) e = Neg (e_0)
       }                                          }
    >                                          >

For n of 0, y has the shape [0] on the left, since the rank of e is not inferred, and [0, 3] on the
right, if w has three elements.
"""

from collections.abc import Iterable, Iterator

import onnx

from ...facts.fact import Shape, decided
from ...facts.reason import Message, Reason
from ...ir import Graph, Model, Node, Value
from ...reference.signature import is_static
from ..shapes.inference import ShapeInference
from ..shapes.scan_elements import ScanElement
from .zero_iterations import ScanElements

_IN_DOUBT = Message(
    "around-in-doubt",
    "the Loop '{loop}' around it may make no iteration, and the sizes of its scan output '{output}'"
    " are not certain then; declare them in its body",
)


def constructs_in_doubt(model: Model, inference: ShapeInference) -> dict[Node, Reason]:
    """Find the constructs that must stay for the sizes of scan outputs around them.

    Where these sizes are certain, the bodies declare them from now on.

    Returns:
        The obstacle of each.
    """
    obstacles: dict[Node, Reason] = {}
    for graph in model.graphs():
        for loop in graph.holders():
            if loop.is_op("Loop"):
                obstacles.update(_in_body(loop, model, inference))
    return obstacles


def _in_body(loop: Node, model: Model, inference: ShapeInference) -> Iterator[tuple[Node, Reason]]:
    """Yield the constructs in one body that must stay; declare the sizes that are certain."""
    body, elements = loop.body("body"), None
    # Without a construct or a call there is nothing whose replacement would tell more.
    if not body.holders() and not model.functions:
        return
    for index in range(len(loop.inputs) - 1, len(body.outputs)):
        result = body.outputs[index]
        is_read = index - 1 < len(loop.outputs) and loop.outputs[index - 1] is not None
        declared = body.output_infos[index].type.tensor_type
        if not is_read or is_static(declared) or result.producer is None:
            continue
        constructs = list(_constructs_before(result, body, model))
        if not constructs:
            continue
        elements = ScanElements(loop, model, inference) if elements is None else elements
        element = elements.of(index)
        stays = element is not None and elements.stays(index, element)
        if stays and any(_has_known_course(node, inference) for node in constructs):
            stays = _is_known(inference.fact(result).shape, body, inference)
        if stays:
            assert element is not None
            _declare(body, index, element)
        elif not elements.has_iteration():
            why = _IN_DOUBT(loop=loop.label, output=result.name)
            yield from ((construct, why) for construct in constructs)


def _constructs_before(result: Value, body: Graph, model: Model) -> Iterator[Node]:
    """Yield the constructs that a body's output depends on, also those in bodies and functions."""
    assert result.producer is not None
    if result.graph is not body:
        return
    pending: list[Iterable[object]] = [body.requirements([result.producer])]
    visited = set[Graph]()
    while pending:
        for node in pending.pop():
            if not isinstance(node, Node):
                continue
            if node.graphs():
                yield node
            function = None if model.settled else model.functions.get(node.op.function_key)
            inner = [*node.graphs(), *([] if function is None else [function.graph])]
            for graph in inner:
                if graph not in visited:
                    visited.add(graph)
                    pending.append(graph.unordered_nodes())


def _has_known_course(construct: Node, inference: ShapeInference) -> bool:
    """Test for a construct that straight code may replace, of which more sizes are inferred."""
    if construct.is_op("If", "Loop"):
        condition = construct.input(0)
        return condition is None or decided(inference.fact(condition)) is not None
    facts = [inference.fact(value) for value in construct.inputs if value is not None]
    return any(dim.value is not None for fact in facts for dim in fact.shape or ())


def _is_known(shape: Shape | None, body: Graph, inference: ShapeInference) -> bool:
    """Test for numbers and sizes of captured values: no rewrite lets more be inferred."""
    facts = [inference.fact(value) for value in body.captures()]
    outer = {dim for fact in facts for dim in fact.shape or ()}
    return shape is not None and all(dim.value is not None or dim in outer for dim in shape)


def _declare(body: Graph, index: int, element: ScanElement) -> None:
    """Declare the sizes of one output, if its rank is inferred."""
    if not element.shape:
        return
    # 0 stands for a size that is not inferred.
    sizes = [size or None for size in element.shape]
    type_ = onnx.helper.make_tensor_type_proto(element.elem_type, sizes)
    infos = list(body.output_infos)
    if infos[index].type != type_:
        infos[index] = onnx.ValueInfoProto()
        infos[index].CopyFrom(body.output_infos[index])
        infos[index].type.CopyFrom(type_)
        body.set_outputs(body.outputs, infos)
