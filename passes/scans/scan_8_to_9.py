"""Convert Scans of opset 8, which carry a batch, to the form of opset 9.

    y = Scan <num_scan_inputs = 1, body = b (float e) => (float r) { r = Neg (e) }> (, x)
->  (x is float[1,T])
    x_row = Squeeze <axes = [0]> (x)
    y_row = Scan <num_scan_inputs = 1, body = b (float e) => (float r) { r = Neg (e) }> (x_row)
    y = Unsqueeze <axes = [0]> (y_row)
->  (x is float[B,T])
    y = Scan <num_scan_inputs = 1, body = row (float[T] x_row) => (float[T] y_row) {
       y_row = Scan <num_scan_inputs = 1, body = b (float e) => (float r) { r = Neg (e) }> (x_row)
    }> (x)

With lengths, each row is cut to its own length, and zeros pad its scan outputs. A row that may be
empty runs inside an If, because onnxruntime rejects a Scan of length 0 from opset 9 on.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import onnx

from ...facts.obstacle import require_none
from ...ir import Graph, Node, Operator, Value
from ...ir.copying import empty_header
from ...ops.builder import Builder
from ..iteration.scan_layout import (
    ScanLayout,
    add_choice,
    add_holder,
    copy_body,
    declaration,
    map_unique,
    output_labels,
    replace_outputs,
    row_type,
)
from .padding import Padding, emit_sizes, iota, plan_padding
from .shapes import ScanShapes, ValueAxis

_TO = 9


def obstacle_8_to_9(shapes: ScanShapes) -> str | None:
    """The obstacle to a readable Scan 8 in opset 9; None without one."""
    if row_lengths(shapes) is None:
        return None
    for index, value in enumerate(shapes.scan.scan_outputs):
        if value is not None and not shapes.element(index).elem_type:
            return (
                f"the element type of its scan output '{value.name}' is not known, so rows cannot"
                " be filled up with zeros; declare it in the body"
            )
    return None


def convert_scan_8_to_9(graph: Graph, shapes: ScanShapes) -> None:
    """Replace a Scan 8 by equivalent nodes of opset 9 (operator specification, Scan 8).

    The body is copied unchanged: the caller converts inner Scans before, or visits the copy.

    Args:
        graph: the graph of the node, read as opset 9 whatever its import.
        shapes: the Scan, surveyed.

    Raises:
        Obstacle: that of `obstacle_8_to_9`; nothing changes.
    """
    scan, node = shapes.scan, shapes.node
    require_none(obstacle_8_to_9(shapes))
    emitter = Builder(graph, opset=_TO)
    lengths = row_lengths(shapes)
    padding = None if lengths is None else plan_padding(shapes, emitter, lengths)
    rows = _Rows(scan, padding)
    if shapes.batch() == 1:
        inputs = map_unique(
            [*scan.states, *scan.scan_inputs], lambda v: emitter.squeeze(v, 0, f"{v.name}_row")
        )
        results = [
            None if old is None or new is None else emitter.unsqueeze(new, 0, old.name)
            for old, new in zip(node.outputs, rows.run(graph, inputs, lengths), strict=True)
        ]
    else:
        results = _each_row(graph, scan, rows, lengths, shapes.length())
        if padding is not None and shapes.length() is None and not shapes.batch():
            results = _unless_no_rows(graph, scan, padding, results)
    replace_outputs(graph, node, results)


def row_lengths(shapes: ScanShapes) -> Value | None:
    """The lengths of the rows; None where every row is certainly as long as the longest."""
    lengths = shapes.scan.sequence_lens
    if lengths is None or lengths.constant is None or not lengths.constant.is_readable:
        return lengths
    longest = shapes.length()
    full = longest is not None and bool((lengths.constant.numpy() == longest).all())
    return None if full else lengths


def _each_row(
    graph: Graph, scan: ScanLayout, rows: _Rows, lengths: Value | None, longest: int | None
) -> list[Value | None]:
    """Emit a Scan over the batch, whose body runs one row.

    An empty batch has the sizes that the body declares, so the body declares the longest row where
    it is known. A name of a size declares nothing: names of a body speak of no other graph.
    """
    node = scan.node
    read = [*scan.states, *scan.scan_inputs]
    inputs = list(dict.fromkeys([*([] if lengths is None else [lengths]), *read]))
    present = [value for value in node.outputs if value is not None]
    outer = add_holder(
        graph,
        Operator("Scan"),
        {"num_scan_inputs": len(inputs)},
        ["body"],
        inputs,
        [value.name for value in present],
        f"{node.name}_batch" if node.name else "",
    )
    body = graph.add_body(outer, "body", empty_header(f"{scan.body.name}_row"))
    row = {
        v: body.add_input(f"{v.name}_row", declaration(f"{v.name}_row", row_type(v)))
        for v in inputs
    }
    length = None
    if lengths is not None:
        length = Builder(body, opset=_TO).unsqueeze(row[lengths], 0, f"{lengths.name}_length")
    results = [
        value for value in rows.run(body, [row[v] for v in read], length) if value is not None
    ]
    types = [row_type(value) for value in present]
    if longest is not None:
        for value, type_ in zip(present, types, strict=True):
            if value in scan.scan_outputs and type_ is not None and type_.tensor_type.shape.dim:
                type_.tensor_type.shape.dim[0].dim_value = longest
    body.set_outputs(results, [declaration(v.name, t) for v, t in zip(results, types, strict=True)])
    outputs = iter(outer.outputs)
    return [None if value is None else next(outputs) for value in node.outputs]


def _unless_no_rows(
    graph: Graph, scan: ScanLayout, padding: Padding, results: Sequence[Value | None]
) -> list[Value | None]:
    """Replace padded outputs of an empty batch, of which no row tells the length."""
    emitter, count, chosen = Builder(graph, opset=_TO), len(scan.states), list(results)
    padded = {
        index: value
        for index, value in enumerate(results)
        if value is not None and index >= count and padding.sizes[index - count] is not None
    }
    if not padded:
        return chosen
    batch = emit_sizes(emitter, [ValueAxis(scan.scan_inputs[0], 0)], "batch")
    condition = emitter.add("Cast", [batch], "has_rows", to=onnx.TensorProto.BOOL)
    labels = [f"{value.name}_rows" for value in padded.values()]
    choice, then, other = add_choice(graph, condition, labels, ("rows", "no_rows"))
    inside = Builder(then, opset=_TO)
    rows = [inside.add("Identity", [value], value.name) for value in padded.values()]
    _give_out(then, rows)
    inside = Builder(other, opset=_TO)
    _give_out(
        other,
        [padding.only_zeros(inside, i - count, v.name, batch) for i, v in padded.items()],
    )
    for index, value in zip(padded, choice.outputs, strict=True):
        chosen[index] = value
    return chosen


@dataclasses.dataclass(frozen=True)
class _Rows:
    """Emitter of single rows of a Scan 8 with a Scan 9.

    Attributes:
        scan: the Scan 8.
        padding: the padding of short rows; None without them.
    """

    scan: ScanLayout
    padding: Padding | None

    def run(
        self, graph: Graph, inputs: Sequence[Value], length: Value | None
    ) -> list[Value | None]:
        """The results of a row in the order of the Scan's outputs; None where one is omitted.

        Args:
            graph, inputs: the graph of the new nodes, and states and scan inputs without the batch.
            length: that of the row, int64 of shape [1]; None for a full row.
        """
        if length is None or self.padding is None:
            return list(self._scan(graph, inputs).outputs)
        if self.padding.may_be_empty:
            return self._unless_empty(graph, inputs, length, self.padding)
        return self._cut_and_fill(graph, inputs, length, self.padding)

    def _scan(self, graph: Graph, inputs: Sequence[Value]) -> Node:
        scan = self.scan
        attributes: dict[str, int | list[int]] = {"num_scan_inputs": len(scan.scan_inputs)}
        if any(scan.input_backward):
            attributes["scan_input_directions"] = [int(flag) for flag in scan.input_backward]
        labels = output_labels(scan.node, "_row")
        row = add_holder(graph, scan.node.op, attributes, ["body"], inputs, labels, scan.node.name)
        copy_body(scan.node, row)
        return row

    def _cut_and_fill(
        self, graph: Graph, inputs: Sequence[Value], length: Value, padding: Padding
    ) -> list[Value | None]:
        """Emit a row of at least one element, or of known output shapes."""
        emitter = Builder(graph, opset=_TO)
        count = len(self.scan.states)
        indices = iota(emitter, length)
        valid = map_unique(
            inputs[count:], lambda v: emitter.add("Gather", [v, indices], f"{v.name}_valid", axis=0)
        )
        results = list(self._scan(graph, [*inputs[:count], *valid]).outputs)
        missing = emitter.add("Sub", [padding.longest, length], f"{length.name}_missing")
        for index, value in enumerate(results[count:]):
            if value is not None:
                results[count + index] = padding.fill(emitter, index, value, missing)
        return results

    def _unless_empty(
        self, graph: Graph, inputs: Sequence[Value], length: Value, padding: Padding
    ) -> list[Value | None]:
        """Emit a row that may be empty: then the states stay, and all outputs are zeros."""
        emitter, count = Builder(graph, opset=_TO), len(self.scan.states)
        outputs = self.scan.node.outputs
        condition = emitter.add("Cast", [length], f"{length.name}_holds", to=onnx.TensorProto.BOOL)
        labels = [f"{value.name}_padded" for value in outputs if value is not None]
        choice, then, other = add_choice(graph, condition, labels, ("row", "empty_row"))
        _give_out(then, self._cut_and_fill(then, inputs, length, padding))
        inside = Builder(other, opset=_TO)
        _give_out(
            other,
            [
                None
                if value is None
                else inside.add("Identity", [inputs[index]], f"{value.name}_kept")
                if index < count
                else padding.only_zeros(inside, index - count, value.name)
                for index, value in enumerate(outputs)
            ],
        )
        results = iter(choice.outputs)
        return [None if value is None else next(results) for value in outputs]


def _give_out(graph: Graph, results: Sequence[Value | None]) -> None:
    present = [value for value in results if value is not None]
    graph.set_outputs(present, [declaration(value.name, None) for value in present])
