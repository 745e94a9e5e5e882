import numpy as np
import pytest
from classical import ROWS, one_node, refused, replaced
from tables import table

INTEGERS = np.array([[1, -2, 0, 4], [0, 0, 0, 0], [7, 7, 2**20 + 1, -3]])
FOUR = {"offset": [0.1, 1.0, 2.0, 3.0], "scale": [0.3, 2.0, 3.0, 0.5]}


@table(
    ("Scaler", ROWS, FOUR),
    ("Scaler", ROWS.astype(np.float64), FOUR),
    ("Scaler", INTEGERS, FOUR),
    ("Scaler", ROWS, {"offset": [0.1], "scale": [3.0]}),
    ("Binarizer", np.nan_to_num(ROWS), {"threshold": 0.25}),
    ("Normalizer", ROWS, {"norm": "L1"}),
    ("Normalizer", ROWS[:4], {"norm": "L2"}),
    ("Normalizer", INTEGERS, {"norm": "L1"}),
    ("Imputer", ROWS, {"replaced_value_float": np.nan, "imputed_value_floats": [5.0]}),
    ("Imputer", ROWS, {"replaced_value_float": 0.0, "imputed_value_floats": [5.0, 6.0, 7.0, 8.0]}),
    ("Imputer", INTEGERS, {"replaced_value_int64": 7, "imputed_value_int64s": [1, 2, 3, 4]}),
)
def test_numbers(op_type, x, attributes):
    replaced(one_node(op_type, x, **attributes), {"x": x})


@pytest.mark.parametrize("shape", [[4], [None, 4], [1, None, 4]])
def test_columns_are_gathered(shape):
    x = ROWS[0] if len(shape) == 1 else ROWS.reshape([*[1] * (len(shape) - 2), *ROWS.shape])
    places = np.array([[3, 0, 0]])
    model = one_node("ArrayFeatureExtractor", x, shape=shape, more=[("i", places, [1, 3])])
    outcome = replaced(model, {"x": x, "i": places})
    assert [n.op_type for n in outcome.model.graph.node if n.op_type != "Reshape"] == ["Gather"]


def test_the_norm_of_a_row_alone():
    replaced(one_node("Normalizer", ROWS[0], shape=[4], norm="L2"), {"x": ROWS[0]})


@table(
    ("Normalizer", ROWS, {"norm": "MAX"}, "the sign of the norm 'MAX'"),
    ("Normalizer", INTEGERS, {"norm": "L2"}, "squares that overflow"),
    ("Normalizer", ROWS.astype(np.float64), {"norm": "L1"}, "precision"),
    ("Scaler", ROWS, {"offset": [1.0], "scale": [1.0, 2.0]}, "offsets and scales differ"),
    ("Binarizer", INTEGERS, {"threshold": 0.5}, "not an integer"),
    ("Imputer", ROWS, {"replaced_value_float": 0.0}, "no value for each column"),
)
def test_ambiguous_nodes_stay(op_type, x, attributes, reason):
    refused(one_node(op_type, x, **attributes), reason)


def test_columns_of_an_unknown_number_are_not_imputed_one_by_one():
    given = {"replaced_value_float": 0.0, "imputed_value_floats": [1.0, 2.0]}
    refused(one_node("Imputer", ROWS, shape=[None, None], **given), "the number of its columns")
