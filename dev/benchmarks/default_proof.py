"""Time the proof that every rewrite makes by default against the rewrite itself.

Each model is rewritten by `rewrite` without and with its proof; both are the least of three runs,
in processor time, and the proof takes the difference. The models are the loops of
`dev/benchmarks/loops` in small and in measured sizes, the examples and onnx's backend tests with
control flow, and the files of `--folder`.

    python -m straightline.dev.benchmarks.default_proof [--folder MODELS] [--only NAME] [--list]
        [--pipeline accelerate]
"""

import argparse
import statistics
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import onnx
import straightline as sl

from .clients.corpus import sources
from .loops.collection import cases
from .timing import timed


class Row(NamedTuple):
    """One model: processor seconds of its rewrite, of its proof, and the proof's status."""

    name: str
    rewrite: float
    proof: float
    status: str

    @property
    def ratio(self) -> float:
        return self.proof / self.rewrite


def models(folder: Path | None) -> Iterator[tuple[str, onnx.ModelProto]]:
    for source in sources():
        yield source.name, source.model
    for case in cases():
        yield f"{case.name}, measured size", case.original(case.sizes)
    for path in sorted(folder.glob("**/*.onnx")) if folder else ():
        yield path.stem, onnx.load(path)


def measured(name: str, model: onnx.ModelProto, pipeline: str | None) -> Row:
    bare, _ = timed(lambda: sl.rewrite(model, pipeline, verify=False))
    whole, _ = timed(lambda: sl.rewrite(model, pipeline))
    verdict = sl.transform(model, pipeline, hints=False).verdict
    assert verdict is not None
    status = "proved" if verdict.proved else verdict.status
    return Row(name, bare, max(whole - bare, 0.0), status)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--folder", type=Path, help="further models")
    parser.add_argument("--only", default="", help="part of a name")
    parser.add_argument("--pipeline", help="other passes than the default ones")
    parser.add_argument("--list", action="store_true", help="print each model")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for name, model in models(options.folder):
        if options.only in name:
            rows.append(measured(name, model, options.pipeline))
            if options.list:
                print(f"{rows[-1].ratio:6.2f}  {rows[-1].rewrite * 1e3:9.1f} ms", end=" ")
                print(f"{rows[-1].proof * 1e3:9.1f} ms  {rows[-1].status:8} {name}", flush=True)
    ratios = sorted(row.ratio for row in rows)
    print(f"{len(rows)} models, {dict(Counter(row.status for row in rows))}")
    print(f"proof / rewrite: median {statistics.median(ratios):.2f}, ", end="")
    print(f"nine of ten at most {ratios[len(ratios) * 9 // 10]:.2f}, longest {ratios[-1]:.2f}")
    whole = sum(row.proof for row in rows) / sum(row.rewrite for row in rows)
    proofs = sorted(row.proof * 1e3 for row in rows)
    print(f"all together {whole:.2f}; proof: median {statistics.median(proofs):.1f} ms, ", end="")
    print(f"95 % at most {proofs[len(proofs) * 95 // 100]:.1f} ms")


if __name__ == "__main__":
    main()
