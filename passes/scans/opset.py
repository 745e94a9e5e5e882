"""Conversion of a model between versions of Scan: in its conversion to another opset, and alone."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

import onnx
import onnx.defs

from ...analysis.shapes.inference import ShapeInference
from ...facts.reason import Message
from ...ir import Function, Graph, Model, Node
from ..base import Part, Pass, PassContext
from ..iteration.scan_layout import unreadable
from ..utils.traversal import inside_out
from .scan_8_to_9 import convert_scan_8_to_9, obstacle_8_to_9
from .scan_9_to_8 import convert_scan_9_to_8, obstacle_9_to_8
from .shapes import ScanShapes

Root = Model | Function

_CONVERTED = Message("scan-converted", "converted to opset {opset}")
_CONVERSIONS = {
    8: (obstacle_8_to_9, convert_scan_8_to_9),
    9: (obstacle_9_to_8, convert_scan_9_to_8),
}
"""The obstacle to the conversion of a Scan, and the conversion, by the opset before it."""


class Crossing:
    """The Scans of models and functions on the way between opsets 8 and 9.

    Create it while everything around them is in one version, run it once that is in the other one.
    """

    def __init__(self, roots: Sequence[Root], source: int, inference: ShapeInference) -> None:
        self.source = source
        self.surveyed = survey_scans(roots, source, inference)
        self._obstacle, self._convert = _CONVERSIONS[source]
        self._roots = roots

    def obstacle(self, node: Node) -> str | None:
        """The obstacle to the conversion of a Scan; None without one."""
        return unreadable(node, self.source) or self._obstacle(self.surveyed[node])

    def run(self) -> Iterator[tuple[Node, str, str | None, Sequence[Node]]]:
        """Convert all Scans, inner ones first.

        Yields each with its path, the obstacle (None if it was converted), and the nodes that
        replace it. Types must be inferred anew afterwards, since bodies are copied.
        """
        for graph, node in list(scans_inside_out(self._roots)):
            path, before, reason = node.path, set(graph.unordered_nodes()), self.obstacle(node)
            if reason is None:
                self._convert(graph, self.surveyed[node])
            yield node, path, reason, [n for n in graph.unordered_nodes() if n not in before]


@dataclasses.dataclass(frozen=True)
class _ConvertScans(Pass):
    """Convert all Scans and the opset imports, or nothing."""

    changes: ClassVar[tuple[Part, ...]] = ("opsets",)
    versions: ClassVar[tuple[int, int]]

    def run(self, model: Model, context: PassContext) -> bool:
        """Convert the model, and functions that import the opset."""
        source, target = self.versions
        roots = [root for root in model.roots() if root.opset() == source]
        crossing = Crossing(roots, source, ShapeInference(model))
        reasons = {node: crossing.obstacle(node) for _, node in scans_inside_out(roots)}
        shared = _shared_obstacle(roots, self.versions, list(reasons.values()))
        if shared is not None:
            for node, reason in reasons.items():
                context.kept(self, node, reason or shared)
            return False
        for node, path, *_ in crossing.run():
            context.rewritten(self, node, path, _CONVERTED(opset=target))
        for root in roots if reasons else ():
            root.opset_imports["" if "" in root.opset_imports else "ai.onnx"] = target
        return bool(reasons)


@dataclasses.dataclass(frozen=True)
class Scan8To9(_ConvertScans):
    """Convert a model of opset 8 to opset 9 if only its Scans change.

    A Scan of opset 8 has a batch axis: it becomes a Scan over the rows of the batch, cut to their
    `sequence_lens`. All Scans of the model are converted, or none.
    """

    name: ClassVar[str] = "scan-8-to-9"
    adds: ClassVar[tuple[str, ...]] = ("If",)
    versions: ClassVar[tuple[int, int]] = (8, 9)


@dataclasses.dataclass(frozen=True)
class Scan9To8(_ConvertScans):
    """Convert a model of opset 9 to opset 8 if only its Scans change.

    Each gets a batch of one row. Opset 8 fills outputs forward only, so one more Scan reverses
    outputs that are filled backward. All Scans of the model are converted, or none.
    """

    name: ClassVar[str] = "scan-9-to-8"
    versions: ClassVar[tuple[int, int]] = (9, 8)


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
    """Survey the Scans of models and functions.

    The survey precedes all conversions: in between, nodes of both opsets coexist.

    Args:
        roots, version: a model, functions, and their opset.
        inference: the facts of their values.
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
