"""Processor time a node of whole-model conversion beside `onnx.version_converter`, on flat models.

    python dev/benchmarks/convert_flat.py [--largest 10000] [--rounds 7]

Layers, convolutions and attention, of which most nodes say the same in all versions. The public
function with its proof, the same without, and onnx take turns, and the fastest of some rounds
counts, since other programs slow all down. Where onnx refuses there is no ratio.
"""

import argparse
import gc
import time
from collections.abc import Callable, Sequence
from functools import partial

import onnx
import onnx.version_converter
from convert_joins import model_of
from straightline import convert_version
from straightline.version_converter import ConversionError

BLOCKS = ("layers", "residual", "attention")
STEPS = ((13, 21), (18, 21), (21, 15), (12, 9), (13, 9))
SIZES = (1_000, 10_000, 50_000)

Convert = Callable[[onnx.ModelProto, int], object]
CONVERTERS: tuple[Convert, ...] = (
    convert_version,
    partial(convert_version, verify=False),
    onnx.version_converter.convert_version,
)


def seconds(convert: Convert, proto: onnx.ModelProto, target: int) -> float | None:
    """Processor time of one conversion; None if it is refused."""
    gc.collect()
    start = time.process_time()
    try:
        convert(proto, target)
    except (ConversionError, onnx.version_converter.ConvertError, RuntimeError):
        return None
    return time.process_time() - start


def fastest(
    converters: Sequence[Convert], proto: onnx.ModelProto, target: int, rounds: int
) -> list[float | None]:
    """Microseconds a node by each converter, which take turns; None if it refuses."""
    taken: list[list[float]] = [[] for _ in converters]
    for _ in range(rounds):
        for times, convert in zip(taken, converters, strict=True):
            spent = seconds(convert, proto, target)
            if spent is not None:
                times.append(1e6 * spent / len(proto.graph.node))
    return [min(times, default=None) for times in taken]


def shown(times: Sequence[float | None]) -> list[str]:
    """Times as the table has them, and the ratios of all but the last to it."""
    *ours, theirs = times
    ratios = [f"{each / theirs:.2f}" if each and theirs else "" for each in ours]
    return [*("refused" if t is None else f"{t:.1f}" for t in times), *ratios]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--largest", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    print("| blocks | nodes | opsets | us a node: proved | unverified | onnx | ratios | |")
    print("|---|---|---|---|---|---|---|---|")
    for name in BLOCKS:
        for source, target in STEPS:
            for count in (size for size in SIZES if size <= options.largest):
                proto = model_of(name, count, source)
                times = shown(fastest(CONVERTERS, proto, target, options.rounds))
                row = [name, len(proto.graph.node), f"{source} to {target}", *times]
                print(f"| {' | '.join(map(str, row))} |", flush=True)


if __name__ == "__main__":
    main()
