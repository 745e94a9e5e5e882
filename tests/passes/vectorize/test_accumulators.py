import re

import numpy as np
import pytest
from harness import as_model
from loops import op_types
from tables import table
from vectorized import assert_same, numbers, vectorized

LOOP = """g (float[N, 2, 3] x, float[2, {k}] s0, float[5, 2, 3] o, int64 n, float[?] q) =>
        (float[{out}] y) <bool yes = {{1}}, int64[1, 1] at = {{0}}> {{
    y = Loop (n, yes, {initial}) <body = b (int64 i, bool c, {type} s) => (bool c2, {type} t) {{
        c2 = Identity (c) e = Gather (x, i) f = Exp (e) {write} }}> }}"""
KEPT = {
    "another iteration reads it": "u = ReduceSum <keepdims = 0> (s) v = Add (f, u) t = Max (s, v)",
    "places that may be the same": "r = ReduceMax <keepdims = 0> (s) j = Reshape (k, b)"
    " u = Unsqueeze (f, a) t = ScatterND (s, j, u)",
    "places that begin at the last one": "m = Constant <value_int = -1> () k2 = Add (i, m)"
    " j = Reshape (k2, b) u = Unsqueeze (f, a) t = ScatterND (s, j, u)",
    "elements of places that may be the same": "d = Constant <value_ints = [1, 2, 3]> ()"
    " j = Expand (k, d) u = Unsqueeze (f, a) t = ScatterElements <axis = 0> (s, j, u)",
    "elements along another axis": "d = Constant <value_ints = [1, 2, 3]> () p = Mul (k, k)"
    " j = Expand (p, d) u = Unsqueeze (f, a) t = ScatterElements <axis = 2> (s, j, u)",
    "a mask": "m = Constant <value_int = 1> () p = Equal (k, m) t = Where (p, f, s)",
}


@pytest.mark.parametrize("what", KEPT)
def test_nodes_that_are_no_write(what):
    body = "a = Constant <value_ints = [0]> () b = Constant <value_ints = [1, 1]> ()"
    body += " l = Constant <value_int = 2> () k = Mod (i, l) " + KEPT[what]
    text = LOOP.format(out="5, 2, 3", initial="o", type="float[5, 2, 3]", write=body, k=1)
    model = as_model(text)
    result = vectorized(model)
    assert "Loop" in op_types(result.model.graph)
    feed = {"x": numbers(5, 2, 3), "s0": numbers(2, 1), "o": numbers(5, 2, 3)}
    for n in (0, 1, 5):
        assert_same(model, result.model, {**feed, "n": np.array(n), "q": numbers(1)})


SEQUENCE = """g (float[N, 3] x, float[3] h0, int64 n) => ({out}) <bool yes = {{1}},
        int64 zero = {{0}}, int64 last = {{-1}}> {{ {before}
    seq = Loop (n, yes, s0) <body = b (int64 i, bool c, seq(float[3]) s)
            => (bool c2, seq(float[3]) t) {{
        c2 = Identity (c) e = Gather (x, i) f = Exp (e) t = SequenceInsert (s, f) }}> {after} }}"""
EMPTY = "s0 = SequenceEmpty <dtype = 1> ()"
CONSTRUCTED = "s0 = SequenceConstruct (h0, h0)"


@pytest.mark.parametrize("place", ["", ", zero"])
@table(
    ("stacked", "float[M, 3] y", EMPTY, "y = ConcatFromSequence <axis = 0, new_axis = 1> (seq)"),
    ("stacked last", "float[3, M] y", EMPTY,
     "y = ConcatFromSequence <axis = -1, new_axis = 1> (seq)"),
    ("joined", "float[M] y", EMPTY, "y = ConcatFromSequence <axis = 0> (seq)"),
    ("the last one", "float[3] y", EMPTY, "y = SequenceAt (seq, last)"),
    ("the first one", "float[3] y", EMPTY, "y = SequenceAt (seq, zero)"),
    ("behind others", "float[M, 3] y", CONSTRUCTED,
     "y = ConcatFromSequence <axis = 0, new_axis = 1> (seq)"),
    ("their number", "int64 y", EMPTY, "y = SequenceLength (seq)"))  # fmt: skip
