import re

import numpy as np
import pytest
from harness import as_model, assert_equal_outputs, canonical, op_types
from straightline import reference, rewrite
from tables import table

STACKED = """<ir_version: 8, opset_import: ["" : {opset}]>
g ({type}[{shape}] x, {type}[{shape}] v, int64[T] s, int64[T] e, {type}[T] w)
        => ({type}[{result}] y)
        <int64[1] at = {{0}}, int64[1] last = {{-1}}, int64 zero = {{0}}, int64 one = {{1}},
        int64[1] far = {{9223372036854775807}}, int64[1] six = {{6}}, {type}[1] first = {{2}},
        int64[1] ahead = {{1}}, int64[1] back = {{-9223372036854775807}}, {type} minus = {{-1}},
        bool yes = {{1}}> {{
    sizes = Shape (s) n = Gather (sizes, zero)
    y = Loop (n, yes{initial}) <body = b (int64 i, bool c{state}) => (bool c2, {type}[{row}] r) {{
        c2 = Identity (c) si = Gather (s, i) ei = Gather (e, i) wi = Gather (w, i)
        s1 = Unsqueeze (si, at) e1 = Unsqueeze (ei, at) part = Slice (x, s1, e1, at)
        {body} }}> }}"""
WHOLE = {"type": "float", "shape": "N", "result": "T", "row": "", "initial": "", "state": ""}
ROWS = {**WHOLE, "shape": "N, 4", "result": "T, 4", "row": "4"}
SIX = {**WHOLE, "result": "T, 6", "row": "6"}
JOINED = {**WHOLE, "result": "K", "initial": ", first", "state": ", float[A] a", "row": "B"}
INTEGERS = {**JOINED, "type": "int64", "state": ", int64[A] a"}
OTHER = "other = Slice (v, s1, e1, at)"
SUM = "r = ReduceSum <keepdims = 0> ({}, at)"
GONE = {
    "sums": (17, ROWS, SUM.format("part")),
    "sums of integers": (11, {**WHOLE, "type": "int64"}, "r = ReduceSum <keepdims = 0> (part)"),
    "means of functions": (18, ROWS,
     "p = Tanh (part) r = ReduceMean <keepdims = 0> (p, at)"),
    "norms": (17, WHOLE, "r = ReduceSumSquare <keepdims = 0> (part)"),
    "extremes": (18, ROWS, "r = ReduceMax <keepdims = 0> (part, at)"),
    "products": (18, {**WHOLE, "type": "double"}, "r = ReduceProd <keepdims = 0> (part)"),
    "weights": (18, WHOLE,
     f"p = Softmax <axis = 0> (part) {OTHER} r = MatMul (p, other)"),
    "logarithms of weights": (20, JOINED, "q = LogSoftmax <axis = 0> (part)"),
    "two slices": (17, WHOLE, f"{OTHER} p = Mul (part, other) {SUM.format('p')}"),
    "one element beside others": (17, WHOLE,
     "s2 = Add (s1, ahead) other = Slice (v, s1, s2, at) p = Mul (part, other)"
     f" {SUM.format('p')}"),
    "a number of the iteration": (11, JOINED, "q = Mul (part, wi)"),
    "differences": (13, JOINED,
     "p = Slice (part, ahead, far, at) p2 = Slice (part, at, last, at) q = Sub (p, p2)"),
    "backward": (13, JOINED, "q = Slice (part, last, back, at, last)"),
    "every second": (13, JOINED, "two = Add (ahead, ahead) q = Slice (x, s1, e1, at, two)"),
    "with ends": (14, JOINED, "u = Unsqueeze (wi, at) q = Concat <axis = 0> (u, part, first)"),
    "places": (13, INTEGERS, "q = Range (si, ei, one)"),
    "places backward": (13, INTEGERS, "m = Constant <value_int = -2> () q = Range (ei, si, m)"),
    "sizes": (13, INTEGERS, "d = Shape (part) z = Sub (d, d) q = Expand (wi, d)"),
    "constants": (13, JOINED,
     "d = Shape (part) p = ConstantOfShape <value = float[1] {3}> (d) q = Mul (p, wi)"),
    "padded": (16, SIX,
     "d = Shape (part) k = Sub (six, d) z = Concat <axis = 0> (k, at) r = Pad (part, z, minus)"),
    "the last element": (13, WHOLE, "m = Constant <value_int = -1> () r = Gather (part, m)"),
}  # fmt: skip


