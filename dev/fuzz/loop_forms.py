"""Random Loops and Scans as people write them: buffers, windows, counters, inner loops."""

import random
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
import onnx

HEAD = '<ir_version: 8, opset_import: ["" : 18]>\n'
CONSTANTS = """int64 zero = {0}, int64 one = {1}, int64 two = {2}, int64 three = {3},
    int64[1] c0 = {0}, int64[1] c1 = {1}, int64[1] cm = {-1}, float zero_f = {0}, float one_f = {1},
    float small = {-1000000.0}, bool yes = {1}, bool no = {0}, float[4] bins = {0, 1, 0, 2},
    float half = {0.5}, float[1] none = {0}, int64[1] two_v = {2}, int64[1] three_v = {3},
    int64 low = {-1}, int64[1] far = {9223372036854775807}"""
SHAPES = ("3", "3", "D", "B, 3")
SIZES = {"B": (0, 1, 2), "D": (0, 1, 4)}


class State(NamedTuple):
    """A loop-carried value."""

    name: str
    type: str
    initial: str
    after: str


class Draft:
    """A body under way.

    Args:
        dice: the choices.
        shape: the sizes of a row.
        index: the number of the row, from 0.
        reads: true where rows are read by their number.
    """

    def __init__(self, dice: random.Random, shape: str, index: str, reads: bool) -> None:
        self.dice, self.shape, self.index, self.reads = dice, shape, index, reads
        self.grows = True  # states of a Scan have one shape
        self.lines: list[str] = []
        self.states: list[State] = []
        self.rows, self.scalars, self.flags = ["y"], ["a"], ["p"]
        self.integers: list[str] = []
        self._count = 0

    @property
    def of_three(self) -> bool:
        """Test for rows with a last size of 3."""
        return self.shape.endswith("3")

    @property
    def row_type(self) -> str:
        """The type of a row."""
        return f"float[{self.shape}]"

    def name(self, start: str = "v") -> str:
        """A new name."""
        self._count += 1
        return f"{start}{self._count}"

    def add(self, text: str) -> str:
        """A new node with one output."""
        name = self.name()
        self.lines.append(f"{name} = {text}")
        return name

    def row(self) -> str:
        """A row, late ones more often than early ones."""
        return self.dice.choice([*self.rows, *self.rows[-3:]])

    def scalar(self) -> str:
        """A number of the iteration, or of the model."""
        if self.dice.random() < 0.6:
            self.scalars.append(self.add(f"ReduceMax <keepdims = 0> ({self.some_row()})"))
        return self.dice.choice(self.scalars)

    def some_row(self) -> str:
        """A row with at least one element: extremes of none are not defined."""
        flat = self.add(f"Reshape ({self.row()}, cm)")
        return self.add(f"Concat <axis = 0> ({flat}, none)")

    def flag(self) -> str:
        """A truth value."""
        kind = self.dice.randrange(5)
        if kind == 0:
            return self.dice.choice(self.flags)
        if kind == 1:
            rest = self.add(f"Mod ({self.index}, two)")
            return self.add(f"Equal ({rest}, {self.dice.choice(('zero', 'one'))})")
        if kind == 2:
            return self.add(f"{self.compare()} ({self.index}, {self.dice.choice(('two', 'one'))})")
        return self.add(f"{self.compare()} ({self.scalar()}, {self.dice.choice(self.scalars)})")

    def mask(self) -> str:
        """A truth value for each element, or one for all."""
        if self.dice.random() < 0.4:
            return self.flag()
        other = self.dice.choice(("zero_f", self.row()))
        return self.add(f"{self.compare()} ({self.row()}, {other})")

    def compare(self) -> str:
        """A comparison."""
        return self.dice.choice(("Greater", "Less", "GreaterOrEqual", "LessOrEqual"))

    def shuffled(self, operator: str, one: str, other: str) -> str:
        """A node with two operands in any order."""
        pair = [one, other]
        self.dice.shuffle(pair)
        return self.add(f"{operator} ({', '.join(pair)})")

    def state(self, initial: str, type_: str | None = None) -> str:
        """A new state, for which `carry` sets the next value."""
        name = self.name("s")
        self.states.append(State(name, type_ or self.row_type, initial, ""))
        return name

    def carry(self, name: str, after: str) -> None:
        """Set the next value of a state."""
        at = next(k for k, state in enumerate(self.states) if state.name == name)
        self.states[at] = self.states[at]._replace(after=self.add(f"Identity ({after})"))


