"""Simplifiers side by side: nodes, bytes, own time, time to load, time to run.

Run: python dev/benchmarks/simplify.py [MODEL.onnx ...] [--rows] [--trained] [--straighten]

Inputs are those of MODEL.npz, or drawn. Other simplifiers take part where they are installed:
onnxsim, onnxslim, onnxoptimizer, onnxscript. Each number is a geometric mean over the models, as a
share of the original; the time of a simplifier is in microseconds a node. OpenVINO loads and runs
the models, too, where it is installed. `wrong` counts models whose outputs differ, also on inputs
of another size. `--fewer` prints the models on which another simplifier leaves fewer nodes.
"""

import argparse
import contextlib
import copy
import math
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx
import onnxruntime as ort
import straightline as sl
from flat_pipeline import flat_model
from onnx import numpy_helper
from straightline.dev.benchmarks.session import open_session

Tool = Callable[[onnx.ModelProto], onnx.ModelProto]
_RUNS = 15
_LOADS = 5
_TRAINED = {
    "Add", "BatchNormalization", "Conv", "ConvTranspose", "Div", "Gemm", "GroupNormalization",
    "InstanceNormalization", "LayerNormalization", "Mul", "PRelu", "RMSNormalization", "Sub",
}  # fmt: skip
_CONTROL_FLOW = {"If", "Loop", "Scan", "SequenceMap"}


class Row(NamedTuple):
    """Measurements of one model: nodes, bytes, and seconds; NaN where nothing was measured."""

    nodes: float
    size: float
    own: float
    load: float
    run: float
    vino_load: float
    vino_run: float


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


def best(action: Callable[[], Any], times: int) -> float:
    """The shortest time of some runs, in seconds."""
    spent = []
    for _ in range(times):
        started = time.perf_counter()
        action()
        spent.append(time.perf_counter() - started)
    return min(spent)


def count(graph: onnx.GraphProto) -> int:
    """Nodes of a graph and of all bodies, without constants."""
    bodies = [a.g for n in graph.node for a in n.attribute if a.type == onnx.AttributeProto.GRAPH]
    return sum(n.op_type != "Constant" for n in graph.node) + sum(map(count, bodies))


def openvino_times(message: bytes, feeds: dict[str, Any]) -> tuple[float, float]:
    """Seconds in which OpenVINO loads and runs a model; NaN where it does not."""
    try:
        import openvino
    except ImportError:
        return math.nan, math.nan
    core = openvino.Core()
    core.set_property("CPU", {"INFERENCE_NUM_THREADS": 1})

    def load() -> Any:
        return core.compile_model(core.read_model(message, b""), "CPU")

    try:
        request = load().create_infer_request()
        return best(load, 2), best(lambda: request.infer(feeds), _RUNS)
    except Exception:  # noqa: BLE001 - OpenVINO lacks an operator or a type
        return math.nan, math.nan


def measure(
    tool: Tool, model: onnx.ModelProto, feeds: dict[str, Any], timed: bool
) -> tuple[Row, list[Any]]:
    """Measurements of a simplifier on a model, and the outputs of its result for two inputs."""
    started = time.perf_counter()
    result = tool(model)
    own = time.perf_counter() - started
    message = result.SerializeToString()
    running = open_session(message)
    outputs = [running.run(None, feeds), other_outputs(running, model)]
    times = (math.nan,) * 4
    if timed:
        load = best(lambda: open_session(message), _LOADS)
        run = best(lambda: running.run(None, feeds), _RUNS)
        times = (load, run, *openvino_times(message, feeds))
    size = len(message)
    return Row(count(result.graph), size, own / max(1, len(model.graph.node)), *times), outputs


def other_outputs(running: ort.InferenceSession, model: onnx.ModelProto) -> list[Any] | None:
    """Outputs on drawn numbers of other sizes; None where the model does not run on these."""
    try:
        return list(running.run(None, drawn(model, 3)))
    except Exception:  # noqa: BLE001 - sizes may depend on each other
        return None


def equal(first: list[Any], second: list[Any]) -> bool:
    """Outputs agree but for rounding."""

    def close(a: Any, b: Any) -> bool:
        if isinstance(a, list):
            return len(a) == len(b) and all(map(close, a, b))
        if isinstance(a, dict) or a is None:
            return bool(a == b)
        a, b = np.asarray(a), np.asarray(b)
        if a.shape != b.shape or a.dtype != b.dtype:
            return False
        if a.dtype.kind != "f":
            return bool((a == b).all())
        return np.allclose(a, b, 1e-3, 1e-4, equal_nan=True)

    return len(first) == len(second) and all(map(close, first, second))


def models(paths: list[Path]) -> Iterator[tuple[str, onnx.ModelProto, dict[str, Any]]]:
    """Yield models with their inputs."""
    if not paths:
        yield "chain", flat_model(2_000), {"x": np.zeros((2, 4), np.float32)}
    for path in paths:
        model, inputs = onnx.load(path), path.with_suffix(".npz")
        names = {value.name for value in model.graph.input}
        if inputs.exists():
            with np.load(inputs, allow_pickle=True) as arrays:
                yield path.stem, model, {n: arrays[n] for n in arrays.files if n in names}
        else:
            yield path.stem, model, drawn(model)


def drawn(model: onnx.ModelProto, size: int = 2) -> dict[str, Any]:
    """Numbers for every input; sizes without a number are those of `size`."""
    rng, feeds = np.random.default_rng(0), {}
    weights = {tensor.name for tensor in model.graph.initializer}
    for value in (v for v in model.graph.input if v.name not in weights):
        tensor = value.type.tensor_type
        shape = [dim.dim_value if dim.dim_value > 0 else size for dim in tensor.shape.dim]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        feeds[value.name] = rng.integers(0, 2, shape).astype(dtype)
    return feeds


