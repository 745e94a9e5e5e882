"""Models of onnx_ir. Imported only for such a model, since onnx_ir imports sympy."""

import os
from pathlib import Path

import onnx
import onnx_ir

from ..errors import LoadError


def to_proto(model: onnx_ir.Model) -> onnx.ModelProto:
    """Convert a model to a message."""
    return onnx_ir.to_proto(model)


def from_proto(proto: onnx.ModelProto, base_dir: Path | None) -> onnx_ir.Model:
    """Convert a message to a model of onnx_ir with external data in a folder."""
    model = onnx_ir.from_proto(proto)
    if base_dir is not None:
        for graph in (model.graph, *(f.graph for f in model.functions.values())):
            onnx_ir.external_data.set_base_dir(graph, base_dir)
    return model


def base_dir_of(model: onnx_ir.Model) -> Path | None:
    """The base folder of external data; None where there is none.

    Raises:
        LoadError: tensors name several folders.
    """
    values = (v for graph in model.graphs() for v in graph.initializers.values())
    tensors = (value.const_value for value in values)
    folders = {
        os.path.abspath(tensor.base_dir)
        for tensor in tensors
        if isinstance(tensor, onnx_ir.ExternalTensor)
    }
    if len(folders) > 1:
        raise LoadError(f"the model's external data is relative to several folders: {folders}")
    return Path(folders.pop()) if folders else None