Form = Callable[[Draft], None]


def plain(draft: Draft) -> None:
    """Nodes that read no state of their own."""
    kind = draft.dice.randrange(6)
    if kind < 3:
        some = draft.dice.choice(("Tanh", "Neg", "Sigmoid", "Abs", "Sin", "Identity", "Relu"))
        draft.rows.append(draft.add(f"{some} ({draft.row()})"))
    elif kind == 3 and draft.of_three:
        draft.rows.append(draft.add(f"MatMul ({draft.row()}, w)"))
    elif kind == 4:
        text = f"Where ({draft.mask()}, {draft.row()}, {draft.row()})"
        draft.rows.append(draft.add(text))
    else:
        some = draft.dice.choice(("Add", "Sub", "Mul", "Max", "Min"))
        draft.rows.append(draft.add(f"{some} ({draft.row()}, {draft.row()})"))


def choice(draft: Draft) -> None:
    """An If with a row of each branch."""
    one, other, name = draft.row(), draft.row(), draft.name()
    some = draft.dice.choice(("Neg", "Tanh", "Identity"))
    draft.lines.append(
        f"{name} = If ({draft.flag()}) <then_branch = {name}t () => ({draft.row_type} {name}a)"
        f" {{ {name}a = Add ({one}, {other}) }}, else_branch = {name}e () => ({draft.row_type}"
        f" {name}b) {{ {name}b = {some} ({other}) }}>"
    )
    draft.rows.append(name)


def read(draft: Draft) -> None:
    """Rows by a number: this one, from the end, of two loops' length, the one before."""
    if not draft.reads:
        return
    text = draft.dice.choice(
        ("Sub (last, {0})", "Mul ({0}, two)", "Sub ({0}, n1)", "Sub ({0}, one)", "Add ({0}, zero)")
    )
    at = draft.add(text.format(draft.index))
    source = "xx" if "Mul" in text else "x"
    draft.rows.append(draft.add(f"Gather ({source}, {at})"))


def window(draft: Draft) -> None:
    """Rows next to one another, reduced; cut short at the end, or at both ends."""
    if not draft.reads:
        return
    step, width = draft.dice.choice((1, 2)), draft.dice.choice(("two", "three", "any"))
    if width == "any":
        width = draft.add("Add (m, one)")
    first = draft.add(f"Mul ({draft.index}, {('one', 'two')[step - 1]})")
    end = draft.add(f"Add ({first}, {width})")
    if draft.dice.random() < 0.3:
        first = draft.add(f"Max ({draft.add(f'Sub ({first}, m)')}, zero)")
    cut = [draft.add(f"Unsqueeze ({place}, c0)") for place in (first, end)]
    source = "xx" if step == 2 else "x"
    rows = draft.add(f"Slice ({source}, {cut[0]}, {cut[1]}, c0)")
    some = draft.dice.choice(("ReduceSum", "ReduceMax", "ReduceMean", "ReduceMin"))
    draft.rows.append(draft.add(f"{some} <keepdims = 0> ({rows}, c0)"))


def registers(draft: Draft) -> None:
    """The last rows in states of their own."""
    one, two = draft.state("y"), draft.state("y")
    draft.carry(one, draft.row())
    draft.carry(two, one)
    draft.rows += [one, two]


