"""Convert every operator test of ONNX to several opsets and run the results.

    python dev/tools/check_conversions.py [--targets 9,13] [--only NAME] [--control] [--list wrong]

Each model of onnx's backend tests goes to opsets around its own and to some far ones, with
straightline and with `onnx.version_converter`. A result is right when it passes the full check and
a runtime that gives the expected outputs for the original gives them for the result too.
"""

import argparse
import collections
import multiprocessing
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import ml_dtypes  # noqa: F401  (numpy learns the small float types)
import numpy as np
import onnx
import onnx.version_converter
from straightline import convert_version, reference
from straightline.dev.benchmarks.session import open_session
from straightline.version_converter import ConversionError

OFFSETS = (-6, -4, -2, -1, 1, 2, 4, 6)
FAR = (9, 13, 18, 21, 28)
CONTROL_TARGETS = (8, 9, 11, 13, 16, 18, 21, 25, 28)
CONTROL_FLOW = frozenset({"If", "Loop", "Scan"})


class ConversionRun(NamedTuple):
    """What a converter made of one test: right, refused, wrong, invalid or not run."""

    verdict: str
    detail: str = ""


class Row(NamedTuple):
    """One test, converted to one opset."""

    name: str
    source: int
    target: int
    ours: ConversionRun
    theirs: ConversionRun


def cases() -> list[Any]:
    """All operator tests of onnx's backend."""
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return collect_testcases(None)


def opset_of(model: onnx.ModelProto) -> int:
    return next((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), 0)


def targets_of(model: onnx.ModelProto, given: Sequence[int]) -> list[int]:
    own = opset_of(model)
    wanted = given or [*(own + offset for offset in OFFSETS), *FAR]
    return sorted({t for t in wanted if 7 <= t <= onnx.defs.onnx_opset_version() and t != own})


def run_ort(model: onnx.ModelProto, feeds: dict[str, Any]) -> list[Any]:
    return list(open_session(model, optimized=False).run(None, feeds))


def run_reference(model: onnx.ModelProto, feeds: dict[str, Any]) -> list[Any]:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return list(reference.run(model, feeds))


RUNTIMES = {"onnxruntime": run_ort, "reference": run_reference}


def same(found: Any, wanted: Any, rtol: float, atol: float) -> bool:
    if wanted is None or found is None:
        return wanted is found
    if isinstance(wanted, list | tuple):
        return len(found) == len(wanted) and all(
            same(f, w, rtol, atol) for f, w in zip(found, wanted, strict=True)
        )
    found, wanted = np.asarray(found), np.asarray(wanted)
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        return found.dtype.kind in "OUST" and found.tolist() == wanted.tolist()
    if found.dtype.kind in "OUSTb":
        return bool(np.array_equal(found, wanted))
    kind = np.complex128 if found.dtype.kind == "c" else np.float64
    return bool(np.allclose(found.astype(kind), wanted.astype(kind), rtol, atol, equal_nan=True))


def works(runtime: str, model: onnx.ModelProto, case: Any) -> str:
    """Empty where the runtime gives the expected outputs; else what happened."""
    for inputs, outputs in case.data_sets:
        names = [value.name for value in case.model.graph.input]
        given = [np.asarray(v) if isinstance(v, np.generic) else v for v in inputs]
        feeds = dict(zip(names, given, strict=False))
        try:
            found = RUNTIMES[runtime](model, feeds)
        except Exception as error:  # noqa: BLE001  whatever a runtime raises is its answer
            return f"error: {type(error).__name__}: {' '.join(str(error).split())[:200]}"
        if not same(found, list(outputs), max(case.rtol, 1e-3), max(case.atol, 1e-5)):
            return "other outputs"
    return ""


class Runtimes:
    """The runtimes that give the expected outputs for a test's own model, asked for in order."""

    def __init__(self, case: Any) -> None:
        self.case = case
        self.right: dict[str, bool] = {}

    def __iter__(self) -> Iterator[str]:
        for runtime in RUNTIMES:
            if runtime not in self.right:
                self.right[runtime] = not works(runtime, self.case.model, self.case)
            if self.right[runtime]:
                yield runtime


def fault_of(model: onnx.ModelProto) -> str:
    """What the full check says of a model; empty where it is valid."""
    try:
        onnx.checker.check_model(model, full_check=True)
    except Exception as error:  # noqa: BLE001
        return str(error).strip().splitlines()[-1][:200]
    return ""


