"""Convert Scans of opset 9 and later to the form of opset 8, which carries a batch.

    y = Scan <num_scan_inputs = 1, scan_input_axes = [1], scan_output_directions = [1],
              body = b (float e) => (float r) { r = Neg (e) }> (x)
->
    x_first = Transpose <perm = [1, 0]> (x)
    x_batch = Unsqueeze <axes = [0]> (x_first)
    y_batch = Scan <num_scan_inputs = 1, body = b (float e) => (float r) { r = Neg (e) }> (, x_batch)
    y_forward = Scan <num_scan_inputs = 1, directions = [1],
                      body = reverse (e) => (r) { r = Identity (e) }> (, y_batch)
    y = Squeeze <axes = [0]> (y_forward)

The batch is 1. A Scan 8 fills all its outputs forward, so those to be filled backward are reversed
by one more Scan.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import onnx
import onnx.defs

from ..ir import Graph, Model, Node, Operator, Value
from ..ir.instantiate import empty_header
from .analysis.shape_inference import ShapeInference
from .base import Pass, RewriteError, Run
from .emit import Emitter
from .scan_layout import (
    ScanLayout,
    add_holder,
    copy_body,
    each_once,
    output_labels,
    read_scan,
    replace_outputs,
    unreadable,
)
from .scan_opset import carry_scans
from .scan_shapes import ScanShapes

_FROM, _TO = 9, 8


@dataclasses.dataclass(frozen=True)
class Scan9To8(Pass):
    """Carry a model of opset 9 whose Scans alone change to opset 8."""

    name: ClassVar[str] = "scan-9-to-8"

    def run(self, model: Model, run: Run) -> bool:
        """Convert all Scans and the opset imports, or nothing."""
        return carry_scans(self, model, run, (_FROM, _TO), obstacle_9_to_8, convert_scan_9_to_8)


def obstacle_9_to_8(node: Node, inference: ShapeInference) -> str | None:
    """Why a Scan of opset 9 or later cannot be written in opset 8; None if it can.

    Nothing is changed, and what is inside the body is not looked at.
    """
    reason = unreadable(node, _FROM)
    if reason is not None:
        return reason
    scan = read_scan(node, _FROM)
    shapes = ScanShapes(scan, _FROM, inference)
    return _unknown_rank(scan, shapes) or _foreign_type(scan, shapes)


def _unknown_rank(scan: ScanLayout, shapes: ScanShapes) -> str | None:
    """Which value cannot be transposed for want of its rank."""
    ranks = [
        *zip(scan.scanned, scan.input_axes, map(shapes.rank, _indices(scan.scanned)), strict=True),
        *zip(scan.scan_outputs, scan.output_axes, map(shapes.output_rank, _indices(scan.scan_outputs)), strict=False),
    ]
    for value, axis, rank in ranks:
        if value is not None and axis and rank is None:
            return (
                f"'{value.name}' is scanned along axis {axis}, which opset {_TO} needs as the first,"
                " and its rank is not known; declare its shape"
            )
        if value is not None and rank is not None and not -rank <= axis < rank:
            return f"'{value.name}' of rank {rank} is scanned along axis {axis}"
    return None
