"""Models that calibration times."""

import numpy as np
import onnx
import onnxruntime
import pytest
from straightline import ir
from straightline.driver.calibration_models import (
    CELLS,
    arithmetic,
    cell_and_scan,
    chains,
    products,
)
from straightline.passes.costs.cost_model import load_units, run_units
from straightline.passes.costs.table import LOAD_ITEMS, RUN_ITEMS


def run(case):
    model, feeds = case
    session = onnxruntime.InferenceSession(model.SerializeToString())
    read = {each.name for each in session.get_inputs()}
    return session.run(None, {name: value for name, value in feeds.items() if name in read})


def test_models_are_valid_and_tell_the_items_apart():
    cases = [*chains(), *products()]
    for model, _ in cases:
        onnx.checker.check_model(model, full_check=True)
    free = ("Identity", "Constant")
    for units, items in ((load_units, LOAD_ITEMS), (run_units, RUN_ITEMS)):
        counted = [units(ir.load(model)) for model, _ in [*cases, *arithmetic()]]
        items = [item for item in items if item not in free]
        matrix = np.array([[row.get(item, 0) for item in items] for row in counted], float)
        assert np.linalg.matrix_rank(matrix / matrix.max(axis=0)) == len(items)


def test_models_run():
    for case in (*chains(), products()[0]):
        assert np.isfinite(run(case)[0]).all()


@pytest.mark.parametrize("cell", CELLS)
def test_an_operator_computes_what_its_scan_does(cell):
    operator, scan = (run(case)[0] for case in cell_and_scan(cell, 2))
    np.testing.assert_allclose(operator.reshape(scan.shape), scan, rtol=1e-4, atol=1e-5)
