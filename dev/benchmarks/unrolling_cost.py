"""Where unrolling a loop pays under onnxruntime: how much faster the flat form loads and runs.

    python dev/benchmarks/unrolling_cost.py [--quick] [--only KIND]

Bodies of several kinds and sizes, each of which needs what the trip before made, from 1 to 256
trips. Each cell holds two ratios of the loop's times by those of its copies: of running, then of
loading. A copy weighs as much as it has nodes, and more for rows that it reads or writes and for
large matrices; the rule is the weight of all copies but the first up to which nothing is slower. It
is kept in `passes/utils/costs.py`.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import itertools
import math
import platform
from collections.abc import Iterator, Sequence

import numpy as np
import onnx
import onnx.parser
import onnxruntime
from onnx import numpy_helper
from straightline.dev.benchmarks.loops.case import Arrays
from straightline.dev.benchmarks.loops.measuring import load_times, ratio, run_times, session
from straightline.passes import parse_pipeline
from straightline.passes.utils.costs import PACKED, ROW

TRIPS = (1, 2, 3, 4, 5, 6, 8, 16, 256)
LEAST = 0.99
UNROLL = "unroll-loops,unroll-scans,lower-sequences,eliminate-identities,eliminate-dead-nodes"
HEADER = '<ir_version: 8, opset_import: ["" : 17]>\n'


@dataclasses.dataclass(frozen=True)
class Body:
    """A body from `h` to `r`.

    Attributes:
        kind: what it holds.
        nodes: how many nodes.
        width: how wide its state is.
        text: the nodes.
        weights: the shapes of what it captures.
    """

    kind: str
    nodes: int
    width: int
    text: str
    weights: dict[str, tuple[int, ...]]


@dataclasses.dataclass(frozen=True)
class Point:
    """A body unrolled so many times: how much faster it runs and loads than as a loop.

    Attributes:
        nodes: how many nodes a copy has, without Identities and constants.
        rows: how many rows a trip reads or writes.
        packed: how many numbers the matrices have that it multiplies by.
    """

    nodes: int
    rows: int
    packed: int
    trips: int
    run: float
    load: float

    @property
    def pays(self) -> bool:
        """Whether neither is slower, but for noise."""
        return self.load >= LEAST and self.run >= LEAST

    @property
    def added(self) -> int:
        """The weight of all copies but the first."""
        return (self.trips - 1) * (self.nodes + ROW * self.rows + self.packed // PACKED)


def bodies() -> Iterator[Body]:
    """The bodies that are measured."""
    for count in (1, 2, 3, 4, 8, 32):
        yield elementwise(count, 16)
    yield elementwise(4, 4096)
    for width in (8, 64, 256, 512):
        yield products(1, width)
    yield products(4, 64)
    yield gated(16)
    yield gated(128)


def elementwise(count: int, width: int) -> Body:
    """A chain of Add, Mul and Tanh."""
    kinds = ("Add ({}, b)", "Tanh ({})", "Mul ({}, b)")
    lines = chain([kinds[index % 3] for index in range(count)])
    return Body("elementwise", count, width, lines, {"b": (1, width)})


def products(count: int, width: int) -> Body:
    """A chain of MatMul and Tanh."""
    lines = chain(["MatMul ({}, w)", "Tanh ({})"] * count)
    return Body("products", 2 * count, width, lines, {"w": (width, width)})


def gated(width: int) -> Body:
    """A gated recurrent unit without an input."""
    text = """
      gates = Gemm <transB = 1> (h, w, b)
      i_r, i_z, i_n = Split <axis = 1> (gates)
      reset = Sigmoid (i_r)
      update = Sigmoid (i_z)
      scaled = Mul (reset, i_n)
      new = Tanh (scaled)
      less = Sub (h, new)
      kept = Mul (update, less)
      r = Add (new, kept)"""
    return Body("gated", 9, width, text, {"w": (3 * width, width), "b": (3 * width,)})


def chain(operators: Sequence[str]) -> str:
    """Nodes one after the other, from `h` to `r`."""
    names = ["h", *(f"v{index}" for index in range(len(operators) - 1)), "r"]
    return "".join(
        f"\n      {made} = {operator.format(given)}"
        for operator, (given, made) in zip(operators, itertools.pairwise(names), strict=True)
    )


FORMS = {
    "Loop": """
m (float[1, {width}] x) => (float[1, {width}] y) <int64 trips = {{{trips}}}, bool yes = {{1}}> {{
   y = Loop (trips, yes, x) <body = step (int64 i, bool c, float[1, {width}] h)
      => (bool again, float[1, {width}] r) {{{text}
      again = Identity (c)
   }}>
}}""",
    "Loop, reads": """
m (float[{trips}, {width}] x) => (float[1, {width}] y)
   <int64 trips = {{{trips}}}, bool yes = {{1}}, float[1, {width}] zero = {{{zeros}}}> {{
   y = Loop (trips, yes, zero) <body = step (int64 i, bool c, float[1, {width}] s)
      => (bool again, float[1, {width}] r) {{
      e = Gather <axis = 0> (x, i)
      h = Add (s, e){text}
      again = Identity (c)
   }}>
}}""",
    "Scan, reads": """
