"""Outputs, constants and absent operands, as targets require them."""

from collections.abc import Container, Iterator

import onnx

from ..ir import Model, Node, Operator, Tensor, Value, normal_domain
from ..ops.builder import Builder
from ..ops.schema_queries import schema_at
from ..passes.utils.legality import has_identity


def shared_outputs(
    model: Model, constants: bool = True, inner: Container[str] = ()
) -> Iterator[Value]:
    """Yield, once each, outputs that are constants, or of inner operators, or one of several."""
    for value in dict.fromkeys(model.graph.outputs):
        node = value.producer
        is_one_of_several = node is not None and len(node.outputs) > 1
        is_constant = value in model.graph.initializers and value not in model.graph.inputs
        is_inner = node is not None and node.op_type in inner
        if is_one_of_several or is_inner or (constants and is_constant):
            yield value


def isolatable_outputs(
    model: Model, constants: bool = True, inner: Container[str] = ()
) -> Iterator[Value]:
    """Yield the shared outputs that an Identity of the opset copies."""
    for value in shared_outputs(model, constants, inner):
        if has_identity(model.graph, value):
            yield value


def forwarded_inputs(model: Model) -> list[Value]:
    """The inputs that the model returns unchanged. No node can produce these: input and output have
    one name."""
    inputs = set(model.graph.inputs)
    return [value for value in dict.fromkeys(model.graph.outputs) if value in inputs]


def isolate_outputs(
    model: Model, constants: bool = True, inner: Container[str] = ()
) -> list[Value]:
    """Insert an Identity between shared outputs and the model's outputs, and return the former."""
    graph, shared = model.graph, list(isolatable_outputs(model, constants, inner))
    if shared:
        own = {
            value: graph.add_node(Operator("Identity"), [value], [value.name]) for value in shared
        }
        graph.set_outputs([own[v].output() if v in own else v for v in graph.outputs])
    return shared


def end_in_nodes(model: Model) -> list[Node]:
    """Insert an Identity where a body returns a constant or a value from outside; return the nodes
    that hold these bodies."""
    holders = dict[Node, None]()
    for graph in list(model.graphs()):
        emitted = {v for v in graph.outputs if v.producer is not None and v.graph is graph}
        others = [v for v in graph.outputs if v not in emitted | {*graph.inputs}]
        apart = dict.fromkeys(v for v in others if has_identity(graph, v))
        if graph.holder is not None and apart:
            own = {v: graph.add_node(Operator("Identity"), [v], [v.name]).output() for v in apart}
            graph.set_outputs([own.get(v, v) for v in graph.outputs])
            holders[graph.holder] = None
    return list(holders)


def compute_empty_constants(model: Model) -> int:
    """Compute initializers without elements, of two axes or more, and return their number."""
    count = 0
    for graph in list(model.graphs()):
        for value, tensor in list(graph.initializers.items()):
            is_empty = not tensor.size and len(tensor.dims) > 1
            if not is_empty or value in graph.inputs or tensor.numpy().dtype.kind not in "fiub":
                continue
            build = Builder(graph)
            zero = onnx.helper.make_tensor("", tensor.elem_type, [1], [0])
            sizes = build.vector(tuple(tensor.dims), "sizes")
            graph.replace_uses(value, build.add("ConstantOfShape", [sizes], value.name, value=zero))
            graph.remove_initializer(value)
            count += 1
    return count


def store_raw_data(model: Model) -> int:
    """Store the numbers of initializers and attributes as raw data, and return how many changed."""
    count = 0
    for graph in model.graphs():
        for value, tensor in list(graph.initializers.items()):
            if (raw := _raw(tensor)) is not None:
                graph.initializers[value] = raw
                value.constant = value.constant and raw  # none for an input's default
                count += 1
        for node in graph.unordered_nodes():
            tensors = {n: m.t for n, m in node.op.attributes.items() if m.HasField("t")}
            raws = {n: raw for n, t in tensors.items() if (raw := _raw(Tensor(t))) is not None}
            messages = [onnx.helper.make_attribute(n, raw.message()) for n, raw in raws.items()]
            if messages:
                others = [m for n, m in node.op.attributes.items() if n not in raws]
                graph.set_operator(node, node.op.with_attributes([*others, *messages]))
                count += len(messages)
    return count


def _raw(tensor: Tensor) -> Tensor | None:
    """The tensor as raw data; None where it is that, or no numbers."""
    if tensor.is_computed or tensor.is_sparse or tensor.is_external:
        return None
    message = tensor.message()
    is_text = tensor.elem_type == onnx.TensorProto.STRING
    return None if is_text or message.HasField("raw_data") else Tensor(array=tensor.numpy())


def trim_absent_inputs(model: Model) -> bool:
    """Remove absent inputs at the ends of nodes, which some clients take for names.

    As many stay as the operator requires: a Loop without a condition and states has two.
    """
    changed = False
    for graph in model.graphs():
        for node in graph.unordered_nodes():
            count = len(node.inputs)
            if not count or node.inputs[-1] is not None:
                continue
            domain = normal_domain(node.domain)
            schema = schema_at(node.op_type, graph.root.opset(domain), domain)
            least = count if schema is None else schema.min_input
            while count > least and node.inputs[count - 1] is None:
                count -= 1
            if count < len(node.inputs):
                graph.resize_inputs(node, count)
                changed = True
    return changed
