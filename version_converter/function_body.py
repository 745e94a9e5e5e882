"""Replacement of an operator by the function in its schema."""

from collections.abc import Iterable, Iterator, Sequence

import onnx

from ..analysis.constants.folding import Folder
from ..analysis.shapes.onnx_inference_cache import connected_message
from ..ir import (
    Function,
    Graph,
    Node,
    OnnxError,
    Operator,
    Template,
    Value,
    ask_onnx,
    captured_by,
    load,
)
from ..ir.attributes import graphs_in
from ..ir.read_names import free_names
from ..ops import rules_of
from ..ops.elementwise import CastLike, Elementwise, OfEach
from ..ops.schema_queries import Schema, default_of, formals, schema_at
from ..reference.functions import specialize
from .declaring import declare_results
from .node_draft import for_outputs
from .registry import BODY_MENDS
from .schemas import changes
from .types import Types


def function_body(node: Node, version: int, types: Types) -> onnx.FunctionProto | None:
    """The function body of an operator in an opset; None if there is none.

    A function that depends on the types of the inputs is built for those of this node (ONNX
    specification, "Functions", context-dependent bodies).
    """
    schema = schema_at(node.op_type, version)
    if schema is None or node.op.references or node.bodies:
        return None
    content = b""
    if schema.has_function:
        content = schema.get_function_with_opset_version(version)
    if not content and schema.has_context_dependent_function:
        content = _for_types(schema, node, version, types)
    if not content:
        return None
    proto = specialize(onnx.FunctionProto.FromString(content), _attributes(node, schema))
    _make_scalar(proto)
    if node.op_type in BODY_MENDS:
        BODY_MENDS[node.op_type](proto)
    # A body for an older opset holds as long as none of its operators has changed since.
    body_opset = next((o.version for o in proto.opset_import if o.domain == ""), version)
    holds = not any(changes(inner.op_type, body_opset, version) for inner in proto.node)
    return proto if holds and not _reads_absent(proto, node, version) else None


def _make_scalar(proto: onnx.FunctionProto) -> None:
    """Set the constants of an elementwise body to rank 0, which keeps scalars."""
    rules = [rules_of(Operator.make(n.op_type)) for n in proto.node if n.op_type != "Constant"]
    if not all(isinstance(each, Elementwise | OfEach | CastLike) for each in rules):
        return
    for node in proto.node:
        for attribute in node.attribute if node.op_type == "Constant" else ():
            if attribute.name == "value" and list(attribute.t.dims) == [1]:
                del attribute.t.dims[:]
            elif attribute.name == "value_floats" and len(attribute.floats) == 1:
                scalar = onnx.helper.make_attribute("value_float", attribute.floats[0])
                attribute.CopyFrom(scalar)


def _reads_absent(proto: onnx.FunctionProto, node: Node, version: int) -> bool:
    """Test whether a body reads an absent input of the node. An attribute may require an input that
    the schema calls optional."""
    absent = {name for i, name in enumerate(proto.input) if node.input(i) is None}
    needed = {n for n, v in zip(proto.output, node.outputs, strict=False) if v is not None}
    # Backward, so that only nodes that lead to a needed output count.
    for inner in reversed(proto.node):
        if needed.isdisjoint(inner.output):
            continue
        needed.update(inner.input)
        for attribute in inner.attribute:
            for graph in graphs_in(attribute):
                needed |= free_names(graph)
        schema = schema_at(inner.op_type, version)
        required = formals(schema)[0] if schema is not None else ()
        for name, formal in zip(inner.input, required, strict=False):
            if name in absent and formal.is_required:
                return True
    return False


def _for_types(schema: Schema, node: Node, version: int, types: Types) -> bytes:
    inputs = [types.of(value) for value in node.inputs]
    if any(t is None and v is not None for t, v in zip(inputs, node.inputs, strict=True)):
        return b""
    proto = connected_message(node.op, node)
    input_types = [(t or onnx.TypeProto()).SerializeToString() for t in inputs]
    try:
        content: bytes = ask_onnx(
            node,
            schema.get_context_dependent_function_with_opset_version,
            version,
            proto.SerializeToString(),
            input_types,
        )
    except OnnxError:
        return b""  # onnx has no body for these types
    return content