def test_a_list_to_which_each_iteration_adds_at_one_end(read, out, before, after, place):
    text = SEQUENCE.format(out=out, before=before, after=after)
    model = as_model(text.replace("Insert (s, f)", f"Insert (s, f{place})"))
    result = vectorized(model)
    types = set(op_types(result.model.graph))
    assert not types & {"Loop", "SplitToSequence", "SequenceAt", "ConcatFromSequence"}
    for n in (0, 1, 5):
        if n or read in ("their number", "behind others"):
            feed = {"x": numbers(5, 3), "h0": numbers(3), "n": np.array(n)}
            assert_same(model, result.model, feed)


@pytest.mark.parametrize("place", ["last", "i"])
def test_a_list_to_which_each_iteration_adds_elsewhere(place):
    text = SEQUENCE.format(out="int64 y", before=CONSTRUCTED, after="y = SequenceLength (seq)")
    model = as_model(text.replace("Insert (s, f)", f"Insert (s, f, {place})"))
    assert "Loop" in op_types(vectorized(model).model.graph)


def test_a_list_that_is_given_out():
    model = as_model(SEQUENCE.format(out="seq(float[3]) seq", before=EMPTY, after=""))
    result = vectorized(model)
    assert "Loop" not in op_types(result.model.graph)
    assert "SplitToSequence" in op_types(result.model.graph)
    for n in (0, 1, 5):
        feed = {"x": numbers(5, 3), "h0": numbers(3), "n": np.array(n)}
        assert_same(model, result.model, feed)


TENSOR = """g (float[N, 2, 3] x, float[2, {k}] s0, float[5, 2, 3] o, float[2, 5, 3] o2, int64 n) =>
        (float[{out}] y) <bool yes = {{1}}> {{
    y = Loop (n, yes, {initial}) <body = b (int64 i, bool c, {type} s) => (bool c2, {type} t) {{
        c2 = Identity (c) e = Gather (x, i) f = Exp (e) {write} }}> }}"""


@table(
    ("a growing Concat", "2, M", "s0", "float[2, ?]", "t = Concat <axis = 1> (s, f)"),
    ("a Concat that grows to the front", "2, M", "s0", "float[2, ?]",
     "t = Concat <axis = -1> (f, s)"),
    ("a Concat of rows", "M, 2, 3", "o", "float[?, 2, 3]",
     "a = Constant <value_ints = [0]> () u = Unsqueeze (f, a) t = Concat <axis = 0> (s, u)"),
    ("a buffer of which each iteration writes a row", "5, 2, 3", "o", "float[5, 2, 3]",
     "a = Constant <value_ints = [0]> () b = Constant <value_ints = [1, 1]> ()"
     " u = Unsqueeze (f, a) j = Reshape (i, b) t = ScatterND (s, j, u)"),
    ("a buffer written at an index", "5, 2, 3", "o", "float[5, 2, 3]",
     "b = Constant <value_ints = [1]> () j = Reshape (i, b) t = ScatterND (s, j, f)"),
    ("a buffer written from its end", "5, 2, 3", "o", "float[5, 2, 3]",
     "l = Constant <value_int = -1> () n2 = Neg (i) k = Add (n2, l)"
     " b = Constant <value_ints = [1]> () j = Reshape (k, b) t = ScatterND (s, j, f)"),
    ("elements of a buffer", "5, 2, 3", "o", "float[5, 2, 3]",
     "a = Constant <value_ints = [0]> () b = Constant <value_ints = [1, 2, 3]> ()"
     " u = Unsqueeze (f, a) j = Expand (i, b) t = ScatterElements <axis = 0> (s, j, u)"),
    ("some elements of a buffer", "2, 5, 3", "o2", "float[2, 5, 3]",
     "b = Constant <value_ints = [2, 1, 1]> () l = Constant <value_int = 2> ()"
     " h = Gather <axis = 1> (f, l) u = Reshape (h, b) one = ConstantOfShape <value ="
     " int64[1] {1}> (b) j = Mul (one, i) t = ScatterElements <axis = -2> (s, j, u)"),
    ("columns of a buffer", "2, 5, 3", "o2", "float[2, 5, 3]",
     "a = Constant <value_ints = [0]> () c1 = Constant <value_ints = [1]> ()"
     " zero = Constant <value_int = 0> () one = Constant <value_int = 1> ()"
     " two = Constant <value_int = 2> () bs = Range (zero, two, one)"
     " across = Unsqueeze (bs, c1) i1 = Unsqueeze (i, a)"
     " h = Constant <value_ints = [2, 1]> () down = Expand (i1, h)"
     " j = Concat <axis = -1> (across, down) t = ScatterND (s, j, f)"))  # fmt: skip
