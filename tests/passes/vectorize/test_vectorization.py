import itertools

import numpy as np
import pytest
from depth import examples
from harness import as_model, assert_rewrites, run_passes
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from loops import op_types
from straightline.passes import EliminateDeadNodes, VectorizeLoops
from vectorized import assert_same, numbers, vectorized


def test_inputs_and_readers_of_a_recurrence_leave_the_loop():
    """A projection before the Scan, one behind it; the recurrence alone is left inside."""
    assert_rewrites(
        VectorizeLoops(),
        """g (float[N, 2, 4] x, float[2, 3] h0, float[4, 3] w, float[3, 5] v)
                => (float[2, 3] h, float[N, 2, 5] y) {
            h, y = Scan <num_scan_inputs = 1, body = f (float[2, 3] s, float[2, 4] e)
                    => (float[2, 3] t, float[2, 5] r) {
                p = MatMul (e, w) q = Add (s, p) t = Tanh (q) r = MatMul (t, v) }> (h0, x) }""",
        """g (float[N, 2, 4] x, float[2, 3] h0, float[4, 3] w, float[3, 5] v)
                => (float[2, 3] h, float[N, 2, 5] y) {
            p = MatMul (x, w)
            h, t = Scan <num_scan_inputs = 1, body = f (float[2, 3] s, float[2, 3] p_1)
                    => (float[2, 3] t_1, float[2, 3] t_2) {
                q = Add (s, p_1) t_1 = Tanh (q) t_2 = Identity (t_1) }> (h0, p)
            y = MatMul (t, v) }""",
        [
            {"x": numbers(n, 2, 4), "h0": numbers(2, 3), "w": numbers(4, 3), "v": numbers(3, 5)}
            for n in (1, 6)
        ],
    )


HEADER = """g (float[N, 4] x, float[4, 3] w, float[3, 4] v, float[3] h0, float[M] o, int64 n)
    => (float[3] h, float[T, {shape}] y) <bool yes = {{1}}>"""
BODIES = {
    "a projection of what is read": (
        "e = Gather (x, i) p = MatMul (e, w) q = Add (s, p) t = Tanh (q) r = Identity (t)",
        {"Gather", "Add", "Tanh"},
    ),
    "what only the outputs need": (
        "a = Tanh (s) t = Add (a, h0) p = MatMul (t, v) q = Exp (p) r = Neg (q)",
        {"Tanh", "Add"},
    ),
    "the state as it was before the iteration": (
        "a = Tanh (s) t = Add (a, h0) p = MatMul (s, v) q = Exp (p) r = Neg (q)",
        {"Tanh", "Add"},
    ),
    "both, and what joins them": (
        "e = Gather (x, i) p = MatMul (e, w) q = Add (s, p) t = Tanh (q) d = Mul (t, p)"
        " r = Softmax (d)",
        {"Gather", "Add", "Tanh"},
    ),
    "what lies between two recurrences stays": (
        "e = Gather (x, i) p = MatMul (e, w) q = Add (s, p) t = Tanh (q) d = MatMul (t, v)"
        " f = MatMul (d, w) r = Exp (f)",
        {"Gather", "Add", "Tanh"},
    ),
    "an operator without a rule": ("e = Gather (x, i) p = MatMul (e, w) f = Exp (p) k = Celu (f)"
     " u = If (yes) <then_branch = a () => (float[3] a1) { a1 = Neg (f) },"
     " else_branch = b () => (float[3] b1) { b1 = Exp (f) }> r = Mul (u, k) t = Add (s, u)",
     {"Gather", "If", "Neg", "Exp", "Add"}),
    "a random draw": ("e = Gather (x, i) p = MatMul (e, w) f = Exp (p) u = RandomNormalLike (f)"
     " g = Mul (u, h0) t = Add (s, f) z = Sub (g, g) r = Add (z, f)",
     {"Gather", "RandomNormalLike", "Add"}),
    "a size that is known only at run time": (
        "e = Gather (x, i) p = MatMul (e, w) q = Add (s, p) t = Tanh (q) d = Mul (t, p)"
        " l = ReduceSum <keepdims = 0> (d) m = Mul (l, o) r = Exp (m)",
        {"Gather", "Add", "Tanh"},
    ),
}  # fmt: skip


@pytest.mark.sample(8)
@pytest.mark.parametrize("what", BODIES)
@pytest.mark.parametrize("kind", ["Loop", "Scan"])
def test_the_remaining_recurrence(kind, what):
    body, left = BODIES[what]
    before = as_model(_loop(body, kind))
    result = vectorized(before)
    (loop,) = (n for n in result.model.graph.node if n.op_type == kind)
    body = next(a.g for a in loop.attribute if a.name == "body")
    types = set(op_types(body)) - {"Identity", "Constant"}
    assert types <= left, result.remarks
    assert not vectorized(result.model).changed
    feed = {"x": numbers(6, 4), "w": numbers(4, 3), "v": numbers(3, 4), "h0": numbers(3)}
    for n in (0, 1, 6):
        given = feed | {"n": np.array(n), "o": numbers(2), "x": feed["x"][: n or 1]}
        if what != "a random draw" and (kind == "Loop" or n):
            assert_same(before, result.model, {k: given[k] for k in _inputs(before)})


