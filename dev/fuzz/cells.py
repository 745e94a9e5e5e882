"""Recurrent cells, spelled out in Loops and Scans in the many ways in which exporters do."""

import random

import numpy as np
import onnx
import pytest
from harness import as_model, run_in_onnxruntime, run_passes
from loops import op_types
from sessions import by_reference
from straightline import ir
from straightline.analysis.shapes.inference import ShapeInference
from straightline.ops.batching import Unbatchable
from straightline.passes import RaiseRecurrences
from straightline.passes.iteration.loop_view import read
from straightline.passes.recurrences.recognize.one_step import ONE_STEP
from straightline.passes.recurrences.recognize.polynomials import Free, Product, StateAtom
from straightline.passes.recurrences.recognize.recurrence import AllIterations
from straightline.passes.recurrences.recognize.rules import RULES
from straightline.passes.recurrences.recognize.sink_products import read_hoisted
from straightline.passes.recurrences.recognize.symbolic_cell import Interpretation
from straightline.passes.recurrences.weights import Unfit

HEAD = '<ir_version: 8, opset_import: ["" : 18]>\n'
INPUTS, HIDDEN = 3, 4


class Spelling:
    """One cell in a Loop or Scan, drawn by a seed.

    Attributes:
        model: the model; its inputs are x, the initial states and perhaps weights.
        weights: those that are inputs.
        op_type: the operator that it is.
    """

    def __init__(self, seed, op_type=None):
        self.draw = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.op_type = op_type or self.draw.choice(["RNN", "GRU", "LSTM"])
        self.layout = self.draw.choice(["rows", "rows", "vector", "columns"])
        self.loop = self.draw.random() < 0.4
        self.backward = self.draw.random() < 0.3
        self.axis = self.draw.randint(0, 2 if self.layout != "vector" else 1)
        self.lines, self.constants, self.count = [], {}, 0
        self.states = ["h", "c"] if self.op_type == "LSTM" else ["h"]
        self._read()
        getattr(self, f"_{self.op_type.lower()}")()
        self._build()

    # Nodes -----------------------------------------------------------------------------------

    def node(self, call, name=None):
        self.count += 1
        name = name or f"v{self.count}"
        self.lines.append(f"{name} = {call}")
        return name

    def constant(self, array):
        name = f"w{len(self.constants)}"
        self.constants[name] = np.asarray(array, np.float32)
        return name

    def scalar(self, number):
        shape = self.draw.choice([(), (1,), (HIDDEN,) if self.layout != "columns" else (HIDDEN, 1)])
        return self.constant(np.full(shape, number))

    def normal(self, *shape):
        return (self.numbers.normal(size=shape) * 0.3).astype(np.float32)

    def bias(self, width):
        vector = self.normal(width)
        return self.constant(vector[:, None] if self.layout == "columns" else vector)

    def product(self, value, matrix, bias=False):
        """value times matrix [in, out], in one of the ways that there are."""
        if self.layout == "columns":
            return self._by_columns(value, matrix, bias)
        if self.layout == "rows" and self.draw.random() < 0.5:
            transposed = self.draw.random() < 0.7
            weight = self.constant(matrix.T if transposed else matrix)
            attributes = f"transB = {int(transposed)}"
            if self.draw.random() < 0.3:
                weight = self.constant((matrix.T if transposed else matrix) * 2)
                attributes += ", alpha = 0.5, beta = 1.5"
            inputs = [value, weight, *([self.bias(matrix.shape[1])] if bias else [])]
            return self.node(f"Gemm <{attributes}> ({', '.join(inputs)})")
        if self.layout == "vector" and self.draw.random() < 0.4:
            product = self.node(f"MatMul ({self.constant(matrix.T)}, {value})")
        elif self.draw.random() < 0.3:
            turned = self.node(f"Transpose <perm = [1, 0]> ({self.constant(matrix.T)})")
            product = self.node(f"MatMul ({value}, {turned})")
        else:
            product = self.node(f"MatMul ({value}, {self.constant(matrix)})")
        return self.add(product, self.bias(matrix.shape[1])) if bias else product

    def _by_columns(self, value, matrix, bias):
        if self.draw.random() < 0.3:
            product = self.node(f"Gemm <transA = 1> ({self.constant(matrix)}, {value})")
        else:
            product = self.node(f"MatMul ({self.constant(matrix.T)}, {value})")
        return self.add(product, self.bias(matrix.shape[1])) if bias else product

    def add(self, one, other):
        if self.draw.random() < 0.5:
            one, other = other, one
        return self.node(f"Add ({one}, {other})")

    def multiply(self, one, other):
        if self.draw.random() < 0.5:
            one, other = other, one
        return self.node(f"Mul ({one}, {other})")

    def less(self, value):
        """1 - value."""
        one = self.scalar(1)
        how = self.draw.randint(0, 2)
        if how == 0:
            return self.node(f"Sub ({one}, {value})")
        if how == 1:
            return self.add(self.node(f"Neg ({value})"), one)
        return self.add(self.multiply(value, self.scalar(-1)), one)

    def sigmoid(self, value):
        if self.draw.random() < 0.85:
            return self.node(f"Sigmoid ({value})")
        below = self.add(self.node(f"Exp ({self.node(f'Neg ({value})')})"), self.scalar(1))
        how = self.draw.random()
        return self.node(
            f"Reciprocal ({below})" if how < 0.5 else f"Div ({self.scalar(1)}, {below})"
        )

    def blend(self, gate, kept, taken):
        """gate * kept + (1 - gate) * taken."""
        how = self.draw.randint(0, 3)
        if how == 0:
            return self.add(self.multiply(gate, kept), self.multiply(self.less(gate), taken))
        if how == 1:
            difference = self.node(f"Sub ({kept}, {taken})")
            return self.add(taken, self.multiply(gate, difference))
        if how == 2:
            difference = self.node(f"Sub ({taken}, {kept})")
            return self.add(kept, self.multiply(self.less(gate), difference))
        part = self.node(f"Sub ({taken}, {self.multiply(gate, taken)})")
        return self.add(part, self.multiply(gate, kept))

    # Gates ---------------------------------------------------------------------------------------

    def parts(self, value, width, count):
        """A value cut in so many parts, or columns alone."""
        axis = {"columns": 0, "rows": 1, "vector": 0}[self.layout]
        if self.draw.random() < 0.5:
            names = [f"p{self.count}_{index}" for index in range(count)]
            self.node(f"Split <axis = {axis}, num_outputs = {count}> ({value})", ", ".join(names))
            return names
        found = []
        for index in range(count):
            bounds = [index * width, (index + 1) * width, axis]
            ends = ", ".join(self.node(f"Constant <value_ints = [{bound}]> ()") for bound in bounds)
            found.append(self.node(f"Slice ({value}, {ends})"))
        return found

    def projected(self, value, width, count, biased):
        """A value times a matrix for each of so many gates."""
        matrices = [self.normal(width, HIDDEN) for _ in range(count)]
        if self.draw.random() < 0.5:
            return [self.product(value, matrix, biased) for matrix in matrices]
        order = self.draw.sample(range(count), count)
        fused = np.concatenate([matrices[index] for index in order], 1)
        parts = self.parts(self.product(value, fused, biased), HIDDEN, count)
        return [parts[order.index(index)] for index in range(count)]

    def gates(self, count):
        """What activations are applied to: x W + h R, for so many gates."""
        if self.draw.random() < 0.3:
            axis = {"columns": 0, "rows": 1, "vector": 0}[self.layout]
            both = self.node(f"Concat <axis = {axis}> (e, h)")
            return self.projected(both, INPUTS + HIDDEN, count, self.draw.random() < 0.7)
        own = self.projected("e", INPUTS, count, self.draw.random() < 0.5)
        other = self.projected("h", HIDDEN, count, self.draw.random() < 0.5)
        found = [self.add(*pair) for pair in zip(own, other, strict=True)]
        if self.draw.random() < 0.3:
            found = [self.add(gate, self.bias(HIDDEN)) for gate in found]
        return found

    def _rnn(self):
        (gate,) = self.gates(1)
        kinds = ["Tanh", "Relu", "Sigmoid", "Softsign", "LeakyRelu <alpha = 0.2>", "Elu"]
        kinds += ["HardSigmoid"]
        self.new = {"h": self.node(f"{self.draw.choice(kinds)} ({gate})")}

    def _gru(self):
        update, reset = map(self.sigmoid, self.gates(2))
        (own,) = self.projected("e", INPUTS, 1, self.draw.random() < 0.5)
        if self.draw.random() < 0.5:
            (before,) = self.projected("h", HIDDEN, 1, self.draw.random() < 0.5)
            inner = self.multiply(reset, before)
        else:
            (inner,) = self.projected(self.multiply(reset, "h"), HIDDEN, 1, False)
        pair = [self.node(f"Tanh ({self.add(own, inner)})"), "h"]
        self.draw.shuffle(pair)
        self.new = {"h": self.blend(update, *pair)}

    def _lstm(self):
        into, forget, out, candidate = self.gates(4)
        peeps = self.draw.random() < 0.3
        if peeps:
            into, forget = (
                self.add(g, self.multiply("c", self.bias(HIDDEN))) for g in (into, forget)
            )
        candidate = self.node(f"Tanh ({candidate})")
        if self.draw.random() < 0.3:
            cell = self.blend(self.sigmoid(forget), *self.draw.sample(["c", candidate], 2))
        else:
            kept = self.multiply(self.sigmoid(forget), "c")
            cell = self.add(kept, self.multiply(self.sigmoid(into), candidate))
        if peeps:
            out = self.add(out, self.multiply(cell, self.bias(HIDDEN)))
        hidden = self.multiply(self.sigmoid(out), self.node(f"Tanh ({cell})"))
        self.new = {"h": hidden, "c": cell}

    # Around them ---------------------------------------------------------------------------------

    def _element(self):
        return {"rows": ["B", INPUTS], "columns": [INPUTS, "B"], "vector": [INPUTS]}[self.layout]

    def _read(self):
        if self.loop:
            number = "i"
            if self.backward:
                last = self.node(f"Sub (n, {self.node('Constant <value_int = 1> ()')})")
                number = self.node(f"Sub ({last}, i)")
            self.node(f"Gather <axis = {self.axis}> (x, {number})", "e")

    def _build(self):
        shape = {"rows": "[B, 4]", "columns": "[4, B]", "vector": "[4]"}[self.layout]
        element = self._element()
        whole = [*element[: self.axis], "T", *element[self.axis :]]
        new = [f"{s}_new = Identity ({self.new[s]})" for s in self.states]
        body = " ".join([*self.lines, *new, "r = Identity (h_new)"])
        given = [f"float{shape} {s}" for s in self.states]
        result = ", ".join([*(f"float{shape} {s}_new" for s in self.states), f"float{shape} r"])
        initial, final = ([f"{s}{n}" for s in self.states] for n in (0, 1))
        declared = [f"float[{', '.join(map(str, whole))}] x"]
        declared += [f"float{shape} {name}" for name in initial]
        if self.loop:
            declared.append("int64 n")
            arguments = ", ".join(["int64 i", "bool k", *given])
            call = f"""Loop (n, yes, {", ".join(initial)}) <body = f ({arguments})
                => (bool k2, {result}) {{ k2 = Identity (k) {body} }}>"""
        else:
            text = ", ".join([*given, f"float[{', '.join(map(str, element))}] e"])
            backward = f"scan_input_directions = [{int(self.backward)}], "
            backward += f"scan_output_directions = [{int(self.draw.random() < 0.5)}], "
            backward += f"scan_input_axes = [{self.axis}], scan_output_axes = [{self.axis}], "
            call = f"""Scan <num_scan_inputs = 1, {backward} body = f ({text}) => ({result})
                {{ {body} }}> ({", ".join(initial)}, x)"""
        outputs = [f"float{shape} {name}" for name in final]
        stacked = "float[?, ?, ?] y" if self.layout != "vector" else "float[?, ?] y"
        self.outputs = [*final, "y"]
        text = f"""{HEAD} g ({", ".join(declared)}) => ({", ".join([*outputs, stacked])})
            <bool yes = {{1}}> {{ {", ".join([*final, "y"])} = {call} }}"""
        self.model = as_model(text)
        self.weights = {}
        fed = self.draw.random() < 0.25
        for name, array in self.constants.items():
            tensor = onnx.numpy_helper.from_array(array, name)
            if fed and array.ndim and not (array == array.flat[0]).all():
                self.weights[name] = array
                info = onnx.helper.make_tensor_value_info(name, 1, array.shape)
                self.model.graph.input.append(info)
            else:
                self.model.graph.initializer.append(tensor)

    def feed(self, iterations, batch):
        sizes = {"T": iterations, "B": batch}
        element = [sizes.get(dim, dim) for dim in self._element()]
        shape = {"rows": (batch, 4), "columns": (4, batch), "vector": (4,)}[self.layout]
        feed = {"x": self.normal(*element[: self.axis], iterations, *element[self.axis :])}
        feed |= {f"{state}0": self.normal(*shape) for state in self.states}
        if self.loop:
            feed["n"] = np.array(iterations)
        return feed | self.weights


