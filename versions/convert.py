"""Whole models from one opset version to another."""

from __future__ import annotations

from collections.abc import Iterable

import onnx

from ..ir import MAX_OPSET, BaseDir, Error, Model, ModelSource, in_kind, load
from .engine import Engine
from .errors import ConversionError
from .ir_version import set_ir_version, version_for
from .schemas import OLDEST, changes


def convert_version(
    model: ModelSource,
    target_opset: int,
    *,
    ir_version: int | None = None,
    base_dir: BaseDir = None,
) -> ModelSource:
    """A model whose operators of the default domain are those of another opset version.

    All nodes are carried over, step by step, in every graph, body and function, or none: the model
    that is given never changes. Other domains' imports stay as they are.

    Args:
        model: a path, bytes, `onnx.ModelProto`, `onnx_ir.Model` or `straightline.ir.Model`.
        target_opset: from 7 to the newest version that the installed onnx knows.
        ir_version: the version of the file format; by default the one that ONNX released with the
            target opset, where the model's features and its own version allow that.
        base_dir: the folder of the external data of a model in memory.

    Returns:
        the converted model, of the same kind; an `onnx.ModelProto` for a path or bytes.

    Raises:
        ConversionError: the versions are out of range, or nodes cannot be carried over; its
            `failures` list every such node with its operator, the two versions and the reason.
        LoadError: the model cannot be read.
        ModelError: it is not well formed.
    """
    return in_kind(convert(load(model, base_dir), target_opset, ir_version), model)


def convert(model: Model, target_opset: int, ir_version: int | None = None) -> Model:
    """Convert a model of one's own in place; see `convert_version`.

    Raises:
        ConversionError: as there. The model is then of no use any more.
    """
    for name, value in (("target_opset", target_opset), ("ir_version", ir_version)):
        optional = name == "ir_version" and value is None
        if not optional and (not isinstance(value, int) or isinstance(value, bool)):
            raise ConversionError(f"{name} is a whole number, not {value!r}")
    versions = {str(root): root.opset() for root in model.roots() if root.opset()}
    for where, version in versions.items():
        if version > MAX_OPSET:
            raise ConversionError(
                f"{where} is written in opset {version}; the installed onnx knows {MAX_OPSET}"
            )
    if not OLDEST <= target_opset <= MAX_OPSET:
        raise ConversionError(
            f"the target is opset {target_opset}; models are converted to {OLDEST} to {MAX_OPSET}"
        )
    _check_training(model, target_opset)
    source = model.opset()
    if any(version != target_opset for version in versions.values()):
        engine = Engine(model)
        for root in model.roots():
            if root.opset():
                engine.convert(root, target_opset)
        if engine.failures:
            # What stands for one node may fail in several places.
            count = len({failure.path for failure in engine.failures})
            raise ConversionError(
                f"{count} {'node' if count == 1 else 'nodes'} cannot be converted from opset"
                f" {source} to {target_opset}; the model was not changed",
                engine.failures,
            )
    if ir_version is None:
        ir_version = version_for(model, source or target_opset, target_opset)
    if ir_version != model.ir_version:
        set_ir_version(model, ir_version)
    return model


def _check_training(model: Model, target: int) -> None:
    """Training graphs are kept as they came, so nothing in them may change its meaning."""
    for info in model.training_info:
        for graph in (info.initialization, info.algorithm):
            for node in _nodes_of(graph.node):
                if node.domain in ("", "ai.onnx") and changes(node.op_type, model.opset(), target):
                    raise ConversionError(
                        f"{node.op_type} '{node.name}' of the training information is not the same"
                        f" in opset {target}; training graphs are not converted"
                    )


def _nodes_of(nodes: Iterable[onnx.NodeProto]) -> Iterable[onnx.NodeProto]:
    for node in nodes:
        yield node
        for attribute in node.attribute:
            for graph in (attribute.g, *attribute.graphs):
                yield from _nodes_of(graph.node)


__all__ = ["ConversionError", "Error", "convert", "convert_version"]
