"""Signatures of models, and the comparison of a rewrite's with the original's."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import onnx

from ..ir.attributes import graphs_in
from ..ir.option_names import in_shell
from ..records import record

_UNFIXED = {
    "AffineGrid": b"coordinates",
    "Attention": b"zeros at masked places",
    "DFT": b"roots of one",
    "GridSample": b"linear",
    "ReduceProd": b"an order",
    "Resize": b"nearest",
    "RoiAlign": b"avg",
    "Upsample": b"nearest",
}
"""Operators with weights of their own, in all modes but "nearest", or an order of factors, and
their default mode."""
_RECURRENT = ("RNN", "GRU", "LSTM")

# Operators that draw from a generator; Dropout draws only in training mode.
_RANDOM = {
    "Bernoulli",
    "Multinomial",
    "RandomNormal",
    "RandomNormalLike",
    "RandomUniform",
    "RandomUniformLike",
}
Dim = int | str | None


@record(frozen=True)
class Signature:
    """Inputs and outputs of a model, as its caller sees them.

    Attributes:
        inputs: the types of the inputs that must be fed, by name and in order.
        defaults: the initializers that a caller may override (also inputs, IR version 4 on).
        outputs: the names of the outputs, in order.
        output_types: their types, in the same order.
    """

    inputs: dict[str, onnx.TypeProto]
    defaults: dict[str, onnx.TensorProto | onnx.SparseTensorProto]
    outputs: tuple[str, ...]
    output_types: tuple[onnx.TypeProto, ...] = ()

    @classmethod
    def of(cls, model: onnx.ModelProto) -> "Signature":
        """Read the signature of a model (ONNX IR specification, Graphs)."""
        graph = model.graph
        values: dict[str, Any] = {tensor.name: tensor for tensor in graph.initializer}
        values.update((sparse.values.name, sparse) for sparse in graph.sparse_initializer)
        names = [info.name for info in graph.input]
        return cls(
            {info.name: info.type for info in graph.input if info.name not in values},
            {n: values[n] for n in names if n in values} if model.ir_version >= 4 else {},
            tuple(info.name for info in graph.output),
            tuple(info.type for info in graph.output),
        )


def mismatches(before: Signature, after: Signature, bound: Collection[str]) -> list[str]:
    """Where the signature of a rewrite does not fit the original's, a sentence each.

    `bound` names inputs that the rewrite may lack because their value was fixed.
    """
    messages = []
    for name in [*before.inputs, *before.defaults]:
        if name not in after.inputs and name not in after.defaults and name not in bound:
            way = f"--set {name}=..." if in_shell() else "bound="
            messages.append(f"input '{name}' is missing; if it was set, pass its value with {way}")
    for name in after.inputs:
        if name not in before.inputs and name not in before.defaults:
            messages.append(f"input '{name}' is new")
    common = [name for name in before.inputs if name in after.inputs]
    if common != [name for name in after.inputs if name in before.inputs]:
        messages.append(f"the inputs are in another order: {_listed(after.inputs)}")
    for name in common:
        reason = _type_mismatch(before.inputs[name], after.inputs[name])
        if reason:
            messages.append(f"input '{name}' {reason}")
    if before.outputs != after.outputs:
        messages.append(f"the outputs were {_listed(before.outputs)}, now {_listed(after.outputs)}")
    return messages


def output_mismatches(before: Signature, after: Signature) -> list[str]:
    """The outputs whose declared types exclude each other, a sentence each; a run shows it, too.

    Sizes are not compared: runtimes only warn of those that differ from the declared ones.
    """
    pairs = zip(before.outputs, before.output_types, after.output_types, strict=False)
    reasons = [(name, _type_mismatch(one, other, sizes=False)) for name, one, other in pairs]
    return [f"output '{name}' {reason}" for name, reason in reasons if reason]


def random_operators(model: onnx.ModelProto) -> Counter[str]:
    """Count the operators that draw random numbers, in graphs and functions of a model."""
    return Counter(node.op_type for node in nodes_of(model) if _is_random(node))


def reseeded(model: onnx.ModelProto, step: int) -> onnx.ModelProto:
    """Copy a model with other seeds of its random operators."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for node in nodes_of(copy):
        for field in node.attribute if _is_random(node) else ():
            if field.name == "seed" and field.type == onnx.AttributeProto.INT:
                field.i += step
            elif field.name == "seed":
                field.f += step
    return copy