def reduction(draft: Draft) -> None:
    """A sum, product or extreme, all of it or of what a mask lets in."""
    state = draft.state("y")
    some = draft.dice.choice(("Add", "Mul", "Max", "Min", "Add"))
    row = draft.add(f"Tanh ({draft.row()})") if some == "Mul" else draft.row()
    after = draft.shuffled(some, state, row)
    if draft.dice.random() < 0.4:
        pair = (after, state) if draft.dice.random() < 0.5 else (state, after)
        after = draft.add(f"Where ({draft.mask()}, {', '.join(pair)})")
    draft.carry(state, after)
    if draft.dice.random() < 0.6:
        draft.rows.append(draft.dice.choice((state, after)))


def linear(draft: Draft) -> None:
    """A state times a factor, plus a row."""
    state = draft.state("y")
    row = draft.row()
    factor = draft.dice.choice(("a", "half", draft.add(f"Sigmoid ({draft.row()})"), "p_row"))
    if factor == "p_row":
        factor = draft.add(f"Tanh ({draft.row()})")
    if draft.dice.random() < 0.5:
        row = draft.shuffled("Mul", draft.add(f"Sub (one_f, {factor})"), row)
    scaled = draft.shuffled("Mul", state, factor)
    after = draft.shuffled("Add", scaled, row)
    if draft.dice.random() < 0.2:
        after = draft.add(f"Sub ({scaled}, {row})")
    draft.carry(state, after)
    if draft.dice.random() < 0.6:
        draft.rows.append(draft.dice.choice((state, after)))


def mean(draft: Draft) -> None:
    """A running mean, and the sum of squares around it."""
    state, squares = draft.state("y"), draft.state("y")
    row = draft.row()
    number = draft.add(f"Cast <to = 1> ({draft.index})")
    count = draft.add(f"Add ({number}, one_f)")
    off = draft.add(f"Sub ({row}, {state})")
    step = draft.add(f"Div ({off}, {count})")
    after = draft.add(f"Add ({state}, {step})")
    off_after = draft.add(f"Sub ({row}, {after})")
    square = draft.add(f"Mul ({off}, {off_after})")
    draft.carry(state, after)
    draft.carry(squares, draft.add(f"Add ({squares}, {square})"))


def best(draft: Draft) -> None:
    """The best number by a comparison, with its index and row."""
    most, at, row = draft.state("small", "float"), draft.state("zero", "int64"), draft.state("y")
    value = draft.scalar()
    other = draft.dice.random() < 0.5
    better = draft.add(
        f"{draft.compare()} ({', '.join((value, most) if other else (most, value))})"
    )
    if draft.dice.random() < 0.3:
        draft.carry(most, draft.shuffled(draft.dice.choice(("Max", "Min")), value, most))
    else:
        draft.carry(most, draft.add(f"Where ({better}, {value}, {most})"))
    draft.carry(at, draft.add(f"Where ({better}, {draft.index}, {at})"))
    draft.carry(row, draft.add(f"Where ({better}, {draft.row()}, {row})"))
    if draft.dice.random() < 0.3:
        draft.rows.append(row)


def best_elements(draft: Draft) -> None:
    """The best of each element, with its index."""
    most, at = draft.state("y"), draft.state("y_int", f"int64[{draft.shape}]")
    row = draft.row()
    better = draft.add(f"{draft.compare()} ({row}, {most})")
    draft.carry(most, draft.add(f"Where ({better}, {row}, {most})"))
    draft.carry(at, draft.add(f"Where ({better}, {draft.index}, {at})"))


def held(draft: Draft) -> None:
    """A value that a mask replaces."""
    state = draft.state("y")
    pair = [draft.row(), state]
    draft.dice.shuffle(pair)
    after = draft.add(f"Where ({draft.mask()}, {', '.join(pair)})")
    draft.carry(state, after)
    if draft.dice.random() < 0.5:
        draft.rows.append(draft.dice.choice((state, after)))


