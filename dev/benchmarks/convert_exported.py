"""Processor time a node of conversion beside `onnx.version_converter`, on graphs as exporters write
them.

    python dev/benchmarks/convert_exported.py [--nodes 1000 10000] [--rounds 5]

Two transformers, a convolutional network and a detector (`exported.py`), from opset 17. The two
converters take turns, and the fastest of some rounds counts.
"""

from __future__ import annotations

import argparse

import onnx.version_converter
from convert_flat import seconds
from exported import bert, detector, resnet, swin
from straightline import convert_version

MODELS = {bert: 78, swin: 109, resnet: 7, detector: 128}
"""How many nodes a block of each has, about."""

TARGETS = (21, 16, 13, 11)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, nargs="*", default=[1_000, 10_000])
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    print("| model | nodes | target | straightline, us a node | onnx, us a node | ratio |")
    print("|---|---:|---:|---:|---:|---:|")
    for build, each in MODELS.items():
        for count in options.nodes:
            proto = build(max(count // each, 1))
            nodes = len(proto.graph.node)
            for target in TARGETS:
                taken: tuple[list[float], ...] = ([], [])
                for _ in range(options.rounds):
                    converters = (convert_version, onnx.version_converter.convert_version)
                    for times, convert in zip(taken, converters, strict=True):
                        found = seconds(convert, proto, target)
                        if found is not None:
                            times.append(1e6 * found / nodes)
                ours, theirs = (min(times, default=None) for times in taken)
                shown = ["refused" if t is None else f"{t:.1f}" for t in (ours, theirs)]
                ratio = f"{ours / theirs:.1f}" if ours and theirs else ""
                row = [build.__name__, nodes, target, *shown, ratio]
                print(f"| {' | '.join(map(str, row))} |", flush=True)


if __name__ == "__main__":
    main()
