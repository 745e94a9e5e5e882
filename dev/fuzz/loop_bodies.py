"""Small bodies of Loops and Scans, by enumeration: up to 3 nodes, 1 to 3 states, all connections.

A wiring says which values the nodes, the states and the scan output read. Labels give it operators,
types, a trip count and conditions. Each number of nodes and states has as many bodies: of a class
with more of them, a walk with an even stride chooses some, and a small class is labelled again.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

EACH = 420
"""The bodies of one number of nodes and states."""
MOST = 5
"""The largest trip count of the feeds."""
HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'
SCALARS = """bool yes = {1}, bool no = {0}, int64 zero = {0}, int64 one = {1}, int64 three = {3},
    int64 most = {9223372036854775807}, int64[2] pair = {0, 2}"""
CONSTANTS = {"float": "{1.5, -0.5}", "int64": "{2, -1}", "bool": "{1, 0}"}

UNARY = {
    "float": ("Neg ({0})", "Identity ({0})", "Relu ({0})"),
    "int64": ("Neg ({0})", "Identity ({0})", "Abs ({0})"),
    "bool": ("Not ({0})", "Identity ({0})", "Not ({0})"),
}
_NUMBERS = (
    *("Add ({0}, {1})", "Mul ({0}, {1})", "Sub ({0}, {1})", "Sub ({1}, {0})", "Add ({1}, {0})"),
    *("Max ({0}, {1})", "Min ({1}, {0})", "Where ({flag}, {0}, {1})", "Where ({flag}, {1}, {0})"),
    *("Greater ({0}, {1}); Where ({t}, {0}, {1})", "LessOrEqual ({1}, {0}); Where ({t}, {0}, {1})"),
    *("Equal ({0}, {1}); Where ({t}, {1}, {0})", "Concat <axis = 0> ({0}, {1})"),
)
_TRUTHS = (
    *("And ({0}, {1})", "Or ({0}, {1})", "Xor ({0}, {1})", "Equal ({0}, {1})", "Or ({1}, {0})"),
    *("And ({1}, {0})", "And (p, {0}); Or ({t}, {1})", "Or (p, {1}); And ({0}, {t})"),
    *("Not ({0}); And ({t}, {1})", "Not ({1}); Or ({0}, {t})", "Concat <axis = 0> ({1}, {0})"),
)
"""Operators on two values; `t` is the first of two nodes, `flag` a comparison or an input."""
BINARY = {"float": _NUMBERS, "int64": _NUMBERS, "bool": _TRUTHS}

LABELS: dict[str, tuple[str, ...]] = {
    "kind": ("float[2]", "float", "int64[2]", "int64", "bool[2]", "bool"),
    "outside": ("captured", "constant", "initializer", "row", "number"),
    "iterations": (*("open", "three", "open", "vector", "zero", "one", "absent", "endless",
     "three"), *("scan", "open scan")),
    "start": ("true", "true", "absent", "open", "false"),
    "goes_on": ("input", "identity", "initializer", "counted", "limited", "value"),
    "asked": ("all", "all", "first", "last"),
    "initial": ("own", "shared", "constant")}  # fmt: skip
"""The roles in a body and around it; those that are to be frequent are repeated."""


class Wiring(NamedTuple):
    """The values that are read: first the states, then one from outside, then the nodes.

    Attributes:
        nodes: one or two operands of each node.
        nexts: the next value of each state.
        scanned: the scan output; None without one.
    """

    nodes: tuple[tuple[int, ...], ...]
    nexts: tuple[int, ...]
    scanned: int | None

    @property
    def is_canonical(self) -> bool:
        """Test for nodes that are all read, and the first one of all orders of states."""
        states = len(self.nexts)
        read = {*self.nexts, self.scanned, *itertools.chain(*self.nodes)}
        if not read.issuperset(range(states + 1, states + 1 + len(self.nodes))):
            return False
        orders = itertools.permutations(range(states))
        return self._key(range(states)) == min(map(self._key, orders))

    def _key(self, order: Sequence[int]) -> tuple[Any, ...]:
        """The wiring with states of other numbers."""
        names = [*order, *range(len(order), len(order) + 1 + len(self.nodes))]
        nodes = [sorted(names[v] for v in node) for node in self.nodes]
        nexts = sorted((names[k], names[v]) for k, v in enumerate(self.nexts))
        return nodes, nexts, -1 if self.scanned is None else names[self.scanned]


def _walk(choices: Sequence[Sequence[Any]]) -> Iterator[list[Any]]:
    """Yield all combinations, such that the first ones are spread evenly over all."""
    size = math.prod(map(len, choices))
    golden = int(size * (math.sqrt(5) - 1) / 2)
    stride = next(n for n in itertools.count(max(golden, 1)) if math.gcd(n, size) == 1)
    for number in range(size):
        rest, chosen = number * stride % size, []
        for options in choices:
            rest, digit = divmod(rest, len(options))
            chosen.append(options[digit])
        yield chosen


def wirings(nodes: int, states: int) -> Iterator[Wiring]:
    """Yield all wirings of so many nodes and states."""
    choices: list[list[Any]] = []
    for count in range(states + 1, states + 1 + nodes):
        pairs = itertools.combinations_with_replacement(range(count), 2)
        choices.append([*((v,) for v in range(count)), *pairs])
    values = range(states + 1 + nodes)
    choices += [[*values]] * states + [[None, *values]]
    for *read, scanned in _walk(choices):
        wiring = Wiring(tuple(read[:nodes]), tuple(read[nodes:]), scanned)
        if wiring.is_canonical:
            yield wiring


class Body(NamedTuple):
    """A wiring with an operator for each node, and labels."""

    wiring: Wiring
    operators: tuple[str, ...]
    labels: dict[str, str]

    @property
    def text(self) -> str:
        """The model of a Loop with this body."""
        return _Writer(self).model()

    @property
    def elem(self) -> str:
        """The element type."""
        return self.labels["kind"].partition("[")[0]

    @property
    def is_scan(self) -> bool:
        """Test for the body of a Scan."""
        return self.labels["iterations"].endswith("scan")

    @property
    def rank(self) -> int:
        """The rank of all values."""
        return self.labels["kind"].count("[")

    def sizes(self) -> list[list[int]] | None:
        """The size of each value in each iteration; None where operands or rows do not fit."""
        nodes, nexts, scanned = self.wiring
        states, every = [2] * len(nexts), []
        for _ in range(MOST):
            sizes = [*states, 2]
            for operands, operator in zip(nodes, self.operators, strict=True):
                own = [sizes[v] for v in operands]
                if "Concat" in operator:
                    own = [sum(own)] if self.rank else []
                if len(set(own)) != 1:
                    return None
                sizes.append(own[0])
            every.append(sizes)
            states = [sizes[v] for v in nexts]
        rows = set() if scanned is None else {sizes[scanned] for sizes in every}
        grows = any(sizes[v] != 2 for sizes in every for v in nexts)
        return None if len(rows) > 1 or (grows and self.is_scan) else every


def bodies(each: int = EACH) -> Iterator[Body]:
    """Yield the bodies of each number of nodes and states."""
    for nodes, states in itertools.product(range(4), range(1, 4)):
        places = [range(len(_NUMBERS))] * nodes  # as many as there are for truth values, or more
        every = itertools.cycle(_walk([*LABELS.values(), *places]))
        again = itertools.chain.from_iterable(wirings(nodes, states) for _ in itertools.count())
        found = (_labelled(*pair) for pair in zip(again, every, strict=False))
        yield from itertools.islice((body for body in found if body.sizes()), each)


def _labelled(wiring: Wiring, chosen: Sequence[Any]) -> Body:
    """A body of some labels; a Loop without a maximum counts."""
    labels, places = dict(zip(LABELS, chosen, strict=False)), chosen[len(LABELS) :]
    elem = labels["kind"].partition("[")[0]
    operators = [
        table[place % len(table)]
        for operands, place in zip(wiring.nodes, places, strict=True)
        for table in [(BINARY if len(operands) == 2 else UNARY)[elem]]
    ]
    if labels["iterations"] in ("absent", "endless"):
        labels["start"] = labels["start"].replace("absent", "true")
        if labels["goes_on"] in ("input", "identity", "initializer"):
            labels["goes_on"] = "counted"
    return Body(wiring, tuple(operators), labels)


def feeds(body: Body) -> list[dict[str, np.ndarray]]:
    """Inputs of the model: no iteration, one, several, as many as there are, and special values."""
    given = []
    for seed, (count, limit, flag, special) in enumerate(_RUNS):
        drawn = np.random.default_rng(seed)
        rows = max(count, 1) if body.labels["iterations"] == "open scan" else MOST
        arrays = {
            name: _numbers(body, [rows] * (name == "xs") + [2] * body.rank, special, drawn)
            for name in ("x", "xs", "x0", "x1", "x2")
        }
        numbers = {"n": np.array(count), "nv": np.array([count]), "m": np.array(limit)}
        given.append(arrays | numbers | {"p": np.array(flag), "g": np.array(count != 3)})
    return given


_RUNS = ((0, 0, True, False), (1, 5, False, False), (5, 1, True, False), (2, 5, False, False))
_RUNS += ((2, 5, True, True), (5, 2, False, True), (3, 3, True, False), (-1, -1, False, True))
"""Trip counts, limits of the condition, choices, and whether values are special."""


def _numbers(
    body: Body, shape: Sequence[int], special: bool, drawn: np.random.Generator
) -> np.ndarray:
    if body.elem == "bool":
        return drawn.integers(0, 2, shape).astype(bool)
    if body.elem == "int64":
        return drawn.integers(-3, 4, shape)
    numbers = np.round(drawn.normal(size=shape), 1)
    if special:
        odd = drawn.choice([np.nan, np.inf, -np.inf, -0.0, 0.0, 1e38], shape)
        numbers = np.where(drawn.random(shape) < 0.5, odd, numbers)
    return np.asarray(numbers, np.float32)


class _Writer:
    """The text of a Loop."""

    def __init__(self, body: Body) -> None:
        self.body, self.labels = body, body.labels
        self.sizes = body.sizes() or []
        _, self.nexts, self.scanned = body.wiring
        self.states = len(self.nexts)
        self.lines: list[str] = []
        self.initializers: list[str] = []
        self.flag = "p"
        self.names = [*(f"s{k}" for k in range(self.states)), self._outside()]
        for k, operator in enumerate(body.operators):
            self._add(k, operator, [self.names[v] for v in body.wiring.nodes[k]])
        self.goes_on = self._goes_on()
        self.results = [self._result(v) for v in body.wiring.nexts]
        self.types = [self._type({2, *self._sizes(v)}, f"S{k}") for k, v in enumerate(self.nexts)]

    def model(self) -> str:
        """The text of the whole model."""
        inputs, outputs, results = self._inputs(), self._outputs(), self._results()
        asked = {"first": outputs[:1], "last": outputs[-1:]}.get(self.labels["asked"], outputs)
        constant = f"{self.labels['kind']} k = {self._constant(CONSTANTS[self.body.elem])}"
        own = f"<{', '.join(self.initializers)}>" if self.initializers else ""
        lines = "".join(line + " " for line in self.lines)
        finals = ", ".join(output.split()[-1] for output in outputs)
        head = f"{HEAD}g ({inputs}) => ({', '.join(asked)}) <{SCALARS}, {constant}> {{"
        arguments = "".join(f", {type_} s{k}" for k, type_ in enumerate(self.types))
        if self.body.is_scan:
            return f"""{head}
    {finals} = Scan <num_scan_inputs = 1,
        body = b ({arguments[2:]}, {self.labels["kind"]} e) => ({results[2:]}) {own} {{
            {lines}}}
    > ({self._initial()}, xs)
}}"""
        return f"""{head}
    {finals} = Loop ({self._iterations()}, {self._start()}, {self._initial()}) <
        body = b (int64 i, bool c{arguments}) => (bool {self.goes_on}{results}) {own} {{
            {lines}}}>
}}"""

    def _inputs(self) -> str:
        kind, rows = self.labels["kind"], "N" if self.labels["iterations"] == "open scan" else MOST
        own = range(self.states if self.labels["initial"] == "own" else 0)
        every = [f"{kind} {name}" for name in ("x", *(f"x{k}" for k in own))]
        every.append(f"{self.body.elem}[{rows}, 2] xs" if self.body.rank else f"{kind}[{rows}] xs")
        return ", ".join([*every, "int64 n, int64[1] nv, int64 m, bool p, bool g"])

    def _initial(self) -> str:
        names = {"shared": ["x"], "constant": ["k"]}.get(self.labels["initial"], [])
        names = names * self.states or [f"x{k}" for k in range(self.states)]
        return ", ".join(names)

    def _outputs(self) -> list[str]:
        """The outputs of the node, with their types."""
        outputs = [f"{type_} f{k}" for k, type_ in enumerate(self.types)]
        if self.scanned is not None:
            inner = f", {self._sizes(self.scanned).pop()}" if self.body.rank else ""
            outputs.append(f"{self.body.elem}[T{inner}] z")
        return outputs

    def _results(self) -> str:
        """The outputs of the body after the condition, with their types."""
        pairs = list(zip(self.types, self.results, strict=True))
        if self.scanned is not None:
            type_ = self._type(self._sizes(self.scanned), "Z")
            pairs.append((type_, self._result(self.scanned)))
        return "".join(f", {type_} {name}" for type_, name in pairs)

    def _add(self, number: int, operator: str, operands: Sequence[str]) -> None:
        """Emit one node, or a comparison and a choice."""
        first = f"t{number}"
        *before, last = operator.format(*operands, t=first, flag=self.flag).split("; ")
        if before and self.body.elem != "bool":
            self.flag = first
        self.lines += [*(f"{first} = {one}" for one in before), f"v{number} = {last}"]
        self.names.append(f"v{number}")

    def _sizes(self, value: int) -> set[int]:
        return {sizes[value] for sizes in self.sizes}

    def _type(self, sizes: set[int], symbol: str) -> str:
        """The type of values of some sizes, with a symbol where they differ."""
        if not self.body.rank:
            return self.body.elem
        return f"{self.body.elem}[{symbol if len(sizes) > 1 else next(iter(sizes))}]"

    def _outside(self) -> str:
        """The name of the value that no state changes."""
        label, elem, rank = self.labels["outside"], self.body.elem, self.body.rank
        if self.body.is_scan and label != "initializer":
            return {"captured": "x", "constant": "k"}.get(label, "e")
        if label == "initializer":
            values = self._constant(CONSTANTS[elem].replace("1,", "0,"))
            self.initializers.append(f"{self.labels['kind']} own = {values}")
            return "own"
        if label == "row":
            self.lines.append("e = Gather (xs, i)")
        elif label == "number":
            if elem == "int64" and not rank:
                return "i"
            places = "Add (i, pair)" if rank else "Identity (i)"
            self.lines.append(f"j = {places}")
            last = {"bool": "Less (j, one)", "float": "Cast <to = 1> (j)", "int64": "Identity (j)"}
            self.lines.append(f"e = {last[elem]}")
        return {"captured": "x", "constant": "k"}.get(label, "e")

    def _constant(self, values: str) -> str:
        """Two numbers, or the first of them."""
        return values if self.body.rank else values.partition(",")[0] + "}"

    def _result(self, value: int) -> str:
        """An output of the body: a value from outside needs an Identity."""
        return self._own(self.names[value])

    def _own(self, name: str) -> str:
        if name not in ("x", "k"):
            return name
        if "outer = " not in " ".join(self.lines):
            self.lines.append(f"outer = Identity ({name})")
        return "outer"

    def _goes_on(self) -> str:
        """The name of the condition after an iteration."""
        label = self.labels["goes_on"]
        if label == "input" or self.body.is_scan:
            return "c"
        if label == "initializer":
            self.initializers.append("bool go = {1}")
        elif label == "value":
            return self._flag()
        else:
            lines = {"identity": "Identity (c)", "counted": "Less (i, three)"}
            self.lines.append(f"go = {lines.get(label, 'Less (i, m)')}")
        return "go"

    def _flag(self) -> str:
        """The name of a condition that depends on the last value."""
        elem, flag = self.body.elem, self.names[-1]
        if self.body.rank:
            self.lines.append(f"flag = Gather ({flag}, zero)")
            flag = "flag"
        if elem != "bool":
            limit = "three" if elem == "int64" else "limit"
            self.lines.append("limit = Cast <to = 1> (three)" if elem == "float" else "")
            self.lines.append(f"low = Less ({flag}, {limit})")
            flag = "low"
        if self.labels["iterations"] in ("absent", "endless"):
            self.lines.append(f"few = Less (i, three) go = And (few, {flag})")
            return "go"
        return self._own(flag)

    def _iterations(self) -> str:
        names = {"open": "n", "vector": "nv", "absent": "", "endless": "most"}
        return names.get(self.labels["iterations"], self.labels["iterations"])

    def _start(self) -> str:
        return {"true": "yes", "absent": "", "open": "g", "false": "no"}[self.labels["start"]]