def flags(draft: Draft) -> None:
    """Any, all, parity, a flag that flips."""
    state = draft.state(draft.dice.choice(("yes", "no", "p")), "bool")
    kind = draft.dice.choice(("Or", "And", "Xor", "Not"))
    new = (
        draft.add(f"Not ({state})") if kind == "Not" else draft.shuffled(kind, state, draft.flag())
    )
    draft.carry(state, new)
    draft.flags.append(draft.dice.choice((state, new)))


def counter(draft: Draft) -> None:
    """A number that a flag lets step; perhaps the place of a write."""
    state = draft.state(draft.dice.choice(("zero", "one")), "int64")
    step = draft.add(f"Add ({state}, {draft.dice.choice(('one', 'two'))})")
    draft.carry(state, draft.add(f"Where ({draft.flag()}, {step}, {state})"))
    number = draft.add(f"Cast <to = 1> ({draft.dice.choice((state, step))})")
    draft.rows.append(draft.add(f"Add ({draft.row()}, {number})"))


def histogram(draft: Draft) -> None:
    """Numbers added to the place that a row gives."""
    state = draft.state("bins", "float[4]")
    rest = draft.add(f"ArgMax <keepdims = 0> ({draft.some_row()})")
    number = draft.add(f"Mod ({rest}, {draft.dice.choice(('three', 'two'))})")
    at = draft.add(f"Unsqueeze ({number}, c0)")
    held_ = draft.add(f"Gather ({state}, {at})")
    value = draft.dice.choice(("one_f", draft.scalar()))
    new = draft.shuffled(draft.dice.choice(("Add", "Max", "Add", "Min")), held_, value)
    if draft.dice.random() < 0.5:
        draft.carry(state, draft.add(f"ScatterElements <axis = 0> ({state}, {at}, {new})"))
    else:
        draft.carry(state, _write(draft, state, number, new, whole=True))


def _write(draft: Draft, buffer: str, at: str, row: str, whole: bool = False) -> str:
    place = draft.add(f"Reshape ({at}, c1)")
    if not whole:
        return draft.add(f"ScatterND ({buffer}, {place}, {row})")
    places = draft.add(f"Unsqueeze ({place}, c1)")
    return draft.add(f"ScatterND ({buffer}, {places}, {row})")


def buffer(draft: Draft) -> None:
    """A tensor with rows that iterations write, and perhaps read."""
    source = draft.dice.choice(("x", "o", "oo"))
    state = draft.state(source, f"float[K, {draft.shape}]")
    place = draft.dice.choice(("Add ({0}, zero)", "Sub (last, {0})", "Sub ({0}, n1)"))
    if source == "oo" and draft.dice.random() < 0.6:
        place = draft.dice.choice(("Mul ({0}, two)", "Add ({0}, {0})"))
    at = draft.add(place.format(draft.index))
    row = draft.row()
    kind = draft.dice.randrange(4)
    if kind == 0:
        row = draft.shuffled("Add", draft.add(f"Gather ({state}, {at})"), row)
    elif kind == 1:
        before = draft.add(f"Sub ({at}, one)")
        if draft.dice.random() < 0.5:
            before = draft.add(f"Max ({before}, zero)")
            row = draft.shuffled("Add", draft.add(f"Gather ({state}, {before})"), row)
    elif kind == 2 and draft.dice.random() < 0.4:
        draft.rows.append(draft.add(f"Gather ({state}, {at})"))
    draft.carry(state, _write(draft, state, at, row))


def queue(draft: Draft) -> None:
    """The last rows in one state, of which the oldest gives way to a new one."""
    state = draft.state("y3", f"float[3, {draft.shape}]")
    row = draft.add(f"Unsqueeze ({draft.row()}, c0)")
    if draft.dice.random() < 0.6:
        cut = draft.add(f"Slice ({state}, c1, three_v, c0)")
        after = draft.add(f"Concat <axis = 0> ({cut}, {row})")
    else:
        cut = draft.add(f"Slice ({state}, c0, two_v, c0)")
        after = draft.add(f"Concat <axis = 0> ({row}, {cut})")
    draft.carry(state, after)
    some = draft.dice.choice(("ReduceSum", "ReduceMax", "ReduceMean"))
    value = draft.dice.choice((state, after))
    draft.rows.append(draft.add(f"{some} <keepdims = 0> ({value}, c0)"))