def judge(model: onnx.ModelProto, case: Any, runtimes: Runtimes) -> ConversionRun:
    fault = fault_of(model)
    if fault and not fault_of(case.model):
        return ConversionRun("invalid", fault)
    answers = {}
    # The next runtime is asked where one cannot run the result, because it lacks an opset.
    for runtime in runtimes:
        answers[runtime] = works(runtime, model, case)
        if answers[runtime] == "other outputs":
            return ConversionRun("wrong", str(answers))
        if not answers[runtime]:
            return ConversionRun("right")
    return ConversionRun("not run", str(answers))


def convert_ours(model: onnx.ModelProto, target: int) -> onnx.ModelProto | ConversionRun:
    try:
        return convert_version(model, target)
    except ConversionError as error:
        return ConversionRun("refused", str(error.failures[0] if error.failures else error))


def convert_theirs(model: onnx.ModelProto, target: int) -> onnx.ModelProto | ConversionRun:
    try:
        return onnx.version_converter.convert_version(model, target)
    except (onnx.version_converter.ConvertError, RuntimeError, ValueError) as error:
        return ConversionRun("refused", str(error).splitlines()[0][:100])


def check(task: tuple[Any, Sequence[int], bool]) -> list[Row]:
    case, targets, compare = task
    runtimes = Runtimes(case)
    rows = []
    for target in targets_of(case.model, targets):
        verdicts = []
        for convert in (convert_ours, convert_theirs):
            if convert is convert_theirs and not compare:
                verdicts.append(ConversionRun("not asked"))
                continue
            try:
                result = convert(case.model, target)
            except Exception as error:  # noqa: BLE001  a crash is a fault to be listed
                result = ConversionRun("crashed", repr(error)[:300])
            verdicts.append(
                result if isinstance(result, ConversionRun) else judge(result, case, runtimes)
            )
        rows.append(Row(case.name, opset_of(case.model), target, *verdicts))
    return rows


def has_control_flow(model: onnx.ModelProto) -> bool:
    return any(node.op_type in CONTROL_FLOW for node in model.graph.node)


def check_all(
    chosen: Sequence[Any], targets: Sequence[int] = (), processes: int = 2, compare: bool = True
) -> Iterator[list[Row]]:
    """Convert and run the given tests, in parallel."""
    tasks = [(case, targets, compare) for case in chosen]
    with multiprocessing.Pool(processes) as pool:
        yield from pool.imap(check, tasks, chunksize=8)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--targets", default="", help="opsets, separated by commas")
    parser.add_argument("--only", default="", help="tests whose name contains this")
    parser.add_argument("--every", type=int, default=1, help="take one test of so many")
    parser.add_argument("--control", action="store_true", help="tests with If, Loop or Scan")
    parser.add_argument("--list", default="", help="verdicts of ours to list, with commas")
    parser.add_argument("--ours-only", action="store_true", help="leave onnx's converter out")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    targets = [int(t) for t in options.targets.split(",") if t]
    chosen = [c for c in cases() if options.only in c.name][:: options.every]
    if options.control:
        chosen = [c for c in chosen if has_control_flow(c.model)]
        targets = targets or list(CONTROL_TARGETS)
    counts: collections.Counter[tuple[str, str]] = collections.Counter()
    listed = set(options.list.split(","))
    for rows in check_all(chosen, targets, options.processes, not options.ours_only):
        for row in rows:
            counts[row.ours.verdict, row.theirs.verdict] += 1
            worse = row.theirs.verdict == "right" and row.ours.verdict != "right"
            if row.ours.verdict in listed or (worse and "worse" in listed):
                print(
                    f"{row.name} {row.source}->{row.target} {row.ours} theirs={row.theirs.verdict}"
                )
    verdicts = sorted({v for pair in counts for v in pair})
    print(f"{len(chosen)} tests, {sum(counts.values())} conversions (rows: ours, columns: theirs)")
    print("".join(f"{v:>10}" for v in ["", *verdicts, "sum"]))
    for ours in verdicts:
        numbers = [counts[ours, theirs] for theirs in verdicts]
        print(f"{ours:>10}" + "".join(f"{n:>10}" for n in [*numbers, sum(numbers)]))
    sums = [sum(counts[o, t] for o in verdicts) for t in verdicts]
    print(f"{'sum':>10}" + "".join(f"{n:>10}" for n in [*sums, sum(sums)]))


if __name__ == "__main__":
    main()
