"""One step of RNN, GRU or LSTM: a graph that computes the next states.

h = Gru (fed, h0, r, r_new) {
    zr, new = Split <axis = 1> (fed)        fed is the input projection of all gates, with biases
    za = MatMul (h0, r)
    zs = Add (zr, za)
    ...
}
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import onnx

from ....ir import Graph, Model, Value
from ....ops.builder import Builder
from ....ops.composite import PARAMETERS
from ....records import record
from ...iteration.loop_view import declaration
from ..functions import Function
from ..layers import BIAS, PEEPHOLES, Layer
from ..weights import Unfit


def weight_names(layer: Layer) -> list[str]:
    """The names of the loop-invariant weights of a step: matrices of the state, and biases."""
    names = ["r"]
    if layer.node.op_type == "GRU" and not layer.reset_after:
        names.append("r_new")
    elif layer.node.op_type == "GRU" and layer.node.input(BIAS) is not None:
        names.append("b_new")
    if layer.node.input(PEEPHOLES) is not None:
        names += ["p_in", "p_out"] if layer.coupled else ["p_in", "p_out", "p_forget"]
    return names


def step_graph(layer: Layer, functions: Sequence[Function]) -> Graph:
    """Build the graph of a step: the next states from states, input projection and weights.

    Raises:
        Unfit: an activation without an operator in the opset.
        RewriteError: an activation unsupported for the element type.
    """
    around = layer.node.graph
    assert around is not None
    scratch = Model(onnx.ModelProto(ir_version=onnx.IR_VERSION))
    scratch.opset_imports = dict(around.root.opset_imports)
    type_ = onnx.helper.make_tensor_type_proto(layer.elem_type, None)

    def add_input(name: str) -> Value:
        return scratch.graph.add_input(name, declaration(name, type_))

    states = [add_input(name) for name, _ in zip("hc", layer.states, strict=False)]
    projection = add_input("fed")
    emit, weights = Builder(scratch.graph), {name: add_input(name) for name in weight_names(layer)}
    activations = Activations(emit, layer.elem_type, layer.clip)
    step = _Step(layer, functions, emit, activations, weights)
    new = _STEPS[layer.node.op_type](step, projection, *states)
    scratch.graph.set_outputs(new, [declaration(value.name, type_) for value in new])
    return scratch.graph


@record(frozen=True)
class _Step:
    layer: Layer
    functions: Sequence[Function]
    emit: Builder
    activations: Activations
    weights: Mapping[str, Value]

    def add(self, one: Value, other: Value, label: str) -> Value:
        return self.emit.add("Add", [one, other], label)

    def mul(self, one: Value, other: Value, label: str) -> Value:
        return self.emit.add("Mul", [one, other], label)

    def one_less(self, value: Value, label: str) -> Value:
        return self.emit.add("Sub", [self.activations.number(1.0), value], label)

    def product(self, state: Value, weight: str) -> Value:
        """Emit a state's contribution to the gates."""
        return self.emit.add("MatMul", [state, self.weights[weight]], "kept")

    def parts(self, value: Value, counts: Sequence[int], labels: Sequence[str]) -> list[Value]:
        """Split gates into parts, each of a number of gates."""
        return self.emit.split(value, [n * self.layer.hidden for n in counts], 1, labels)

    def apply(self, index: int, total: Value, label: str) -> Value:
        """Emit the activation of a gate's sum."""
        return self.activations.apply(self.functions[index], self.activations.clip(total), label)

    def rnn(self, projection: Value, h: Value) -> list[Value]:
        total = self.add(projection, self.product(h, "r"), "total")
        return [self.apply(0, total, "h")]

    def gru(self, projection: Value, h: Value) -> list[Value]:
        gates, new = self.parts(projection, (2, 1), ("fed_gates", "fed_new"))
        if self.layer.reset_after:
            product, inner = self.parts(self.product(h, "r"), (2, 1), ("kept_gates", "kept_new"))
            if "b_new" in self.weights:
                inner = self.add(inner, self.weights["b_new"], "inner")
        else:
            product = self.product(h, "r")
        both = self.apply(0, self.add(gates, product, "total"), "gates")
        update, reset = self.parts(both, (1, 1), ("update", "reset"))
        if self.layer.reset_after:
            inner = self.mul(reset, inner, "reset_state")
        else:
            inner = self.product(self.mul(reset, h, "reset_state"), "r_new")
        candidate = self.apply(1, self.add(new, inner, "total_new"), "candidate")
        fresh = self.mul(self.one_less(update, "rest"), candidate, "taken")
        return [self.add(fresh, self.mul(update, h, "stays"), "h")]

    def lstm(self, projection: Value, h: Value, c: Value) -> list[Value]:
        total = self.add(projection, self.product(h, "r"), "total")
        names = ("total_in", "total_out", "total_forget", "total_new")
        into, out, forget, new = self.parts(total, (1, 1, 1, 1), names)
        input_gate = self.apply(0, self.add_peephole(into, c, "p_in"), "taken")
        if self.layer.coupled:
            keeps = self.one_less(input_gate, "keeps")
        else:
            keeps = self.apply(0, self.add_peephole(forget, c, "p_forget"), "keeps")
        fresh = self.mul(input_gate, self.apply(1, new, "candidate"), "fresh")
        cell = self.add(self.mul(keeps, c, "stays"), fresh, "c")
        opened = self.apply(0, self.add_peephole(out, cell, "p_out"), "opened")
        # The clip applies to the sums of the gates, not to the cell.
        activated = self.activations.apply(self.functions[2], cell, "shown")
        return [self.mul(opened, activated, "h"), cell]

    def add_peephole(self, total: Value, cell: Value, weight: str) -> Value:
        """Add the peephole term to the sum of a gate."""
        if weight not in self.weights:
            return total
        return self.add(total, self.mul(self.weights[weight], cell, "peep"), "total_peep")


