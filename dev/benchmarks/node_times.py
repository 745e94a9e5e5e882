"""What benchmarks share that measure the time of a pass for each node, at a size and at twice it.

They call `rewrite` as users do, without verification and with its defaults. The aim is 100 us a
node at most without verification, and twice the size in at most 2.3 times the time. It is processor
time, the best of a few runs.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable
from typing import Any, Protocol, TypeVar

import onnx
import straightline as sl

MOST_US, MOST_RATIO = 100, 2.3


class Shape(Protocol):
    """What a model is like."""

    @property
    def name(self) -> str:
        """How the report calls it."""


S = TypeVar("S", bound=Shape)


def seconds(proto: onnx.ModelProto, nodes: int, passes: str, rounds: int, **options: Any) -> float:
    """How long a rewrite, which must change the model, takes for each of so many nodes."""
    best, before = float("inf"), proto.SerializeToString(deterministic=True)
    for _ in range(rounds):
        started = time.process_time()
        result = sl.rewrite(proto, passes, **options)
        best = min(best, time.process_time() - started)
        assert result.SerializeToString(deterministic=True) != before
    return best / nodes


def main(
    about: str,
    shapes: Iterable[S],
    made: Callable[[S, int], tuple[onnx.ModelProto, int]],
    option: tuple[str, int, str],
    passes: str,
    rounds: int,
) -> None:
    """Measure all shapes, or those that are asked for, and report them.

    Args:
        about: what the command does.
        shapes: what the models are like.
        made: a model of a size, and how many nodes count.
        option: how the command calls the smaller size, what it is by itself, and what that means.
        passes: what is measured, if nothing else is asked for.
        rounds: how often.
    """
    named, default, meaning = option
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument(f"--{named}", type=int, default=default, dest="size", help=meaning)
    parser.add_argument("--only", default="", help="models whose name holds this")
    parser.add_argument("--passes", default=passes, help="the passes that are measured")
    options = parser.parse_args()
    chosen = [shape for shape in shapes if options.only in shape.name]
    if not chosen:
        parser.error(f"no model has '{options.only}' in its name")

    def measured(shape: S, size: int, **more: Any) -> float:
        return seconds(*made(shape, size), options.passes, rounds, **more)

    measured(chosen[0], max(options.size // 10, 2))  # what is slow only the first time
    size, failed, bare = options.size, 0, {"verify": False}
    print(f"{f'us a node, {named}':40} {size:>8} {2 * size:>8} {'proved':>8}  twice as many")
    for shape in chosen:
        one, two = measured(shape, size, **bare), measured(shape, 2 * size, **bare)
        proved = measured(shape, 2 * size)
        ratio = 2 * two / one
        good = max(one, two) <= MOST_US / 1e6 and ratio <= MOST_RATIO
        failed += not good
        figures = f"{1e6 * one:8.0f} {1e6 * two:8.0f} {1e6 * proved:8.0f}"
        print(f"{shape.name:40} {figures}  {ratio:.2f}x{'' if good else ' !'}", flush=True)
    print(f"{failed} of {len(chosen)} are over {MOST_US} us a node or {MOST_RATIO} times as long")
