"""Loops drawn at random, with reads, writes, choices, calls and recurrences side by side."""

import itertools

import numpy as np
from depth import examples
from harness import as_model
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from loops import op_types
from vectorized import assert_same, numbers, vectorized

ROWS, WIDTH = 5, 3
FUNCTION = """
<domain: "local", opset_import: ["" : 17]> mixed (a, b) => (c) { d = Neg (a) c = Max (d, b) }
"""
READS = {
    "by the number": "{0} = Gather (x, i)",
    "from the end": "{0}j = Sub (four, i) {0} = Gather (x, {0}j)",
    "of a sequence": "{0} = SequenceAt (rows, i)",
    "by a slice": "{0}a = Unsqueeze (i, at) {0}b = Add (i, one) {0}c = Unsqueeze ({0}b, at)"
    " {0}s = Slice (x, {0}a, {0}c) {0} = Squeeze ({0}s, at)",
    "a column": "{0} = Gather <axis = 1> (q, i)",
}
CONDITIONS = {
    "the first": "{0}p = Equal (i, zero)",
    "even": "{0}m = Mod (i, two) {0}p = Equal ({0}m, zero)",
    "by data": "{0}m = ReduceMax <keepdims = 0> ({1}) {0}p = Greater ({0}m, none)",
}
BRANCHES = {
    "computed": "{0} = Exp ({1})",
    "named": "{0} = Identity ({1})",
    "of two": "{0} = Add ({1}, {2})",
    "the row before": "{0}o = Sub (i, one) {0} = Gather (x, {0}o)",
    "a row that may not be": "{0}o = Add (i, two) {0} = Gather (x, {0}o)",
    "called": "{0} = local.mixed ({1}, {2})",
    "chosen again": "{0}m = Mod (i, two) {0}p = Equal ({0}m, zero) {0} = If ({0}p) <then_branch ="
    " {0}t () => (float[3] {0}a) {{ {0}a = Neg ({1}) }}, else_branch = {0}e () => (float[3] {0}b)"
    " {{ {0}b = Abs ({2}) }}>",
}
PLAIN = ("{0} = Add ({1}, {2})", "{0} = Sub ({1}, {2})", "{0} = Max ({1}, {2})", "{0} = Neg ({1})")
STATES = {
    # initial, type, what gives it on
    "buffer by rows": ("o", "float[5, 3]",
     "{0}p = Reshape (i, at1) {1} = ScatterND ({0}, {0}p, {2})"),
    "buffer from its end": ("o", "float[5, 3]",
     "{0}n = Sub (minus, i) {0}p = Reshape ({0}n, at1) {1} = ScatterND ({0}, {0}p, {2})"),
    "buffer of elements": ("o", "float[5, 3]",
     "{0}p = Expand (i, flat) {0}u = Unsqueeze ({2}, at) {1} = ScatterElements ({0}, {0}p, {0}u)"),
    "buffer by columns": ("q", "float[3, 5]",
     "{0}d = Expand (i, tall) {0}p = Concat <axis = 1> (down, {0}d)"
     " {1} = ScatterND ({0}, {0}p, {2})"),
    "buffer of sums": ("o", "float[5, 3]",
     '{0}p = Reshape (i, at1) {1} = ScatterND <reduction = "add"> ({0}, {0}p, {2})'),
    "list": ("s0", "seq(float[3])", "{1} = SequenceInsert ({0}, {2})"),
    "growing": ("none0", "float[?, 3]",
     "{0}u = Unsqueeze ({2}, at) {1} = Concat <axis = 0> ({0}, {0}u)"),
    "growing to the front": ("none0", "float[?, 3]",
     "{0}u = Unsqueeze ({2}, at) {1} = Concat <axis = 0> ({0}u, {0})"),
    "last one's": ("h0", "float[3]", "{1} = Tanh ({2})"),
    "recurrent": ("h0", "float[3]", "{0}w = Add ({0}, {2}) {1} = Tanh ({0}w)"),
}  # fmt: skip
READABLE = ("last one's", "recurrent")


