"""Models of onnx_ir. It brings sympy, so this is imported only where such a model is at hand."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import onnx
import onnx_ir

from ..errors import LoadError


def is_model(source: Any) -> bool:
    """Whether it is one."""
    return isinstance(source, onnx_ir.Model)


def to_proto(model: onnx_ir.Model) -> onnx.ModelProto:
    """The model as a message."""
    return onnx_ir.to_proto(model)


def from_proto(proto: onnx.ModelProto, base_dir: Path | None) -> onnx_ir.Model:
    """A message as a model of onnx_ir; its external data is relative to the folder."""
    model = onnx_ir.from_proto(proto)
    if base_dir is not None:
        for graph in (model.graph, *(f.graph for f in model.functions.values())):
            onnx_ir.external_data.set_base_dir(graph, base_dir)
    return model


def base_dir_of(model: onnx_ir.Model) -> Path | None:
    """The folder that the model's external data is relative to; None where it has none.

    Raises:
        LoadError: its tensors name several.
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
