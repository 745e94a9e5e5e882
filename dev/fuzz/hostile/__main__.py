"""Run the hostile models: a line for each, then counts; fails where one of them is a fault."""

import argparse
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import calls
import chains
import folded
import kernels
import nests
import rows
import sizes
import weights
import wide
from children import SECONDS, run

FILES = (calls, sizes, folded, kernels, wide, nests, weights, chains, rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("which", nargs="*", help="files or cases; all where none is given")
    parser.add_argument("--commands", nargs="*")
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--make", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.make:
        (case,), (size, path) = chosen(options.which), options.make
        Path(path).write_bytes(case.make(int(size)).SerializeToString())
        return 0
    counts: Counter[str] = Counter()
    print(f"{'case':>26} {'size':>9} {'command':>8} {'seconds':>8} {'MB':>6} {'exit':>4}  faults")
    for case in chosen(options.which):
        size = case.quick if options.quick else case.size
        with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
            model = Path(folder) / "model.onnx"
            make_apart(case.name, size, model)
            for command in options.commands or case.commands:
                found = run(command, model, Path(folder), options.seconds)
                counts.update(["runs", *found.faults])
                print(
                    f"{case.name:>26} {size:>9} {command:>8} {found.seconds:>8.2f}"
                    f" {found.peak_mb:>6.0f} {found.code:>4}  {' '.join(found.faults) or '-'}"
                    f"  {found.last[:90]}",
                    flush=True,
                )
    print(", ".join(f"{count} {what}" for what, count in counts.items()))
    return 1 if len(counts) > 1 else 0


def make_apart(name: str, size: int, path: Path) -> None:
    """Make a model in another process: what this one holds counts as memory of its children."""
    subprocess.run([sys.executable, __file__, name, "--make", str(size), str(path)], check=True)


def chosen(names):
    for file in FILES:
        for case in file.CASES:
            if not names or file.__name__ in names or case.name in names:
                yield case


if __name__ == "__main__":
    sys.exit(main())
