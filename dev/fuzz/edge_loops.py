"""Random Loops and Scans at the edges: no iterations, axes of 0 and 1, windows cut to nothing, all
element types, functions around them, directions and axes of Scans, sizes that bodies leave open."""

import random
import re
from collections.abc import Sequence

import numpy as np
import onnx

TYPES = ("float", "double", "float16", "int64", "int32", "uint8", "bool")
DTYPES = {t: np.dtype(t if t != "float" else "float32") for t in TYPES}
FLOATS = TYPES[:3]
NUMBERS = ("float", "double", "int64", "int32")
UNARY = {
    "float": ("Neg", "Abs", "Relu", "Exp", "Reciprocal", "Floor"),
    "int64": ("Neg", "Abs", "Sign"),
    "bool": ("Not",),
}
BINARY = {
    "float": ("Add", "Sub", "Mul", "Max", "Min", "Div"),
    "int64": ("Add", "Sub", "Mul", "Max", "Min"),
    "bool": ("And", "Or", "Xor"),
}
REDUCTIONS = ("Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "SumSquare", "LogSumExp")
LIMITS = ("n", "n", "n", "rows", "rows", "0", "1", "3", "-1", "last", "")


def kind_of(t: str) -> str:
    """The table row of a type."""
    return "float" if t in FLOATS else "bool" if t == "bool" else "int64"


class Writer:
    """Nodes of one body, as text; each value is a row of type `t` and size C, or less.

    A Loop inside runs up to one of some limits, the number of the iteration among them.
    """

    def __init__(self, dice: random.Random, t: str, limits: Sequence[str]) -> None:
        self.dice, self.t, self.limits = dice, t, limits
        self.lines: list[str] = []
        self.rows: list[str] = []
        self.count = 0

    def add(self, text: str) -> str:
        """A node that gives the next value."""
        self.count += 1
        name = f"r{self.count}"
        self.lines.append(f"{name} = {text}")
        return name

    def row(self) -> str:
        """A value of the type of the states."""
        return self.dice.choice([*self.rows, *self.rows[-2:]])

    def read(self) -> None:
        """One more row, from the inputs of the model."""
        place = self.dice.choice(("i", "back", "half", "next"))
        if place == "back":
            last = self.add("Sub (rows, one)")
            place = self.add(f"Sub ({last}, i)")
        elif place == "half":
            place = self.add("Div (i, two)")
        elif place == "next":
            following = self.add("Add (i, one)")
            last = self.add("Sub (rows, one)")
            place = self.add(f"Min ({following}, {last})")
        self.rows.append(self.add(f"Gather (x, {place})"))

    def window(self) -> None:
        """The reduction of rows that an end may cut short, to none at times."""
        dice = self.dice
        start = dice.choice(("i", "i", "twice", "zero"))
        if start == "twice":
            start = self.add("Mul (i, two)")
        begin = self.add(f"Unsqueeze ({start}, v0)")
        if start == "zero":
            end = self.add(f"Add ({self.add('Unsqueeze (i, v0)')}, {dice.choice(('v0', 'v1'))})")
        elif dice.random() < 0.2:
            end = "far"
        else:
            end = self.add(f"Add ({begin}, {dice.choice(('v1', 'v2', 'v3'))})")
        part = self.add(f"Slice (x, {begin}, {end}, v0)")
        if self.t in ("float", "double") and dice.random() < 0.3:
            part = self.add(f"{dice.choice(('Neg', 'Abs', 'Exp'))} ({part})")
        kinds = REDUCTIONS if self.t in ("float", "double") else ("Sum", "Max", "Min", "Prod")
        kind = dice.choice(kinds)
        self.rows.append(self.add(f"Reduce{kind} <keepdims = 0> ({part}, v0)"))

    def compute(self) -> None:
        """A node on rows."""
        kind = kind_of(self.t)
        if self.dice.random() < 0.3:
            if self.t not in ("uint8",):
                self.rows.append(self.add(f"{self.dice.choice(UNARY[kind])} ({self.row()})"))
            return
        self.rows.append(self.add(f"{self.dice.choice(BINARY[kind])} ({self.row()}, {self.row()})"))

    def choose(self) -> None:
        """A choice by the iteration, by an input, or by a flag: an If, or a Where."""
        parity = self.add("Mod (i, two)")
        condition = self.dice.choice(("odd", "flag", "yes", "m"))
        if condition == "odd":
            condition = self.add(f"Equal ({parity}, one)")
        elif condition == "m":
            condition = self.add("Gather (m, i)")
        one, other = self.row(), self.row()
        if self.dice.random() < 0.5:
            self.rows.append(self.add(f"Where ({condition}, {one}, {other})"))
            return
        n = self.count + 1
        self.rows.append(
            self.add(
                f"If ({condition}) <then_branch = t{n} () => (p{n}) {{ p{n} = Identity ({one}) }},"
                f" else_branch = e{n} () => (q{n}) {{ q{n} = Identity ({other}) }}>"
            )
        )

    def nest(self) -> None:
        """A Loop in the body, of which some outer iterations make no iteration."""
        if self.t in ("bool", "uint8", "float16"):
            return
        limit = self.dice.choice((*self.limits, "two", "zero", "n"))
        n, op = self.count + 1, self.dice.choice(("Add", "Max", "Mul"))
        self.rows.append(
            self.add(
                f"Loop ({limit}, , {self.row()}) <body = l{n} (int64 j{n}, bool g{n}, {self.t}[C]"
                f" a{n}) => (bool h{n}, {self.t}[C] b{n}) {{ h{n} = Identity (g{n})"
                f" b{n} = {op} (a{n}, {self.row()}) }}>"
            )
        )


def edge_loop(dice: random.Random) -> onnx.ModelProto:
    """A model of one Loop or Scan, perhaps in a function."""
    t = dice.choice(TYPES[:2] * 2 + TYPES)
    is_scan = dice.random() < 0.25
    writer = Writer(dice, t, () if is_scan else ("i", "i"))
    states = dice.choice((0, 1, 1, 1, 2))
    writer.rows += ["e"] if is_scan else []
    if not is_scan:
        writer.read()
    names = [f"s{k}" for k in range(states)]
    updates = []
    for _ in range(dice.randrange(4)):
        step = dice.choice((writer.compute, writer.compute, writer.choose, writer.nest))
        if not is_scan and t in NUMBERS:
            step = dice.choice((step, writer.window, writer.read))
        if not is_scan or step != writer.choose:
            step()
    for name in names:
        op = dice.choice((*BINARY[kind_of(t)], "Where", "Identity", "new"))
        if op == "Where" and not is_scan:
            flag = writer.add("Gather (m, i)")
            updates.append(writer.add(f"Where ({flag}, {writer.row()}, {name})"))
        elif op == "new":
            updates.append(writer.add(f"Identity ({writer.row()})"))
        elif op in ("Identity", "Where"):
            updates.append(writer.add(f"Identity ({name})"))
        else:
            pair = (name, writer.row()) if dice.random() < 0.8 else (writer.row(), name)
            updates.append(writer.add(f"{op} ({pair[0]}, {pair[1]})"))
        if dice.random() < 0.5:
            writer.rows.append(updates[-1])
    outs = dice.randrange(3) if states else dice.randrange(1, 3)
    scanned = [writer.add(f"Identity ({writer.row()})") for _ in range(outs)]
    if is_scan:
        return _scan_model(dice, t, writer, names, updates, scanned)
    return _loop_model(dice, t, writer, names, updates, scanned)


CONSTANTS = """one = Constant <value_int = 1> () two = Constant <value_int = 2> ()
    zero = Constant <value_int = 0> () three = Constant <value_int = 3> ()
    minus = Constant <value_int = -1> () last = Constant <value_int = 9223372036854775807> ()
    v0 = Constant <value_ints = [0]> () v1 = Constant <value_ints = [1]> ()
    v2 = Constant <value_ints = [2]> () v3 = Constant <value_ints = [3]> ()
    far = Constant <value_ints = [9223372036854775807]> ()
    yes = Constant <value = bool {1}> () no = Constant <value = bool {0}> ()
    shape = Shape (x) rows = Gather (shape, zero)"""


def _loop_model(dice, t, writer, names, updates, scanned):
    limit = dice.choice(LIMITS)
    limit = {"0": "zero", "1": "one", "3": "three", "-1": "minus"}.get(limit, limit)
    start = dice.choice(("" if names else "yes", "yes", "yes", "flag", "no"))
    condition = dice.choice(("c", "c", "yes"))
    if limit in ("", "last"):
        start = start or "yes"
        following = writer.add("Add (i, one)")
        condition = writer.add(f"Less ({following}, {dice.choice(('n', 'rows'))})")
    elif dice.random() < 0.15 and start:
        condition = writer.add(f"Less (i, {dice.choice(('two', 'n'))})")
    writer.lines.append(f"d = Identity ({condition})")
    size = dice.choice(("C", "C", ""))
    row = f"{t}[{size}]" if size else f"{t}[]"
    inside = "".join(f", {row} {name}" for name in names)
    given = "".join(f", {row} {v}" for v in (*updates, *scanned))
    outputs = [f"o{k}" for k in range(len(names) + len(scanned))]
    initial = "".join(f", {dice.choice(('init', 'other'))}" for _ in names)
    nodes = " ".join(writer.lines)
    call = f"""{", ".join(outputs)} = Loop ({limit}, {start}{initial})
        <body = body (int64 i, bool c{inside}) => (bool d{given}) {{ {nodes} }}>"""
    ranks = [1] * len(names) + [2] * len(scanned)
    return _model(dice, t, call, outputs, ranks)


def _scan_model(dice, t, writer, names, updates, scanned):
    axis, out_axis = dice.choice((0, 0, 1, -1)), dice.choice((0, 0, 1))
    direction = dice.choice((0, 1))
    source = "x" if axis == 0 else "xt"
    inside = "".join(f"{t}[C] {name}, " for name in names)
    given = ", ".join(f"{t}[C] {v}" for v in (*updates, *scanned))
    outputs = [f"o{k}" for k in range(len(names) + len(scanned))]
    nodes = " ".join(writer.lines)
    count = len(scanned)
    more = ""
    if count:
        more = f""", scan_output_axes = {[out_axis] * count}, scan_output_directions =
            {[dice.choice((0, 1)) for _ in scanned]}"""
    initial = "".join(f"{dice.choice(('init', 'other'))}, " for _ in names)
    call = f"""xt = Transpose <perm = [1, 0]> (x) {", ".join(outputs)} = Scan <num_scan_inputs = 1,
        scan_input_axes = [{axis}], scan_input_directions = [{direction}]{more},
        body = body ({inside}{t}[C] e) => ({given}) {{ {nodes} }}> ({initial}{source})"""
    ranks = [1] * len(names) + [2] * len(scanned)
    return _model(dice, t, call, outputs, ranks)


def _model(dice, t, call, outputs, ranks):
    given = ", ".join(
        f"{t}[{', '.join(f'u{k}{a}' for a in range(rank))}] {name}"
        for k, (name, rank) in enumerate(zip(outputs, ranks, strict=True))
    )
    inputs = f"{t}[N, C] x, {t}[C] init, {t}[C] other, bool[N] m, int64 n, bool flag"
    names = "x, init, other, m, n, flag"
    opset = dice.choice((13 if t != "uint8" else 14, 17, 18, 21))
    opset = 18 if re.search("Reduce(?!Sum )", call) else opset  # axes are an input
    head = f'<ir_version: 8, opset_import: ["" : {opset}, "my" : 1]>\n'
    if dice.random() < 0.3:
        text = f"""{head} g ({inputs}) => ({given}) {{ {", ".join(outputs)} = my.F ({names}) }}
            <domain: "my", opset_import: ["" : {opset}]> F ({names}) => ({", ".join(outputs)})
            {{ {CONSTANTS} {call} }}"""
    else:
        text = f"{head} g ({inputs}) => ({given}) {{ {CONSTANTS} {call} }}"
    return onnx.parser.parse_model(text)


def feeds(model: onnx.ModelProto, dice: random.Random, rows: int, n: int) -> dict[str, np.ndarray]:
    """Inputs of so many rows, and a limit of iterations."""
    t = model.graph.input[0].type.tensor_type.elem_type
    dtype = onnx.helper.tensor_dtype_to_np_dtype(t)
    rng = np.random.default_rng(dice.randrange(1 << 30))
    width = dice.choice((0, 1, 2, 2, 3))
    low, high = (0, 2) if dtype.kind == "b" else (0 if dtype.kind == "u" else -3, 4)

    def draw(*shape: int) -> np.ndarray:
        numbers = rng.integers(low, high, shape)
        return (numbers / 2 if dtype.kind == "f" else numbers).astype(dtype)

    return {
        "x": draw(rows, width),
        "init": draw(width),
        "other": draw(width),
        "m": rng.integers(0, 2, rows).astype(bool),
        "n": np.array(n),
        "flag": np.array(bool(rng.integers(2))),
    }


EDGES = [(0, 0), (1, 1), (1, 0), (2, 2), (3, 2), (5, 3), (0, 2), (4, 7), (6, 1)]
"""Rows, and the limit of iterations."""
