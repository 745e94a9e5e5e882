import numpy as np
import onnx
from classical import ROWS, one_node, refused, replaced
from tables import table

X = np.array([[1, 5, -3], [7, 0, 1]])
F = np.array([[1, np.nan, 5.5], [7, -0.0, 1]], np.float32)


@table(
    (X, {"keys_int64s": [1, 5, 7], "values_int64s": [10, 50, 70], "default_int64": -9}),
    (X, {"keys_int64s": [1, 5, 7], "values_floats": [0.1, 50.0, 70.0]}),
    (X, {"keys_int64s": [1, 5, 7], "values_strings": ["a", "b", "c"]}),
    (F, {"keys_floats": [1.0, 0.0, 7.0], "values_int64s": [10, 50, 70]}),
)
def test_labels_are_gathered(x, attributes):
    replaced(one_node("LabelEncoder", x, **attributes), {"x": x})


def test_keys_and_values_of_tensors():
    tensor = onnx.numpy_helper.from_array
    lists = {"keys_tensor": [1, 5.0], "values_tensor": [3, 4], "default_tensor": [-7]}
    given = {
        name: tensor(np.array(values, np.float64 if name == "keys_tensor" else np.int64), name)
        for name, values in lists.items()
    }
    x = np.array([[1, np.nan, 5.0]])
    replaced(one_node("LabelEncoder", x, version=4, **given), {"x": x})


def test_categories_are_compared():
    replaced(one_node("OneHotEncoder", X, cats_int64s=[1, -3, 7], zeros=1), {"x": X})


@table(
    ("LabelEncoder", X, {"keys_int64s": [1, 1], "values_int64s": [1, 2]}, "occur twice"),
    ("LabelEncoder", F, {"keys_floats": [np.nan], "values_int64s": [1]}, "are not numbers"),
    ("LabelEncoder", X, {"keys_strings": ["a"], "values_int64s": [1]}, "texts"),
    ("OneHotEncoder", X, {"cats_int64s": [1, 2], "zeros": 0}, "fails where a category"),
    ("OneHotEncoder", ROWS, {"cats_int64s": [1, 2], "zeros": 1}, "between integers"),
    ("OneHotEncoder", X, {"cats_strings": ["a"], "zeros": 1}, "texts"),
)
def test_ambiguous_nodes_stay(op_type, x, attributes, reason):
    refused(one_node(op_type, x, **attributes), reason)