def ordered(model: onnx.ModelProto) -> onnx.ModelProto | None:
    """Copy a model so that each TopK sorts. Returns None if no TopK leaves the order open."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    fields = [f for n in nodes_of(copy) if n.op_type == "TopK" for f in n.attribute]
    choices = [field for field in fields if field.name == "sorted" and not field.i]
    for field in choices:
        field.i = 1
    return copy if choices else None


def recurrent_operators(model: onnx.ModelProto) -> int:
    """How many nodes RNN, GRU and LSTM the graphs and functions of a model hold."""
    return sum(node.op_type in _RECURRENT for node in nodes_of(model))


def unfixed_operators(model: onnx.ModelProto) -> Counter[str]:
    """Count the operators that may multiply an infinity by 0, or not."""
    return Counter(node.op_type for node in nodes_of(model) if _is_unfixed(node))


def _is_unfixed(node: onnx.NodeProto) -> bool:
    modes = [field.s for field in node.attribute if field.name == "mode"]
    default = _UNFIXED.get(node.op_type)
    return default is not None and (modes or [default])[0] != b"nearest"


def nodes_of(model: onnx.ModelProto) -> Iterator[onnx.NodeProto]:
    """The nodes of all graphs and functions of a model."""
    return all_nodes([node for part in (model.graph, *model.functions) for node in part.node])


def dims_of(tensor: onnx.TypeProto.Tensor) -> list[Dim] | None:
    """The dimensions: a size, a symbol, or None where unknown; None for an unknown rank."""
    if not tensor.HasField("shape"):
        return None
    return [_dim(dim) for dim in tensor.shape.dim]


def is_static(tensor: onnx.TypeProto.Tensor) -> bool:
    """Test for a type with the size of every axis."""
    return tensor.HasField("shape") and all(d.HasField("dim_value") for d in tensor.shape.dim)


def type_text(proto: onnx.TypeProto) -> str:
    """A type in ONNX's text syntax, such as `seq(float[N,3])`."""
    kind = proto.WhichOneof("value")
    if kind == "sequence_type":
        return f"seq({type_text(proto.sequence_type.elem_type)})"
    if kind == "optional_type":
        return f"optional({type_text(proto.optional_type.elem_type)})"
    if kind == "map_type":
        key = onnx.TensorProto.DataType.Name(proto.map_type.key_type).lower()
        return f"map({key}, {type_text(proto.map_type.value_type)})"
    if kind == "opaque_type":
        opaque = proto.opaque_type
        return f"opaque({', '.join(filter(None, (opaque.domain, opaque.name)))})"
    if kind is None:
        return "undefined"
    tensor = getattr(proto, kind)
    text: str = onnx.TensorProto.DataType.Name(tensor.elem_type).lower()
    dims = dims_of(tensor)
    shape = "[]" if dims is None else f"[{','.join('?' if d is None else str(d) for d in dims)}]"
    text += "" if dims == [] else shape
    return f"sparse_tensor({text})" if kind == "sparse_tensor_type" else text


def _dim(dim: onnx.TensorShapeProto.Dimension) -> Dim:
    if dim.HasField("dim_value") and dim.dim_value >= 0:
        return int(dim.dim_value)
    return dim.dim_param or None


def _type_mismatch(before: onnx.TypeProto, after: onnx.TypeProto, sizes: bool = True) -> str:
    """The words for two types that exclude each other; empty if some value is of both.

    Args:
        before: the type that the original declares.
        after: the type that the rewrite declares.
        sizes: whether ranks and sizes are compared.
    """
    if _agree(before, after, sizes):
        return ""
    return f"was {type_text(before)}, now {type_text(after)}"


def _agree(before: onnx.TypeProto, after: onnx.TypeProto, sizes: bool) -> bool:
    kind, other = before.WhichOneof("value"), after.WhichOneof("value")
    if kind is None or other is None:
        return True
    if kind != other:
        return False
    b, a = getattr(before, kind), getattr(after, kind)
    if kind in ("sequence_type", "optional_type"):
        return _agree(b.elem_type, a.elem_type, sizes)
    if kind == "map_type":
        return bool(b.key_type == a.key_type) and _agree(b.value_type, a.value_type, sizes)
    if kind == "opaque_type":
        return bool((b.domain, b.name) == (a.domain, a.name))
    if b.elem_type and a.elem_type and b.elem_type != a.elem_type:
        return False
    dims_b, dims_a = dims_of(b), dims_of(a)
    return not sizes or dims_b is None or dims_a is None or fit(dims_b, dims_a)


def fit(before: Sequence[Dim], after: Sequence[Dim]) -> bool:
    """Test for dimensions of which no two are different numbers."""
    if len(before) != len(after):
        return False
    pairs = zip(before, after, strict=True)
    return all(b == a for b, a in pairs if isinstance(b, int) and isinstance(a, int))


def all_nodes(nodes: Sequence[onnx.NodeProto]) -> Iterator[onnx.NodeProto]:
    """Nodes with those in all graphs that they hold."""
    stack = list(nodes)
    while stack:
        node = stack.pop()
        yield node
        for attribute in node.attribute:
            for graph in graphs_in(attribute):
                stack.extend(graph.node)


def _is_random(node: onnx.NodeProto) -> bool:
    if node.op_type == "Dropout":  # the third input is the training mode
        return len(node.input) > 2 and node.input[2] != ""
    return node.op_type in _RANDOM


def _listed(names: Collection[str]) -> str:
    return ", ".join(f"'{name}'" for name in names) or "none"
