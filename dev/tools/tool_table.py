"""Tools side by side on models with control flow: the tables of README.md.

Run: python -m straightline.dev.tools.tool_table [--write] [--every N] [--tool NAME]

The models are those of the client benchmark: loops as exporters write them, the examples, and
onnx's backend tests with control flow. Every tool gets them unchanged, in a process of its own, and
its results run in onnxruntime on two inputs. `make bench` runs this for the tools that are there.
"""

import argparse
import multiprocessing
import platform
import queue
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx
import onnxruntime as ort

from ..benchmarks.clients.client_run import classify
from ..benchmarks.clients.corpus import sources
from ..benchmarks.clients.running import Answer
from ..benchmarks.session import open_session
from . import compare_tools
from .compare_tools import CONTROL_FLOW, kinds, table, version

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "README.md"
OPSET = 13
_RUNS = 7
_SECONDS = 120
"""Limit of one model; a tool that takes longer, or crashes, has failed on it."""

Tool = Callable[[onnx.ModelProto], tuple[onnx.ModelProto, bool]]
"""Makes a model of a model, and says whether the result is proved."""


class Cell(NamedTuple):
    """Result of a tool for one model; shares of the original, NaN where nothing was measured."""

    outcome: str  # right, wrong or failed
    left: int = 0
    nodes: float = float("nan")
    run: float = float("nan")
    proved: bool = False


def _ours(passes: Any, **keywords: Any) -> Tool:
    def run(model: onnx.ModelProto) -> tuple[onnx.ModelProto, bool]:
        import straightline as sl

        outcome = sl.transform(model, passes, hints=False, **keywords)
        return outcome.model, outcome.verdict is not None and outcome.verdict.proved

    return run


def _theirs(call: Callable[[onnx.ModelProto, str], onnx.ModelProto]) -> Tool:
    return lambda model: (call(model, ""), False)


