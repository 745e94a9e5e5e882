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
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import onnx.numpy_helper
import onnx.parser

from ...ir import load
from ..base import Progress
from .cost_model import load_units, run_units
from .table import ARITHMETIC, LOAD_ITEMS, RUN_ITEMS, CostTable

if TYPE_CHECKING:
    from onnxruntime import InferenceSession


_LOADS = 30
_RUNS = 60
_SAMPLE = 0.0005
"""Seconds that a sample takes at least: shorter calls run several times."""
_FIT_STEPS = 5_000
Feeds = dict[str, Any]
Case = tuple[onnx.ModelProto, Feeds]
_HEADER = '<ir_version: 8, opset_import: ["" : 17]>'
_MIXED = (
    *("MatMul ({}, c)", "Add ({}, c)", "Tanh ({})", "Transpose ({})", "Mul ({}, c)"),
    *("Gather ({}, rows)", "Softmax ({})", "Reshape ({}, sizes)", "Sigmoid ({})"),
)
"""The nodes of a chain: a mixture, as kernels differ in the time to make them."""
_SQUARE = np.full((4, 4), 0.5, np.float32)
_CONSTANTS = {
    "c": _SQUARE,
    "rows": np.array([3, 1, 2, 0]),
    "sizes": np.array([4, 4]),
    "m2": np.array(2),
    "m50": np.array(50),
    "e2": np.ones((2, 4), np.float32),
    "e50": np.ones((50, 4), np.float32),
}
CELLS = ("GRU Sigmoid", "LSTM Sigmoid", "LSTM HardSigmoid", "RNN Tanh", "RNN Relu")
"""Recurrent operators with their first activation."""
HIDDEN = 64
BATCHES = (1, 2, 4, 8, 16, 32, 64, 128)
_STEPS = 20
_STEP = {
    "RNN": "m = MatMul (h, rt) t = Add (m, e) h1 = {act} (t)",
    "GRU": """m = MatMul (h, rt) ez, er, en = Split <axis = 1> (e) mz, mr, mn = Split <axis = 1> (m)
        a = Add (ez, mz) z = {act} (a) d = Add (er, mr) r = {act} (d) f = Mul (r, mn)
        k = Add (en, f) n = Tanh (k) l = Sub (h, n) o = Mul (z, l) h1 = Add (n, o)""",
    "LSTM": """m = MatMul (h, rt) t = Add (m, e) ti, to, tf, tc = Split <axis = 1> (t)
        i = {act} (ti) o = {act} (to) f = {act} (tf) n = Tanh (tc)
        k = Mul (f, c) l = Mul (i, n) c1 = Add (k, l) u = Tanh (c1) h1 = Mul (o, u)""",
}
"""One step of a cell from the state `h` and a row `e` that is multiplied already."""


def calibrate(progress: Progress = lambda *_: None) -> CostTable:
    """Measure the costs of the installed onnxruntime; takes some seconds.

    Args:
        progress: called with what is about to be measured, the number done and of all.

    Raises:
        ImportError: onnxruntime is not installed.
    """
    import onnxruntime

    steps = len(CELLS) + 2
    progress("runs", 0, steps)
    run = _running(list(chains()), list(arithmetic()))
    progress("loading", 1, steps)
    cases = [*chains(), *products()]
    loads = [load_units(load(model)) for model, _ in cases]
    loading = fit(loads, _load_times([model for model, _ in cases]), LOAD_ITEMS)
    most = {}
    for step, cell in enumerate(CELLS, 2):
        progress(cell, step, steps)
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
        # Measured calls may exceed the whole time; no time may be 0, by which the fit divides.
        times[index] = max(times[index] - of_calls, 0.05 * times[index])
    return {**costs, **fit(counts[few:], times[few:], ARITHMETIC)}