def first(draft: Draft) -> None:
    """The number of the first iteration with a condition."""
    state = draft.state(draft.dice.choice(("low", "zero")), "int64")
    both = draft.shuffled("And", draft.add(f"Less ({state}, zero)"), draft.flag())
    after = draft.add(f"Where ({both}, {draft.index}, {state})")
    draft.carry(state, after)
    number = draft.add(f"Cast <to = 1> ({draft.dice.choice((state, after))})")
    draft.rows.append(draft.add(f"Add ({draft.row()}, {number})"))


def pieces(draft: Draft) -> None:
    """A row between the slices before and behind it."""
    if not draft.grows:
        return
    state = draft.state(draft.dice.choice(("x", "o", "oo")), f"float[?, {draft.shape}]")
    at = draft.add(f"Reshape ({draft.index}, c1)")
    behind = draft.add(f"Add ({at}, c1)")
    parts = [
        draft.add(f"Slice ({state}, c0, {at}, c0)"),
        draft.add(f"Unsqueeze ({draft.row()}, c0)"),
        draft.add(f"Slice ({state}, {behind}, far, c0)"),
    ]
    draft.carry(state, draft.add(f"Concat <axis = 0> ({', '.join(parts)})"))


def pairs(draft: Draft) -> None:
    """Two rows of a buffer, next to one another or not."""
    state = draft.state("oo", f"float[K, {draft.shape}]")
    one = draft.add(f"Mul ({draft.index}, two)")
    other = draft.add(f"Add ({one}, {draft.dice.choice(('one', 'one', 'zero'))})")
    middle = _write(draft, state, one, draft.row())
    draft.carry(state, _write(draft, middle, other, draft.row()))


def alike(draft: Draft) -> None:
    """An If with a common start, of a condition of the model or the iteration."""
    one, name = draft.row(), draft.name()
    flag = "p" if draft.dice.random() < 0.5 else draft.flag()
    last = draft.dice.choice((("Neg", "Neg"), ("Neg", "Abs")))
    branches = [
        f"{branch} = {name}{k} () => ({draft.row_type} {name}r{k}) {{ {name}s{k} = Sin ({one})"
        f" {name}r{k} = {some} ({name}s{k}) }}"
        for k, (branch, some) in enumerate(zip(("then_branch", "else_branch"), last, strict=True))
    ]
    draft.lines.append(f"{name} = If ({flag}) <{', '.join(branches)}>")
    draft.rows.append(name)


def growing(draft: Draft) -> None:
    """Rows put together at either end."""
    if not draft.grows:
        return
    state = draft.state("empty", f"float[?, {draft.shape}]")
    row = draft.add(f"Unsqueeze ({draft.row()}, c0)")
    pair = (state, row) if draft.dice.random() < 0.6 else (row, state)
    draft.carry(state, draft.add(f"Concat <axis = 0> ({', '.join(pair)})"))


def inner(draft: Draft) -> None:
    """A loop inside, of a length of its own."""
    if not draft.reads:
        return
    length = draft.dice.choice(("three", "own", "till", "n"))
    if length == "own":
        length = draft.add(f"Gather (lengths, {draft.index})")
    elif length == "till":
        length = draft.add(f"Add ({draft.index}, one)")
    start, row = draft.row(), draft.row()
    name = draft.name()
    source = "Gather (x, {0}j)" if length != "three" else "Gather (y3, {0}j)"
    some = draft.dice.choice(("Add", "Max", "Mul", "Min"))
    read_ = f"{name}x = {source.format(name)}"
    if some == "Mul":
        read_ = f"{name}u = {source.format(name)} {name}x = Tanh ({name}u)"
    rows, outputs = "", name
    if length == "three" and draft.dice.random() < 0.4:
        rows, outputs = f", {draft.row_type} {name}z", f"{name}, {name}all"
    draft.lines.append(
        f"{outputs} = Loop ({length}, yes, {start}) <body = {name}b (int64 {name}j, bool {name}c,"
        f" {draft.row_type} {name}s) => (bool {name}d, {draft.row_type} {name}r{rows}) {{"
        f" {name}d = Identity ({name}c) {read_} {name}y = Add ({name}x, {row})"
        f" {name}r = {some} ({name}s, {name}y) {f'{name}z = Neg ({name}r)' if rows else ''} }}>"
    )
    draft.rows.append(draft.add(f"Tanh ({name})"))
    if rows:
        draft.rows.append(draft.add(f"ReduceSum <keepdims = 0> ({name}all, c0)"))


