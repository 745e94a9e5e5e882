"""Calibration: what onnxruntime takes to load and to run models on this machine.

Small models with known numbers of nodes, loops and constants are timed in turns, on one thread, in
processor time, which other programs disturb least. The shortest time of each counts, and the costs
of the items are fitted to these times.
"""

from __future__ import annotations

import datetime
import gc
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx

from ..display import OnProgress, silent
from ..ir import load
from ..passes.costs.cost_model import load_units, run_units
from ..passes.costs.table import ARITHMETIC, LOAD_ITEMS, RUN_ITEMS, CostTable
from .calibration_models import (
    BATCHES,
    CELLS,
    HIDDEN,
    Case,
    arithmetic,
    cell_and_scan,
    chains,
    products,
)

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

_LOADS = 30
_RUNS = 60
_SAMPLE = 0.0005
"""Seconds that a sample takes at least: shorter calls run several times."""
_FIT_STEPS = 5_000


def calibrate(on_progress: OnProgress = silent) -> CostTable:
    """Measure the costs of the installed onnxruntime; takes some seconds.

    Args:
        on_progress: called with what is about to be measured.

    Raises:
        ImportError: onnxruntime is not installed.
    """
    import onnxruntime

    steps = len(CELLS) + 2
    on_progress("calibrating", "runs", 0, steps)
    run = _running(list(chains()), list(arithmetic()))
    on_progress("calibrating", "loading", 1, steps)
    cases = [*chains(), *products()]
    loads = [load_units(load(model)) for model, _ in cases]
    loading = fit(loads, _load_times([model for model, _ in cases]), LOAD_ITEMS)
    most = {}
    for step, cell in enumerate(CELLS, 2):
        on_progress("calibrating", cell, step, steps)
        most[cell] = _most_numbers(cell)
    about = {
        "runtime": f"onnxruntime {onnxruntime.__version__}",
        "machine": platform.machine(),
        "date": datetime.date.today().isoformat(),
    }
    return CostTable(loading, run, most, about)


def _running(calls: Sequence[Case], numbers: Sequence[Case]) -> dict[str, float]:
    """The costs of calls, from models of few numbers, and of arithmetic, from others."""
    counts = [run_units(load(model)) for model, _ in (*calls, *numbers)]
    times = _run_times([*calls, *numbers], _RUNS)
    few = len(calls)
    costs = fit(counts[:few], times[:few], [i for i in RUN_ITEMS if i not in ARITHMETIC])
    for index, units in enumerate(counts):
        of_calls = sum(costs[item] * n for item, n in units.items() if item in costs)
        times[index] = max(times[index] - of_calls, 0.05 * times[index])
    return {**costs, **fit(counts[few:], times[few:], ARITHMETIC)}


def fit(
    counts: Sequence[Mapping[str, float]], times: Sequence[float], items: Sequence[str]
) -> dict[str, float]:
    """Fit the costs of items to the times of models by relative errors; none is negative.

    Sequential coordinate-wise descent for nonnegative least squares (Franc, Hlavac, Navara 2005).

    Args:
        counts: how many of each item the models have.
        times: the time of each model.
        items: the items that cost.

    Returns:
        the cost of each item, in the unit of the times.
    """
    matrix = np.array([[row.get(item, 0.0) for item in items] for row in counts])
    matrix = matrix / np.array(times)[:, None]
    gram, target = matrix.T @ matrix, matrix.sum(axis=0)
    costs = np.zeros(len(items))
    for _ in range(_FIT_STEPS):
        for j in np.flatnonzero(gram.diagonal()):
            costs[j] = max(0.0, costs[j] - (gram[j] @ costs - target[j]) / gram[j, j])
    return {item: round(float(cost), 3) for item, cost in zip(items, costs, strict=True)}


def _most_numbers(cell: str) -> int:
    """The largest state for which a recurrent operator runs as fast as the Scan."""
    most = 0
    for batch in BATCHES:
        operator, scan = _run_times(cell_and_scan(cell, batch), _RUNS // 4)
        if operator > scan:
            break
        most = batch * HIDDEN
    return most


def _session(model: onnx.ModelProto | bytes) -> InferenceSession:
    """A session of one thread, with onnxruntime's own optimizations."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    data = model if isinstance(model, bytes) else model.SerializeToString()
    return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def _load_times(models: Sequence[onnx.ModelProto]) -> list[float]:
    """The time to load each model, in microseconds."""
    files = [model.SerializeToString() for model in models]
    _session(files[0])
    return _shortest([partial(_session, file) for file in files], _LOADS)


def _run_times(cases: Sequence[Case], rounds: int) -> list[float]:
    """The time to run each model, in microseconds."""
    calls: list[Callable[[], Any]] = []
    for model, feeds in cases:
        session = _session(model)
        read = {each.name for each in session.get_inputs()}
        own = {name: value for name, value in feeds.items() if name in read}
        calls.append(partial(session.run, None, own))
    return _shortest(calls, rounds)


def _shortest(calls: Sequence[Callable[[], Any]], rounds: int) -> list[float]:
    """The shortest time of each call in several rounds, in microseconds."""
    counts = [max(1, round(_SAMPLE / max(_timed(call, 2), 1e-7))) for call in calls]
    gc.collect()
    times = [
        [_timed(call, count) for call, count in zip(calls, counts, strict=True)]
        for _ in range(rounds)
    ]
    return [min(column) * 1e6 for column in zip(*times, strict=True)]


def _timed(call: Callable[[], Any], count: int) -> float:
    started = time.process_time()
    for _ in range(count):
        call()
    return (time.process_time() - started) / count
