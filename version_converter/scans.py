"""Conversion of Scans between opset 8, which has a batch axis, and opset 9.

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

    y = Scan <num_scan_inputs = 1, scan_input_axes = [1], scan_output_directions = [1],
              body = b (float e) => (float r) { r = Neg (e) }> (x)
->
    x_first = Transpose <perm = [1, 0]> (x)
    x_batch = Unsqueeze <axes = [0]> (x_first)
    y_batch = Scan <num_scan_inputs = 1,
                    body = b (float e) => (float r) { r = Neg (e) }> (, x_batch)
    y_forward = Scan <num_scan_inputs = 1, directions = [1],
                      body = reverse (e) => (r) { r = Identity (e) }> (, y_batch)
    y = Squeeze <axes = [0]> (y_forward)

The batch is 1. A Scan 8 fills all its outputs forward, so one more Scan reverses the backward ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import onnx
import onnx.defs

from ..analysis.shapes.inference import ShapeInference
from ..ir import Array, Function, Graph, Model, Node, Operator, Tensor, Value
from ..ir.copying import empty_header
from ..ops.builder import Builder
from ..ops.schema_queries import type_obstacle
from ..passes.iteration.loop_view import (
    ScanLayout,
    add_choice,
    add_holder,
    copy_body,
    declaration,
    map_unique,
    move_axis,
    output_labels,
    row_type,
    unreadable,
)
from ..passes.scans.shapes import ScanShapes, Size, ValueAxis, emit_sizes
from ..passes.utils.replace_all_uses import replace_outputs
from ..passes.utils.traversal import inside_out
from ..records import record
from .types import Types


def obstacle_9_to_8(shapes: ScanShapes) -> str | None:
    """The obstacle to a readable Scan of opset 9 or later in opset 8; None without one.

    The inside of the body does not count.
    """
    scan = shapes.scan
    reasons = []
    for value, fact in zip((*scan.states, *scan.scan_inputs), shapes.input_facts, strict=True):
        reasons.append(_foreign_type(value, fact.elem_type))
    for index, value in enumerate(scan.scan_inputs):
        reasons.append(_immovable(value, scan.input_axes[index], shapes.input_rank(index)))
    for index, output in enumerate(scan.scan_outputs):
        if output is not None:
            reasons.append(_foreign_type(output, shapes.element(index).elem_type))
            reasons.append(_immovable(output, scan.output_axes[index], shapes.output_rank(index)))
    return next((reason for reason in reasons if reason), None)


def _immovable(value: Value, axis: int, rank: int | None) -> str | None:
    """The obstacle to moving an axis of a scan input or output to the front."""
    if rank is None and axis:
        return (
            f"opset 8 scans only the first axis, and moving axis {axis} of '{value.name}' there"
            " needs its rank; declare its shape"
        )
    if rank is not None and not -rank <= axis < rank:
        return f"'{value.name}' has rank {rank} and no axis {axis}"
    return None


def _foreign_type(value: Value, elem_type: int) -> str | None:
    """The obstacle to a value in a Scan of opset 8; None also for an unknown type."""
    reason = type_obstacle(["Scan"], elem_type, 8, "Scan") if elem_type else None
    return None if reason is None else f"'{value.name}' {reason}"


def convert_scan_9_to_8(graph: Graph, shapes: ScanShapes) -> None:
    """Replace a Scan of opset 9 or later by equivalent nodes of opset 8.

    The body is copied unchanged: the caller converts inner Scans before, or visits the copy.
    """
    scan, node = shapes.scan, shapes.node
    emitter = Builder(graph, opset=8)
    labels = output_labels(node, "_batch")
    states = map_unique(scan.states, lambda v: emitter.unsqueeze(v, 0, f"{v.name}_batch"))
    inputs = [*states, *_batched_rows(emitter, scan, shapes)]
    batched = _add_scan(graph, node.op, inputs, scan.input_backward, labels, node.name)
    copy_body(node, batched)
    results: list[Value | None] = []
    for index, value in enumerate(_forward(emitter, scan, batched.outputs), -len(scan.states)):
        old = node.outputs[len(results)]
        if value is not None and old is not None:
            value = emitter.squeeze(value, 0, old.name)
            if index >= 0:
                rank = shapes.output_rank(index)
                perm = [] if rank is None else move_axis(rank, 0, scan.output_axes[index] % rank)
                value = emitter.transpose(value, perm, old.name)
        results.append(value)
    replace_outputs(graph, node, results)


def _batched_rows(emitter: Builder, scan: ScanLayout, shapes: ScanShapes) -> list[Value]:
    """Emit the scan inputs, scanned axis first, with a batch of 1 before it."""
    rows = []
    for index, value in enumerate(scan.scan_inputs):
        rank = shapes.input_rank(index)
        perm = [] if rank is None else move_axis(rank, scan.input_axes[index], 0)
        first = emitter.transpose(value, perm, f"{value.name}_first")
        rows.append(emitter.unsqueeze(first, 0, f"{value.name}_batch"))
    return rows


def _add_scan(
    graph: Graph,
    like: Operator,
    inputs: Sequence[Value],
    backward: Sequence[bool],
    labels: Sequence[str],
    name: str = "",
) -> Node:
    """Add a Scan 8 of full rows, still without its body."""
    attributes: dict[str, int | list[int]] = {"num_scan_inputs": len(backward)}
    if any(backward):
        attributes["directions"] = [int(flag) for flag in backward]
    return add_holder(graph, like, attributes, ["body"], [None, *inputs], labels, name)


def _forward(
    emitter: Builder, scan: ScanLayout, outputs: Sequence[Value | None]
) -> list[Value | None]:
    """Emit the outputs of the Scan 8, with backward ones reversed along the length."""
    results = list(outputs)
    turned = {
        index: value
        for index, value in enumerate(outputs)
        if index >= len(scan.states)
        and scan.output_backward[index - len(scan.states)]
        and value is not None
    }
    if turned:
        labels = [f"{value.name}_reversed" for value in turned.values()]
        inputs, backward = list(turned.values()), [True] * len(turned)
        node = _add_scan(emitter.graph, Operator("Scan"), inputs, backward, labels)
        _add_identities(emitter.graph, node, len(turned))
        for index, value in zip(turned, node.outputs, strict=True):
            results[index] = value
    return results


def _add_identities(graph: Graph, node: Node, count: int) -> None:
    """Add a body to a Scan that returns its inputs."""
    body = graph.add_body(node, "body", empty_header("reverse"))
    inside = Builder(body, opset=8)
    results = [
        inside.add("Identity", [body.add_input("element", declaration("element", None))], "same")
        for _ in range(count)
    ]
    body.set_outputs(results, [declaration(value.name, None) for value in results])


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
    """
    scan, node = shapes.scan, shapes.node
    emitter = Builder(graph, opset=9)
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
        length = Builder(body, opset=9).unsqueeze(row[lengths], 0, f"{lengths.name}_length")
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
    emitter, count, chosen = Builder(graph, opset=9), len(scan.states), list(results)
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
    inside = Builder(then, opset=9)
    rows = [inside.add("Identity", [value], value.name) for value in padded.values()]
    _give_out(then, rows)
    inside = Builder(other, opset=9)
    _give_out(
        other, [padding.only_zeros(inside, i - count, v.name, batch) for i, v in padded.items()]
    )
    for index, value in zip(padded, choice.outputs, strict=True):
        chosen[index] = value
    return chosen


