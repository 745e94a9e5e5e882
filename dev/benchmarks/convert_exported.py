"""Processor time a node of conversion beside `onnx.version_converter`, on graphs as exporters write
them.

    python dev/benchmarks/convert_exported.py [--nodes 1000 10000] [--rounds 5]

Two transformers, a convolutional network and a detector (`exported.py`), from opset 17. The two
converters take turns, and the fastest of some rounds counts.
"""

import argparse

from convert_flat import CONVERTERS, fastest, shown
from exported import bert, detector, resnet, swin

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
            for target in TARGETS:
                times = shown(fastest(CONVERTERS[::2], proto, target, options.rounds))
                row = [build.__name__, len(proto.graph.node), target, *times]
                print(f"| {' | '.join(map(str, row))} |", flush=True)


if __name__ == "__main__":
    main()
