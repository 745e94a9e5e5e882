"""The mutable graph IR: load, change, verify, print and save ONNX models.

Values have identity, so names can neither clash nor be captured by mistake; one networkx graph per
ONNX graph is the only record of who feeds whom.
"""

from .boundary import OnnxError, ask_onnx
from .constant import constant_operator, constant_tensor
from .copying import captured_by, copy_graph, copy_node, count_nodes, empty_header
from .errors import Error, GraphError, LoadError, ModelError, SaveError, Signal
from .external_data import out_of_reach
from .graph import Graph
from .instantiate import Fold, Template, instantiate
from .links import LinkData
from .meant import instead, nearest, no_input
from .model import MAX_OPSET, Function, Model
from .node import Node
from .operator import Operator, attribute_message
from .reading import TWO_GB, read_bytes
from .saving import save, to_bytes
from .sources import (
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
from .structure import Annotation, Use
from .target import Target
from .tensor import Array, Tensor
from .text import parse, to_text
from .topology import downstream, upstream
from .value import Dim, Value
from .verify import verify
from .well_formed.places import FunctionKey, normal_domain

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
    "copy_node",
    "count_nodes",
    "downstream",
    "empty_header",
    "in_kind",
    "instantiate",
    "instead",
    "load",
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