def _attributes(node: Node, schema: Schema) -> list[onnx.AttributeProto]:
    """The attributes of a node with the defaults of its schema."""
    attributes = list(node.op.attributes.values())
    for name in schema.attributes:
        if name not in node.op.attributes and default_of(schema, name) is not None:
            attributes.append(schema.attributes[name].default_value)
    return attributes


def instantiate_function(
    proto: onnx.FunctionProto, node: Node, version: int, types: Types
) -> tuple[list[Value | None], list[Node]]:
    """Copy a function's body beside its node, and fold constants in it.

    Returns:
        the values of the node's outputs, and the new nodes in opset `version`.
    """
    graph = node.parent
    body = load(_body_of(proto, node, version)).graph
    # Backward, so that readers go before what they read.
    for inner in reversed(body.nodes()):
        if not body.is_needed(inner):
            body.remove(inner)
    arguments = [node.input(index) for index in range(len(body.inputs))]
    results = Template(body, graph, keep_infos=False).instantiate(arguments)
    added = _computing(results, arguments)
    inside = list(with_inner(added))
    for new in inside:
        types.add(new, version)
    declare_results(inside, types)
    # A function has no initializers, and older Constant nodes do not hold all types.
    if not isinstance(graph.root, Function):
        _fold(graph, results, added, types, Folder(types.model))
        added = [new for new in added if new.graph is not None]
    # The function of a definition ends at the last output that is read.
    unread = [None] * (len(node.outputs) - len(proto.output))
    return for_outputs(node, [*results, *unread]), added


def _fold(
    graph: Graph, results: Sequence[Value], added: Sequence[Node], types: Types, folder: Folder
) -> None:
    """Fold constants and known sizes, and remove casts of values to their own type."""
    final = set(results)
    for node in added:
        value = node.outputs[0]
        if len(node.outputs) != 1 or value is None or value in final or node.bodies:
            continue
        source = node.input(0)
        constants = [None if v is None else v.constant for v in node.inputs]
        folded = folder.fold(node, constants, types.version_of(node)) if all(constants) else None
        constant = value.constant or (folded[0] if folded else types.decided(value))
        if constant is not None:
            graph.replace_uses(value, graph.add_initializer(value.name, constant))
        elif _keeps_type(node, types) and source is not None:
            graph.replace_uses(value, source)
    for node in reversed(added):
        if not graph.is_needed(node) and final.isdisjoint(node.outputs):
            graph.remove(node)


def _keeps_type(node: Node, types: Types) -> bool:
    """Test whether a node casts values to their own type."""
    if not node.is_op("Cast", "CastLike"):
        return False
    elem_type = types.elem_type(node.input(0))
    target = node.op.attribute("to") if node.is_op("Cast") else types.elem_type(node.input(1))
    return elem_type is not None and elem_type == target


def _computing(results: Iterable[Value], arguments: Iterable[Value | None]) -> list[Node]:
    """The producers of results in one graph, up to the arguments, in order."""
    visited: set[Value | None] = {*arguments}
    nodes: dict[Node, None] = {}
    open_: list[Value | Node | None] = list(results)
    while open_:
        last = open_.pop()
        if isinstance(last, Node):
            nodes.setdefault(last)
        elif last is not None and last not in visited:
            visited.add(last)
            node = last.producer
            if node is not None and node not in nodes:
                open_ += (node, *node.inputs, *captured_by(node))
    return list(nodes)


def _body_of(proto: onnx.FunctionProto, node: Node, version: int) -> onnx.ModelProto:
    """The function as a model.

    Outputs that the node omits are absent.
    """
    graph = onnx.GraphProto(name=proto.name, node=proto.node)
    for name in proto.input:
        graph.input.add(name=name)
    for name, value in zip(proto.output, node.outputs, strict=False):
        if value is not None:
            graph.output.add(name=name)
    imports = [*(o for o in proto.opset_import if o.domain), onnx.helper.make_opsetid("", version)]
    return onnx.ModelProto(ir_version=8, graph=graph, opset_import=imports)


def with_inner(nodes: Iterable[Node]) -> Iterator[Node]:
    """Nodes with all nodes of their bodies."""
    for node in nodes:
        yield node
        for graph in node.graphs():
            yield from with_inner(graph.unordered_nodes())
