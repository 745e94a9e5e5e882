"""Random Loops and Scans whose bodies mix recurrences with what is none."""

import random

import numpy as np
import onnx
from harness import HEAD

SIZE = 3
UNARY = ("Tanh", "Neg", "Sigmoid", "Identity", "Softmax", "Abs", "Sin")
BINARY = ("Add", "Sub", "Mul", "Max", "Min")


class Body:
    """Writes the nodes of one body; every value is float[3] but for the products' weights."""

    def __init__(self, dice: random.Random, given: list[str]) -> None:
        self.dice = dice
        self.values = list(given)
        self.lines: list[str] = []

    def add(self, text: str) -> str:
        """A node that gives the next value."""
        name = f"v{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        self.values.append(name)
        return name

    def pick(self) -> str:
        """A value, late ones more often than early ones."""
        return self.dice.choice([*self.values, *self.values[-4:]])

    def draw(self) -> None:
        """One more node, of any kind."""
        kind = self.dice.randrange(10)
        if kind < 3:
            self.add(f"{self.dice.choice(UNARY)} ({self.pick()})")
        elif kind < 7:
            self.add(f"{self.dice.choice(BINARY)} ({self.pick()}, {self.pick()})")
        elif kind == 7:
            self.add(f"MatMul ({self.pick()}, w)")
        elif kind == 8:
            one = self.add(f"ReduceMax <keepdims = 1> ({self.pick()})")
            self.values.remove(one)
            self.add(f"Add ({one}, {self.pick()})")
        else:
            self._draw_if()

    def _draw_if(self) -> None:
        one, other = self.pick(), self.pick()
        self.add(
            f"If (p) <then_branch = a{len(self.lines)} () => (float[3] t{len(self.lines)})"
            f" {{ t{len(self.lines)} = Add ({one}, {other}) }}, else_branch = b{len(self.lines)}"
            f" () => (float[3] u{len(self.lines)}) {{ u{len(self.lines)} = Neg ({one}) }}>"
        )


def random_loop(dice: random.Random) -> onnx.ModelProto:
    """A model of one Loop over the rows of x, or one Scan of them."""
    states, outputs = dice.randrange(4), dice.randrange(1, 4)
    scan = dice.random() < 0.4
    given = [f"s{k}" for k in range(states)]
    body = Body(dice, [*given, "y", "e"])
    if not scan:
        body.lines.append("e = Gather (x, i)")
        if dice.random() < 0.5:
            body.add("Cast <to = 1> (i)")
            number = body.values.pop()
            body.add(f"Add ({number}, y)")
    for _ in range(dice.randrange(3, 14)):
        body.draw()
    results = [body.add(f"Identity ({body.pick()})") for _ in range(states)]
    rows = [body.add(f"Identity ({body.pick()})") for _ in range(outputs)]
    return onnx.parser.parse_model(HEAD + _text(dice, scan, body, given, results, rows))


def _text(
    dice: random.Random,
    scan: bool,
    body: Body,
    given: list[str],
    results: list[str],
    rows: list[str],
) -> str:
    typed = [f"float[3] {name}" for name in given]
    out = [f"float[3] {name}" for name in (*results, *rows)]
    finals = [f"f{k}" for k in range(len(given))]
    stacked = [f"z{k}" for k in range(len(rows))]
    asked = [name for name in (*finals, *stacked) if dice.random() < 0.8] or [stacked[0]]
    declared = [f"float[3] {n}" if n in finals else f"float[M, 3] {n}" for n in asked]
    head = f"""g (float[N, 3] x, float[3] y, float[3, 3] w, bool p, int64 n) =>
        ({", ".join(declared)}) <bool yes = {{1}}>"""
    names, initial = ", ".join((*finals, *stacked)), ["y"] * len(given)
    lines = " ".join(body.lines)
    if scan:
        backward = f", scan_input_directions = [{dice.randrange(2)}]"
        return f"""{head} {{ {names} = Scan <num_scan_inputs = 1{backward}, body = b
            ({", ".join([*typed, "float[3] e"])}) => ({", ".join(out)}) {{ {lines} }}>
            ({", ".join([*initial, "x"])}) }}"""
    inputs, given_in = ["n", "yes", *initial], ["int64 i", "bool c", *typed]
    return f"""{head} {{ {names} = Loop ({", ".join(inputs)}) <body = b
        ({", ".join(given_in)}) => ({", ".join(["bool c2", *out])})
        {{ c2 = Identity (c) {lines} }}> }}"""


def feeds(length: int, choice: bool) -> dict[str, np.ndarray]:
    """Inputs of such a model."""
    rng = np.random.default_rng(length)
    return {
        "x": rng.normal(size=(max(length, 1), SIZE)).astype(np.float32),
        "y": rng.normal(size=SIZE).astype(np.float32),
        "w": rng.normal(size=(SIZE, SIZE)).astype(np.float32),
        "p": np.array(choice),
        "n": np.array(length),
    }
