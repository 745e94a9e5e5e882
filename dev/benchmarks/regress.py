"""Compare the public calls on 31 inputs with the last commit's: time, nodes left, proof.

    python -m straightline.dev.benchmarks.regress [--only TEXT] [--write]

Times are ratios to a fixed piece of work, a bare copy of messages, that takes turns with the calls
in the same run; the fastest of some turns counts. It is processor time, with that of child
processes that have ended. Each input runs with the defaults of the public function, and without
verification. The table of the last commit is `regress.csv`: a ratio that changed by more than a
tenth, and other nodes or another verdict, are printed; `--write` replaces these rows.
"""

import argparse
import csv
import math
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx
import straightline as sl

from . import convert_joins
from .flat_pipeline import flat_model
from .loops.collection import cases
from .nested_loops import MODEL as NESTED
from .unroll_gru import by_bare_copy, gru_loop

TABLE = Path(__file__).with_suffix(".csv")
MOST_CHANGE = 1.1
"""The largest factor between two ratios that counts as none."""
SECONDS = 1.5
"""Processor time for the turns of one call."""
TURNS = range(3, 40)
UNIT_ITERATIONS = 200
LOOPS = (
    *("mlp_scan", "if_by_row", "cumulative_sum_loop", "list_append_and_stack", "nested_maps"),
    *("linear_recurrence_loop", "sinkhorn_8_iterations", "fixed_point_until_converged"),
    *("gru_torch_list", "lstm_torch_list", "gru_tensorflow_while", "tf_tensor_array"),
    *("torch_while_loop", "decoder_layers", "greedy_decoding_cache", "suppression_by_hand"),
)
"""The plainest loops, then one as each exporter writes it."""


class Row(NamedTuple):
    """A row of the table; the times are ratios, and a command has one only.

    Attributes:
        name: the input.
        bare: the time without verification.
        default: the time with the defaults.
        nodes: the nodes left.
        verdict: "proved", or the status of the comparison.
    """

    name: str
    bare: float
    default: float
    nodes: int
    verdict: str


class Input(NamedTuple):
    """A model with the keywords of `straightline.transform` that stand for a public call."""

    name: str
    model: Callable[[], onnx.ModelProto]
    options: Mapping[str, Any] = {}

    def call(self, model: onnx.ModelProto, **more: Any) -> onnx.ModelProto:
        """Call `rewrite`, or `convert_version` if there is an opset."""
        options = {**self.options, **more}
        if "opset" in options:
            return sl.convert_version(model, options.pop("opset"), **options)
        return sl.rewrite(model, **options)


def inputs() -> list[Input]:
    """The inputs that are models."""
    by_name = {case.name: case for case in cases()}
    loops = [Input(n, lambda case=by_name[n]: case.original(case.sizes)) for n in LOOPS]
    unroll = {"passes": "unroll-loops", "max_nodes": 10**6}
    conversions = (("layers", 13, 21), ("residual", 21, 13), ("attention", 12, 9))
    return [
        *loops,
        Input("gru_100_iterations", lambda: gru_loop(100), unroll),
        Input("gru_1000_iterations", lambda: gru_loop(1_000), unroll),
        Input("nested_loops", lambda: onnx.parser.parse_model(NESTED % 40), unroll),
        Input("flat_chain", lambda: flat_model(1_000)),
        Input("flat_layers", lambda: convert_joins.model_of("layers", 1_000)),
        Input("simplify_attention", lambda: _joins("attention", 17), {"passes": "simplify"}),
        *[
            Input(f"{name}_{old}_to_{new}", lambda n=name, o=old: _joins(n, o), {"opset": new})
            for name, old, new in conversions
        ],
        Input("chain_13_to_21", lambda: convert_joins.model_of("chain", 1_000, 13), {"opset": 21}),
        Input("contrib_to_onnx", lambda: contrib(1_000), {"target": "onnx"}),
    ]


COMMANDS: dict[str, tuple[str, ...]] = {
    "command_version": ("--version",),
    "command_help": ("--help",),
    "command_rewrite": ("rewrite", "small.onnx", "out.onnx"),
    "command_convert": ("convert", "small.onnx", "new.onnx", "--opset", "21"),
}


def _joins(name: str, opset: int) -> onnx.ModelProto:
    return convert_joins.model_of(name, 1_000, opset)


def contrib(count: int) -> onnx.ModelProto:
    """A chain of operators of com.microsoft, of four kinds."""
    kinds = (
        "FusedMatMul <alpha = 0.5, transB = 1> ({x}, w)",
        "BiasGelu ({x}, b)",
        "SkipLayerNormalization <epsilon = 0.001> ({x}, x0, b, b, b)",
        "QuickGelu <alpha = 1.0> ({x})",
    )
    nodes = "  ".join(
        f"x{at + 1} = com.microsoft.{kinds[at % len(kinds)].format(x=f'x{at}')}"
        for at in range(count)
    )
    model = onnx.parser.parse_model(f"""
        <ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>
        g (float[N,8,32] x0) => (float[N,8,32] x{count}) <float[32,32] w, float[32] b> {{ {nodes} }}
    """)
    for name, shape in (("w", (32, 32)), ("b", (32,))):
        array = np.linspace(-0.2, 0.2, math.prod(shape), dtype=np.float32).reshape(shape)
        model.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    return model


