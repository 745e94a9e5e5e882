"""Recurrent operators by their equations, beside their kernel."""

import numpy as np
import onnx
from kernels import assert_equal, feeds_of, normal, one_node, run_kernel
from onnx import helper
from sessions import by_reference
from straightline.definitions.case import Signature
from straightline.definitions.of_onnx import function_of
from straightline.ir import Operator
from tables import table

SIZE, HIDDEN, BATCH = 3, 2, 2
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
BARE, WHOLE = "", "bhcp"
PARAMETERS = {"activation_alpha": [0.3, 1.5], "activation_beta": [0.4]}
floats = normal(np.random.default_rng(0))


def inputs_of(op_type, count, operands, rows, dtype=np.float32):
    """Arrays for an operator; those of operands that are not named are None."""
    gates, states = GATES[op_type] * HIDDEN, (count, BATCH, HIDDEN)
    shapes = {"b": (count, 2 * gates), "h": states, "c": states, "p": (count, 3 * HIDDEN)}
    more = {k: floats(*shape, dtype=dtype) for k, shape in shapes.items() if k in operands}
    every = [floats(rows, BATCH, SIZE, dtype=dtype), floats(count, gates, SIZE, dtype=dtype)]
    every += [floats(count, gates, HIDDEN, dtype=dtype), more.get("b"), None, more.get("h")]
    return every + ([more.get("c"), more.get("p")] if op_type == "LSTM" else [])


def function(model, inputs):
    """The function of the node of a model, by its equations."""
    (node,) = model.graph.node
    kinds = [a if a is None else helper.np_dtype_to_tensor_dtype(a.dtype) for a in inputs]
    shapes = [None if a is None else a.shape for a in inputs]
    operator = Operator(node.op_type, {a.name: a for a in node.attribute}, "")
    return function_of(Signature(operator, kinds, shapes, [True] * len(node.output)), True)


def by_function(model, inputs):
    """A model that calls the function in place of the node."""
    proto, copy = function(model, inputs), onnx.ModelProto()
    copy.CopyFrom(model)
    copy.functions.append(proto)
    copy.functions[0].domain = copy.graph.node[0].domain = "f"
    copy.graph.node[0].ClearField("attribute")
    copy.graph.node[0].op_type = proto.name
    copy.opset_import.append(helper.make_opsetid("f", 1))
    for entry in copy.opset_import:
        entry.version = max(entry.version, *[e.version for e in proto.opset_import])
    return copy


@table(
    ("RNN", "forward", BARE, {}),
    ("RNN", "reverse", WHOLE, {"activations": ["Relu"]}),
    ("RNN", "bidirectional", "b", {"activations": ["Sigmoid", "LeakyRelu"]}),
    ("RNN", "bidirectional", "h", {}),
    ("RNN", "forward", BARE, {"activations": ["LeakyRelu"], "activation_alpha": [0.5]}),
    ("GRU", "forward", BARE, {}),
    ("GRU", "forward", BARE, {"linear_before_reset": 1}),
    ("GRU", "reverse", "bh", {"activations": ["HardSigmoid", "Softsign"]}),
    ("GRU", "bidirectional", "bh", {"linear_before_reset": 1}),
    ("GRU", "bidirectional", "b", {"activations": ["Sigmoid", "Tanh", "Tanh", "Sigmoid"]}),
    ("LSTM", "forward", BARE, {}),
    ("LSTM", "forward", "bh", {"activations": ["Tanh", "Sigmoid", "Elu"]}),
    ("LSTM", "reverse", WHOLE, {}),
    ("LSTM", "reverse", "h", {"activations": ["HardSigmoid", "Tanh", "Elu"], **PARAMETERS}),
    ("LSTM", "bidirectional", "bc", {}),
    ("LSTM", "bidirectional", "hcp", {}),
)
def test_equations_compute_what_the_kernel_does(op_type, direction, operands, attributes):
    count = 1 + (direction == "bidirectional")
    for rows, dtype in ((1, np.float32), (4, np.float32)):
        inputs = inputs_of(op_type, count, operands, rows, dtype)
        outputs = 3 if op_type == "LSTM" else 2
        settings = {"direction": direction, "hidden_size": HIDDEN, **attributes}
        model = one_node(op_type, inputs, outputs, opset=22, **settings)
        expected, feeds = run_kernel(model, feeds_of(inputs)), feeds_of(inputs)
        assert_equal(expected, by_reference(by_function(model, inputs), feeds), 5)
        assert_equal(expected, run_kernel(by_function(model, inputs), feeds), 5)


@table(
    {"clip": 3.0},
    {"clip": 0.0},
    {"layout": 1},
    {"direction": "backward"},
    {"activations": ["tanh"]},
    {"activations": ["Affine"]},
    {"activations": ["Relu"], "activation_alpha": [0.5]},
    {"activations": ["Tanh", "Relu"]},
)
def test_what_the_equations_leave_out_has_no_function(attributes):
    inputs = inputs_of("RNN", 1, BARE, 2)
    model = one_node("RNN", inputs, 2, hidden_size=HIDDEN)
    assert function(model, inputs) is not None
    assert function(one_node("RNN", inputs, 2, hidden_size=HIDDEN, **attributes), inputs) is None
    inputs[4] = np.array([1, 2], np.int32)
    assert function(one_node("RNN", inputs, 2, hidden_size=HIDDEN), inputs) is None


def test_coupled_gates_have_no_function():
    inputs = inputs_of("LSTM", 1, BARE, 2)
    for coupled in (0, 1):
        model = one_node("LSTM", inputs, 3, hidden_size=HIDDEN, input_forget=coupled)
        assert (function(model, inputs) is None) is bool(coupled)


def test_equations_are_those_of_single_floats():
    inputs = inputs_of("GRU", 1, "bh", 3, np.float64)
    assert function(one_node("GRU", inputs, 2, opset=22, hidden_size=HIDDEN), inputs) is None
