"""Models with loops: how much faster they load and run when rewritten, and when done by hand.

    python -m straightline.dev.benchmarks.loops [--passes PIPELINE ...] [--only NAME] [--quick]
    [--json] [--runtime NAME]

Ratios are times (or nodes) of the original by those of the other form: above 1 is better. A load is
the time in which the runtime (onnxruntime, or openvino where that is installed) makes a session of
bytes, a run that of one call, both on one thread and in processor time. What a runtime refuses is
listed, not measured. A form takes turns with the original, and the median over the rounds counts.
Outputs of all forms are compared, within the tolerance of each case (1e-4 of the value where it
states none): sums are made in other orders. `!` marks outputs that differ.
"""

import argparse
import dataclasses
import json
import sys

from straightline.passes import PassOptionError, Pipeline, parse_pipeline

from .collection import cases
from .comparison import RefusedError, compare
from .report import counts, families, head, line, summary
from .runtimes import RUNTIMES

SECONDS, QUICKLY = 0.4, 0.05


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m straightline.dev.benchmarks.loops", description=__doc__.splitlines()[0]
    )
    parser.add_argument(
        "--passes",
        action="append",
        help="a pipeline to measure; several times for several (default: accelerate, straighten)",
    )
    parser.add_argument("--only", default="", help="cases whose name holds this, or a family")
    parser.add_argument("--quick", action="store_true", help="fewer rounds: less exact")
    parser.add_argument("--json", action="store_true", help="print a JSON document")
    parser.add_argument("--runtime", choices=list(RUNTIMES), default="onnxruntime")
    options = parser.parse_args()
    pipelines = _pipelines(options.passes)
    chosen = cases(options.only)
    if not chosen:
        parser.error(f"no case has '{options.only}' in its name")
    seconds = QUICKLY if options.quick else SECONDS
    compare(chosen[0], pipelines, 0.0)  # what is slow only the first time
    measured, refusals = [], []
    if not options.json:
        print(head(list(pipelines)), flush=True)
    for case in chosen:
        try:
            measured.append(compare(case, pipelines, seconds, options.runtime))
        except RefusedError as refusal:
            refusals.append(refusal)
            print(refusal, file=sys.stderr, flush=True)
            continue
        if not options.json:
            print(line(measured[-1]), flush=True)
    if options.json:
        json.dump([dataclasses.asdict(one) for one in measured], sys.stdout, indent=1)
    else:
        print("\n".join([*summary(measured), *families(measured), *counts(measured, refusals)]))


def _pipelines(texts: list[str] | None) -> dict[str, Pipeline]:
    if texts:
        return {text: parse_pipeline(text) for text in texts}
    found = {"straighten": parse_pipeline("straighten")}
    try:
        return {"accelerate": parse_pipeline("accelerate"), **found}
    except PassOptionError:
        return found


if __name__ == "__main__":
    main()