def cell(draft: Draft) -> None:
    """An Elman cell, or one with a gate."""
    if not draft.of_three:
        return
    state = draft.state("y")
    product = draft.add(f"MatMul ({state}, w)")
    new = draft.add(f"Tanh ({draft.shuffled('Add', product, draft.row())})")
    if draft.dice.random() < 0.5:
        gate = draft.add(f"Sigmoid ({draft.row()})")
        rest = draft.add(f"Sub (one_f, {gate})")
        one = draft.shuffled("Mul", gate, state)
        new = draft.shuffled("Add", one, draft.shuffled("Mul", rest, new))
    if draft.dice.random() < 0.3:
        new = draft.add(f"Where ({draft.flag()}, {new}, {state})")
    draft.carry(state, new)
    draft.rows.append(draft.dice.choice((state, new)))


def softmax(draft: Draft) -> None:
    """The maximum, and the sum of powers below it."""
    most, total = draft.state("y"), draft.state("y_zero")
    row = draft.row()
    after = draft.shuffled("Max", most, row)
    scale = draft.add(f"Exp ({draft.add(f'Sub ({most}, {after})')})")
    new = draft.add(f"Exp ({draft.add(f'Sub ({row}, {after})')})")
    scaled = draft.shuffled("Mul", total, scale)
    draft.carry(most, after)
    draft.carry(total, draft.shuffled("Add", scaled, new))


FORMS: tuple[Form, ...] = (
    choice,
    read,
    window,
    registers,
    reduction,
    reduction,
    linear,
    linear,
    mean,
    best,
    best_elements,
    held,
    flags,
    counter,
    queue,
    first,
    pieces,
    pairs,
    alike,
    histogram,
    buffer,
    buffer,
    growing,
    inner,
    cell,
    softmax,
)
COUNTS = ("for", "for", "shape", "up", "down", "down to 1", "steps", "both", "break", "other")


def loop_of_forms(dice: random.Random) -> onnx.ModelProto:
    """Draw a model of one Loop or Scan."""
    text = _Scan(dice).text() if dice.random() < 0.25 else _Loop(dice).text()
    return onnx.parser.parse_model(HEAD + text)


