"""Prove the unrolling of a GRU body of 21 nodes: time against that of the rewrite, memory by term.

Each is the least of three runs, from messages to the answer; memory is counted in a run of its own,
since counting slows. Times are processor time.

    python dev/benchmarks/proof.py [TRIPS ...]
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import straightline as sl
from straightline.verification.proof import Proof, prove

sys.path.insert(0, str(Path(__file__).parent))

from unroll_gru import BUDGET, TRIPS, gru_loop

RUNS = 3


def rewritten(model: Any) -> Any:
    return sl.rewrite(model, "unroll-loops", max_trips=BUDGET, max_nodes=BUDGET)


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """The least time of some runs, and what was made."""
    best, made = float("inf"), None
    for _ in range(RUNS):
        made = None
        gc.collect()
        start = time.process_time()
        made = work()
        best = min(best, time.process_time() - start)
    return best, made


def peak(work: Callable[[], Any]) -> int:
    """The bytes that are held at most, beyond what is there before."""
    gc.collect()
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("trips", type=int, nargs="*", default=TRIPS)
    options = parser.parse_args()
    print(f"{'trips':>6} {'nodes':>8} {'rewrite':>9} {'proof':>9} {'ratio':>6} ", end="")
    print(f"{'us/node':>8} {'terms':>8} {'bytes/term':>10}")
    for trips in options.trips:
        before = gru_loop(trips)
        rewrite, after = timed(lambda before=before: rewritten(before))
        seconds, proof = timed(lambda a=before, b=after: prove(a, b))
        assert proof, proof
        report(trips, len(after.graph.node), rewrite, seconds, proof)
        held = peak(lambda a=before, b=after: prove(a, b))
        print(f"{held / max(sum(proof.outputs.values()), 1):>10.0f}")


def report(trips: int, nodes: int, rewrite: float, seconds: float, proof: Proof) -> None:
    terms, ratio = sum(proof.outputs.values()), seconds / rewrite
    print(f"{trips:>6} {nodes:>8} {rewrite:>7.3f} s {seconds:>7.3f} s {ratio:>6.2f} ", end="")
    print(f"{seconds / nodes * 1e6:>8.1f} {terms:>8} ", end="", flush=True)


if __name__ == "__main__":
    main()
