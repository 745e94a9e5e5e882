import numpy as np
import pytest
from layers import assert_expands, expanded, one_layer

NUMBERS = np.random.default_rng(4)
INPUTS = "float[3, 2, 1] x, float[1, 1, 1] w, float[1, 1, 1] r, float[1, 2, 1] h0"


def feed(**more):
    shapes = {"x": (3, 2, 1), "w": (1, 1, 1), "r": (1, 1, 1), "h0": (1, 2, 1)}
    made = {name: NUMBERS.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    return made | more


def test_a_single_step_is_cut_and_joined_by_nothing():
    model = one_layer("RNN (x, w, r, , , h0)", INPUTS.replace("3, 2, 1] x", "1, 2, 1] x"))
    given = feed()
    used = assert_expands(model, given | {"x": given["x"][:1]})
    assert not {"Split", "Concat", "Reshape"} & set(used)


@pytest.mark.parametrize("direction", ["forward", "reverse"])
def test_rows_that_have_ended_keep_their_states(direction):
    node = f'RNN <direction = "{direction}"> (x, w, r, "", n, h0)'
    at_run_time = one_layer(node, f"{INPUTS}, int32[2] n")
    given = feed()
    given["x"][2, 1] = np.nan  # behind the end of its row
    used = assert_expands(
        at_run_time, *(given | {"n": np.array(n, np.int32)} for n in ([3, 2], [3, 0]))
    )
    assert used.count("Where") == 3 + 1 and used.count("Less") == 1
    used = assert_expands(one_layer(node, INPUTS, constants="<int32[2] n = {2, 1}>"), given)
    assert used.count("Where") == 1 + 1 and used.count("Tanh") == 2  # of one step nothing is left
    whole = one_layer(node, INPUTS, constants="<int32[2] n = {3, 3}>")
    assert "Where" not in assert_expands(whole, feed())


def test_only_what_is_read_is_made():
    model = one_layer("RNN (x, w, r, , , h0)", INPUTS)
    model.graph.node[0].output[0] = ""
    del model.graph.output[0]
    after, told = expanded(model)
    assert told == "unrolled, 3 steps"
    assert "Concat" not in {node.op_type for node in after.graph.node}