def _onnxruntime(model: onnx.ModelProto, _: str) -> onnx.ModelProto:
    """The offline optimizer at its basic level, which emits standard operators only."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        options = ort.SessionOptions()
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_BASIC
        options.optimized_model_filepath = str(Path(folder) / "model.onnx")
        options.log_severity_level = 4
        ort.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
        return onnx.load(options.optimized_model_filepath)


def _onnx_converter(model: onnx.ModelProto, _: str) -> onnx.ModelProto:
    import onnx.version_converter

    return onnx.version_converter.convert_version(model, OPSET)


SIMPLIFIERS: Mapping[str, tuple[str, Tool]] = {
    "`straightline rewrite`": ("straightline", _ours("straighten")),
    "`... --target onnxruntime`": ("straightline", _ours("accelerate")),
    "onnxsim": ("onnxsim", _theirs(compare_tools.by_onnxsim)),
    "onnxslim": ("onnxslim", _theirs(compare_tools.by_onnxslim)),
    "onnxscript optimizer": ("onnxscript", _theirs(compare_tools.by_onnxscript)),
    "onnxruntime, basic level": ("onnxruntime", _theirs(_onnxruntime)),
}
CONVERTERS: Mapping[str, tuple[str, Tool]] = {
    f"`straightline convert --opset {OPSET}`": ("straightline", _ours((), opset=OPSET)),
    "onnx's version converter": ("onnx", _theirs(_onnx_converter)),
}
TOOLS = {**SIMPLIFIERS, **CONVERTERS}


def cells_of(tool: str, every: int, start: int, answers: Any) -> None:
    """Put the results of a tool into a queue, from a model on."""
    _, call = TOOLS[tool]
    for number, source in enumerate(sources()):
        if number < start or number % every:
            continue
        answers.put((number, None))
        answers.put((number, _cell(call, source.model, source.feeds)))
    answers.put((-1, None))


def _cell(call: Tool, model: onnx.ModelProto, feeds: Mapping[str, Any]) -> Cell | None:
    """Measure one model; None where onnxruntime does not run the original."""
    inputs = [feeds, _redrawn(feeds)]
    try:
        before = open_session(model)
        expected = [before.run(None, dict(each)) for each in inputs]
    except Exception:  # noqa: BLE001 - an original that does not run compares nothing
        return None
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    try:
        after_model, proved = call(copy)
        after = open_session(after_model)
        names = {value.name for value in after.get_inputs()}
        told = [{name: each[name] for name in each if name in names} for each in inputs]
        results = [after.run(None, each) for each in told]
    except Exception as error:  # noqa: BLE001 - whatever a tool raises is its result
        print(f"{type(error).__name__}: {str(error)[:120]}", file=sys.stderr)
        return Cell("failed")
    operators = kinds(after_model.graph)
    left = sum(operator in CONTROL_FLOW for operator in operators)
    pairs = zip(expected, results, strict=True)
    if any(classify(Answer(outputs=new), old)[0] == "wrong" for old, new in pairs):
        return Cell("wrong", left)
    shares = [
        _best(after, each) / _best(before, full) for each, full in zip(told, inputs, strict=True)
    ]
    nodes = max(1, len(operators)) / max(1, len(kinds(model.graph)))
    return Cell("right", left, nodes, min(shares), proved)


def _redrawn(feeds: Mapping[str, Any]) -> dict[str, Any]:
    """Inputs of the same shapes with other floats."""
    generator = np.random.default_rng(1)
    return {
        name: generator.standard_normal(value.shape).astype(value.dtype)
        if isinstance(value, np.ndarray) and value.dtype.kind == "f"
        else value
        for name, value in feeds.items()
    }


def _best(running: ort.InferenceSession, feeds: Mapping[str, Any]) -> float:
    spent = []
    for _ in range(_RUNS):
        started = time.perf_counter()
        running.run(None, dict(feeds))
        spent.append(time.perf_counter() - started)
    return min(spent)


def measured(tool: str, every: int) -> Iterator[Cell]:
    """Yield the results of a tool for all models that onnxruntime runs."""
    context, start = multiprocessing.get_context("spawn"), 0
    while start >= 0:
        answers = context.Queue()
        process = context.Process(target=cells_of, args=(tool, every, start, answers))
        process.start()
        for number, cell in _answers(answers, process):
            start = number + 1 if number >= 0 else -1
            if cell is not None:
                yield cell
        process.kill()
        process.join()


def _answers(answers: Any, process: Any) -> Iterator[tuple[int, Cell | None]]:
    """Yield results until the end, a crash, or a model that takes too long."""
    begun, waited = -1, 0.0
    while True:
        try:
            number, cell = answers.get(timeout=1)
        except queue.Empty:
            waited += 1
            if waited < _SECONDS and process.is_alive():
                continue
            if begun >= 0:
                yield begun, Cell("failed")
            else:
                yield -1, None
            return
        waited = 0.0
        if number < 0:
            yield -1, None
            return
        is_result = number == begun
        begun = number if not is_result else -1
        if is_result:
            yield number, cell


def row(tool: str, cells: Sequence[Cell], *, is_converter: bool = False) -> list[str]:
    """The row of a tool."""
    counts = [
        str(sum(cell.outcome == name for cell in cells)) for name in ("right", "wrong", "failed")
    ]
    right = [cell for cell in cells if cell.outcome == "right"]
    proved = str(sum(cell.proved for cell in right)) if any(c.proved for c in right) else "none"
    if is_converter:
        return [tool, *counts, proved]
    free = sum(not cell.left for cell in right)
    return [
        tool,
        *counts,
        str(free),
        _mean([c.nodes for c in right]),
        _mean([c.run for c in right]),
        proved,
    ]


def _mean(shares: Sequence[float]) -> str:
    return f"{float(np.exp(np.mean(np.log(shares)))):.2f}" if shares else ""


HEAD = ["", "right", "wrong", "failed", "without control flow", "nodes", "run time", "proved"]


def tables(chosen: Sequence[str], every: int) -> str:
    """Both tables, of the tools that are installed."""
    there = [name for name in chosen if compare_tools.installed(TOOLS[name][0])]
    cells = {name: [*measured(name, every)] for name in there}
    count = max(map(len, cells.values()), default=0)
    modules = dict.fromkeys(TOOLS[name][0] for name in there if TOOLS[name][0] != "straightline")
    versions = ", ".join(f"{module} {version(module)}" for module in (*modules, "onnx"))
    versions = ", ".join(dict.fromkeys(versions.split(", ")))
    first = [row(name, cells[name]) for name in there if name in SIMPLIFIERS]
    second = [row(name, cells[name], is_converter=True) for name in there if name in CONVERTERS]
    day, python = time.strftime("%Y-%m-%d"), platform.python_version()
    text = f"{count} models with control flow, {day}, {versions}, Python {python}:\n\n"
    if first:
        text += table(HEAD, first) + "\n"
    if second:
        text += (
            "\n"
            + table([f"to opset {OPSET}", "right", "wrong", "refused", "proved"], second)
            + "\n"
        )
    return text


def main() -> None:
    """Measure, and print the tables or write them into the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="put the tables into the page")
    parser.add_argument("--every", type=int, default=1, help="one model of so many")
    parser.add_argument("--tool", action="append", choices=TOOLS, help="this tool only")
    options = parser.parse_args()
    text = tables(options.tool or list(TOOLS), options.every)
    if not options.write:
        print(text)
        return
    mark = "<!-- made by dev/tools/tool_table.py -->"
    made = f"{mark}\n\n{text}\n<!-- to here -->"
    page = PAGE.read_text(encoding="utf-8")
    page = re.sub(f"{mark}.*?<!-- to here -->", lambda _: made, page, flags=re.DOTALL)
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