m (float[{trips}, {width}] x) => (float[1, {width}] y) <float[1, {width}] zero = {{{zeros}}}> {{
   y = Scan <num_scan_inputs = 1, body = step (float[1, {width}] s, float[{width}] e)
      => (float[1, {width}] r) {{
      h = Add (s, e){text}
   }}> (zero, x)
}}""",
    "Loop, reads and writes": """
m (float[{trips}, {width}] x) => (float[{trips}, 1, {width}] y)
   <int64 trips = {{{trips}}}, bool yes = {{1}}, float[1, {width}] zero = {{{zeros}}}> {{
   last, y = Loop (trips, yes, zero) <body = step (int64 i, bool c, float[1, {width}] s)
      => (bool again, float[1, {width}] r, float[1, {width}] out) {{
      e = Gather <axis = 0> (x, i)
      h = Add (s, e){text}
      out = Identity (r)
      again = Identity (c)
   }}>
}}""",
    "Scan, reads and writes": """
m (float[{trips}, {width}] x) => (float[{trips}, 1, {width}] y)
   <float[1, {width}] zero = {{{zeros}}}> {{
   last, y = Scan <num_scan_inputs = 1, body = step (float[1, {width}] s, float[{width}] e)
      => (float[1, {width}] r, float[1, {width}] out) {{
      h = Add (s, e){text}
      out = Identity (r)
   }}> (zero, x)
}}""",
}
ROWS = dict(zip(FORMS, (0, 1, 1, 2, 2), strict=True))
"""How many rows each trip reads or writes."""


def model(body: Body, form: str, trips: int) -> tuple[onnx.ModelProto, Arrays]:
    """A model with a loop, and what it is fed with."""
    zeros = ", ".join(["0"] * body.width)
    text = FORMS[form].format(width=body.width, trips=trips, text=body.text, zeros=zeros)
    made = onnx.parser.parse_model(HEADER + text)
    generator = np.random.default_rng(0)
    for name, shape in body.weights.items():
        array = generator.standard_normal(shape) / np.sqrt(body.width)
        made.graph.initializer.append(numpy_helper.from_array(array.astype(np.float32), name))
    rows = 1 if form == "Loop" else trips
    return made, {"x": generator.standard_normal((rows, body.width)).astype(np.float32)}


def measure(body: Body, form: str, trips: int, seconds: float) -> Point:
    """Measure a loop against its flat form; what is a little slower for longer, to be sure."""
    loop, feeds = model(body, form, trips)
    flat = parse_pipeline(UNROLL).run(loop).model
    one, other = loop.SerializeToString(), flat.SerializeToString()
    sessions = session(one), session(other)
    runs = run_times(*sessions, feeds, seconds)
    loads = load_times(one, other, seconds)
    if 0.9 < ratio(runs) < 1.05:
        runs += run_times(*sessions, feeds, 3 * seconds)
    if 0.9 < ratio(loads) < 1.05:
        loads += load_times(one, other, 3 * seconds)
    inner = next(a.g for a in loop.graph.node[-1].attribute if a.HasField("g"))
    nodes = sum(node.op_type not in ("Identity", "Constant") for node in inner.node)
    packed = sum(math.prod(shape) for shape in body.weights.values() if shape[0] > 1)
    return Point(nodes, ROWS[form], packed, trips, ratio(runs), ratio(loads))


def most_added(points: Sequence[Point]) -> int:
    """The largest weight added up to which everything pays."""
    slower = [point.added for point in points if not point.pays]
    return max((p.added for p in points if p.added < min(slower, default=1 << 31)), default=-1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer rounds: less exact")
    parser.add_argument("--only", default="", help="bodies of this kind")
    options = parser.parse_args()
    seconds = 0.05 if options.quick else 0.15
    points = []
    print("| body | width | form | nodes | " + " | ".join(map(str, TRIPS)) + " |")
    print("|---" * (4 + len(TRIPS)) + "|")
    for body in bodies():
        if options.only in body.kind:
            for form in FORMS:
                row = [measure(body, form, trips, seconds) for trips in TRIPS]
                points += row
                cells = " | ".join(f"{p.run:.2f}, {p.load:.2f}" for p in row)
                print(
                    f"| {body.kind} | {body.width} | {form} | {row[0].nodes} | {cells} |",
                    flush=True,
                )
    most = most_added(points)
    print(f"\n{datetime.date.today()}, onnxruntime {onnxruntime.__version__}, {platform.machine()}")
    inside = [point for point in points if point.added <= most]
    print(f"pays: {sum(p.pays for p in points)} of {len(points)}; the rule lets in {len(inside)}")
    print(f"MOST_ADDED = {most}")


if __name__ == "__main__":
    main()