def raised(model, *passes):
    """A model without its recurrences."""
    result = run_passes(model, *passes, RaiseRecurrences(spread_nan=True))
    assert not set(op_types(result.model.graph)) & {"Loop", "Scan"}, result.remarks
    return result.model


def recurrence_of(model):
    """The one recurrence of a model's only Loop or Scan, as raisers are given it."""
    loaded = ir.load(as_model(model))
    (node,) = [n for n in loaded.graph.nodes() if n.is_op("Loop", "Scan")]
    found = []

    def raiser(recurrence):
        found.append(recurrence)
        raise Unfit("it is looked at only")

    with pytest.raises(Unbatchable):
        AllIterations(read(node), ShapeInference(loaded), RaiseRecurrences(), False, [raiser])
    return found[0]


def interpreted(body, state="float[2, 4]", element="float[2, 4]", turned=False, **weights):
    """What the values of a body are made of that makes h2 of h and e."""
    model = as_model(
        HEAD
        + f"""g ({state} h0, float[N, {element[6:]} x) => ({state} h1) {{
            h1 = Scan <num_scan_inputs = 1, body = f ({state} h, {element} e) => ({state} h2)
                {{ {body} }}> (h0, x) }}"""
    )
    for name, array in weights.items():
        tensor = onnx.numpy_helper.from_array(np.asarray(array, np.float32), name)
        model.graph.initializer.append(tensor)
    return Interpretation(recurrence_of(model), {**RULES, **ONE_STEP}, read_hoisted, turned)