@pytest.mark.parametrize("k", [0, 4])
def test_a_tensor_to_which_each_iteration_writes(write, out, initial, type_, body, k):
    model = as_model(TENSOR.format(out=out, initial=initial, type=type_, write=body, k=k))
    result = vectorized(model)
    assert "Loop" not in op_types(result.model.graph), result.remarks
    for n in (0, 1, 5):
        feed = {"x": numbers(5, 2, 3), "s0": numbers(2, k), "o": numbers(5, 2, 3)}
        assert_same(model, result.model, {**feed, "o2": numbers(2, 5, 3), "n": np.array(n)})


WHOLE = """g (float[N, 2, 3] x, float[{size}, 2, 3] o, int64 two) => (float[M, 2, 3] y)
    <bool yes = {{1}}, int64 zero = {{0}}, int64[1] a = {{0}}, int64[2] b = {{1, 1}}> {{
    s0 = Shape (x) n = Gather (s0, zero)
    y = Loop (n, yes, o) <body = b (int64 i, bool c, float[{size}, 2, 3] s)
            => (bool c2, float[{size}, 2, 3] t) {{
        c2 = Identity (c) e = Gather (x, i) f = Exp (e) {write} }}> }}"""
PLACES = {
    "a vector": "j = Reshape (i, a2) t = ScatterND (s, j, f)",
    "rows of one": "j = Reshape (i, b) u = Unsqueeze (f, a) t = ScatterND (s, j, u)",
    "twice the number": "k = Mul (i, two) j = Reshape (k, b) u = Unsqueeze (f, a)"
    " t = ScatterND (s, j, u)",
}


@pytest.mark.parametrize("size", ["N", "P"])
@pytest.mark.parametrize("place", PLACES)
def test_a_buffer_of_which_every_row_is_written_is_the_rows(place, size):
    text = WHOLE.format(size=size, write=PLACES[place])
    text = text.replace("c2 =", "a2 = Constant <value_ints = [1]> () c2 =")
    model = as_model(text)
    result = vectorized(model)
    types = op_types(result.model.graph)
    assert ("ScatterND" in types or "Loop" in types) == (size == "P" or "twice" in place)
    for n in (0, 1, 5):
        rows = n if size == "N" else 7
        feed = {"x": numbers(n, 2, 3), "o": numbers(rows, 2, 3), "two": np.array(1)}
        assert_same(model, result.model, feed)


LINES = """g (float[5, 2, 3] x, float[{shape}] o) => (float[{shape}] y)
    <bool yes = {{1}}, int64 n = {{5}}, int64 last = {{4}}, int64[2] ones = {{1, 1}},
     int64[3] e3 = {{{line}}}, int64[2, 1] own = {{0, 1}}, int64[2] e2 = {{2, 1}}> {{
    y = Loop (n, yes, o) <body = b (int64 i, bool c, float[{shape}] s)
            => (bool c2, float[{shape}] t) {{
        c2 = Identity (c) e = Gather (x, i) f = Exp (e) {place} {write} }}> }}"""
