"""Conversion between models and ONNX's own text syntax."""

from __future__ import annotations

import math
from collections.abc import Iterable

import onnx.parser
import onnx.printer

from ..attributes import graphs_in
from ..errors import LoadError
from ..kinds import takes
from ..model import Model
from ..onnx_errors import ask_onnx
from .deserialize import deserialize
from .serialize import serialize

_TENSORS = (onnx.AttributeProto.TENSOR, onnx.AttributeProto.TENSORS)


@takes(model=Model)
def to_text(model: Model, most: int | None = None) -> str:
    """Print a model in ONNX's text syntax.

    Args:
        model: the model; unchanged.
        most: omit the elements of tensors that have more; `{}` replaces them, and the text does not
            parse.

    Raises:
        OnnxError: onnx cannot print it: the syntax allows only UTF-8 text.
    """
    proto = serialize(model)
    if most is not None:
        _leave_out(proto, most)
    return str(ask_onnx(model, onnx.printer.to_text, proto))


def _leave_out(proto: onnx.ModelProto, most: int) -> None:
    """Remove the elements of large tensors."""
    graphs = [proto.graph]
    for graph in graphs:
        for tensor in graph.initializer:
            _clear(tensor, most)
        _leave_out_of(graph.node, most, graphs)
    for function in proto.functions:
        _leave_out_of(function.node, most, graphs)


def _leave_out_of(
    nodes: Iterable[onnx.NodeProto], most: int, graphs: list[onnx.GraphProto]
) -> None:
    """Remove the elements of large tensors in nodes; append their graphs to the list."""
    for node in nodes:
        for attribute in node.attribute:
            for tensor in (attribute.t, *attribute.tensors) if attribute.type in _TENSORS else ():
                _clear(tensor, most)
            graphs += graphs_in(attribute)


def _clear(tensor: onnx.TensorProto, most: int) -> None:
    if math.prod(tensor.dims) > most:
        tensor.CopyFrom(
            onnx.TensorProto(name=tensor.name, dims=tensor.dims, data_type=tensor.data_type)
        )


@takes(text=str)
def parse(text: str) -> Model:
    """Parse a model in ONNX's text syntax.

    Raises:
        LoadError: the text is not valid.
        ModelError: the model is not well formed.
    """
    try:
        proto = onnx.parser.parse_model(text)
    except (onnx.parser.ParseError, IndexError, RuntimeError, UnicodeError) as error:
        # The C++ parser also raises the errors of number conversions.
        detail = error.args[0] if error.args else ""
        if isinstance(detail, bytes):
            detail = detail.decode(errors="replace")
        raise LoadError(f"the text is not a model: {' '.join(str(detail).split())}") from error
    return deserialize(proto)