class Drawn:
    """A body, drawn step by step."""

    def __init__(self, draw):
        self.draw = draw
        self.names = (f"v{k}" for k in itertools.count())
        self.lines = []
        self.rows = ["y"]
        self.states = []

    def pick(self, options):
        return self.draw(st.sampled_from([*options]))

    def read(self):
        self._add(READS[self.pick(READS)])

    def plain(self):
        self._add(self.pick(PLAIN))

    def call(self):
        self._add("{0} = local.mixed ({1}, {2})")

    def choice(self):
        name, one, other = next(self.names), self.pick(self.rows), self.pick(self.rows)
        branches = [
            BRANCHES[self.pick(BRANCHES)].format(f"{name}{part}", one, other) for part in "xy"
        ]
        condition = CONDITIONS[self.pick(CONDITIONS)].format(name, self.pick(self.rows))
        self.lines.append(
            f"{condition} {name} = If ({name}p) <then_branch = {name}t () => (float[3] {name}x)"
            f" {{ {branches[0]} }}, else_branch = {name}e () => (float[3] {name}y)"
            f" {{ {branches[1]} }}>"
        )
        self.rows.append(name)

    def state(self):
        kind, name = self.pick(STATES), f"s{len(self.states) + 1}"
        self.states.append((kind, name))
        if kind in READABLE:
            self.rows.append(name)

    def _add(self, text):
        name = next(self.names)
        self.lines.append(text.format(name, self.pick(self.rows), self.pick(self.rows)))
        self.rows.append(name)

    def text(self):
        """The model, once all is drawn."""
        ends = [
            STATES[kind][2].format(name, f"{name}t", self.pick(self.rows))
            for kind, name in self.states
        ]
        types = [STATES[kind][1] for kind, _ in self.states]
        given = "".join(f", {t} {name}" for t, (_, name) in zip(types, self.states, strict=True))
        back = "".join(f", {t} {name}t" for t, (_, name) in zip(types, self.states, strict=True))
        initial = "".join(f", {STATES[kind][0]}" for kind, _ in self.states)
        finals = [f"f{k}" for k in range(len(self.states))]
        outputs = ", ".join(
            f"{t.replace('?', f'L{k}')} {name}"
            for k, (t, name) in enumerate(zip(types, finals, strict=True))
        )
        body = " ".join([*self.lines, *ends, f"r = Identity ({self.pick(self.rows)})"])
        return f"""g (float[5, 3] x, float[5, 3] o, float[3, 5] q, float[3] y, float[3] h0, int64 n)
                => ({outputs}{", " if outputs else ""}float[M, 3] z) <bool yes = {{1}},
                int64 zero = {{0}}, int64 one = {{1}}, int64 two = {{2}}, int64 four = {{4}},
                int64 minus = {{-1}}, float none = {{0}}, int64[1] at = {{0}}, int64[1] at1 = {{1}},
                int64[2] flat = {{1, 3}}, int64[2] tall = {{3, 1}},
                int64[3, 1] down = {{0, 1, 2}}, int64[2] empty = {{0, 3}}> {{
            s0 = SequenceEmpty <dtype = 1> () none0 = ConstantOfShape (empty)
            rows = SplitToSequence <axis = 0, keepdims = 0> (x)
            {", ".join([*finals, "z"])} = Loop (n, yes{initial}) <body = b
                (int64 i, bool c{given}) => (bool c2{back}, float[3] r) {{
                c2 = Identity (c) {body} }}> }}"""


STEPS = [Drawn.read, Drawn.plain, Drawn.call, Drawn.choice, Drawn.choice, Drawn.state, Drawn.state]


@settings(max_examples=examples(15), phases=[Phase.generate], deadline=None)
@given(st.data())
def test_random_loops(data):
    drawn = Drawn(data.draw)
    drawn.read()
    for step in data.draw(st.lists(st.sampled_from(STEPS), min_size=1, max_size=7)):
        step(drawn)
    text = drawn.text()
    model = as_model(text + FUNCTION)
    result = vectorized(model)
    if not {kind for kind, _ in drawn.states} & {*READABLE, "buffer of sums"}:
        assert "Loop" not in op_types(result.model.graph), (text, result.remarks)
    feed = {"x": numbers(5, 3), "o": numbers(5, 3), "q": numbers(3, 5)}
    feed |= {"y": numbers(3), "h0": numbers(3)}
    for n in (0, 1, 3):
        assert_same(model, result.model, {**feed, "n": np.array(n)})