_STEPS: dict[str, Callable[..., list[Value]]] = {
    "RNN": _Step.rnn,
    "GRU": _Step.gru,
    "LSTM": _Step.lstm,
}


_CLIP_BY_INPUTS = 11
_THRESHOLDED_RELU = 10
_WHERE = 9


class Activations:
    """Emitter of activations."""

    def __init__(self, emit: Builder, elem_type: int, clip: float | None) -> None:
        self.emit = emit
        self._dtype = onnx.helper.tensor_dtype_to_np_dtype(elem_type)
        self._clip = clip
        self._numbers: dict[float, Value] = {}

    def number(self, number: float) -> Value:
        """Emit a constant, once for each number."""
        if number not in self._numbers:
            array = np.array(number).astype(self._dtype)
            self._numbers[number] = self.emit.constant(array, "number")
        return self._numbers[number]

    def clip(self, value: Value) -> Value:
        """Clip an operand to the limit."""
        if self._clip is None:
            return value
        bounds = -self._clip, self._clip
        if self.emit.opset < _CLIP_BY_INPUTS:
            return self.emit.add("Clip", [value], "clipped", min=bounds[0], max=bounds[1])
        return self.emit.add("Clip", [value, *map(self.number, bounds)], "clipped")

    def apply(self, function: Function, value: Value, label: str) -> Value:
        """Emit an activation of a value.

        Raises:
            Unfit: no operator for it in the opset.
        """
        kind, alpha, beta = function
        if kind == "Affine":
            scaled = value if alpha == 1 else self._scale(value, alpha)
            return self.emit.add("Add", [scaled, self.number(beta)], label)
        if kind == "ScaledTanh":
            bent = self.emit.add("Tanh", [self._scale(value, beta)], "bent")
            return self.emit.add("Mul", [bent, self.number(alpha)], label)
        if kind == "ThresholdedRelu" and self.emit.opset < _THRESHOLDED_RELU:
            return self._above(value, alpha, label)
        names = ("alpha", "beta")[: len(PARAMETERS[kind])]
        attributes = dict(zip(names, (alpha, beta), strict=False))
        return self.emit.add(kind, [value], label, **attributes)

    def _scale(self, value: Value, factor: float) -> Value:
        return self.emit.add("Mul", [value, self.number(factor)], "scaled")

    def _above(self, value: Value, least: float, label: str) -> Value:
        """Emit a ThresholdedRelu as a select: the value above a threshold, else 0."""
        if self.emit.opset < _WHERE:
            raise Unfit(f"has the activation ThresholdedRelu; convert to opset {_WHERE} first")
        is_above = self.emit.add("Greater", [value, self.number(least)], "is_above")
        return self.emit.add("Where", [is_above, value, self.number(0.0)], label)
