import numpy as np
import onnx
from classical import PLAIN, ROWS, one_node, refused, replaced
from straightline import transform
from straightline.passes.new_nodes import fitting_opset

LINE = {"coefficients": [1.0] * 4, "targets": 1}


def test_rows_are_required():
    refused(one_node("LinearRegressor", ROWS, shape=[1, None, 4], **LINE), "rows of features")


def test_doubles_have_no_common_precision():
    refused(one_node("LinearRegressor", ROWS.astype(np.float64), **LINE), "precision")


def test_a_model_without_an_opset_of_onnx_gets_one():
    model = one_node("LinearRegressor", ROWS, **LINE)
    del model.opset_import[0]
    made = replaced(model, {"x": ROWS}).model
    imports = {entry.domain: entry.version for entry in made.opset_import}
    assert imports[""] == fitting_opset(model.ir_version, 3)


def test_the_replacement_of_a_node():
    scaled = {"offset": [1.0, 2.0, 3.0, 4.0], "scale": [2.0] * 4}
    outcome = transform(one_node("Scaler", ROWS, **scaled), (), target=PLAIN, verify=False)
    text = onnx.printer.to_text(outcome.model.graph)
    assert "Sub (x, y0_offset)" in text and "Mul (y0_centered, y0_scale)" in text
