"""Replacing an operator by the function that its schema defines it with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import onnx

from ..analysis.constants.folding import Folder
from ..analysis.shapes.onnx_inference_cache import connected
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
from ..ir.topological_sort import free_names
from ..ops import rules_of
from ..ops.elementwise import CastLike, Elementwise, OfEach
from ..ops.schemas import Schema, default_of, formals, schema_at
from ..reference.functions import specialize
from .declaring import declare_results
from .registry import BODY_MENDS
from .types import Types


def function_body(node: Node, version: int, types: Types) -> onnx.FunctionProto | None:
    """The function that an operator is defined by, written in an opset; None if there is none.

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
    for mend in BODY_MENDS.get(node.op_type, ()):
        mend(proto)
    # A body for an older opset holds as long as none of its operators has changed since.
    written = next((o.version for o in proto.opset_import if o.domain == ""), version)
    holds = written == version or _holds(proto, written, version)
    return proto if holds and not _reads_absent(proto, node, version) else None


def _make_scalar(proto: onnx.FunctionProto) -> None:
    """Give the constants of an elementwise body rank 0, so that scalars stay scalars in it."""
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
    """Whether what a node gives out is computed from an input that it does not have: what its
    schema calls optional may be required by one of its attributes."""
    absent = {name for i, name in enumerate(proto.input) if node.input(i) is None}
    wanted = {n for n, v in zip(proto.output, node.outputs, strict=False) if v is not None}
    for inner in reversed(proto.node):
        if wanted.isdisjoint(inner.output):
            continue
        wanted.update(inner.input)
        for attribute in inner.attribute:
            for graph in graphs_in(attribute):
                wanted |= free_names(graph)
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
    proto = connected(node.op, node)
    given = [(t or onnx.TypeProto()).SerializeToString() for t in inputs]
    try:
        content: bytes = ask_onnx(
            node,
            schema.get_context_dependent_function_with_opset_version,
            version,
            proto.SerializeToString(),
            given,
        )
    except OnnxError:
        return b""  # onnx has no body for these types
    return content


def _attributes(node: Node, schema: Schema) -> list[onnx.AttributeProto]:
    """The attributes of a node with the defaults of its schema."""
    given = list(node.op.attributes.values())
    for name in schema.attributes:
        if name not in node.op.attributes and default_of(schema, name) is not None:
            given.append(schema.attributes[name].default_value)
    return given


def _holds(proto: onnx.FunctionProto, written: int, version: int) -> bool:
    return all(
        schema_at(n.op_type, written) == schema_at(n.op_type, version)
        or getattr(schema_at(n.op_type, written), "since_version", 0)
        == getattr(schema_at(n.op_type, version), "since_version", -1)
        for n in proto.node
    )


def instantiate_function(
    proto: onnx.FunctionProto, node: Node, version: int, types: Types
) -> tuple[list[Value | None], list[Node]]:
    """Copy a function's body beside a node that it defines, and fold what is known of it.

    Returns:
        the values of the node's outputs, and the new nodes, which are written in `version`.
    """
    graph = node.graph
    assert graph is not None
    body = load(_body_of(proto, node, version)).graph
    for inner in reversed(body.nodes()):
        if not body.is_needed(inner):
            body.remove(inner)
    arguments = [node.input(index) for index in range(len(body.inputs))]
    results = Template(body, graph, keep_infos=False).instantiate(arguments)
    added = _computing(results, arguments)
    inside = list(_with_inner(added))
    for new in inside:
        types.add(new, version)
    declare_results(inside, types)
    # A function has no initializers, and older Constant nodes do not hold all types.
    if not isinstance(graph.root, Function):
        _fold(graph, results, added, types, Folder(types.model))
        added = [new for new in added if new.graph is not None]
    made = iter(results)
    return [None if output is None else next(made) for output in node.outputs], added


def _fold(
    graph: Graph, results: Sequence[Value], added: Sequence[Node], types: Types, folder: Folder
) -> None:
    """Make constant what constants and sizes decide, and remove casts of values to their type."""
    final = set(results)
    for node in added:
        value = node.outputs[0]
        if len(node.outputs) != 1 or value is None or value in final or node.bodies:
            continue
        source = node.input(0)
        held = [None if v is None else v.constant for v in node.inputs]
        folded = folder.fold(node, held, types.version_of(node)) if all(held) else None
        known = value.constant or (folded[0] if folded else types.decided(value))
        if known is not None:
            graph.replace_uses(value, graph.add_initializer(value.name, known))
        elif _keeps_type(node, types) and source is not None:
            graph.replace_uses(value, source)
    for node in reversed(added):
        if not graph.is_needed(node) and final.isdisjoint(node.outputs):
            graph.remove(node)


def _keeps_type(node: Node, types: Types) -> bool:
    """Whether a node casts values to the type that they have."""
    if not node.is_op("Cast", "CastLike"):
        return False
    known = types.elem_type(node.input(0))
    wanted = node.op.attribute("to") if node.is_op("Cast") else types.elem_type(node.input(1))
    return known is not None and known == wanted


def _computing(results: Iterable[Value], arguments: Iterable[Value | None]) -> list[Node]:
    """The nodes of one graph from which results are computed, as far as the arguments, in order."""
    known: set[Value | None] = {*arguments}
    found: dict[Node, None] = {}
    open_: list[Value | Node | None] = list(results)
    while open_:
        last = open_.pop()
        if isinstance(last, Node):
            found.setdefault(last)
        elif last is not None and last not in known:
            known.add(last)
            node = last.producer
            if node is not None and node not in found:
                open_ += (node, *node.inputs, *captured_by(node))
    return list(found)


def _body_of(proto: onnx.FunctionProto, node: Node, version: int) -> onnx.ModelProto:
    """The function as a model.

    Outputs that the node omits are left out, since nothing need compute them.
    """
    graph = onnx.GraphProto(name=proto.name, node=proto.node)
    for name in proto.input:
        graph.input.add(name=name)
    for name, value in zip(proto.output, node.outputs, strict=False):
        if value is not None:
            graph.output.add(name=name)
    imports = [*(o for o in proto.opset_import if o.domain), onnx.helper.make_opsetid("", version)]
    return onnx.ModelProto(ir_version=8, graph=graph, opset_import=imports)


def _with_inner(nodes: Iterable[Node]) -> Iterator[Node]:
    """Nodes, and all in the graphs that they hold."""
    for node in nodes:
        yield node
        for graph in node.graphs():
            yield from _with_inner(graph.unordered_nodes())