def train(model: onnx.ModelProto) -> None:
    """Replace scales and biases, vectors that training changes, by other numbers."""
    rng, nodes = np.random.default_rng(0), model.graph.node
    names = {name for node in nodes if node.op_type in _TRAINED for name in node.input}
    tensors = {tensor.name: tensor for tensor in model.graph.initializer}
    tensors |= {n.output[0]: a.t for n in nodes for a in n.attribute if a.name == "value"}
    for name in names & tensors.keys():
        tensor = tensors[name]
        vector = tensor.data_type == onnx.TensorProto.FLOAT and len(tensor.dims) == 1
        if vector and tensor.dims[0] > 1 and not tensor.external_data:
            array = numpy_helper.to_array(tensor)
            array = array + np.abs(rng.normal(0, 0.2, array.shape)).astype(np.float32)
            tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))


def prepared(model: onnx.ModelProto, options: argparse.Namespace) -> onnx.ModelProto:
    """A model as the options want it before simplifiers see it."""
    if options.trained:
        train(model)
    return sl.rewrite(model, "straighten", verify=False) if options.straighten else model


def compare(options: argparse.Namespace) -> tuple[dict[str, list[Row]], dict[str, int]]:
    """Shares of the original by tool, and how many results are wrong."""
    shares: dict[str, list[Row]] = {}
    wrong: dict[str, int] = {}
    for name, model, feeds in models(options.models):
        if options.straighten and not any(n.op_type in _CONTROL_FLOW for n in model.graph.node):
            continue
        try:
            model = prepared(model, options)
            original, outputs = measure(copy.deepcopy, model, feeds, options.timed)
        except Exception as error:  # noqa: BLE001 - the runtime lacks an operator
            print(f"{name}: not run: {str(error).splitlines()[0][:100]}")
            continue
        counts: dict[str, tuple[int, bool]] = {}
        for tool, simplify in tools().items():
            if not re.search(options.tools, tool):
                continue
            try:
                row, results = measure(simplify, model, feeds, options.timed)
            except Exception as error:  # noqa: BLE001 - a fault of the simplifier
                print(f"{name}: {tool} failed: {(str(error).splitlines() or [''])[0][:100]}")
                continue
            same = agrees(outputs, results)
            counts[tool] = int(row.nodes), same
            wrong[tool] = wrong.get(tool, 0) + (not same)
            share = Row(*(a / b if b else 1.0 for a, b in zip(row, original, strict=True)))
            shares.setdefault(tool, []).append(share._replace(own=row.own))
            if options.rows or not same:
                numbers = f"{row.nodes:7.0f} of {original.nodes:.0f} nodes{row.own * 1e6:8.0f} us"
                print(f"{name:30}{tool:22}{numbers}{'' if same else '  other outputs'}", flush=True)
        if options.fewer:
            print_fewer(name, int(original.nodes), counts)
    return shares, wrong


def agrees(first: list[Any], second: list[Any]) -> bool:
    """Outputs agree but for rounding, also on other sizes where the original runs on them."""
    if not equal(first[0], second[0]):
        return False
    return first[1] is None or (second[1] is not None and equal(first[1], second[1]))


def print_fewer(name: str, original: int, counts: dict[str, tuple[int, bool]]) -> None:
    """Print for each class of exactness who leaves fewer nodes."""
    for tool, (own, _) in counts.items():
        others = {t: c for t, c in counts.items() if t in _PEERS and c[0] < own}
        if tool not in _PEERS and others:
            texts = [
                f"{t} {n}{'' if same else ' (other outputs)'}" for t, (n, same) in others.items()
            ]
            print(f"{name:30}{tool:22}{own:7} of {original}: {', '.join(texts)}", flush=True)


def mean(numbers: tuple[float, ...]) -> float:
    """The geometric mean of the numbers that were measured."""
    logs = [math.log(max(number, 1e-9)) for number in numbers if not math.isnan(number)]
    return math.exp(sum(logs) / len(logs)) if logs else math.nan


def main() -> None:
    """Print a table of geometric means."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", type=Path)
    parser.add_argument("--rows", action="store_true", help="print each model, too")
    parser.add_argument("--trained", action="store_true", help="scales and biases at random")
    parser.add_argument(
        "--straighten", action="store_true", help="only models with control flow, straightened"
    )
    parser.add_argument("--fewer", action="store_true", help="print who leaves fewer nodes")
    parser.add_argument("--tools", default="", help="a regular expression of simplifiers")
    parser.add_argument("--untimed", dest="timed", action="store_false", help="nodes and bytes")
    with contextlib.suppress(AttributeError):
        ort.set_default_logger_severity(4)
    shares, wrong = compare(parser.parse_args())
    heads = ("models", "nodes", "bytes", "us", "load", "run", "ov load", "ov run", "wrong")
    print(f"{'':22}" + "".join(f"{head:>8}" for head in heads))
    for tool, rows in shares.items():
        means = Row(*map(mean, zip(*rows, strict=True)))._asdict()
        own = means.pop("own") * 1e6
        numbers = "".join(f"{number:8.3f}" for number in means.values())
        print(f"{tool:22}{len(rows):8}{numbers[:16]}{own:8.0f}{numbers[16:]}{wrong[tool]:8}")


if __name__ == "__main__":
    main()