def model_of(opset, form, body):
    if form["state"]:
        body += " r = Concat <axis = 0> (a, q)"
    text = STACKED.format(**form, opset=opset, body=body)
    if opset < 13:
        for bound in ("si", "ei"):
            text = text.replace(f"Unsqueeze ({bound}, at)", f"Unsqueeze <axes = [0]> ({bound})")
    return as_model(text)


def feeds(form, lengths, wild=False, seed=0):
    rng = np.random.default_rng(seed)
    count, total = len(lengths), sum(lengths)
    ends = np.cumsum(lengths, dtype=np.int64)
    s, e = ends - np.array(lengths, np.int64), ends
    if wild:
        s, e = rng.integers(-total - 2, total + 3, (2, count))
    dtype = {"float": np.float32, "double": np.float64, "int64": np.int64}[form["type"]]
    sizes = [total if size == "N" else int(size) for size in form["shape"].split(", ")]
    x, v = (3 * rng.normal(size=(2, *sizes))).astype(dtype)
    return {"x": x, "v": v, "s": s, "e": e, "w": rng.integers(1, 9, count).astype(dtype)}


LENGTHS = ((), (0,), (3,), (2, 0), (0, 1, 5, 0, 0, 2), (1, 1, 1), (4,) * 7, (0, 0, 37, 1))


@pytest.mark.parametrize("case", GONE)
def test_blocks_of_any_sizes(case):
    opset, form, body = GONE[case]
    model = model_of(opset, form, body)
    result = rewrite(model, "vectorize-loops{exact=false}")
    assert "Loop" not in op_types(result)
    for seed, lengths in enumerate(LENGTHS):
        for wild in (False, True):
            feed = feeds(form, lengths, wild, seed=seed)
            try:
                reference.run(model, feed)
            except reference.EvaluationError:  # an element of nothing, or blocks that do not fit
                with pytest.raises(reference.EvaluationError):
                    reference.run(result, feed)
                continue
            assert_equal_outputs(model, result, feed)


def test_long_blocks_keep_the_loop():
    """A row of a block takes longer than its share of a reduction in the loop."""
    model = model_of(*GONE["extremes"])
    result = rewrite(model, "straighten{straight=false}")
    for lengths in ((300, 2), (128, 128), (127, 127), ()):
        assert_equal_outputs(model, result, feeds(GONE["extremes"][1], lengths))
    assert "If" not in op_types(rewrite(model))
    (choice,) = [node for node in result.graph.node if node.op_type == "If"]
    short, long = (attribute.g for attribute in choice.attribute)
    kinds = [[node.op_type for node in branch.node] for branch in (short, long)]
    assert "ReduceMax" in kinds[0] and kinds[1] == ["Loop"]
    assert not {*kinds[0]} & {"Loop", "Min"}  # the test has the bounds


def test_no_choice_in_a_loop_around():
    """Most nodes of the blocks go with it."""
    text = """<ir_version: 8, opset_import: ["" : 18]>
    g (float[N] x, int64[U, T] s, int64[U, T] e) => (float[U, V] y)
        <bool go = {1}, int64 zero = {0}, int64 one = {1}, int64[1] at = {0}> {
        sizes = Shape (s) u = Gather (sizes, zero) t = Gather (sizes, one)
        y = Loop (u, go) <body = o (int64 j, bool d) => (bool d2, float[V] r) {
            d2 = Identity (d) sj = Gather (s, j) ej = Gather (e, j)
            r = Loop (t, go) <body = b (int64 i, bool c) => (bool c2, float m) {
                c2 = Identity (c) si = Gather (sj, i) ei = Gather (ej, i)
                s1 = Unsqueeze (si, at) e1 = Unsqueeze (ei, at) part = Slice (x, s1, e1, at)
                m = ReduceMax <keepdims = 0> (part) }> }>
    }"""
    model = as_model(text)
    result = rewrite(model)
    (loop,) = [node for node in result.graph.node if node.op_type == "Loop"]
    body = next(attribute.g for attribute in loop.attribute if attribute.name == "body")
    assert not {node.op_type for node in body.node} & {"If", "Loop"}
    ends = np.array([[2, 3, 9], [4, 4, 5]])
    for s, e in ((ends - 2, ends), (ends[:0], ends[:0]), (ends[:, :0], ends[:, :0])):
        feed = {"x": np.arange(9, dtype=np.float32), "s": s, "e": e}
        assert_equal_outputs(model, result, feed)


