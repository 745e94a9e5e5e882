"""Nodes RNN, GRU and LSTM, drawn with attributes and inputs of every kind."""

import dataclasses

import numpy as np
import onnx
from harness import as_model, op_types, run_in_onnxruntime, run_passes
from onnx import helper, numpy_helper
from sessions import by_reference
from straightline.passes import ExpandRecurrences

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
FUNCTIONS = {"RNN": 1, "GRU": 2, "LSTM": 3}
PARAMETERS = {
    "Relu": 0,
    "Tanh": 0,
    "Sigmoid": 0,
    "Softsign": 0,
    "Softplus": 0,
    "LeakyRelu": 1,
    "ThresholdedRelu": 1,
    "Elu": 1,
    "Affine": 2,
    "ScaledTanh": 2,
    "HardSigmoid": 2,
}


@dataclasses.dataclass
class Drawn:
    """A model of one node.

    Attributes:
        model: the model.
        feed: what it is fed.
        runs: whether onnxruntime computes such a node by the specification.
        tame: whether its numbers are small.
    """

    model: onnx.ModelProto
    feed: dict[str, np.ndarray]
    runs: bool
    tame: bool


def drawn(pick):
    """Draw a node.

    Args:
        pick: a random.Random.
    """
    return _Drawing(pick).made()


class _Drawing:
    def __init__(self, pick):
        self.pick = pick
        self.numbers = np.random.default_rng(pick.getrandbits(32))
        self.op_type = pick.choice(sorted(GATES))
        self.opset = pick.choice([7, 8, 9, 10, 11, 12, 13, 14, 17, 18, 21, 22, 23])
        self.steps, self.rows = pick.choice([0, 1, 2, 3, 5]), pick.choice([0, 1, 1, 2, 2, 3])
        self.width, self.hidden = pick.randint(1, 3), pick.randint(1, 3)
        self.direction = pick.choice(["forward", "reverse", "bidirectional"])
        self.count = 2 if self.direction == "bidirectional" else 1
        self.rows_first = self.opset >= 14 and self.chance(0.3)
        self.dtype = np.dtype(pick.choice(["f4", "f4", "f4", "f8", "f2"]))
        self.scale = pick.choice([0.7, 0.7, 0.7, 100, 1e4])

    def chance(self, share):
        return self.pick.random() < share

    def array(self, *shape):
        array = (self.numbers.normal(size=shape) * self.scale).astype(self.dtype)
        if array.size and self.chance(0.05):
            place = self.pick.randrange(array.size)
            array.reshape(-1)[place] = self.pick.choice([np.nan, np.inf, -np.inf])
        return array

    def attributes(self):
        found = {"direction": self.direction}
        if self.chance(0.7):
            found["hidden_size"] = self.hidden
        if self.chance(0.5):
            count = FUNCTIONS[self.op_type] * self.count
            names = [self.pick.choice(sorted(PARAMETERS)) for _ in range(count)]
            found["activations"] = [n.lower() if self.chance(0.2) else n for n in names]
            for letter, least in (("alpha", 1), ("beta", 2)):
                having = [name for name in names if PARAMETERS[name] >= least]
                values = [self.pick.choice([0.25, 0.4, 1.0]) for _ in having]
                found |= {f"activation_{letter}": values} if having else {}
        if self.chance(0.25):
            found["clip"] = self.pick.choice([0.3, 1.5])
        if self.op_type == "GRU" and self.chance(0.5):
            found["linear_before_reset"] = self.pick.choice([0, 1])
        if self.op_type == "LSTM" and self.chance(0.25):
            found["input_forget"] = 1
        return found | ({"layout": 1} if self.rows_first else {})

    def inputs(self):
        gates = GATES[self.op_type] * self.hidden
        fed = (self.steps, self.rows, self.width)
        state = (self.count, self.rows, self.hidden)
        if self.rows_first:
            fed, state = ((s[1], s[0], s[2]) for s in (fed, state))
        values = {"x": self.array(*fed), "w": self.array(self.count, gates, self.width)}
        values["r"] = self.array(self.count, gates, self.hidden)
        lengths = self.numbers.integers(0, self.steps + 1, self.rows).astype(np.int32)
        optional = {"b": (self.count, 2 * gates), "lengths": lengths, "h": state}
        if self.op_type == "LSTM":
            optional |= {"c": state, "p": (self.count, 3 * self.hidden)}
        names = ["x", "w", "r"]
        for name, given in optional.items():
            names.append(name if self.chance(0.5) else "")
            if names[-1]:
                values[name] = given if name == "lengths" else self.array(*given)
        return names, values

    def made(self):
        attributes, (names, values) = self.attributes(), self.inputs()
        constant = {name for name in values if name != "x" and self.chance(0.5)}
        outputs = ["y", "yh", "yc"][: 3 if self.op_type == "LSTM" else 2]
        outputs = [name if self.chance(0.75) else "" for name in outputs]
        outputs[0] = outputs[0] if any(outputs) else "y"
        node = helper.make_node(self.op_type, names, outputs, **attributes)
        elem_type = helper.np_dtype_to_tensor_dtype(self.dtype)
        open_axes = [axis for axis in "TN" if self.chance(0.3)]
        graph = helper.make_graph(
            [node],
            "g",
            [self._declared(n, v, open_axes) for n, v in values.items() if n not in constant],
            [
                helper.make_tensor_value_info(name, elem_type, [None] * (4 if name == "y" else 3))
                for name in outputs
                if name
            ],
            [numpy_helper.from_array(values[name], name) for name in sorted(constant)],
        )
        imports = [helper.make_opsetid("", self.opset)]
        version = max(4, helper.find_min_ir_version_for(imports))
        model = helper.make_model(graph, opset_imports=imports, ir_version=version)
        feed = {name: value for name, value in values.items() if name not in constant}
        tame = self.scale < 1 and all(np.isfinite(value).all() for value in values.values())
        runs = self.dtype == np.float32 and not self.rows_first and bool(values["x"].size)
        runs = runs and values.get("lengths", np.ones(1)).all()  # else it gives zeros, or none
        runs = runs and "hidden_size" in attributes  # which it demands
        return Drawn(model, feed, runs, tame)

    def _declared(self, name, value, open_axes):
        axes = {"x": "NT-" if self.rows_first else "TN-", "lengths": "N"}
        axes |= dict.fromkeys("hc", "N--" if self.rows_first else "-N-")
        named = axes.get(name, "---")
        shape = [n if n in open_axes else size for n, size in zip(named, value.shape, strict=False)]
        return helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(value.dtype), shape
        )