@record(frozen=True)
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
        emitter = Builder(graph, opset=9)
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
        emitter, count = Builder(graph, opset=9), len(self.scan.states)
        outputs = self.scan.node.outputs
        condition = emitter.add("Cast", [length], f"{length.name}_holds", to=onnx.TensorProto.BOOL)
        labels = [f"{value.name}_padded" for value in outputs if value is not None]
        choice, then, other = add_choice(graph, condition, labels, ("row", "empty_row"))
        _give_out(then, self._cut_and_fill(then, inputs, length, padding))
        inside = Builder(other, opset=9)
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


_MOST = np.iinfo(np.int64).max
_PICKED = frozenset(
    {onnx.TensorProto.STRING, onnx.TensorProto.COMPLEX64, onnx.TensorProto.COMPLEX128}
)
"""The element types that Scan supports, but ConstantOfShape of opset 9 does not."""


@record(frozen=True)
class Padding:
    """The values that pad rows, emitted once in the graph around them.

    Attributes:
        longest: the length of a full row, int64 of shape [1].
        may_be_empty: true if rows may have length 0 and zeros can replace them.
        sizes: the shape of an element of each scan output, an int64 vector; None where only an
            element itself has it.
        elem_types: the element type of each scan output.
    """

    longest: Value
    may_be_empty: bool
    sizes: tuple[Value | None, ...]
    elem_types: tuple[int, ...]

    def fill(self, emitter: Builder, index: int, value: Value, missing: Value) -> Value:
        """Append `missing` zero elements to the scan output of a row."""
        sizes = self.sizes[index]
        if sizes is None:
            shape = emitter.add("Shape", [value], f"{value.name}_shape")
            sizes = emitter.slice(shape, 1, _MOST, f"{value.name}_sizes")
        rest = self._zeros(emitter, index, missing, sizes, f"{value.name}_rest")
        return emitter.concat([value, rest], 0, f"{value.name}_padded")

    def only_zeros(
        self, emitter: Builder, index: int, label: str, batch: Value | None = None
    ) -> Value:
        """The scan output of an empty row, or of a batch of them."""
        sizes, count = self.sizes[index], self.longest
        assert sizes is not None
        if batch is not None:
            count = emitter.concat([batch, count], 0, f"{label}_extent")
        return self._zeros(emitter, index, count, sizes, f"{label}_zeros")

    def _zeros(self, emitter: Builder, index: int, count: Value, sizes: Value, label: str) -> Value:
        scalar = sizes.constant is not None and sizes.constant.size == 0
        shape = count if scalar else emitter.concat([count, sizes], 0, f"{label}_shape")
        dtype = onnx.helper.tensor_dtype_to_np_dtype(self.elem_types[index])
        zero = np.full(1, "" if dtype.kind in "OUS" else 0, dtype)
        if self.elem_types[index] not in _PICKED:
            return _fill(emitter, shape, zero, label)
        picks = _fill(emitter, shape, np.zeros(1, np.int64), f"{label}_picks")
        return emitter.add("Gather", [emitter.constant(zero, "zero"), picks], label, axis=0)


