"""Time of raise-recurrences for each node of the bodies, by the number of layers.

    python dev/benchmarks/raise_recurrences.py [--layers 20] [--only NAME] [--passes straighten]

Layers of one kind of cell, spelled out as exporters write it: each in the body of a Loop or Scan of
its own, one after the other, or all in one body. What is measured and aimed at: `node_times.py`.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Iterator

import numpy as np
import onnx
import onnx.parser
from onnx import numpy_helper
from straightline import ir
from straightline.dev.benchmarks.node_times import main

ROUNDS = 5

SIZES = {"B": 2, "H": 4, "G": 12, "F": 16}
WEIGHTS = {"b": "H", "w": "HH", "u": "HH", "gw": "GH", "gu": "GH", "gb": "G", "fw": "FH", "fb": "F"}
"""The sizes of constants, by the letters with which their names begin."""

CELLS = {
    "GRU": """xz = MatMul (e, w_z) hz = MatMul (h, u_z) z0 = Add (xz, hz) z1 = Add (z0, b_z)
        xr = MatMul (e, w_r) hr = MatMul (h, u_r) r0 = Add (xr, hr) r1 = Add (r0, b_r)
        z = Sigmoid (z1) r = Sigmoid (r1) rh = Mul (r, h)
        xn = MatMul (e, w_n) hn = MatMul (rh, u_n) n0 = Add (xn, hn) n1 = Add (n0, b_n)
        n = Tanh (n1) rest = Sub (one, z) new = Mul (rest, n) old = Mul (z, h)
        h_next = Add (new, old)""",
    "GRU of torch": """gi = Gemm <transB = 1> (e, gw_i, gb_i) gh = Gemm <transB = 1> (h, gu_h, gb_h)
        i_r, i_z, i_n = Split <axis = 1> (gi) h_r, h_z, h_n = Split <axis = 1> (gh)
        r0 = Add (h_r, i_r) r = Sigmoid (r0) z0 = Add (h_z, i_z) z = Sigmoid (z0)
        gated = Mul (h_n, r) n0 = Add (gated, i_n) n = Tanh (n0)
        less = Sub (h, n) kept = Mul (less, z) h_next = Add (kept, n)""",
    "LSTM of torch": """gi = Gemm <transB = 1> (e, fw_i, fb_i)
        gh = Gemm <transB = 1> (h, fw_h, fb_h)
        gates = Add (gi, gh) i0, f0, g0, o0 = Split <axis = 1> (gates)
        i = Sigmoid (i0) f = Sigmoid (f0) g = Tanh (g0) o = Sigmoid (o0)
        fc = Mul (f, c) ig = Mul (i, g) c_next = Add (fc, ig)
        shown = Tanh (c_next) h_next = Mul (o, shown)""",
    "RNN": """xh = MatMul (e, w_h) hh = MatMul (h, u_h) n0 = Add (xh, hh) n1 = Add (n0, b_h)
        h_next = Tanh (n1)""",
}


@dataclasses.dataclass(frozen=True)
class Shape:
    """What a model is like.

    Attributes:
        cell: the spelling of the cells.
        kind: Loop or Scan.
        together: whether all layers stand in one body.
    """

    cell: str
    kind: str
    together: bool

    @property
    def name(self) -> str:
        """How the report calls it."""
        return f"{self.cell}, {self.kind}, {'one body' if self.together else 'a body each'}"

    @property
    def states(self) -> tuple[str, ...]:
        """The states of a cell."""
        return ("h", "c") if "LSTM" in self.cell else ("h",)


def cell(shape: Shape, layer: int, element: str) -> str:
    """The nodes of one layer, their names ending in its number; what they read is `element`."""

    def named(match: re.Match[str]) -> str:
        name = match.group()
        if name[0].isupper() or name in ("one", "axis", "transB"):
            return name
        return element if name == "e" else f"{name}_{layer}"

    return re.sub(r"[A-Za-z]\w*", named, CELLS[shape.cell])


def construct(shape: Shape, layers: range, source: str) -> str:
    """A Loop or Scan that runs some layers over the rows of a value."""
    states = [f"{state}_{layer}" for layer in layers for state in shape.states]
    body, element = [], f"e_{layers[0]}"
    for layer in layers:
        body.append(cell(shape, layer, element))
        element = f"h_next_{layer}"
    text = "\n".join(body)
    name, last = layers[0], layers[-1]
    given = ", ".join(f"float[2, 4] {state}" for state in states)
    nexts = ", ".join(f"float[2, 4] {re.sub('_', '_next_', state, count=1)}" for state in states)
    finals = ", ".join(f"last_{state}" for state in states)
    initial = ", ".join("zeros" for _ in states)
    row = f"out_{name} = Identity (h_next_{last})"
    if shape.kind == "Scan":
        return f"""{finals}, y_{last} = Scan <num_scan_inputs = 1, body = b_{name}
            ({given}, float[2, 4] e_{name}) => ({nexts}, float[2, 4] out_{name}) {{
            {text} {row} }}> ({initial}, {source})"""
    return f"""{finals}, y_{last} = Loop (length, yes, {initial}) <body = b_{name}
        (int64 t_{name}, bool go_{name}, {given})
        => (bool on_{name}, {nexts}, float[2, 4] out_{name}) {{
        on_{name} = Identity (go_{name}) e_{name} = Gather <axis = 0> ({source}, t_{name})
        {text} {row} }}>"""


def model(shape: Shape, count: int) -> onnx.ModelProto:
    """A model of so many layers."""
    groups = [range(count)] if shape.together else [range(k, k + 1) for k in range(count)]
    source, text = "x", ["size = Shape (x)", "length = Gather <axis = 0> (size, zero)"]
    for layers in groups:
        text.append(construct(shape, layers, source))
        source = f"y_{layers[-1]}"
    header = '<ir_version: 8, opset_import: ["" : 17]>'
    signature = f"g (float[T, 2, 4] x) => (float[T, 2, 4] {source})"
    constants = "<int64 zero = {0}, bool yes = {1}, float one = {1.0}>"
    nodes = "\n".join(text)
    made = onnx.parser.parse_model(f"{header} {signature} {constants} {{ {nodes} }}")
    made.graph.initializer.append(numpy_helper.from_array(np.zeros((2, 4), np.float32), "zeros"))
    for name in sorted(set(re.findall(r"\b[bfgu]?[bwu]_[a-z]_\d+\b", nodes))):
        sizes = [SIZES[letter] for letter in WEIGHTS[name.partition("_")[0]]]
        array = np.linspace(-1, 1, num=int(np.prod(sizes)), dtype=np.float32).reshape(sizes)
        made.graph.initializer.append(numpy_helper.from_array(array, name))
    return made


def shapes() -> Iterator[Shape]:
    """All that are measured."""
    for name, kind, together in itertools.product(CELLS, ("Loop", "Scan"), (False, True)):
        yield Shape(name, kind, together)


def measured(shape: Shape, count: int) -> tuple[onnx.ModelProto, int]:
    """A model of so many layers, and how many nodes it has in all its graphs."""
    made = model(shape, count)
    return made, sum(len(graph) for graph in ir.load(made).graphs())


if __name__ == "__main__":
    layers = "layers", 20, "layers of the smaller model"
    main(__doc__.splitlines()[0], shapes(), measured, layers, "raise-recurrences", ROUNDS)
