"""Conversion of Scan between opsets 8 and 9."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..analysis.shapes.inference import ShapeInference
from ..ir import Function, Model, Node
from ..passes.iteration.scan_layout import unreadable
from ..passes.scans.opset import scans_inside_out, survey_scans
from ..passes.scans.scan_8_to_9 import convert_scan_8_to_9, obstacle_8_to_9
from ..passes.scans.scan_9_to_8 import convert_scan_9_to_8, obstacle_9_to_8
from .types import Types


def crosses(source: int, target: int) -> bool:
    """Test whether a step adds or removes the batch axis of Scans."""
    return {source, target} == {8, 9}


class Crossing:
    """Scans of a model or function during the step between opsets 8 and 9.

    Create it before the step begins, while everything around a Scan is in one version. Run it when
    everything else, the bodies included, is in the other version.
    """

    def __init__(self, root: Model | Function, model: Model, source: int, types: Types) -> None:
        self.root = root
        self.source = source
        inference = ShapeInference(model)
        if isinstance(root, Function):
            for value in root.graph.inputs:
                type_ = types.of(value)
                if type_ is not None:
                    inference.assume(value, inference.symbols.fact(type_))
        self.surveyed = survey_scans([root], source, inference)

    def run(self) -> Iterator[tuple[Node, str, str | None, Sequence[Node]]]:
        """Convert all Scans, inner ones first.

        Yields each with its path, the reason why it cannot be converted (None if it was), and the
        nodes that replace it. Types must be inferred anew afterwards, since bodies are copied.
        """
        up = self.source == 8
        obstacle = obstacle_8_to_9 if up else obstacle_9_to_8
        convert = convert_scan_8_to_9 if up else convert_scan_9_to_8
        for graph, node in list(scans_inside_out([self.root])):
            if node not in self.surveyed:
                yield node, node.path, unreadable(node, self.source), ()
                continue
            reason = obstacle(self.surveyed[node])
            if reason is not None:
                yield node, node.path, reason, ()
                continue
            path, before = node.path, set(graph.unordered_nodes())
            convert(graph, self.surveyed[node])
            yield node, path, None, [n for n in graph.unordered_nodes() if n not in before]
