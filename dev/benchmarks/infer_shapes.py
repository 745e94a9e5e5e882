"""What it costs to know types and shapes: passes and conversion on models as exporters write them.

    python dev/benchmarks/infer_shapes.py [--largest 20000]

Models come with shapes computed at run time (bert, swin), with few (resnet) and with none (a flat
chain, a chain of mixed operators). The ratio is that of the time a node to the smallest model's.
"""

from __future__ import annotations

import argparse
import gc
import time
from collections.abc import Callable, Iterator

import onnx
from convert_versions import chain
from exported import bert, resnet, swin
from flat_pipeline import flat_model
from straightline import ir
from straightline.passes import PassContext
from straightline.passes.cleanup.fold_shapes import FoldShapes
from straightline.passes.cleanup.infer_shapes import InferShapes
from straightline.version_converter.convert import convert

SIZES = (336, 2_000, 20_000)
TARGET = 21
REPEATS = 3

MODELS: dict[str, Callable[[int], onnx.ModelProto]] = {
    "bert": lambda size: bert(max(size // 78, 1)),
    "swin": lambda size: swin(max(size // 109, 1)),
    "resnet": lambda size: resnet(max(size // 7, 1)),
    "flat": flat_model,
    "chain": lambda size: chain(size, 17),
}

WORK: dict[str, Callable[[ir.Model], object]] = {
    "fold-shapes": lambda model: FoldShapes().run(model, PassContext()),
    "infer-shapes": lambda model: InferShapes().run(model, PassContext()),
    "convert": lambda model: convert(model, TARGET),
}


def seconds(work: Callable[[ir.Model], object], message: onnx.ModelProto) -> float:
    """Processor time, the best of a few runs, each on a model of its own."""
    times = []
    for _ in range(REPEATS):
        model = ir.load(message)
        gc.collect()
        started = time.process_time()
        work(model)
        times.append(time.process_time() - started)
    return min(times)


def rows(largest: int) -> Iterator[str]:
    for name, make in MODELS.items():
        base: dict[str, float] = {}
        for size in SIZES:
            message = make(size)
            count = len(message.graph.node)
            if count > 1.1 * largest:
                continue
            cells = []
            for title, work in WORK.items():
                each = seconds(work, message) / count * 1e6
                first = base.setdefault(title, each)
                cells.append(f"{each:.0f} | {each / first:.2f}")
            yield f"| {name} | {count:,} | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--largest", type=int, default=20_000)
    options = parser.parse_args()
    print("| model | nodes |", " | ".join(f"{title}, us a node | ratio" for title in WORK), "|")
    print("|---|---:|" + "---:|---:|" * len(WORK))
    for row in rows(options.largest):
        print(row, flush=True)


if __name__ == "__main__":
    main()
