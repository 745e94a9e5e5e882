"""Expansion of RNN, GRU and LSTM: shared computation runs once, before the steps.

y, h = RNN (x, w, r, b, , h0)   ->   all = MatMul (x by rows, w')
                                     fed = Add (all, b')
                                     fed_0, fed_1 = Split (Reshape (fed))
                                     h_0 = Tanh (Add (fed_0, MatMul (h0, r')))
                                     h_1 = Tanh (Add (fed_1, MatMul (h_0, r')))
                                     y = Transpose (Reshape (Concat (h_0, h_1)))

Rows past their end keep their states, and zeros pad their outputs.
"""

from collections.abc import Sequence

import numpy as np
import onnx

from ....ir import Array, Fold, Graph, Template, Value
from ....ir.lazy import lazy_property
from ....ops.builder import Builder
from ....ops.schema_queries import type_obstacle
from ...utils.zero_signs import reads_signs
from ..layers import BIAS, INPUT, LENGTHS, PEEPHOLES, RECURRENT, WEIGHTS, Layer
from ..weights import Unfit
from .steps import step_graph, weight_names

_MOVED = ("MatMul", "Add", "Reshape", "Transpose", "Split", "Concat", "Squeeze", "Unsqueeze")
_WHERE = 9
_EXPAND = 8


class Direction:
    """One direction of a node.

    Attributes:
        backward: true if it runs from the last element to the first.
    """

    def __init__(self, expansion: "Expansion", number: int) -> None:
        layer = expansion.layer
        self.expansion = expansion
        self.number = number
        self.backward = layer.backward[number]
        self.step = step_graph(layer, layer.functions[number])

    def project(self, source: Value) -> Value:
        """Emit the input projection: the input's contribution to all gates and steps."""
        emit, of = self.expansion.emit, self.expansion
        weight = emit.transpose(of.part(WEIGHTS, self.number), (1, 0), "w")
        products = emit.add("MatMul", [source, weight], "products")
        bias = self._bias()
        return products if bias is None else emit.add("Add", [products, bias], "fed")

    def _bias(self) -> Value | None:
        """Emit the bias of all gates, without the operand of a reset gate."""
        of, layer = self.expansion, self.expansion.layer
        if layer.node.input(BIAS) is None:
            return None
        bias, recurrent = self._biases
        if layer.node.op_type == "GRU" and layer.reset_after:
            zeros = of.constant(np.zeros(layer.hidden), "zeros")
            recurrent = of.emit.concat([self._reset_biases[0], zeros], 0, "b_kept")
        return of.emit.add("Add", [bias, recurrent], "b")

    @lazy_property
    def _biases(self) -> list[Value]:
        """The biases of the products of the input, and of the state."""
        of, width = self.expansion, self.expansion.layer.gates * self.expansion.layer.hidden
        return of.emit.split(of.part(BIAS, self.number), [width, width], 0, ("b_fed", "b_kept"))

    @lazy_property
    def _reset_biases(self) -> list[Value]:
        """The biases of a GRU's state: of the gates, and of the operand of the reset gate."""
        of, hidden = self.expansion, self.expansion.layer.hidden
        return of.emit.split(self._biases[1], [2 * hidden, hidden], 0, ("b_gates", "b_new"))

    @lazy_property
    def weights(self) -> list[Value]:
        """The weights of the step, in the order of its inputs."""
        of, layer, hidden = self.expansion, self.expansion.layer, self.expansion.layer.hidden
        values = {"r": of.emit.transpose(of.part(RECURRENT, self.number), (1, 0), "r")}
        names = weight_names(layer)
        if "r_new" in names:
            labels = ("r", "r_new")
            parts = of.emit.split(values["r"], [2 * hidden, hidden], 1, labels)
            values = dict(zip(labels, parts, strict=True))
        if "b_new" in names:
            values["b_new"] = self._reset_biases[1]
        if layer.node.input(PEEPHOLES) is not None:
            peepholes = ("p_in", "p_out", "p_forget")
            parts = of.emit.split(of.part(PEEPHOLES, self.number), [hidden] * 3, 0, peepholes)
            values.update(zip(peepholes, parts, strict=True))
        return [values[name] for name in names]

    def template(self, into: Graph) -> Template:
        """The template of its step."""
        return Template(self.step, into, fold=self.expansion.fold, keep_infos=False)