def shown(of, total):
    """A sum in words."""
    words = [f"{factor:g} {_words(of, m)}".strip() for m, factor in total.terms.items()]
    return " + ".join(sorted(words))


def _words(of, monomial):
    return " ".join(sorted(_word(of, of.atoms[index]) for index in monomial))


def _word(of, atom):
    if isinstance(atom, StateAtom):
        return atom.state.argument.name
    if isinstance(atom, Free):
        return atom.value.name + (str(list(atom.columns)) if atom.columns else "")
    if isinstance(atom, Product):
        m = atom.matrix
        part = [m.row, m.row + m.rows, m.column, m.column + m.width]
        turn = "'" if m.transposed else ""
        return f"({_words(of, atom.source)} @ {m.value.name}{turn}{part})"
    return f"{atom.kind}({shown(of, atom.argument)})"


def made_of(body, **more):
    """What the state is made of after an iteration, in words."""
    of = interpreted(body, **more)
    return shown(of, of.result(of.recurrence.states[0].result))


def ulps(one, other):
    """By how many roundings of the largest element two results differ."""
    assert one.shape == other.shape and one.dtype == other.dtype, (one.shape, other.shape)
    if not one.size:
        return 0.0
    scale = np.spacing(np.maximum(np.abs(other), 1).astype(one.dtype))
    return float((np.abs(one - other) / scale).max())


def difference(before, after, feed):
    """By how many roundings the outputs of two models differ, at most, under onnxruntime.

    It does not run a Scan without elements, and the reference does.
    """
    got = run_in_onnxruntime(after, feed)
    whole = all(array.size for array in feed.values())
    run = run_in_onnxruntime if whole else by_reference
    return max(map(ulps, got, run(before, feed)))
