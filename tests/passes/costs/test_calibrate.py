import numpy as np
import onnx
import onnxruntime
import pytest
from straightline import ir
from straightline.passes.costs import calibrate as calibration
from straightline.passes.costs.calibrate import (
    CELLS,
    arithmetic,
    calibrate,
    cell_and_scan,
    chains,
    fit,
    products,
)
from straightline.passes.costs.cost_model import load_units, run_units
from straightline.passes.costs.table import LOAD_ITEMS, RUN_ITEMS


def test_costs_are_found_again():
    generator = np.random.default_rng(0)
    costs = {"node": 3.0, "Loop": 20.0, "Scan": 0.0}
    counts = [
        {item: float(n) for item, n in zip(costs, row, strict=True)}
        for row in np.add(generator.integers(0, 9, (20, 3)), [1, 0, 0])
    ]
    times = [sum(costs[item] * n for item, n in row.items()) for row in counts]
    assert fit(counts, times, tuple(costs)) == pytest.approx(costs, abs=0.01)


def test_no_cost_is_negative_and_what_no_model_has_costs_nothing():
    costs = fit([{"a": 1, "b": 1}, {"a": 1, "b": 2}], [3.0, 2.0], ("a", "b", "c"))
    assert costs["b"] == costs["c"] == 0 < costs["a"]


@pytest.mark.sample(0)
def test_each_item_is_measured(monkeypatch):
    for name in ("_LOADS", "_RUNS"):
        monkeypatch.setattr(calibration, name, 4)
    monkeypatch.setattr(calibration, "_SAMPLE", 0.0)
    steps = []
    table = calibrate(lambda *step: steps.append(step))
    assert tuple(table.load) == LOAD_ITEMS and tuple(table.run) == RUN_ITEMS
    assert min(*table.load.values(), *table.run.values()) >= 0 < table.load["session"]
    assert set(table.most_numbers) == {step[0] for step in steps[2:]}
    assert [step[1:] for step in steps] == [(i, len(steps)) for i in range(len(steps))]
    assert table.about["runtime"].startswith("onnxruntime ")


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
