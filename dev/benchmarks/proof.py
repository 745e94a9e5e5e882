"""Prove the unrolling of a GRU body of 21 nodes: time against that of the rewrite, memory by term.
Then prove long chains of nodes whose operands are swapped, or which changed their opset alone.

Each is the least of three runs, from messages to the answer; memory is counted in a run of its own,
since counting slows. Times are processor time.

    python dev/benchmarks/proof.py [ITERATIONS ...]
"""

import argparse
import gc
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx
import straightline as sl
from onnx import helper
from straightline.dev.benchmarks.timing import timed
from straightline.verification.proof import Proof, prove

sys.path.insert(0, str(Path(__file__).parent))

from unroll_gru import BUDGET, ITERATIONS, gru_loop


def rewritten(model: Any) -> Any:
    return sl.rewrite(model, "unroll-loops", max_nodes=BUDGET, verify=False)


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
    parser.add_argument("iterations", type=int, nargs="*", default=ITERATIONS)
    options = parser.parse_args()
    print(f"{'iterations':>6} {'nodes':>8} {'rewrite':>9} {'proof':>9} {'ratio':>6} ", end="")
    print(f"{'us/node':>8} {'terms':>8} {'bytes/term':>10}")
    for iterations in options.iterations:
        before = gru_loop(iterations)
        rewrite, after = timed(lambda before=before: rewritten(before))
        seconds, proof = timed(lambda a=before, b=after: prove(a, b))
        assert proof, proof
        report(iterations, len(after.graph.node), rewrite, seconds, proof)
        held = peak(lambda a=before, b=after: prove(a, b))
        print(f"{held / max(sum(proof.outputs.values()), 1):>10.0f}")
    chains()


def report(iterations: int, nodes: int, rewrite: float, seconds: float, proof: Proof) -> None:
    terms, ratio = sum(proof.outputs.values()), seconds / rewrite
    print(f"{iterations:>6} {nodes:>8} {rewrite:>7.3f} s {seconds:>7.3f} s {ratio:>6.2f} ", end="")
    print(f"{seconds / nodes * 1e6:>8.1f} {terms:>8} ", end="", flush=True)


def chain(nodes: int, op_type: str, opset: int, *, swap: bool = False, **attributes: int) -> Any:
    """A model in which each node takes the value before and one input."""
    info = helper.make_tensor_value_info
    names = ["x", *(f"v{k}" for k in range(nodes))]
    pairs = [[value, "c"][:: -1 if swap else 1] for value in names[:-1]]
    links = [
        helper.make_node(op_type, pair, [name], **attributes)
        for pair, name in zip(pairs, names[1:], strict=True)
    ]
    inputs = [info(name, onnx.TensorProto.FLOAT, [2, 3]) for name in ("x", "c")]
    outputs = [info(names[-1], onnx.TensorProto.FLOAT, ["n", 3])]
    graph = helper.make_graph(links, "chain", inputs, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def chains() -> None:
    cases = {
        "100,000 nodes, another opset": (chain(100_000, "Add", 17), chain(100_000, "Add", 21)),
        "100,000 nodes, swapped": (chain(100_000, "Add", 17), chain(100_000, "Add", 17, swap=True)),
        "2,000 Concats, another opset": (
            chain(2_000, "Concat", 11, axis=0),
            chain(2_000, "Concat", 17, axis=0),
        ),
    }
    for name, (before, after) in cases.items():
        seconds, proof = timed(lambda a=before, b=after: prove(a, b))
        assert proof, proof
        print(f"{name}: {seconds:.3f} s")


if __name__ == "__main__":
    main()