def one_layer(node, inputs, opset=17, constants=""):
    """The text of a model of one node with outputs y and h."""
    return as_model(
        f'<ir_version: 8, opset_import: ["" : {opset}]> g ({inputs})'
        f" => (float[?, ?, ?, ?] y, float[?, ?, ?] h) {constants} {{ y, h = {node} }}"
    )


def sharing(count):
    """A model of some nodes of one step that share their weights, which are large."""
    rng, nodes = np.random.default_rng(0), []
    for index in range(count):
        names = [f"x{index}", "w", "r"]
        nodes.append(helper.make_node("LSTM", names, [f"y{index}"], hidden_size=32))
    float_ = onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(f"x{i}", float_, [1, 2, 32]) for i in range(count)],
        [helper.make_tensor_value_info(f"y{i}", float_, [1, 1, 2, 32]) for i in range(count)],
        [
            numpy_helper.from_array(rng.normal(size=(1, 128, 32)).astype(np.float32), name)
            for name in "wr"
        ],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def sizes(model):
    """How many elements the constants of a model have that are no sizes and axes."""
    counts = [int(np.prod(tensor.dims)) for tensor in model.graph.initializer]
    return [count for count in counts if count > 32]


def expanded(model, **options):
    """What becomes of a model, and the only remark."""
    result = run_passes(model, ExpandRecurrences(**options))
    (remark,) = result.remarks
    return result.model, remark.reason


def assert_expands(model, *feeds, **options):
    """Check that a node is taken apart and the results stay; the operators that are there."""
    after, _ = expanded(model, **options)
    for feed in feeds:
        for run in (by_reference, run_in_onnxruntime):
            for one, other in zip(by_reference(model, feed), run(after, feed), strict=True):
                assert one.shape == other.shape
                np.testing.assert_allclose(other, one, rtol=1e-5, atol=1e-6)
    return op_types(after)