class Unit:
    """The fixed piece of work: a bare copy of the body of a GRU."""

    def __init__(self) -> None:
        self._model = gru_loop(UNIT_ITERATIONS)

    def ratio(self, call: Callable[[], object]) -> float:
        """Time of a call, of that of the work, in turns; the first call is not counted."""
        call()
        least, unit, spent = float("inf"), float("inf"), 0.0
        for turn in range(TURNS.stop):
            unit = min(unit, seconds(lambda: by_bare_copy(self._model, UNIT_ITERATIONS)))
            taken = seconds(call)
            least, spent = min(least, taken), spent + taken
            if spent > SECONDS and turn >= TURNS.start - 1:
                break
        return least / unit


def seconds(call: Callable[[], object]) -> float:
    """Processor time of a call, with that of its child processes."""
    before, start = os.times(), time.process_time()
    result = call()
    own, after = time.process_time() - start, os.times()
    del result
    children = after.children_user + after.children_system
    return own + children - before.children_user - before.children_system


def measure_model(unit: Unit, one: Input) -> Row:
    """The row of a model."""
    model = one.model()
    outcome = sl.transform(model, hints=False, **_of_transform(one.options))
    verdict = outcome.verdict
    assert verdict is not None
    bare = unit.ratio(lambda: one.call(model, verify=False))
    default = unit.ratio(lambda: one.call(model))
    status = "proved" if verdict.proved else verdict.status
    return Row(one.name, bare, default, outcome.nodes.after, status)


def _of_transform(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """A conversion alone runs no passes."""
    return {"passes": (), **options} if "opset" in options else options


def measure_command(unit: Unit, name: str, folder: Path) -> Row:
    """The row of a whole command, start of Python included."""
    command = [sys.executable, "-m", "straightline", *COMMANDS[name]]

    ratio = unit.ratio(lambda: subprocess.run(command, cwd=folder, check=True, capture_output=True))
    writes = [part for part in COMMANDS[name][2:] if part.endswith(".onnx")]
    nodes = sum(len(onnx.load(folder / part).graph.node) for part in writes)
    return Row(name, ratio, ratio, nodes, "")


def measurements(only: str) -> Iterable[Callable[[], Row]]:
    """One function for each input whose name holds a text."""
    unit = Unit()
    for one in inputs():
        if only in one.name:
            yield lambda one=one: measure_model(unit, one)
    with tempfile.TemporaryDirectory() as folder:
        onnx.save(convert_joins.model_of("layers", 5, 17), Path(folder, "small.onnx"))
        for name in COMMANDS:
            if only in name:
                yield lambda name=name: measure_command(unit, name, Path(folder))


def changes(before: Row | None, after: Row) -> list[str]:
    """Lines about a row that differs from the last table's."""
    if before is None:
        return [f"{after.name}: not in the table"]
    lines = []
    for what in ("bare", "default"):
        old, new = getattr(before, what), getattr(after, what)
        if not 1 / MOST_CHANGE <= new / old <= MOST_CHANGE:
            lines.append(f"{after.name}, {what}: {old:.3g} -> {new:.3g}, {new / old:.2f} of it")
    if before.nodes != after.nodes:
        lines.append(f"{after.name}: {before.nodes} -> {after.nodes} nodes")
    if before.verdict != after.verdict:
        lines.append(f"{after.name}: {before.verdict} -> {after.verdict}")
    return lines


def nearer(before: Row, one: Row, other: Row) -> Row:
    """Of two measurements the ratios that are nearer to the table's: noise goes either way."""

    def choose(what: str) -> float:
        old = getattr(before, what)
        return min(getattr(one, what), getattr(other, what), key=lambda new: abs(new - old))

    return other._replace(bare=choose("bare"), default=choose("default"))


def read(path: Path) -> dict[str, Row]:
    """The rows of a table, by name; none without a file."""
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        rows = [
            Row(r["name"], float(r["bare"]), float(r["default"]), int(r["nodes"]), r["verdict"])
            for r in csv.DictReader(file)
        ]
    return {row.name: row for row in rows}


def write(path: Path, rows: Sequence[Row]) -> None:
    """Write a table, with ratios of three digits."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Row._fields)
        for row in rows:
            writer.writerow(
                (row.name, f"{row.bare:.3g}", f"{row.default:.3g}", row.nodes, row.verdict)
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", default="", help="part of a name")
    parser.add_argument("--write", action="store_true", help="replace the rows that changed")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    table = read(TABLE)
    rows, found = dict(table), 0
    for measure in measurements(options.only):
        row = measure()
        before = table.get(row.name)
        if before is not None and changes(before, row):  # once more: it may be noise
            row = nearer(before, row, measure())
        lines = changes(before, row)
        if lines:  # others stay, so that small changes add up to one
            rows[row.name] = row
            found += 1
        print("\n".join(lines) or f"{row.name}: as before", flush=True)
    print(f"{found} of {len(rows)} inputs changed")
    if options.write:
        write(TABLE, list(rows.values()))


if __name__ == "__main__":
    main()
