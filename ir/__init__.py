"""The mutable graph IR: load, change, verify, print and save ONNX models.

Values have identity, so names can neither clash nor be captured by mistake; one data-flow graph
per ONNX graph is the only record of who feeds whom.
"""

from .constant import constant_operator, constant_tensor
from .copying import captured_by, copy_graph, copy_model, copy_node, count_nodes, empty_header
from .dataflow_graph import downstream, upstream
from .did_you_mean import instead, nearest, no_input
from .errors import Error, GraphError, LoadError, ModelError, SaveError, Signal
from .file_reader import TWO_GB, read_bytes
from .graph import Graph
from .graph_queries import Annotation, Use
from .inlining import Fold, Template, instantiate
from .io.data_links import LinkData
from .io.external_data import out_of_reach
from .io.model_source import (
    BaseDir,
    ModelFile,
    ModelSource,
    base_dir_of,
    in_kind,
    load,
    read,
    read_file,
    read_stream,
    to_proto,
)
from .io.name_authority import name_nodes
from .io.saving import save, to_bytes
from .io.text import parse, to_text
from .io.write_target import Target
from .model import MAX_OPSET, Function, Model
from .node import Dim, Node, Value
from .onnx_errors import OnnxError, ask_onnx
from .operator import Operator, attribute_message
from .places import FunctionKey, normal_domain
from .tensor import Array, Tensor
from .verifier import verify

__all__ = [
    "MAX_OPSET",
    "TWO_GB",
    "Annotation",
    "Array",
    "BaseDir",
    "Dim",
    "Error",
    "Fold",
    "Function",
    "FunctionKey",
    "Graph",
    "GraphError",
    "LinkData",
    "LoadError",
    "Model",
    "ModelError",
    "ModelFile",
    "ModelSource",
    "Node",
    "OnnxError",
    "Operator",
    "SaveError",
    "Signal",
    "Target",
    "Template",
    "Tensor",
    "Use",
    "Value",
    "ask_onnx",
    "attribute_message",
    "base_dir_of",
    "captured_by",
    "constant_operator",
    "constant_tensor",
    "copy_graph",
    "copy_model",
    "copy_node",
    "count_nodes",
    "downstream",
    "empty_header",
    "in_kind",
    "instantiate",
    "instead",
    "load",
    "name_nodes",
    "nearest",
    "no_input",
    "normal_domain",
    "out_of_reach",
    "parse",
    "read",
    "read_bytes",
    "read_file",
    "read_stream",
    "save",
    "to_bytes",
    "to_proto",
    "to_text",
    "upstream",
    "verify",
]
