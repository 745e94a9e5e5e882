"""Conversion of a model between versions of Scan, where only its Scans change."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence

import onnx
import onnx.defs

from ...analysis.shapes.inference import ShapeInference
from ...facts.reason import Message
from ...ir import Function, Graph, Model, Node
from ..base import Pass, PassContext
from ..iteration.scan_layout import unreadable
from ..utils.traversal import inside_out
from .shapes import ScanShapes

Obstacle = Callable[[ScanShapes], str | None]
Convert = Callable[[Graph, ScanShapes], None]
Root = Model | Function

_CONVERTED = Message("scan-converted", "converted to opset {opset}")


def carry_scans(
    pass_: Pass,
    model: Model,
    context: PassContext,
    versions: tuple[int, int],
    obstacle: Obstacle,
    convert: Convert,
) -> bool:
    """Convert all Scans of one opset to another one, with the imports, or change nothing.

    Args:
        pass_, context: the pass that signs the remarks, and its context.
        model: the model; functions that import the opset are converted with it.
        versions: the opsets from and to.
        obstacle, convert: the reason against the conversion of one Scan, and the conversion.
    """
    source, target = versions
    roots = [root for root in model.roots() if root.opset() == source]
    surveyed = survey_scans(roots, source, ShapeInference(model))
    scans = list(scans_inside_out(roots))
    reasons = [unreadable(n, source) or obstacle(surveyed[n]) for _, n in scans]
    shared = _shared_obstacle(roots, versions, reasons)
    if shared is not None:
        for (_, node), reason in zip(scans, reasons, strict=True):
            context.kept(pass_, node, reason or shared)
        return False
    for graph, node in scans:
        path = node.path
        convert(graph, surveyed[node])
        context.rewritten(pass_, node, path, _CONVERTED(opset=target))
    for root in roots if scans else ():
        root.opset_imports["" if "" in root.opset_imports else "ai.onnx"] = target
    return bool(scans)


def _shared_obstacle(
    roots: Iterable[Root], versions: tuple[int, int], reasons: Sequence[str | None]
) -> str | None:
    """The obstacle that all Scans share; None without one."""
    source, target = versions
    graphs = [graph for root in roots for graph in root.graph.walk()]
    for node in itertools.chain.from_iterable(graph.unordered_nodes() for graph in graphs):
        if node.domain in ("", "ai.onnx") and not node.is_op("Scan"):
            one, other = (_since(node.op_type, version) for version in versions)
            if one is None or one != other:
                return (
                    f"{node} is another operator in opset {target} than in opset {source}, and an"
                    f" opset holds for a whole model; use 'straightline convert --opset {target}'"
                )
    if any(reasons):
        return "another Scan cannot be converted, and an opset holds for a whole model"
    return None


def survey_scans(
    roots: Iterable[Root], version: int, inference: ShapeInference
) -> dict[Node, ScanShapes]:
    """Survey the Scans of models and functions, outer and earlier ones first.

    The survey precedes all conversions: in between, nodes of both opsets coexist.

    Args:
        roots, version: a model, functions, and their opset.
        inference: the facts of their values, extended by those of the Scans.
    """
    surveyed = {}
    for root in roots:
        for graph in root.graph.walk():
            for node in graph.nodes_of("Scan"):
                if unreadable(node, version) is None:
                    surveyed[node] = ScanShapes(node, version, inference)
                    surveyed[node].survey()
    return surveyed


def scans_inside_out(roots: Iterable[Root]) -> Iterator[tuple[Graph, Node]]:
    """Yield every Scan with its graph, inner ones first."""
    for root in roots:
        yield from inside_out(root.graph.walk(), "Scan")


def _since(op_type: str, version: int) -> int | None:
    """The opset that introduced an operator's form in another opset; None without that operator."""
    try:
        return int(onnx.defs.get_schema(op_type, version, "").since_version)
    except onnx.defs.SchemaError:
        return None