def fit(
    counts: Sequence[Mapping[str, float]], times: Sequence[float], items: Sequence[str]
) -> dict[str, float]:
    """Fit the costs of items to the times of models by relative errors; none is negative.

    Sequential coordinate-wise descent for nonnegative least squares (Franc, Hlavac, Navara 2005).

    Args:
        counts: how many of each item the models have.

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
    # The first session of a process takes longer than all later ones.
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
    # So that no collection falls into a measured call.
    gc.collect()
    # In turns, so that a slow moment of the machine meets all calls.
    times = [
        [_timed(call, count) for call, count in zip(calls, counts, strict=True)]
        for _ in range(rounds)
    ]
    # Other programs only make a call longer, so the shortest time is the truest.
    return [min(column) * 1e6 for column in zip(*times, strict=True)]


def _timed(call: Callable[[], Any], count: int) -> float:
    started = time.process_time()
    for _ in range(count):
        call()
    return (time.process_time() - started) / count


def chains() -> Iterator[Case]:
    """Models that differ in the numbers of nodes, constants, loops, iterations and states."""
    for count in (1, 9, 40, 90):
        yield _flat(count)
    for count in (10, 40):
        yield _constants(count, count)
        yield _constants(count, 1)
    for count in (1, 6, 12):
        yield _ifs(count)
        for kind in ("Loop", "Scan"):
            yield _loops(kind, count, 3)
    for kind in ("Loop", "Scan"):
        for size, iterations, states in (
            (3, 50, 1),
            (40, 2, 1),
            (20, 50, 1),
            (3, 50, 6),
            (1, 50, 1),
        ):
            yield _loops(kind, 1, size, iterations, states)


def arithmetic() -> Iterator[Case]:
    """Models that differ in the numbers of elements, of multiplications, and of activations."""
    for cell in CELLS:
        for batch in (1, 4, 16):
            yield from cell_and_scan(cell, batch)
    for count, width in ((6, 32), (6, 128), (12, 128)):
        yield _wide(count, width)


def products() -> list[Case]:
    """Models with large matrices, whose arithmetic takes longer than their calls."""
    return [_matrices(count) for count in (1, 6, 12)]


def cell_and_scan(cell: str, batch: int) -> tuple[Case, Case]:
    """A recurrent operator, and a Scan that computes the same from inputs times weights.

    The Scan is as an expert would write it: one product and one Split a step.
    """
    kind, activation = cell.split()
    gates = {"RNN": 1, "GRU": 3, "LSTM": 4}[kind]
    generator = np.random.default_rng(0)

    def numbers(*shape: int) -> np.ndarray:
        return (generator.standard_normal(shape) / 8).astype(np.float32)

    rows = {"x": numbers(_STEPS, batch, HIDDEN)}
    weights = {"w": numbers(1, gates * HIDDEN, HIDDEN), "r": numbers(1, gates * HIDDEN, HIDDEN)}
    weights["b"] = numbers(1, 2 * gates * HIDDEN)
    # The Scan adds one bias only: that of the recurrence is 0.
    weights["b"][:, gates * HIDDEN :] = 0
    names = {"RNN": [activation], "GRU": [activation, "Tanh"], "LSTM": [activation, "Tanh", "Tanh"]}
    listed = ", ".join(f'"{name}"' for name in names[kind])
    more = ", linear_before_reset = 1" * (kind == "GRU")
    head = f"{_HEADER} g (float[{_STEPS}, {batch}, {HIDDEN}] x) => (y)"
    operator = f"""{head} {{ y, last = {kind}
        <hidden_size = {HIDDEN}, activations = [{listed}]{more}> (x, w, r, b) }}"""
    wide = {
        "wx": weights["w"][0].T.copy(),
        "rt": weights["r"][0].T.copy(),
        "bx": weights["b"][0, : gates * HIDDEN],
        "zero": np.zeros((batch, HIDDEN), np.float32),
    }
    size = f"float[{batch}, {HIDDEN}]"
    states = [f"{size} h", *[f"{size} c"] * (kind == "LSTM")]
    results = ["h1", *["c1"] * (kind == "LSTM")]
    initial = ", ".join(["zero"] * len(states))
    lasts = ", ".join(f"last{index}" for index in range(len(states)))
    scan = f"""{head} {{ p = MatMul (x, wx) q = Add (p, bx)
        {lasts}, y = Scan <num_scan_inputs = 1, body = s ({", ".join(states)}, e) =>
            ({", ".join(results)}, out) {{ {_STEP[kind].format(act=activation)}
            out = Identity (h1) }}> ({initial}, q) }}"""
    return _with(operator, weights, rows), _with(scan, wide, rows)


def _model(nodes: Sequence[str], last: str, more: dict[str, np.ndarray] | None = None) -> Case:
    text = f"""{_HEADER} g (float[4, 4] x, bool yes) => (float[4, 4] y) {{
        {" ".join(nodes)} y = Relu ({last}) }}"""
    feeds = {"x": _SQUARE, "yes": np.array(True)}
    return _with(text, {**_CONSTANTS, **(more or {})}, feeds)


def _with(text: str, constants: dict[str, np.ndarray], feeds: Feeds) -> Case:
    """A model with those constants that it reads."""
    model = onnx.parser.parse_model(text)
    read = {name for node in _nodes(model.graph) for name in node.input}
    for name, array in constants.items():
        if name in read:
            model.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    return model, feeds


def _nodes(graph: onnx.GraphProto) -> Iterator[onnx.NodeProto]:
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from _nodes(attribute.g)


def _chain(count: int, first: str, prefix: str = "v") -> list[str]:
    names = [first, *(f"{prefix}{index}" for index in range(count))]
    kinds = [_MIXED[index % len(_MIXED)] for index in range(count)]
    return [f"{names[i + 1]} = {kinds[i].format(names[i])}" for i in range(count)]


def _flat(count: int) -> Case:
    return _model(_chain(count, "x"), f"v{count - 1}")


def _constants(count: int, distinct: int) -> Case:
    names = ["x", *(f"v{index}" for index in range(count))]
    nodes = [f"{names[i + 1]} = Add ({names[i]}, k{i % distinct})" for i in range(count)]
    more = {f"k{i}": np.full((4, 4), i, np.float32) for i in range(distinct)}
    return _model(nodes, names[-1], more)


def _matrices(count: int) -> Case:
    """Products of a row of 256 numbers by as many matrices."""
    weights = [np.full((256, 256), 0.1 + i, np.float32) for i in range(count)]
    nodes = ["v0 = Concat <axis = 1> (" + ", ".join(["x"] * 64) + ")"]
    nodes += [f"v{i + 1} = MatMul (v{i}, w{i})" for i in range(count)]
    nodes += [f"short = Slice (v{count}, from, to, axis)"]
    edges = {"from": np.array([0]), "to": np.array([4]), "axis": np.array([1])}
    more = {**{f"w{i}": weight for i, weight in enumerate(weights)}, **edges}
    return _model(nodes, "short", more)


def _wide(count: int, width: int) -> Case:
    """A chain of nodes on square matrices."""
    model, feeds = _flat(count)
    for value in (*model.graph.input[:1], *model.graph.output):
        for dim in value.type.tensor_type.shape.dim:
            dim.dim_value = width
    square = np.full((width, width), 1 / width, np.float32)
    wide: dict[str, np.ndarray] = {
        "c": square,
        "rows": np.arange(width),
        "sizes": np.array([width, width]),
    }
    for tensor in model.graph.initializer:
        tensor.CopyFrom(onnx.numpy_helper.from_array(wide[tensor.name], tensor.name))
    return model, {**feeds, "x": square}


def _ifs(count: int) -> Case:
    names = ["x", *(f"f{index}" for index in range(count))]
    nodes = [
        f"""{names[i + 1]} = If (yes) <
            then_branch = t () => (float[4, 4] a{i}) {{ a{i} = Neg ({names[i]}) }},
            else_branch = e () => (float[4, 4] b{i}) {{ b{i} = Exp ({names[i]}) }}>"""
        for i in range(count)
    ]
    return _model(nodes, names[-1])


def _loops(kind: str, count: int, size: int, iterations: int = 2, states: int = 1) -> Case:
    """Loops or Scans one after another, each with a chain of nodes and more states."""
    nodes, before = [], "x"
    for i in range(count):
        states_in = [f"s{i}_{j}" for j in range(states)]
        states_out = [f"r{i}_{j}" for j in range(states)]
        body = [*_chain(size, states_in[0], f"n{i}_"), f"{states_out[0]} = Neg (n{i}_{size - 1})"]
        body += [f"{states_out[j]} = Neg ({states_in[j]})" for j in range(1, states)]
        inputs = ", ".join(f"float[4, 4] {name}" for name in states_in)
        outputs = ", ".join(f"float[4, 4] {name}" for name in states_out)
        results = ", ".join([f"l{i}", *(f"l{i}_{j}" for j in range(1, states))])
        initial = ", ".join([before, *["c"] * (states - 1)])
        if kind == "Loop":
            text = f"b (int64 i, bool k, {inputs}) => (k, {outputs}) {{ {' '.join(body)} }}"
            nodes.append(f"{results} = Loop <body = {text}> (m{iterations}, yes, {initial})")
        else:
            text = f"b ({inputs}, float[4] e) => ({outputs}) {{ {' '.join(body)} }}"
            nodes.append(
                f"{results} = Scan <num_scan_inputs = 1, body = {text}> ({initial}, e{iterations})"
            )
        before = f"l{i}"
    return _model(nodes, before)
