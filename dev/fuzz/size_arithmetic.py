"""Random integer arithmetic of sizes, at sizes next to where integers wrap.

    PYTHONPATH=tests/support python dev/fuzz/size_arithmetic.py [SEEDS] [FIRST]

compares facts about such numbers with the reference's values once the sizes are known, and refuses
a wrong fact by which an If could be folded.
"""

import itertools
import random
import sys

import numpy as np
import onnx
from straightline import ir, reference
from straightline.analysis.shapes.inference import ShapeInference
from straightline.facts.polynomial import Dimension

HEAD = '<ir_version: 8, opset_import: ["" : 18]>\n'
TYPES = {
    "int8": 3, "int16": 5, "int32": 6, "int64": 7, "uint8": 2, "uint16": 4, "uint32": 12,
    "uint64": 13, "float": 1, "float16": 10, "double": 11, "bool": 9,
}  # fmt: skip
NARROW = ("int32",)
EDGES = (0, 1, 2, 3, 127, 128, 255, 256, 8000, 32768, 46340, 46341, 65535, 65536, (1 << 24) + 1)
SMALL = (*EDGES, (1 << 30) - 1)
LARGE = (*EDGES, 1 << 31, (1 << 31) - 1, 3037000500, 1 << 32, (1 << 40) + 1, (1 << 47) - 1)
BINARY = ("Add", "Sub", "Mul", "Div", "Mod", "Max", "Min")
TESTS = ("Less", "Greater", "Equal", "LessOrEqual", "GreaterOrEqual")


class Drawn:
    """The nodes of one model, over the vectors s, t of one size each and st of both.

    Attributes:
        lines: the nodes.
        known: the element types of the values.
        divisors: what must not be 0.
    """

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice
        self.lines: list[str] = []
        self.divisors: list[str] = []
        self.known = {"s": "int64", "t": "int64", "st": "int64"}
        for _ in range(dice.randint(2, 7)):
            self.draw()

    def add(self, text: str, type_: str) -> None:
        name = f"v{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        self.known[name] = type_

    def draw(self) -> None:
        dice, names = self.dice, list(self.known)
        one = dice.choice([*names, *names[-2:]])
        type_ = self.known[one]
        others = [name for name in names if self.known[name] == type_]
        kind = dice.randrange(10)
        if kind < 2 or type_ == "bool":
            to = dice.choice([*TYPES, "int32", "int64"])
            self.add(f"Cast <to = {TYPES[to]}> ({one})", to)
        elif kind < 6:
            operation = dice.choice(BINARY)
            if operation == "Mod" and type_.startswith("f"):
                operation = "Add"
            other = dice.choice(others)
            if operation in ("Div", "Mod"):
                self.divisors.append(other)
            self.add(f"{operation} ({one}, {other})", type_)
        elif kind < 7 and not type_.startswith("u"):
            self.add(f"Neg ({one})", type_)
        elif kind < 8 and type_ in ("int32", "int64"):
            name = dice.choice(("ReduceProd", "ReduceSum", "ReduceMax"))
            self.add(f"{name} <keepdims = 1> ({one})", type_)
        elif kind < 9 and type_ in ("int32", "int64"):
            number = dice.choice((-1, 1, 2, 3, 7, 65536, -65536, (1 << 31) - 1))
            self.lines.append(f"k{len(self.lines)} = Constant <value_ints = [{number}]> ()")
            constant = f"k{len(self.lines) - 1}"
            if type_ == "int32":
                self.lines.append(f"c{len(self.lines)} = Cast <to = 6> ({constant})")
                constant = f"c{len(self.lines) - 1}"
            self.add(f"{dice.choice(('Add', 'Sub', 'Mul'))} ({one}, {constant})", type_)
        else:
            self.add(f"{dice.choice(TESTS)} ({one}, {dice.choice(others)})", "bool")


def faults(seed: int) -> list[str]:
    """What facts say that is not what the model computes."""
    drawn = Drawn(random.Random(seed))
    names = [name for name in drawn.known if name.startswith("v")]
    outputs = ", ".join(f"{drawn.known[name]}[?] {name}" for name in names)
    nodes = "\n".join(drawn.lines)
    joined = "st = Concat <axis = 0> (s, t)"
    symbolic = f"{HEAD}g (float[N] x, float[M] y) => ({outputs}) {{ s = Shape (x) t = Shape (y)"
    model = ir.load(onnx.parser.parse_model(f"{symbolic} {joined} {nodes} }}"))
    text = f"{HEAD}g (int64[1] s, int64[1] t) => ({outputs}) {{ {joined} {nodes} }}"
    evaluator = reference.Evaluator(onnx.parser.parse_model(text))
    inference = ShapeInference(model)
    facts = {value.name: inference.fact(value) for value in model.graph.outputs}
    # a size that is computed in 32 bits is taken to be less than 2^30
    sizes = SMALL if any(type_ in NARROW for type_ in drawn.known.values()) else LARGE
    for n, m in itertools.product(sizes, repeat=2):
        put = {"N": Dimension.constant(n), "M": Dimension.constant(m)}
        feeds = {"s": np.array([n]), "t": np.array([m])}
        with np.errstate(all="ignore"):
            try:
                results = dict(zip(names, evaluator.run(feeds), strict=True))
            except reference.EvaluationError:  # divided by zero: no fact is about that
                continue
        given = {**results, **feeds, "st": np.array([n, m])}
        if not all(given[name].all() for name in drawn.divisors):
            continue
        for name, fact in facts.items():
            if fact.content is not None:
                said = [_put(element, put) for element in fact.content.reshape(-1)]
                true = results[name].reshape(-1).tolist()
                if any(a is not None and a != b for a, b in zip(said, true, strict=True)):
                    return [f"seed {seed}: {name} at N={n}, M={m}: {said}, is {true}\n{nodes}"]
    return []


def _put(element: object, put: dict[str, Dimension]) -> object:
    return element.replaced(put).value if isinstance(element, Dimension) else element


def main(seeds: int, first: int) -> int:
    """Print what is wrong for so many seeds."""
    found = [fault for seed in range(first, first + seeds) for fault in faults(seed)]
    print("\n".join([*found, f"{seeds} expressions, {len(found)} faults"]))
    return int(bool(found))


if __name__ == "__main__":
    numbers = [int(text) for text in sys.argv[1:]] + [3000, 0][len(sys.argv) - 1 :]
    sys.exit(main(*numbers))
