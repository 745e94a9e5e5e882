"""RNN, GRU and LSTM as a Scan of their steps, one for each direction."""

import numpy as np
import onnx

from ....facts.fact import Fact, Symbols
from ....facts.polynomial import Dimension
from ....ir import Graph, Operator, Value
from ....ir.copying import empty_header
from ....ops.builder import Builder
from ...iteration.loop_view import add_holder, declaration
from ...iteration.splice import set_own_outputs
from ..layers import INPUT, LENGTHS
from .expansion import Direction, Expansion

OLDEST_SCAN = 9
"""The first opset of this form of Scan."""


def emit_scans(of: Expansion) -> list[Value | None]:
    """Emit the outputs by Scans."""
    scans = [_StepScan(of, direction) for direction in of.directions]
    axis = 2 if of.layer.batch_first else 1
    whole = None
    if of.is_used(0):
        every = [scan.outputs[-1] for scan in scans]
        whole = of.emit.stack(every, axis, of.layer.node.output().name)
    return [whole, *of.last_states([scan.outputs[: len(of.layer.states)] for scan in scans])]


class _StepScan:
    """The Scan of one direction.

    Attributes:
        outputs: the last states, the number of the step where rows end, and all hidden states.
    """

    def __init__(self, of: Expansion, direction: Direction) -> None:
        self.of = of
        self.direction = direction
        self.weights = direction.weights
        lengths = of.layer.node.input(LENGTHS)
        # The ends of rows, as a column.
        self.ends = None if lengths is None else of.emit.unsqueeze(lengths, 1, "ends")
        states = of.initial(direction.number, whole=True)
        if self.ends is not None:
            states.append(self._first_number())
        projection = direction.project(of.layer.node.operand(INPUT))
        names = ["h", "c"][: len(of.layer.states)] + ["step"] * (self.ends is not None)
        labels = [f"{name}_last" for name in names] + ["hs"] * of.is_used(0)
        scan = add_holder(
            of.graph, Operator("Scan"), self._attributes(), ["body"], [*states, projection], labels
        )
        self._fill(of.graph.add_body(scan, "body", empty_header("step")), names)
        self.outputs = [scan.output(index) for index in range(len(labels))]

    def _attributes(self) -> dict[str, int | list[int]]:
        attributes: dict[str, int | list[int]] = {"num_scan_inputs": 1}
        emits = self.of.is_used(0)
        if self.of.layer.batch_first:
            attributes["scan_input_axes"] = [1]
            attributes |= {"scan_output_axes": [1]} if emits else {}
        if self.direction.backward:
            attributes["scan_input_directions"] = [1]
            attributes |= {"scan_output_directions": [1]} if emits else {}
        return attributes

    def _first_number(self) -> Value:
        emit, of = self.of.emit, self.of
        if not self.direction.backward:
            return emit.constant(np.array(0, np.int32), "first")
        count = emit.scalar(of.size(1 if of.layer.batch_first else 0, "count"), "count")
        last = emit.add("Sub", [count, emit.integer(1, "one")], "last")
        return emit.add("Cast", [last], "first", to=onnx.TensorProto.INT32)

    def _fill(self, body: Graph, names: list[str]) -> None:
        layer, hidden = self.of.layer, Dimension.constant(self.of.layer.hidden)
        rows = layer.batch or Symbols().fresh()
        state = Fact(layer.elem_type, (rows, hidden))
        types = [Fact(onnx.TensorProto.INT32, ()) if name == "step" else state for name in names]
        infos = [
            declaration(name, fact.type_proto(private=False))
            for name, fact in zip(names, types, strict=True)
        ]
        inputs = [body.add_input(name, info) for name, info in zip(names, infos, strict=True)]
        width = Dimension.constant(layer.gates * layer.hidden)
        type_ = Fact(layer.elem_type, (rows, width)).type_proto(private=False)
        inputs.append(body.add_input("fed", declaration("fed", type_)))
        results = self._results(body, inputs)
        set_own_outputs(body, results, [*infos, infos[0]][: len(results)])

    def _results(self, body: Graph, inputs: list[Value]) -> list[Value]:
        """Emit the states after a step, and its output."""
        count, emit = len(self.of.layer.states), Builder(body)
        emit.keeps_signs = self.of.emit.keeps_signs
        old, projection = inputs[:count], inputs[-1]
        template = self.direction.template(body)
        new = visible = template.instantiate([*old, projection, *self.weights])
        if self.ends is not None:
            alive = emit.add("Less", [inputs[count], self.ends], "alive")
            zero = self.of.constant(np.zeros(()), "zero")
            visible = [emit.add("Where", [alive, new[0], zero], "shown")]
            new = [
                emit.add("Where", [alive, one, other], "chosen")
                for one, other in zip(new, old, strict=True)
            ]
            step = emit.constant(np.array(-1 if self.direction.backward else 1, np.int32), "by")
            new.append(emit.add("Add", [inputs[count], step], "next"))
        return [*new, visible[0]] if self.of.is_used(0) else new
