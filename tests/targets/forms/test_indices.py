import numpy as np
import onnx
import pytest
from straightline import ir
from straightline.targets import Form
from straightline.targets.legality import Legality
from tables import table

from targets import fitted, lacking, one_node, operators

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
ROWS = Form(max_tuple=1, ranks={"indices": (2,)}, nonnegative=("indices",))
NEGATIVE = Form(nonnegative=("indices",))


@pytest.mark.parametrize("is_constant", [False, True])
@table([[1, -1], [-2, 0]], [[[-1], [0]]], [[-1]], [[0, -3, -1], [1, 0, 0]])
def test_tuples_become_places_of_rows(tuples, is_constant):
    """MNN computes other numbers where a tuple names some of the axes."""
    places = np.array(tuples)
    updates = -np.ones((*places.shape[:-1], *X.shape[places.shape[-1] :]), np.float32)
    sizes = ", ".join(map(str, places.shape))
    text = one_node(
        "y = ScatterND (x, i, u)",
        f"float[2, 3, 4] x, int64[{sizes}] i, float[{', '.join(map(str, updates.shape))}] u",
    )
    target, feed = lacking(forms={"ScatterND": (ROWS,)}), {"x": X, "u": updates, "i": places}
    if is_constant:
        text.graph.initializer.append(onnx.numpy_helper.from_array(feed.pop("i"), "i"))
        del text.graph.input[1]
    outcome = fitted(text, target, feed, passes=())
    assert not outcome.untaken and "ScatterND" in operators(outcome)
    assert ("Max" in operators(outcome)) == (not is_constant)


@table(
    ("y = GatherND (x, i)", "Gather"),
    ("y = GatherElements (x, i)", "Gather"),
    ("y = ScatterND (x, i, u)", "Max"),
)
def test_indices_that_may_be_negative(node, brought):
    text = one_node(node, "int64[4, 3] x, int64[2, 1] i, int64[2, 3] u")
    x = np.arange(12).reshape(4, 3)
    feed = {"x": x, "i": np.array([[-1], [2]]), "u": -x[:2]}
    outcome = fitted(text, lacking(forms={node.split()[2]: (NEGATIVE,)}), feed, passes=())
    assert not outcome.untaken and brought in operators(outcome)


@table(
    "i = ArgMax <axis = 1> (x)",
    "t, i = TopK (x, k)",
    "n = Shape (x) s = Gather (n, z) r = Range (z, s, k) i = Unsqueeze (r, k)",
    "m = Cast <to = 7> (x) i = Max (m, z)",
    "n = Shape (x) i = Reshape (n, q)",
    "c = Greater (x, x) j = ArgMax <axis = 1> (x) l = ArgMin <axis = 1> (x) i = Add (j, l)",
)
def test_indices_that_are_never_negative_stay(before):
    """None of these needs a form."""
    constants = "z = Constant <value_int = 0> () k = Constant <value_ints = [1]> () "
    constants += "q = Constant <value_ints = [2, 1]> () "
    text = one_node(f"{constants} {before} y = GatherElements (x, i)", "float[5, 7] x")
    outcome = fitted(text, lacking(forms={"GatherElements": (NEGATIVE,)}), passes=())
    assert "GatherElements" in operators(outcome) and not outcome.untaken


@pytest.mark.parametrize("opset", [11, 13])
@table(("Unsqueeze", "[2, 3]", [-1, 0], [0, 3]), ("Squeeze", "[1, 2, 1, 3]", [-2, -4], [0, 2]))
def test_axes_are_counted_from_the_front(name, shape, axes, front, opset):
    """tinygrad counts each in what the one before leaves."""
    text = f"k = Constant <value_ints = {axes}> () y = {name} (x, k)"
    text = text if opset > 12 else f"y = {name} <axes = {axes}> (x)"
    target = lacking(forms={name: (Form(nonnegative=("axes",)),)}, opsets=(opset, opset))
    feed = {"x": X[0, :2, :3].reshape(eval(shape))}
    outcome = fitted(one_node(text, f"float{shape} x", opset), target, feed, passes=())
    (node,) = outcome.ir.graph.nodes_of(name)
    counted = node.inputs[1].constant.numpy() if opset > 12 else node.attribute("axes")
    assert sorted(counted) == front and not outcome.untaken


def test_whole_tuples_of_data_of_any_shape_are_counted_from_the_front():
    """MNN computes whole tuples, but not from the back."""
    text = one_node("y = ScatterND (x, i, u)", "float[n, m] x, int64[1, 2] i, float[1] u")
    forms = Form(whole_tuples=True, nonnegative=("indices",))
    feed = {"x": X[0], "i": np.array([[-1, 2]]), "u": X[0, 0, :1] - 1}
    outcome = fitted(text, lacking(forms={"ScatterND": (forms,)}), feed, passes=())
    assert "Max" in operators(outcome) and not outcome.untaken
    part = one_node("y = ScatterND (x, i, u)", "float[n, m] x, int64[1, 1] i, float[1, m] u")
    legality = Legality(lacking(forms={"ScatterND": (forms,)}), ir.load(part))
    (reason,) = legality.unsupported().values()
    assert "with indices of all axes" in reason
