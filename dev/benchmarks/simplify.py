"""Simplifiers side by side: nodes, bytes, own time, time to load, time to run.

Run: python dev/benchmarks/simplify.py [MODEL.onnx ...] [--rows]

Inputs are those of MODEL.npz, or drawn. Other simplifiers take part where they are installed:
onnxsim, onnxslim, onnxoptimizer, onnxscript. Each number is a geometric mean over the models, as a
share of the original; the time of a simplifier is in microseconds a node.
"""

from __future__ import annotations

import argparse
import copy
import math
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx
import onnxruntime as ort
import straightline as sl
from flat_pipeline import flat_model

Tool = Callable[[onnx.ModelProto], onnx.ModelProto]
_RUNS = 15
_LOADS = 5


class Row(NamedTuple):
    """Measurements of one model: nodes, bytes, and seconds."""

    nodes: float
    size: float
    own: float
    load: float
    run: float


def tools() -> dict[str, Tool]:
    """The simplifiers that are installed."""

    def ours(exactness: str) -> Tool:
        return lambda model: sl.rewrite(model, "simplify", exactness=exactness, verify=False)

    simplifiers = {
        f"straightline, {notion}": ours(notion) for notion in ("bits", "values", "reals")
    }
    for name, peer in _PEERS.items():
        try:
            __import__(name)
        except ImportError:
            continue
        simplifiers[name] = peer
    return simplifiers


def _onnxsim(model: onnx.ModelProto) -> onnx.ModelProto:
    import onnxsim

    return onnxsim.simplify(model)[0]


def _onnxslim(model: onnx.ModelProto) -> onnx.ModelProto:
    import onnxslim

    return onnxslim.slim(copy.deepcopy(model))


def _onnxoptimizer(model: onnx.ModelProto) -> onnx.ModelProto:
    import onnxoptimizer

    return onnxoptimizer.optimize(model, onnxoptimizer.get_fuse_and_elimination_passes())


def _onnxscript(model: onnx.ModelProto) -> onnx.ModelProto:
    from onnxscript import optimizer

    return optimizer.optimize(copy.deepcopy(model))


_PEERS: dict[str, Tool] = {
    "onnxsim": _onnxsim,
    "onnxslim": _onnxslim,
    "onnxoptimizer": _onnxoptimizer,
    "onnxscript": _onnxscript,
}


def session(message: bytes) -> ort.InferenceSession:
    """A session on one thread with the runtime's own optimizations."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    return ort.InferenceSession(message, options, providers=["CPUExecutionProvider"])


def best(action: Callable[[], Any], times: int) -> float:
    """The shortest time of some runs, in seconds."""
    spent = []
    for _ in range(times):
        started = time.perf_counter()
        action()
        spent.append(time.perf_counter() - started)
    return min(spent)


def measure(tool: Tool, model: onnx.ModelProto, feeds: dict[str, Any]) -> Row:
    """Measure a simplifier on a model."""
    started = time.perf_counter()
    result = tool(model)
    own = time.perf_counter() - started
    message = result.SerializeToString()
    running = session(message)
    return Row(
        sum(node.op_type != "Constant" for node in result.graph.node),
        len(message),
        own / max(1, len(model.graph.node)),
        best(lambda: session(message), _LOADS),
        best(lambda: running.run(None, feeds), _RUNS),
    )


def models(paths: list[Path]) -> Iterator[tuple[str, onnx.ModelProto, dict[str, Any]]]:
    """Yield models with their inputs."""
    if not paths:
        yield "chain", flat_model(2_000), {"x": np.zeros((2, 4), np.float32)}
    for path in paths:
        model, inputs = onnx.load(path), path.with_suffix(".npz")
        names = {value.name for value in model.graph.input}
        if inputs.exists():
            with np.load(inputs) as arrays:
                yield path.stem, model, {n: arrays[n] for n in arrays.files if n in names}
        else:
            yield path.stem, model, drawn(model)


def drawn(model: onnx.ModelProto) -> dict[str, Any]:
    """Numbers for every input; sizes without a number are 2."""
    rng, feeds = np.random.default_rng(0), {}
    weights = {tensor.name for tensor in model.graph.initializer}
    for value in (v for v in model.graph.input if v.name not in weights):
        tensor = value.type.tensor_type
        shape = [dim.dim_value or 2 for dim in tensor.shape.dim]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        feeds[value.name] = rng.integers(0, 2, shape).astype(dtype)
    return feeds


def main() -> None:
    """Print a table of geometric means."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", type=Path)
    parser.add_argument("--rows", action="store_true", help="print each model, too")
    options = parser.parse_args()
    shares: dict[str, list[Row]] = {}
    for name, model, feeds in models(options.models):
        try:
            original = measure(copy.deepcopy, model, feeds)
        except Exception as error:  # noqa: BLE001 - the runtime lacks an operator
            print(f"{name}: not run: {str(error).splitlines()[0][:100]}")
            continue
        for tool, simplify in tools().items():
            try:
                row = measure(simplify, model, feeds)
            except Exception as error:  # noqa: BLE001 - a fault of the simplifier
                print(f"{name}: {tool} failed: {str(error).splitlines()[0][:100]}")
                continue
            share = Row(*(a / b for a, b in zip(row, original, strict=True)))._replace(own=row.own)
            shares.setdefault(tool, []).append(share)
            if options.rows:
                print(f"{name:30}{tool:22}{row.nodes:7.0f} of {original.nodes:.0f} nodes")
    print(f"{'':22}  models   nodes   bytes      us    load     run")
    for tool, rows in shares.items():
        means = Row(*(math.exp(sum(map(math.log, c)) / len(c)) for c in zip(*rows, strict=True)))
        numbers = f"{means.nodes:8.3f}{means.size:8.3f}{means.own * 1e6:8.0f}"
        print(f"{tool:22}{len(rows):8}{numbers}{means.load:8.3f}{means.run:8.3f}")


if __name__ == "__main__":
    main()
