"""Where a recurrent operator runs faster than the Scan that it could replace, under onnxruntime.

    python dev/benchmarks/recurrence_cost.py [--quick] [--only OPERATOR]

Its activations are computed one number at a time, so that it loses where a batch is large. Each
cell is measured against the Scan as it came and with everything else hoisted out of it, whichever
is faster; the rule is the most numbers in a state (batch times hidden size) up to which the
operator is not slower. It is kept in `passes/utils/costs.py`.
"""

from __future__ import annotations

import argparse
import datetime
import platform
from collections.abc import Sequence

import onnxruntime
from straightline.dev.benchmarks.loops import elman, gru, gru_layers, lstm
from straightline.dev.benchmarks.loops.case import Case
from straightline.dev.benchmarks.loops.measuring import ratio, run_times, session
from straightline.passes import parse_pipeline

CELLS: dict[str, Case] = {
    "RNN Tanh": elman.elman,
    "RNN Relu": elman.relu,
    "GRU": gru.separate,
    "GRU, linear_before_reset": gru.hoisted,
    "GRU, fused": gru_layers.batch_first,
    "LSTM": lstm.separate,
    "LSTM, fused": lstm.fused,
    "LSTM HardSigmoid": lstm.hard,
}
BATCHES = (1, 2, 4, 8, 16, 32, 64)
WIDTHS = (16, 64, 256)
LEAST = 0.99
HOIST = "hoist-invariants,vectorize-loops,eliminate-identities,eliminate-dead-nodes"


def measure(case: Case, batch: int, width: int, seconds: float) -> float:
    """How many times faster the operator runs than the faster one of the Scans."""
    gates = 4 * width if case in lstm.CASES else 3 * width
    inputs = case.sizes["I"]
    sizes = {"T": 50, "B": batch, "H": width, "I": inputs, "G": gates, "J": inputs + width}
    sizes = {**case.sizes, **sizes}
    loop, feeds = case.original(sizes), case.inputs(sizes)
    operator = session(case.by_hand(sizes).SerializeToString())
    scans = (loop, parse_pipeline(HOIST).run(loop).model)
    sessions = [session(scan.SerializeToString()) for scan in scans]
    return min(ratio(run_times(scan, operator, feeds, seconds)) for scan in sessions)


def most_numbers(ratios: Sequence[tuple[int, float]]) -> int:
    """The largest state up to which no operator is slower."""
    slower = min((size for size, faster in ratios if faster < LEAST), default=1 << 31)
    return max((size for size, _ in ratios if size < slower), default=0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer rounds: less exact")
    parser.add_argument("--only", default="", help="cells whose name holds this")
    options = parser.parse_args()
    seconds = 0.05 if options.quick else 0.3
    print("| operator | hidden size | " + " | ".join(f"batch {b}" for b in BATCHES) + " |")
    print("|---|---:" + "|---:" * len(BATCHES) + "|")
    limits = {}
    for name, case in CELLS.items():
        if options.only in name:
            found = []
            for width in WIDTHS:
                row = [(b * width, measure(case, b, width, seconds)) for b in BATCHES]
                found += row
                cells = " | ".join(f"{faster:.2f}" for _, faster in row)
                print(f"| {name} | {width} | {cells} |", flush=True)
            limits[name] = most_numbers(found)
    print(f"\n{datetime.date.today()}, onnxruntime {onnxruntime.__version__}, {platform.machine()}")
    print(f"most numbers in a state: {limits}")


if __name__ == "__main__":
    main()