def _inputs(model):
    return [value.name for value in model.graph.input]


def _loop(body, kind):
    shape = "4" if "r = Neg" in body else ("M" if "m = Mul" in body else "3")
    if kind == "Loop":
        return f"""{HEADER.format(shape=shape)} {{ h, y = Loop (n, yes, h0) <body =
            b (int64 i, bool c, float[3] s) => (bool c2, float[3] t, float[{shape}] r) {{
                c2 = Identity (c) {body} }}> }}"""
    body = body.replace("e = Gather (x, i)", "")
    return f"""{HEADER.format(shape=shape)} {{ h, y = Scan <num_scan_inputs = 1,
        body = b (float[3] s, float[4] e) => (float[3] t, float[{shape}] r) {{
            {body} }}> (h0, x) }}"""


def test_states_that_nothing_needs():
    """Of three states one is carried; the others are a counter and one that is never asked for."""
    text = """g (float[3] h0, int64 n) => (float[3] h) <bool yes = {1}, int64 zero = {0}> {
        h, unread, count = Loop (n, yes, h0, h0, zero) <body = b (int64 i, bool c, float[3] s,
                float[3] u, int64 k) => (bool c2, float[3] t, float[3] w, int64 l) {
            one = Constant <value_int = 1> () l = Add (k, one) w = Sin (u) c2 = Identity (c)
            f = Cast <to = 1> (k) a = Mul (s, f) t = Cos (a) }> }"""
    before = as_model(text)
    result = run_passes(before, VectorizeLoops(), EliminateDeadNodes())
    (loop,) = (n for n in result.model.graph.node if n.op_type == "Loop")
    assert len(loop.input) == 3
    assert "Sin" not in op_types(loop.attribute[0].g)
    for n in (0, 1, 5):
        assert_same(before, result.model, {"h0": numbers(3), "n": np.array(n)})


def test_quantization_annotations_keep_a_body_as_it_is():
    text = _loop(BODIES["a projection of what is read"][0], "Loop")
    model = as_model(text)
    model.graph.node[0].attribute[0].g.quantization_annotation.add(tensor_name="p")
    result = vectorized(model)
    assert not result.changed
    assert "quantization annotations" in result.kept[0].reason


def test_a_loop_that_is_left_and_gives_nothing_is_none():
    """The function does not read what cannot leave; a Loop without outputs would be no node."""
    head = '<ir_version: 10, opset_import: ["" : 17, "own" : 1]>\n'
    function = """
        <domain: "own", opset_import: ["" : 17]> second (a, b) => (c) { c = Neg (b) }"""
    assert_rewrites(
        VectorizeLoops(),
        head
        + """g (float[N, 4] x, int64 n) => (float[N, 4] y) <bool yes = {1}> {
            y = Scan <num_scan_inputs = 1, body = f (float[4] e) => (float[4] r) {
                u = Loop (n, yes, e) <body = b (int64 i, bool go, float[4] s)
                    => (bool more, float[4] t) { more = Less (i, n) t = Tanh (s) }>
                r = own.second (u, e) }> (x) }"""
        + function,
        head
        + """g (float[N, 4] x, int64 n) => (float[N, 4] y) <bool yes = {1}> { y = Neg (x) }"""
        + function,
        [{"x": numbers(n, 4), "n": np.array(2)} for n in (1, 3)],
    )


@pytest.mark.parametrize("body", ["", "k = Cast <to = 1> (i) u = Mul (s, k) "])
def test_arithmetic_of_indices_alone_stays(body):
    """The loop would read each bound by its number, which costs as much as the sum."""
    text = f"""g (float[N] x, float[1] s0, int64 n) => (float[1] f) <bool yes = {{1}}> {{
        f = Loop (n, yes, s0) <body = b (int64 i, bool c, float[1] s) => (bool c2, float[1] t)
                <int64 one = {{1}}, int64[1] at = {{0}}> {{
            c2 = Identity (c) end = Add (i, one) a = Unsqueeze (i, at) b = Unsqueeze (end, at)
            part = Slice (x, a, b) {body}q = Mul ({"u" if body else "s"}, s)
            t = Add (q, part) }}> }}"""
    result = vectorized(text)
    assert result.changed == bool(body)
    feed = {"x": numbers(4), "s0": numbers(1), "n": np.array(4)}
    assert_same(as_model(text), result.model, feed)


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