ORDERS = {"forward": "k = Identity (i)", "from the end": "k = Sub (i, n)",
          "backward": "k = Sub (last, i)", "beside": "k = Max (i, last)"}  # fmt: skip


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("rows", [5, 6])
@table(
    ("{n}, 2, 3", "1, 2, 3", "j = Reshape (k, ones) u = Reshape (f, e3)"
     " t = ScatterND (s, j, u)"),
    ("{n}, 2, 3", "1, 2, 3", "j = Expand (k, e3) u = Reshape (f, e3)"
     " t = ScatterElements <axis = 0> (s, j, u)"),
    ("2, {n}, 3", "2, 1, 3", "j = Expand (k, e3) u = Reshape (f, e3)"
     " t = ScatterElements <axis = -2> (s, j, u)"),
    ("2, 3, {n}", "2, 3, 1", "j = Expand (k, e3) u = Reshape (f, e3)"
     " t = ScatterElements <axis = 2> (s, j, u)"),
    ("2, {n}, 3", "2, 1, 3", "d = Expand (k, e2) j = Concat <axis = 1> (own, d)"
     " t = ScatterND (s, j, f)"))  # fmt: skip
def test_lines_that_iterations_write_are_the_buffer(shape, line, write, rows, order):
    text = LINES.format(shape=shape.format(n=rows), line=line, place=ORDERS[order], write=write)
    model = as_model(text)
    result = vectorized(model)
    scatters = {"ScatterND", "ScatterElements", "Loop"} & {*op_types(result.model.graph)}
    assert bool(scatters) == (rows == 6 or order == "beside")
    size = [int(number) for number in shape.format(n=rows).split(", ")]
    assert_same(model, result.model, {"x": numbers(5, 2, 3), "o": numbers(*size)})


def test_a_recurrence_that_appends_its_states():
    """As torch scripts a cell: the states go to a list, which is stacked behind the loop."""
    text = """g (float[N, 2, 4] x, float[4, 3] w, float[2, 3] h0, int64 n) => (float[M, 2, 3] y,
            float[2, 3] h) <bool yes = {1}> { s0 = SequenceEmpty <dtype = 1> ()
        h, seq = Loop (n, yes, h0, s0) <body = b (int64 i, bool c, float[2, 3] s,
                seq(float[2, 3]) q) => (bool c2, float[2, 3] t, seq(float[2, 3]) r) {
            c2 = Identity (c) e = Gather (x, i) p = MatMul (e, w) a = Add (p, s) t = Tanh (a)
            r = SequenceInsert (q, t) }>
        y = ConcatFromSequence <axis = 0, new_axis = 1> (seq) }"""
    model = as_model(text)
    result = vectorized(model)
    (loop,) = (node for node in result.model.graph.node if node.op_type == "Loop")
    body = next(a.g for a in loop.attribute if a.name == "body")
    assert set(op_types(body)) <= {"Gather", "Add", "Tanh", "Identity"}
    assert "ConcatFromSequence" not in op_types(result.model.graph)
    for n in (1, 5):
        feed = {"x": numbers(5, 2, 4), "w": numbers(4, 3), "h0": numbers(2, 3), "n": np.array(n)}
        assert_same(model, result.model, feed)


@pytest.mark.parametrize("before", [EMPTY, CONSTRUCTED])
def test_a_list_to_which_each_iteration_adds_twice(before):
    after = "y = ConcatFromSequence <axis = 0, new_axis = 1> (seq)"
    text = SEQUENCE.format(out="float[M, 3] y", before=before, after=after)
    chain = r"first = SequenceInsert (s, f) u = Neg (f) \1 = SequenceInsert (first, u)"
    text = re.sub(r"(\w+) = SequenceInsert \(s, f\)", chain, text)
    model = as_model(text)
    result = vectorized(model)
    assert not set(op_types(result.model.graph)) & {"Loop", "SplitToSequence", "SequenceInsert"}
    for n in (1, 5):
        assert_same(model, result.model, {"x": numbers(5, 3), "h0": numbers(3), "n": np.array(n)})