@pytest.mark.parametrize("case", ["sums", "extremes", "products", "weights"])
def test_infinities_nan_and_zeros_stay_in_their_blocks(case):
    model = model_of(*GONE[case])
    result = rewrite(model, "vectorize-loops{exact=false}")
    for odd in (np.inf, -np.inf, np.nan, -0.0):
        feed = feeds(GONE[case][1], (2, 3, 1, 0, 4))
        feed["x"][3] = feed["x"][5] = odd
        expected, found = (reference.run(each, feed)[0] for each in (model, result))
        np.testing.assert_allclose(found, expected, rtol=1e-5)
        if odd == 0:
            np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


NUMBERS = """{
   sizes = Shape (s)
   n = Gather (sizes, zero)
   wide = Cast <to: int = 7> (s)
   wide_1 = Cast <to: int = 7> (e)
   length = Sub (wide_1, wide)
   some = Less (wide, wide_1)
   counts = Where (some, length, k)
   some_1 = Greater (counts, k_1)
   counts_1 = Where (some_1, counts, k_1)
   starts = CumSum <exclusive: int = 1, reverse: int = 0> (counts_1, axis)
   total = ReduceSum <keepdims: int = 1> (counts_1, axes)
   end = Size (counts_1)
   numbers = Range (k_2, end, k_3)
   kept = Compress <axis: int = 0> (numbers, some_1)
   kept_1 = Compress <axis: int = 0> (starts, some_1)
   cut = Slice (kept, axes, k_4, axes)
   earlier = Concat <axis: int = 0> (axes, cut)
   steps = Sub (kept, earlier)
   zeros = Expand (k_1, total)
   marks = ScatterElements (zeros, kept_1, steps)
   owners = CumSum <exclusive: int = 0, reverse: int = 0> (marks, axis_1)
   end_1 = Reshape (total, scalar)
   numbers_1 = Range (k_5, end_1, k_6)
   ahead_1 = Sub (wide, starts)
   ahead_2 = Gather (ahead_1, owners)
   places = Add (ahead_2, numbers_1)
   q = Unsqueeze (places, axes_1)
   q_1 = Cast <to: int = 7> (q)
   q_joined = Squeeze (q_1, axes_1)
   y = Concat <axis: int = 0> (first, q_joined)
}"""


def test_numbers_of_all_iterations():
    """The Loop becomes nodes whose number no size changes."""
    result = rewrite(model_of(*GONE["places"]), "vectorize-loops")
    nodes = re.sub(r"(?m)^(\s*)\[\w+\] ", r"\1", canonical(result))
    assert nodes[nodes.index("\n{") + 1 :].strip() == NUMBERS


LOOSE = "vectorize-loops{exact=false}"


@table(
    ("sums, whose order counts", "vectorize-loops{exact=true}", GONE["sums"]),
    ("sums before opset 16", LOOSE, (13, *GONE["sums"][1:])),
    ("extremes before opset 18", LOOSE,
     (17, WHOLE, "r = ReduceMax <axes = [0], keepdims = 0> (part)")),
    ("a matrix for each row", LOOSE, (17, WHOLE,
         "u = Unsqueeze (part, last) t = Unsqueeze (part, at) p = MatMul (u, t)"
         " r = ReduceSum <keepdims = 0> (p)")),
    ("norms", LOOSE, (18, WHOLE, "r = ReduceL2 <keepdims = 0> (part)")))  # fmt: skip
def test_near_misses(case, passes, form):
    model = model_of(*form)
    assert "Loop" in op_types(rewrite(model, passes))