def plan_padding(shapes: ScanShapes, emitter: Builder, lengths: Value) -> Padding:
    """Emit the padding for rows of a Scan 8 that are shorter than the longest."""
    scan, length = shapes.scan, shapes.length()
    longest: Sequence[Size] = (
        [length] if length is not None else [ValueAxis(scan.scan_inputs[0], 1)]
    )
    sizes: list[Value | None] = []
    for index, value in enumerate(scan.scan_outputs):
        element = None if value is None else shapes.element_sizes(index)
        sizes.append(None if element is None else emit_sizes(emitter, element, "sizes"))
    certain = all(
        value is None or size is not None
        for value, size in zip(scan.scan_outputs, sizes, strict=True)
    )
    numbers = lengths.constant
    full = numbers is not None and numbers.is_readable and bool(numbers.numpy().all())
    return Padding(
        emit_sizes(emitter, longest, "longest"),
        certain and not full,
        tuple(sizes),
        tuple([shapes.element(index).elem_type for index in range(len(sizes))]),
    )


def iota(emitter: Builder, length: Value) -> Value:
    """Emit the numbers 0, 1, ... below `length`, int64 of shape [1]; opset 9 has no Range."""
    ones = _fill(emitter, length, np.ones(1, np.int64), f"{length.name}_ones")
    indices = emitter.add("NonZero", [ones], f"{length.name}_rows")
    return emitter.squeeze(indices, 0, f"{length.name}_indices")


def _fill(emitter: Builder, shape: Value, element: Array, label: str) -> Value:
    value = Tensor(array=element).message()
    return emitter.add("ConstantOfShape", [shape], label, value=value)


_CONVERSIONS = {
    8: (obstacle_8_to_9, convert_scan_8_to_9),
    9: (obstacle_9_to_8, convert_scan_9_to_8),
}
"""The obstacle to the conversion of a Scan, and the conversion, by the opset before it."""


def crosses(source: int, target: int) -> bool:
    """Test whether a step adds or removes the batch axis of Scans."""
    return {source, target} == {8, 9}


class Crossing:
    """The Scans of a model or function on the way between opsets 8 and 9.

    Create it while everything around them is in one version. Run it when everything else, the
    bodies included, is in the other one.
    """

    def __init__(self, root: Model | Function, source: int, inference: ShapeInference) -> None:
        self.root, self.source = root, source
        self.surveyed: dict[Node, ScanShapes] = {}
        self._obstacle, self._convert = _CONVERSIONS[source]
        # Before all conversions: in between, nodes of both opsets coexist.
        for graph in root.graph.walk():
            for node in graph.nodes_of("Scan"):
                if unreadable(node, source) is None:
                    self.surveyed[node] = ScanShapes(node, source, inference)
                    self.surveyed[node].survey()

    @classmethod
    def of(cls, root: Model | Function, model: Model, source: int, types: Types) -> Crossing:
        """The Scans of a root, with the types of a function's inputs."""
        inference = ShapeInference(model)
        for value in root.graph.inputs if isinstance(root, Function) else ():
            type_ = types.of(value)
            if type_ is not None:
                inference.assume(value, inference.symbols.fact(type_))
        return cls(root, source, inference)

    def obstacle(self, node: Node) -> str | None:
        """The obstacle to the conversion of a Scan; None without one."""
        return unreadable(node, self.source) or self._obstacle(self.surveyed[node])

    def run(self) -> Iterator[tuple[Node, str, str | None, Sequence[Node]]]:
        """Convert all Scans, inner ones first.

        Yields each with its path, the obstacle (None if it was converted), and the nodes that
        replace it. Types must be inferred anew afterwards, since bodies are copied.
        """
        for graph, node in list(inside_out(self.root.graph.walk(), "Scan")):
            path, before, reason = node.path, set(graph.unordered_nodes()), self.obstacle(node)
            if reason is None:
                self._convert(graph, self.surveyed[node])
            yield node, path, reason, [n for n in graph.unordered_nodes() if n not in before]
