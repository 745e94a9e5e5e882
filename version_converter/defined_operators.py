"""Operators outside of ONNX, replaced by their definitions in any opset.

y = com.microsoft.FastGelu (x)   ->   y = Gelu <approximate = "tanh"> (x)    (opset 20)
                                      its longer form                         (opset 19)
"""

from collections.abc import Sequence

from ..analysis.constants.folding import Folder
from ..analysis.shapes.inference import ShapeInference
from ..definitions import Definition, Unfit, definitions_of, is_foreign
from ..definitions.registry import IN_ONNX_DOMAIN
from ..ir import Model, Node
from ..ops.schema_queries import tensor_text
from ..passes import Remark
from ..passes.functions.calls import CallGraph
from ..passes.remarks import BY_DEFINITION
from .constants import Constants
from .convert import convert
from .engine import Engine
from .errors import ConversionError, Failure, Refused
from .subgraph_extraction import Cut
from .types import Types


def is_defined(node: Node) -> bool:
    """Test whether an operator outside of ONNX has a definition."""
    return bool(_definitions(node))


def rounds(node: Node) -> bool:
    """Test for an operator whose kernel may round in other places than its definition."""
    return any(not definition.exact for definition in _definitions(node))


def _definitions(node: Node) -> list[Definition]:
    if not is_foreign(node.op) or node.graph is None:
        return []
    return definitions_of(node.op, node.graph.root.opset_imports)


def write_definition(scratch: Model, opset: int) -> None:
    """Replace the node of a scratch model by its definition.

    Args:
        scratch: a model of one node, which is outside of ONNX.
        opset: the opset to end in.

    Raises:
        Refused: no definition covers the node.
        ConversionError: the opset cannot express it.
    """
    (node,) = [node for node in scratch.graph.nodes() if is_defined(node)]
    try:
        expansion = Types(scratch).definition(node)
    except Unfit as unfit:
        raise Refused(str(unfit)) from unfit
    assert expansion is not None
    ir_version, imports = scratch.ir_version, scratch.opset_imports
    imports["ai.onnx" if "ai.onnx" in imports else ""] = expansion.opset
    declared = [info.type.tensor_type.elem_type for info in scratch.graph.output_infos]
    Engine(scratch).expand_definition(node, expansion)
    _require_types(scratch, declared)
    if expansion.opset != opset:
        convert(scratch, opset, ir_version, restores=False)


def _require_types(scratch: Model, declared: Sequence[int]) -> None:
    """Require the declared element types of the outputs, where both are known.

    Raises:
        Refused: a definition of a user computes another one.
    """
    inference = ShapeInference(scratch)
    for value, elem_type in zip(scratch.graph.outputs, declared, strict=True):
        computed = inference.fact(value).elem_type
        if elem_type and computed and computed != elem_type:
            texts = tensor_text(computed), tensor_text(elem_type)
            raise Refused("its definition computes {}, and the model declares {}".format(*texts))


def write_definitions(model: Model) -> list[Remark]:
    """Replace the operators that only onnxruntime has in ONNX's domain, in place.

    Returns:
        a remark for each.

    Raises:
        ConversionError: no definition covers a node, or the opset cannot express it.
    """
    nodes = [
        node
        for graph in model.graphs()
        for node in graph.unordered_nodes()
        if node.op.op_type in IN_ONNX_DOMAIN and is_defined(node)
    ]
    if not nodes:
        return []
    remarks: list[Remark] = []
    types = Types(model)
    facts = types, Constants(types, Folder(model)), CallGraph(model.functions)
    for node in nodes:
        graph, path = node.parent, node.path
        opset = graph.root.opset()
        cut = Cut(model, graph, [node], *facts)
        try:
            if obstacle := cut.obstacle():
                raise Refused(obstacle)
            write_definition(cut.scratch, opset)
        except Refused as refusal:
            failure = Failure(path, node.op_type, opset, opset, refusal.reason)
            raise ConversionError(
                f"{node} is not an operator of opset {opset}: {refusal.reason}", [failure]
            ) from refusal
        names = dict.fromkeys(new.op_type for new in cut.scratch.graph.nodes())
        what = BY_DEFINITION(operators=", ".join(names))
        remarks.append(Remark("convert", node.op_type, path, "rewritten", what))
        cut.put_in_place()
    return remarks
