import numpy as np
import pytest
from layers import one_layer, sharing, sizes
from straightline.dev.benchmarks.loops.lstm import one_step

from targets import fitted, lacking, operators, taking

NUMBERS = np.random.default_rng(8)
SHAPES = {"w": (1, 4, 1), "r": (1, 4, 1), "n": (2,)}
INPUTS = "float[1, 4, 1] w, float[1, 4, 1] r, int32[2] n"
ALONE = "LSTM <hidden_size = 1> (x, w, r)"
NODE = "LSTM <hidden_size = 1> (x, w, r, , n)"
CELL = ["Add", "MatMul", "Mul", "Reshape", "Sigmoid", "Split", "Squeeze", "Tanh", "Transpose"]
CELL += ["Concat", "Unsqueeze"]


def feed(steps=3):
    shapes = SHAPES | {"x": (steps, 2, 1)}
    made = {name: NUMBERS.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    return made | {"n": np.array([steps, 1], np.int32)}


def model(steps=3, opset=17, node=NODE):
    inputs = INPUTS if ", n" in node else INPUTS.replace(", int32[2] n", "")
    return one_layer(node, f"float[{steps}, 2, 1] x, {inputs}", opset)


def test_the_steps_are_written_out():
    outcome = fitted(model(), taking(*CELL, "Less", "Where"), feed())
    assert not outcome.untaken and "LSTM" not in operators(outcome)
    (done,) = (r for r in outcome.remarks if r.op_type == "LSTM")
    assert done.reason.startswith("expressed by Unsqueeze, Less, Transpose, ")


def test_operators_of_an_expanded_cell_may_lack():
    outcome = fitted(model(), lacking("LSTM", "Where", "Split"), feed())
    assert not outcome.untaken and {"Gather", "Slice"} & set(operators(outcome))
    without = {name: value for name, value in feed().items() if name != "n"}
    assert CELL[7] == "Tanh"
    outcome = fitted(model(node=ALONE), taking(*CELL[:7], *CELL[8:]), without)
    (left,) = outcome.untaken
    assert left.reason == "npu does not support LSTM; its replacement needs Tanh"


def test_rows_of_their_own_lengths_below_the_opset_of_where():
    outcome = fitted(model(opset=8), lacking("LSTM", opsets=(7, 8)), feed())
    assert not outcome.untaken and outcome.opset == (8, 8)


@pytest.mark.parametrize("taken", ["Scan", "Loop"])
def test_run_time_tells_the_number_of_steps(taken):
    lacks = {"Scan": "Loop", "Loop": "Scan"}[taken]
    outcome = fitted(model("T"), lacking("LSTM", lacks), feed(1), feed(4))
    assert taken in operators(outcome) and not outcome.untaken


def test_otherwise_the_remark_names_what_would_tell_it():
    (left,) = fitted(model("T"), lacking("LSTM", "Scan", "Loop"), feed()).untaken
    told = "npu does not support LSTM; its length depends on the shape of input 'x'; decide it with"
    assert left.reason.startswith(f"{told} --shape x=...")
    target = lacking("LSTM", "Scan", "Loop")
    assert not fitted(model("T"), target, feed(), shapes={"x": (3, 2, 1)}).untaken


def test_a_budget_is_that_of_the_whole_model():
    target = lacking("LSTM", "Scan", "Loop")
    outcome = fitted(model(30), target, max_nodes=300)
    (left,) = outcome.untaken
    assert "its 30 iterations would add" in left.reason and "max_nodes=300" in left.reason
    both = model(30, node=ALONE)
    second = both.graph.node.add()
    second.CopyFrom(both.graph.node[0])
    second.output[:] = ["", "h2"]
    both.graph.output.add().CopyFrom(both.graph.output[1])
    both.graph.output[2].name = "h2"
    outcome = fitted(both, target, max_nodes=600)
    (left,) = outcome.untaken
    assert "nodes to the 3" in left.reason


@pytest.mark.parametrize("name", ["onnx2torch", "tinygrad"])
def test_a_cell_in_a_loop_is_taken_by_clients_without_it(name):
    case = one_step.original(one_step.small)
    given = one_step.inputs(one_step.small)
    outcome = fitted(case, name, given, shapes={key: value.shape for key, value in given.items()})
    assert not outcome.untaken and "LSTM" not in operators(outcome)


def test_nodes_that_share_weights_share_what_is_made_of_them():
    case = sharing(3)
    given = {value.name: NUMBERS.normal(size=(1, 2, 32)).astype("f4") for value in case.graph.input}
    outcome = fitted(case, lacking("LSTM"), given)
    assert sizes(outcome.model) == [128 * 32, 128]  # of the state, 0 is left