class _Drawn:
    """A model under way."""

    def __init__(self, dice: random.Random, index: str, reads: bool) -> None:
        self.dice = dice
        self.shape = dice.choice(SHAPES)
        self.draft = Draft(dice, self.shape, index, reads)

    def fill(self) -> list[str]:
        """Draw the nodes of the body; return the rows that leave it."""
        draft, dice = self.draft, self.dice
        for form in dice.choices((*FORMS, plain, plain, plain), k=dice.randrange(1, 6)):
            form(draft)
            if dice.random() < 0.5:
                plain(draft)
        return [draft.add(f"Identity ({draft.row()})") for _ in range(dice.randrange(1, 3))]

    def graph(self, around: str, body: str, rows: list[str]) -> str:
        """The text of the model around a loop."""
        dice, states = self.dice, self.draft.states
        finals = [f"f{k}" for k in range(len(states))]
        stacked = [f"z{k}" for k in range(len(rows))]
        types = [s.type.replace("K", f"K{k}").replace("?", f"G{k}") for k, s in enumerate(states)]
        declared = [f"{t} {f}" for t, f in zip(types, finals, strict=True)]
        declared += [f"float[{self.stacked_shape(k)}] {z}" for k, z in enumerate(stacked)]
        kept = [text for text in declared if dice.random() < 0.8] or declared[-1:]
        return f"""g (float[N, {self.shape}] x, float[{self.shape}] y, float[3, 3] w, bool p,
            int64 n, int64 m, int64[N] lengths, float[N, {self.shape}] o, float a)
            => ({", ".join(kept)}) <{CONSTANTS}, float a = {{0.75}}> {{
            xx = Concat <axis = 0> (x, x) oo = Concat <axis = 0> (o, x)
            {around} n1 = Max (n, one) last = Sub (n1, one)
            y_zero = Sub (y, y) y_int = Cast <to = 7> (y_zero)
            yu = Unsqueeze (y, c0) y3 = Concat <axis = 0> (yu, yu, yu)
            nothing = Mul (n, c0) empty = Slice (yu, c0, nothing, c0)
            {", ".join((*finals, *stacked))} = {body} }}"""

    def stacked_shape(self, number: int) -> str:
        """The sizes of a scan output."""
        return f"M, {self.shape}"


class _Loop(_Drawn):
    def __init__(self, dice: random.Random) -> None:
        self.count = dice.choice(COUNTS)
        super().__init__(dice, "at" if self.count in _OWN else "i", reads=True)

    def text(self) -> str:
        """The model."""
        draft, count = self.draft, self.count
        start, at, step, condition = _OWN.get(count, ("", "", "", "c2 = Identity (c)"))
        condition = _CONDITIONS.get(count, condition)
        row = draft.add(f"Gather (x, {draft.index})")
        draft.rows.append(row)
        rows = self.fill()
        if count == "break":
            flat = draft.add(f"Reshape ({row}, cm)")
            draft.lines.append(f"broken = Concat <axis = 0> ({flat}, none)")
        own = count in _OWN
        if own:
            draft.states.append(State("k", "int64", start, "k_after"))
        formal = "".join(f", {s.type} {s.name}" for s in draft.states)
        back = "".join(f", {s.type} {s.after}" for s in draft.states)
        out = "".join(f", {draft.row_type} {row}" for row in rows)
        initial = "".join(f", {s.initial}" for s in draft.states)
        first, last = (f"at = {at}", f"k_after = {step}") if own else ("", "")
        most = ", any_rows" if own else "count, yes" if count == "shape" else "n, yes"
        body = f"""Loop ({most}{initial}) <body = b (int64 i, bool c{formal}) =>
            (bool c2{back}{out}) {{ {first} {" ".join(draft.lines)} {last} {condition} }}>"""
        around = """any_rows = Greater (n, zero) sizes = Shape (x) count = Gather (sizes, zero)
            n_odd = Sub (n, one)"""
        return self.graph(around, body, rows)


_OWN = {  # counters of their own: start, row number, condition
    "up": ("zero", "Identity (k)", "Add (k, one)", "c2 = Less (k_after, n)"),
    "down": ("n_odd", "Identity (k)", "Sub (k, one)", "c2 = GreaterOrEqual (k_after, zero)"),
    "down to 1": ("n", "Sub (k, one)", "Sub (k, one)", "c2 = Greater (k_after, zero)"),
    "steps": ("zero", "Identity (k)", "Add (k, two)", "c2 = Less (k_after, n)"),
    "other": ("zero", "Identity (k)", "Add (k, one)", "eq = Equal (k_after, n) c2 = Not (eq)"),
}
_CONDITIONS = {
    "both": "j = Add (i, one) c2 = Less (j, m)",
    "break": "top = ReduceMax <keepdims = 0> (broken) c2 = Less (top, one_f)",
}


