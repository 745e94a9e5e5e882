import numpy as np
import pytest
from straightline.targets import Form
from tables import table

from targets import fitted, lacking, one_node, operators

X = np.array([[1.5, -2, 3, 4], [0, 2, -3, 0.25]], np.float32)


def only(name, **form):
    return lacking(forms={name: (Form(**form),)})


@pytest.mark.parametrize("name", ["Max", "Min", "Sum"])
@pytest.mark.parametrize("operands", ["x, z, x, k", "x"])
def test_extremes_of_two_at_a_time(name, operands):
    text = one_node(f"y = {name} ({operands})", "float[2, 4] x, float[4] z, float k")
    feed = {"x": X, "z": X[1], "k": np.array(1, np.float32)}
    outcome = fitted(text, only(name, max_inputs=2), feed, passes=())
    many = "," in operands
    assert operators(outcome) == [name] and not outcome.untaken
    assert len(list(outcome.ir.graph.nodes())) == (3 if many else 1)


@pytest.mark.parametrize("repeats", [[2, 3], [1, 1], [0, 2]])
def test_copies_of_a_number_that_is_computed(repeats):
    target, feed = only("Tile", constant=("repeats",)), {"x": X, "r": np.array(repeats)}
    node = "y = Tile (x, r)", "float[N, M] x, int64[2] r"
    outcome = fitted(one_node(*node), target, feed, passes=())
    assert not outcome.untaken and "Expand" in operators(outcome)
    # A Reshape before opset 14 takes a 0 for the size that the axis had.
    assert fitted(one_node(*node, opset=13), target, feed, passes=()).untaken


def test_a_transposed_matrix_stands_before_a_product():
    text = one_node("y = Gemm <transA = 1, alpha = 0.5> (x, w)", "float[2, 4] x, float[2, 3] w")
    outcome = fitted(
        text, only("Gemm", attributes={"transA": (0,)}), {"x": X, "w": X[:, :3].copy()}, passes=()
    )
    assert operators(outcome) == ["Gemm", "Transpose"] and not outcome.untaken


@pytest.mark.parametrize("axis", [-1, -2, 0])
def test_classes_are_counted_from_the_front(axis):
    constants = "d = Constant <value = int64 {4}> () v = Constant <value_floats = [0.0, 1.0]> () "
    text = one_node(f"{constants} y = OneHot <axis = {axis}> (i, d, v)", "int64[2, 3] i")
    target = only("OneHot", attributes={"axis": (0, 1, 2)})
    outcome = fitted(text, target, {"i": np.array([[0, 3, 1], [2, 2, 0]])}, passes=())
    (node,) = outcome.ir.graph.nodes_of("OneHot")
    assert node.attribute("axis") == axis % 3 and not outcome.untaken


@table(
    ("float[2, 4] x, float[4] z", ["Not", "Where"]),
    ("float[n, 4] x, float[4] z", ["Not", "Where"]),
    ("float[4] z, float[2, 4] x", ["Where"]),
    ("float[2, 4] x, float[1] z", ["Where"]),
    ("float[4] z, float[4] x", ["Expand", "Where"]),
)
def test_a_broadcast_choice_does_not_stand_last(inputs, expected):
    """MNN reads beyond its end."""
    names = [word[0] for word in inputs.split("] ")[1:]]
    rows = "n" if "n, 4" in inputs else "2"
    text = one_node(f"y = Where (c, {names[0]}, {names[1]})", f"bool[{rows}, 4] c, {inputs}")
    x = X[0] if "float[4] x" in inputs else X
    feed = {"c": X > 1, "x": x, "z": X[1, :1] if "[1]" in inputs else X[1]}
    outcome = fitted(text, only("Where", whole=("Y",)), feed, passes=())
    assert operators(outcome) == expected and not outcome.untaken


@table(("2, 4", "3, 8", True), ("3, 10", "3, 7", True), ("2, 7", "2, 31", False))
def test_sizes_become_scales_that_give_them(shape, sizes, is_exact):
    """7 * float (31 / 7) rounds to less than 31: such pixels are gathered."""
    constant = f"s = Constant <value_ints = [{sizes}]> () r = Constant <value_floats = [0.0]> ()"
    x = np.arange(30, dtype=np.float32)
    rows, columns = map(int, shape.split(", "))
    feed = {"x": x[: rows * columns].reshape(rows, columns)}
    for mode in ("nearest", "linear"):
        resize = f'{constant} y = Resize <mode = "{mode}"> (x, r, , s)'
        text = one_node(resize, f"float[{shape}] x")
        outcome = fitted(text, only("Resize", absent=("sizes",)), feed, passes=())
        assert not outcome.untaken and ("Resize" in operators(outcome)) is is_exact
        assert all(node.input(1) is None for node in outcome.ir.graph.nodes_of("Resize"))
