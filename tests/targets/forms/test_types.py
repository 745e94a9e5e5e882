import numpy as np
import pytest
from straightline.targets import Form
from tables import table

from targets import fitted, lacking, one_node, operators

FLAGS = np.array([[True, False, True], [False, False, True]])
INTEGERS = np.array([[-(2**31), -1, 0], [5, 2**31 - 1, 7]], np.int32)
NUMBERS = np.array([[0.5, -0.0, np.nan], [np.inf, -3, 1e-40]], np.float32)
PLACES = np.array([[1, 0], [-1, 2]])
FLOATS = ("float", "int32", "uint8")


def without(name, place, *types):
    return lacking(forms={name: (Form(types={place: types}),)})


@pytest.mark.sample(4)
@pytest.mark.parametrize("types", [("uint8",), ("int32",)])
@table(
    ("y = GatherND (x, p)", "data"),
    ("y = Where (x, x, x)", "X"),
    ("y = Concat <axis = 0> (x, x)", "inputs"),
    ("y = Transpose (x)", "data"),
    ("y = ScatterND (x, p, f)", "data"),
)
def test_truth_values_move_as_numbers(node, place, types):
    name, feed = node.split()[2], {"x": FLAGS, "p": PLACES, "f": FLAGS[0, :2]}
    text = one_node(node, "bool[2, 3] x, int64[2, 2] p, bool[2] f", opset=16)
    outcome = fitted(text, without(name, place, *types), passes=())
    assert operators(outcome) == sorted(["Cast", name]) and not outcome.untaken
    if name != "Where":  # onnxruntime has no kernel for truth values
        fitted(text, without(name, place, *types), feed, passes=())


@pytest.mark.parametrize("reduction", ["add", "max"])
def test_reductions_of_truth_values_stay(reduction):
    node = f'y = ScatterND <reduction = "{reduction}"> (x, p, x)'
    text = one_node(node, "bool[3] x, int64[3, 1] p", opset=18)
    outcome = fitted(text, without("ScatterND", "data", "uint8"), passes=())
    assert operators(outcome) == ["ScatterND"] and outcome.untaken


@pytest.mark.sample(4)
@table(
    ("y = Abs (x)", "X", ["Max", "Neg"]),
    ("y = Neg (x)", "X", ["Sub"]),
    ("y = Relu (x)", "X", ["Max"]),
    ("y = Sign (x)", "input", ["Cast", "Greater", "Less", "Sub"]),
)
def test_signs_of_integers(node, place, expected):
    text = one_node(node, "int32[2, 3] x")
    feeds = [] if "Relu" in node else [{"x": INTEGERS}]  # onnxruntime 1.32 has none of integers
    outcome = fitted(text, without(node.split()[2], place, "float"), *feeds, passes=())
    assert operators(outcome) == expected and not outcome.untaken
    fits = one_node(node, "float[2, 3] x")
    assert not fitted(fits, without(node.split()[2], place, "float"), passes=()).changed


def test_a_sign_of_what_has_none():
    text = one_node("y = Sign (x)", "uint8[3] x")
    feed = {"x": np.array([0, 1, 255], np.uint8)}
    assert operators(fitted(text, without("Sign", "input", "float"), feed)) == ["Cast", "Greater"]


def test_unsigned_integers_without_their_operators():
    """IREE reads them as signed ones."""
    text, x = one_node("y = Abs (x)", "uint8[3] x"), np.array([0, 1, 255], np.uint8)
    assert operators(fitted(text, without("Abs", "X", "float"), {"x": x})) == ["Identity"]
    text = one_node("y = Div (x, z)", "uint8[3] x, uint8[3] z")
    target, feed = without("Div", "A", "int64"), {"x": x, "z": np.array([3, 200, 2], np.uint8)}
    assert operators(fitted(text, target, feed)) == ["Cast", "Div"]


def test_equal_truth_values():
    text = one_node("y = Equal (x, z)", "bool[2, 3] x, bool[3] z")
    outcome = fitted(text, without("Equal", "A", *FLOATS), {"x": FLAGS, "z": FLAGS[1]})
    assert operators(outcome) == ["Not", "Xor"]


@pytest.mark.parametrize("feed", [NUMBERS, INTEGERS])
def test_a_truth_value_of_a_number(feed):
    type_ = "float" if feed is NUMBERS else "int32"
    text = one_node("y = Cast <to = 9> (x)", f"{type_}[2, 3] x")
    target = lacking(forms={"Cast": (Form(lacks_attributes={"to": (9,)}),)})
    assert operators(fitted(text, target, {"x": feed}, passes=())) == ["Equal", "Not"]


def test_a_cast_is_one_like_a_constant():
    text = one_node("y = Cast <to = 7> (x)", "float[2, 3] x")
    target = lacking(forms={"Cast": (Form(lacks_attributes={"to": (7,)}),)})
    feed = {"x": np.array([[1.5, -2.5, 3], [0, 1, 2]], np.float32)}
    assert operators(fitted(text, target, feed, passes=())) == ["CastLike"]
    old = lacking(opsets=(13, 13), forms=target.forms)
    (left,) = fitted(one_node("y = Cast <to = 7> (x)", "float[2] x", 13), old).untaken
    assert "the opset has no CastLike" in left.reason


def test_floats_are_compared_both_ways():
    """MNN tells zeros of two signs apart."""
    text = one_node("y = Equal (x, z)", "float[4] x, float[4] z", opset=13)
    x = np.array([0, 1, np.nan, np.inf], np.float32)
    feed = {"x": x, "z": np.array([-0.0, 2, np.nan, np.inf], np.float32)}
    outcome = fitted(text, without("Equal", "A", "int64"), feed, passes=())
    assert operators(outcome) == ["And", "GreaterOrEqual", "LessOrEqual"] and not outcome.untaken
