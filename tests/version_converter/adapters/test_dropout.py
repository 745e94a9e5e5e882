import numpy as np
import pytest
from conversions import assert_becomes, assert_refuses, assert_writes, converted, known_model, model
from straightline import convert_version, reference
from straightline.version_converter import ConversionError
from tables import cases

test_nodes_of_each_step = cases(
    assert_writes,
    ("y = Dropout <ratio = 0.25> (x)", 11, 12, ["Dropout (x, 0.25)"], "float[2, 3] x"),
    ("y = Dropout (x)", 11, 12, ["Dropout (x)"], "float[2, 3] x"),
    ("r = Constant <value_float = 0.25> () y = Dropout (x, r)", 12, 11,
     ["Dropout <ratio = 0.25> (x)"], "float[2, 3] x"),
    ("y = Dropout (x)", 12, 11, ["Dropout <ratio = 0.5> (x)"], "float[2, 3] x"))  # fmt: skip


def test_a_dropout_that_may_train_is_refused_before_opset_12():
    signature = "float[2, 3] x, float r, bool t"
    training = "t = Constant <value = bool {{{}}}> () y = Dropout (x, r, t)"
    plain = "float[2, 3] x, float r"
    assert converted(training.format(0), 12, 11, plain)[-1] == "Dropout <ratio = 0.5> (x)"
    assert_refuses(training.format(1), 12, 11, "a Dropout in training mode draws at random", plain)
    assert_refuses("y = Dropout (x, r, t)", 12, 11, "the training mode of it", signature)
    assert_writes("y = Dropout <seed = 3> (x)", 12, 11, ["Dropout <ratio = 0.5> (x)"])


def test_a_mask_that_is_used_is_refused():
    for source, target in ((9, 10), (10, 9)):
        assert_writes("y, m = Dropout (x)", source, target, ["Dropout (x)"])
        assert_refuses("m, y = Dropout (x)", source, target, "its mask is used")


def test_a_mask_that_is_read_is_refused():
    with pytest.raises(ConversionError, match="mask"):
        convert_version(known_model("r, m = Dropout (x) y = Not (m)", "bool[2, 3]", 11), 9)


@pytest.mark.parametrize("name", ["float", "float16", "double"])
def test_a_mask_of_opset_12_is_true_everywhere(name):
    assert_becomes(f"""12 to 11, {name}[2, 3] x: y, m = Dropout (x) z = Not (m) =>
        never = Less (x, x)
        m = Not (never)
        z = Not (m)
        y = Dropout <ratio = 0.5> (x)""")
    dtype = {"float": np.float32, "float16": np.float16, "double": np.float64}[name]
    before = model("y, m = Dropout (x)", 13, f"{name}[6] x", "y, m")
    x = np.array([-np.inf, 0, 2, 4, np.inf, np.nan], dtype)
    for target in (11, 10, 9, 8, 7):
        y, mask = reference.run(convert_version(before, target), {"x": x})
        np.testing.assert_array_equal(y, x)
        assert mask.dtype == np.bool_ and mask.all()
