"""The import of ONNX's own operators, for models and functions that import other domains alone."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import onnx

from ...ir import Function, Model
from ...ir.places import FunctionKey, normal_domain

_OLDEST = 7
"""The first opset in which operators broadcast as passes write them."""
_ML = "ai.onnx.ml"


def fitting_opset(ir_version: int, ml_version: int = 0) -> int:
    """Return the newest opset that ONNX released with versions of the file format and ai.onnx.ml.

    Args:
        ir_version: the version of the file format.
        ml_version: the version of ai.onnx.ml; 0 for a model without it.
    """
    rows = [row for row in onnx.helper.VERSION_TABLE if row[1] <= ir_version]
    same = [row[2] for row in rows if row[3] == ml_version]
    return max([_OLDEST, *(same or [row[2] for row in rows])])


@contextlib.contextmanager
def onnx_import(model: Model) -> Iterator[None]:
    """Import ONNX's operators during a rewrite.

    A pass may then write a node into any graph. The imports of roots without such nodes are removed
    at the end.
    """
    added: set[FunctionKey | None] = set()
    for root in model.roots():
        if not root.opset() and not has_onnx_nodes(root):
            version = model.opset() or fitting_opset(model.ir_version, root.opset(_ML))
            root.opset_imports[""] = version
            added.add(_key(root))
    yield
    for root in model.roots():
        if _key(root) in added and not has_onnx_nodes(root):
            root.opset_imports.pop("", None)


def has_onnx_nodes(root: Model | Function) -> bool:
    """Test whether a model's or function's graphs hold a node of ONNX's own domain."""
    operators = (op for graph in root.graph.walk() for op in graph.operators())
    return any(not normal_domain(op.domain) for op in operators)


def _key(root: Model | Function) -> FunctionKey | None:
    return root.key if isinstance(root, Function) else None