LET_IN = """g (float[N, 3] x, bool[N] m, float[5, 3] b0, float[K, 3] c0) => ({out} y)
        <bool yes = {{1}}, int64[1] v0 = {{0}}, int64[2] v11 = {{1, 1}}, int64[2] v13 = {{1, 3}},
        int64 zero = {{0}}> {{
    sh = Shape (x) n = Gather (sh, zero) r0 = ConstantOfShape (v13) start = SequenceConstruct (r0)
    s_last = Loop (n, yes, {initial}) <body = b (int64 i, bool c, {type} s)
            => (bool c2, {type} t) {{
        c2 = Identity (c) e = Gather (x, i) f = Exp (e) p = Gather (m, i) u = Unsqueeze (f, v0)
        j = Reshape (i, v11) {body} }}> {after} }}"""
CHOICES = {
    "a list": ("seq(float[1, 3])", "start", "SequenceInsert (s, u)"),
    "rows": ("float[?, 3]", "c0", "Concat <axis = 0> (s, u)"),
    "rows in front": ("float[?, 3]", "c0", "Concat <axis = 0> (u, s)"),
    "a buffer": ("float[5, 3]", "b0", "ScatterND (s, j, u)"),
}


def let_in(name, body, after=""):
    type_, initial, write = CHOICES[name]
    out = "float[M, 3]" if name == "a list" else type_.replace("?", "M")
    last = (
        "y = ConcatFromSequence <axis = 0> (s_last)"
        if name == "a list"
        else "y = Identity (s_last)"
    )
    text = LET_IN.format(type=type_, initial=initial, body=body % {"write": write, "type": type_},
        out=out, after=last)  # fmt: skip
    return as_model(text)


BY_IF = "t = If (p) <then_branch = a () => (%(type)s r) { r = %(write)s }, else_branch = d ()"
BY_IF += " => (%(type)s q) { q = Identity (s) }>"
OTHERWISE = (
    "t = If (p) <then_branch = a () => (%(type)s r) { r = Identity (s) }, else_branch = d ()"
)
OTHERWISE += " => (%(type)s q) { q = %(write)s }>"
BY_WHERE = "k = Reshape (p, v11) w = %(write)s t = Where (k, w, s)"
NOT_WHERE = "w = %(write)s t = Where (p, s, w)"


@table(
    *[(name, body) for name in CHOICES for body in (BY_IF, OTHERWISE)],
    *[("a buffer", body) for body in (BY_WHERE, NOT_WHERE)],
)
def test_a_condition_lets_some_iterations_write(name, body):
    model = let_in(name, body)
    result = vectorized(model)
    assert "Loop" not in op_types(result.model.graph)
    assert "Compress" in op_types(result.model.graph)
    for n in (0, 1, 5):
        flags = np.arange(n) % 3 != 1
        fed = {"x": numbers(n, 3), "m": flags, "b0": numbers(5, 3), "c0": numbers(1, 3)}
        assert_same(model, result.model, fed)
        assert_same(model, result.model, {**fed, "m": np.zeros(n, bool)})


@table(
        ("a buffer", BY_IF.replace("q = Identity (s)", "q = Neg (s)")),
        ("a buffer", "h = Reshape (p, v11) g = Expand (h, at5) w = %(write)s t = Where (g, w, s)"),
        ("a buffer", "w = %(write)s z = Neg (s) t = Where (p, w, z)"),
        ("rows", BY_IF.replace("If (p)", "If (l)").replace("t =", "o = Size (s)"
            " r0 = Cast <to = 9> (o) l = And (p, r0) t =", 1)))  # fmt: skip
def test_other_choices_stay(name, body):
    body = body.replace("h = Resh", "at5 = Constant <value_ints = [5, 1]> () h = Resh")
    assert "Loop" in op_types(vectorized(let_in(name, body)).model.graph)
