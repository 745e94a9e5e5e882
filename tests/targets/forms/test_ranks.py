import numpy as np
import pytest
from straightline.targets import Form
from tables import table

from targets import fitted, lacking, one_node, operators

X = np.array([[1.5, -0.0, np.inf, 4.0], [np.nan, 2.0, -3.0, 0.25]], np.float32)
NUMBERS = np.arange(8, dtype=np.float32).reshape(2, 4)


@pytest.mark.sample(4)
@table(
    ("y = ReduceSum <keepdims = 0> (x, a)", "2, 4", 13),
    ("y = ReduceMax <axes = [-1, 0], keepdims = 0> (x)", "2, 4", 17),
    ("y = ReduceMean <keepdims = 0> (x)", "n, 4", 17),
    ("y = ReduceMin <keepdims = 0> (x, a)", "n, 4", 18),
    ("y = ArgMax <axis = -1, keepdims = 0> (x)", "2, 4", 17),
)
def test_a_reduction_keeps_its_axes_before_a_squeeze(node, shape, opset):
    name = node.split()[2]
    text = one_node(f"a = Constant <value_ints = [0, 1]> () {node}", f"float[{shape}] x", opset)
    form = {name: (Form(attributes={"keepdims": (1,)}),)}
    outcome = fitted(text, lacking(forms=form), {"x": NUMBERS}, passes=())
    assert {name, "Squeeze"} <= set(operators(outcome)) and not outcome.untaken


def test_a_number_alone_has_a_form_of_its_own():
    text = one_node("y = ReduceMax <keepdims = 0> (x)", "float[4] x", opset=18)
    form = {"ReduceMax": (Form(ranks={"reduced": (1, 2)}),)}
    outcome = fitted(text, lacking(forms=form), {"x": X[0]}, passes=())
    assert operators(outcome) == ["ReduceMax", "Squeeze"]
    plain = one_node("y = ReduceMax <axes = [0], keepdims = 0> (x)", "float[2, 4] x")
    assert operators(fitted(plain, lacking(forms=form), passes=())) == ["ReduceMax"]


@table(("ReduceSum", 13), ("ReduceMean", 18), ("ReduceL2", 17))
def test_all_axes_are_written(name, opset):
    """MNN reduces none where none are written."""
    text = one_node(f"y = {name} (x)", "float[2, 4] x", opset)
    target = lacking(forms={name: (Form(present=("axes",), written=("axes",)),)})
    outcome = fitted(text, target, {"x": NUMBERS}, passes=())
    assert not outcome.untaken and outcome.changed


@table(
    ("ReduceSum", "", ["ReduceSum"]),
    ("ReduceSum", "<noop_with_empty_axes = 1>", []),
    ("Expand", "", []),
)
def test_axes_and_shapes_without_numbers(name, attributes, left):
    text = one_node(
        f"e = Constant <value = int64[0] {{}}> () z = {name} {attributes} (x, e) y = Neg (z)",
        "float[2, 4] x",
        18,
    )
    form = Form(filled=("shape",) if name == "Expand" else ("axes",))
    target = lacking(forms={name: (form,)})
    outcome = fitted(text, target, {"x": NUMBERS}, passes=())
    assert not outcome.untaken and operators(outcome) == ["Neg", *left]


@table(("reflect", "1, 2, 0, 1"), ("edge", "0, -1, 0, 3"))
def test_a_matrix_is_padded_as_an_image(mode, lengths):
    """onnx2torch reflects images alone; Silero pads a row of sound."""
    node = f'p = Constant <value_ints = [{lengths}]> () y = Pad <mode = "{mode}"> (x, p)'
    text = one_node(node, "float[n, 4] x", 17)
    target = lacking(forms={"Pad": (Form(ranks={"data": (3, 4)}),)})
    outcome = fitted(text, target, {"x": X}, passes=())
    assert "Pad" in operators(outcome) and not outcome.untaken
    assert not fitted(text, lacking(), passes=()).changed