class Expansion:
    """A node to expand.

    Raises:
        Unfit: unsupported by the opset; the message continues a sentence about the node.
        RewriteError: unsupported for the element type.
    """

    def __init__(self, layer: Layer, fold: Fold) -> None:
        self.layer = layer
        self.fold = fold
        self.graph: Graph = layer.node.parent
        self.emit = Builder(self.graph, fold)
        self.emit.keeps_signs = reads_signs(layer.node.outputs)
        self.directions = [Direction(self, number) for number in range(len(layer.backward))]
        self._parts: dict[int, list[Value]] = {}
        self._zeros: dict[tuple[int, ...], Value] = {}
        self._require_sayable()

    def _require_sayable(self) -> None:
        layer, opset = self.layer, self.emit.opset
        masked = layer.node.input(LENGTHS) is not None
        if masked and opset < _WHERE:
            raise Unfit(f"has rows of different lengths; convert to opset {_WHERE} first")
        if self.rows is None and not layer.length and opset < _EXPAND:
            raise Unfit(f"has no steps; convert to opset {_EXPAND} first")
        why = type_obstacle(
            (*_MOVED, *(["Where"] if masked else [])), layer.elem_type, opset, layer.node.op_type
        )
        if why is not None:
            raise Unfit(f"has an input that {why}")

    # Facts ---------------------------------------------------------------------------------------

    @property
    def rows(self) -> int | None:
        """The number of rows; None if known only at run time."""
        return None if self.layer.batch is None else self.layer.batch.value

    def is_used(self, index: int) -> bool:
        """Test for a reader or an external name of an output."""
        outputs = self.layer.node.outputs
        value = outputs[index] if index < len(outputs) else None
        return value is not None and (value.pinned or self.graph.is_used(value))

    # Parts shared by all forms -------------------------------------------------------------------

    def constant(self, array: Array, label: str) -> Value:
        """Emit a constant of the node's element type."""
        dtype = onnx.helper.tensor_dtype_to_np_dtype(self.layer.elem_type)
        return self.emit.constant(array.astype(dtype), label)

    def part(self, index: int, number: int, axis: int = 0) -> Value:
        """The part of an input for a direction."""
        if index not in self._parts:
            value, count = self.layer.node.operand(index), len(self.directions)
            labels = [f"{value.name}_{direction}" for direction in range(count)]
            parts = self.emit.split(value, [1] * count, axis, labels) if count > 1 else [value]
            squeezed = [self.emit.squeeze(part, axis, f"{part.name}_part") for part in parts]
            self._parts[index] = squeezed
        return self._parts[index][number]

    def initial(self, number: int, whole: bool) -> list[Value]:
        """The initial states of a direction; unless `whole`, one row of zeros stands for all."""
        node, axis = self.layer.node, 1 if self.layer.batch_first else 0
        return [
            self.zeros((self.layer.hidden,), whole)
            if node.input(index) is None
            else self.part(index, number, axis)
            for index in self.layer.states
        ]

    def zeros(self, sizes: tuple[int, ...], whole: bool) -> Value:
        """Emit zeros with rows as the first axis: all rows if `whole`, else one."""
        rows = self.rows if whole and self.rows is not None else 1
        shape = (rows, *sizes)
        if shape not in self._zeros:
            self._zeros[shape] = self.constant(np.zeros(shape), "zeros")
        zeros = self._zeros[shape]
        return self._for_all_rows(zeros, len(sizes)) if whole and self.rows is None else zeros

    def _for_all_rows(self, value: Value, others: int) -> Value:
        emit, count = self.emit, self.size(0 if self.layer.batch_first else 1, "rows")
        sizes = emit.concat([count, emit.vector((1,) * others, "ones")], 0, "sizes")
        return emit.add("Expand", [value, sizes], value.name)

    def size(self, axis: int, label: str) -> Value:
        """Emit the size of an axis of the input, a vector of one number."""
        shape = self.emit.once("Shape", [self.layer.node.operand(INPUT)], "shape")
        return self.emit.slice(shape, axis, axis + 1, label)

    def last_states(self, states: Sequence[Sequence[Value]]) -> list[Value | None]:
        """Emit the outputs for the last states, from the states by direction."""
        node, axis = self.layer.node, 1 if self.layer.batch_first else 0
        return [
            self.emit.stack(column, axis, node.output(index).name) if self.is_used(index) else None
            for index, column in enumerate(zip(*states, strict=True), 1)
        ]