class _Scan(_Drawn):
    def __init__(self, dice: random.Random) -> None:
        super().__init__(dice, "k", reads=dice.random() < 0.3)
        self.axes = [dice.randrange(2) for _ in range(2)]
        self.directions = [dice.randrange(2) for _ in range(2)]
        self.out_axes: list[int] = []

    def stacked_shape(self, number: int) -> str:
        """The sizes of a scan output, along its axis."""
        first, *rest = self.shape.split(", ")
        return ", ".join((first, "M", *rest) if self.out_axes[number] else ("M", first, *rest))

    def text(self) -> str:
        """The model."""
        draft, dice = self.draft, self.dice
        draft.grows = False
        draft.rows += ["e0", "e1"]
        rows = self.fill()
        draft.states.append(State("k", "int64", "zero", "k_after"))
        self.out_axes = [dice.randrange(2) for _ in rows]
        backward = [dice.randrange(2) for _ in rows]
        formal = [f"{s.type} {s.name}" for s in draft.states]
        back = [f"{s.type} {s.after}" for s in draft.states]
        out = [f"{draft.row_type} {row}" for row in rows]
        read_ = [f"{draft.row_type} e{k}" for k in range(2)]
        body = f"""Scan <num_scan_inputs = 2, scan_input_axes = {self.axes},
            scan_input_directions = {self.directions}, scan_output_axes = {self.out_axes},
            scan_output_directions = {backward}, body = b ({", ".join((*formal, *read_))}) =>
            ({", ".join((*back, *out))}) {{ {" ".join(draft.lines)} k_after = Add (k, one) }}>
            ({", ".join((*[s.initial for s in draft.states], "in0", "in1"))})"""
        turn = [1, 0, *range(2, 2 + self.shape.count(","))]
        around = " ".join(
            f"in{k} = "
            + (f"Transpose <perm = {turn}> ({source})" if axis else f"Identity ({source})")
            for k, (axis, source) in enumerate(zip(self.axes, "xo", strict=True))
        )
        return self.graph(around, body, rows)


def feeds(
    model: onnx.ModelProto, dice: random.Random, length: int, values: str
) -> dict[str, np.ndarray]:
    """Inputs for a number of rows, of numbers, small integers, or infinities and NaN too."""
    rng = np.random.default_rng(dice.randrange(1 << 30))
    is_scan = any(node.op_type == "Scan" for node in model.graph.node)
    sizes = {name: dice.choice(some[_turns_rows(model) :]) for name, some in SIZES.items()}
    sizes["N"] = max(length, 1)  # onnxruntime refuses Scans of no length
    given: dict[str, np.ndarray] = {}
    for value in model.graph.input:
        kind = value.type.tensor_type
        shape = [d.dim_value or sizes[d.dim_param] for d in kind.shape.dim]
        if value.name == "a" and dice.random() < 0.5:
            continue
        if kind.elem_type == onnx.TensorProto.FLOAT:
            given[value.name] = _numbers(rng, shape, values).astype(np.float32)
    given["lengths"] = rng.integers(0, sizes["N"] + 1, sizes["N"])
    if "a" in given:
        given["a"] = np.asarray(np.tanh(given["a"]))  # larger factors amplify rounding
    given["p"] = np.array(dice.random() < 0.5)
    given["n"] = np.array(sizes["N"] if is_scan else length)
    given["m"] = np.array(dice.choice((0, 1, 2, 50)))
    return given


def _turns_rows(model: onnx.ModelProto) -> bool:
    """Test for a Scan along other axes than the first, of which empty rows crash onnxruntime."""
    attributes = [attribute for node in model.graph.node for attribute in node.attribute]
    return any(any(a.ints) for a in attributes if a.name in ("scan_input_axes", "scan_output_axes"))


def _numbers(rng: np.random.Generator, shape: Iterable[int], values: str) -> np.ndarray:
    shape = tuple(shape)
    if values == "integers":
        return rng.integers(-2, 3, shape)
    numbers = rng.normal(size=shape)
    if values == "special" and shape:
        some = rng.choice([np.nan, np.inf, -np.inf, -0.0, 0.0], shape)
        return np.where(rng.random(shape) < 0.06, some, numbers)
    return numbers
