import numpy as np
import pytest
from harness import as_model, assert_keeps
from loops import op_types
from straightline import ir, reference
from straightline.analysis.shapes.inference import ShapeInference
from straightline.passes import BlockLoops, VectorizeLoops
from straightline.passes.iteration.iterations import Iterations
from straightline.passes.iteration.loop_view import read
from tables import table
from vectorized import FEED, assert_same, numbers, vectorized


def iterations_of(counts):
    text = """g (float[N, 2] x, int64 n, bool go) => (float[M, 2] y)
            <int64 three = {{3}}, int64 zero = {{0}}, bool yes = {{1}}> {{
        sizes = Shape (x) rows = Gather (sizes, zero) parts = Div (rows, three)
        seven = Constant <value_int = 7> () least = Min (rows, parts, n, seven)
        one = Constant <value_int = 1> () fewer = Sub (rows, one) positive = Max (fewer, zero)
        y = Loop ({}) <body = b (int64 i, bool c) => (bool c2, float[2] e) {{
            c2 = Identity (c) e = Gather (x, i) }}> }}"""
    model = ir.load(as_model(text.format(counts)))
    return Iterations(read(model.graph.nodes()[-1]), ShapeInference(model))


@table(("three, yes", "3", "3"), ("rows, yes", "N", "N"), ("rows, go", "N", None),
     ("n, yes", None, None))  # fmt: skip
def test_the_trip_count(counts, most, exact):
    iterations = iterations_of(counts)
    exact_dim = iterations.iteration_dimension
    assert (exact_dim and str(exact_dim)) == exact
    assert most is None or str(iterations.most_dimension) == most


@table(
    ("parts, yes", [(3, "N")]),
    ("least, yes", [(1, "N"), (3, "N"), (1, "7")]),
    ("positive, yes", [(1, "N - 1")]),
    ("rows, yes", []),
)
def test_divisions_and_minima_bound_the_iterations(counts, bounds):
    """None for a size itself, and none by what only the caller knows."""
    quotients = iterations_of(counts).extent(certain=False).quotients
    assert [(each.divisor, str(each.dividend)) for each in quotients] == bounds


def test_sizes_that_nothing_declares_are_none_without_iterations():
    """Where the body says no size a Loop gives 0 at no iterations, though there would be others."""
    text = """g (float[N, K] x, int64 n) => (float[?, ?] z) <bool yes = {1}> {
        z = Loop (n, yes) <body = b (int64 i, bool c) => (bool c2, float[?] r) {
            c2 = Identity (c) e = Gather (x, i) r = Neg (e) }> }"""
    before = as_model(text)
    result = vectorized(before)
    assert "Loop" not in set(op_types(result.model.graph)), result.remarks
    for n, shape in ((0, (0, 0)), (2, (2, 3))):
        feed = {"x": FEED["x"], "n": np.array(n)}
        assert reference.run(before, feed)[0].shape == shape
        assert_same(before, result.model, feed)


@pytest.mark.parametrize("option", [{}, {"exact": True}])
def test_declared_sizes_that_no_iteration_may_have(option):
    """Without iterations a Loop returns no row of two, though each row would have K elements."""
    text = """g (float[K] x, int64 n) => (float[?, ?] z) <bool yes = {1}> {
        z = Loop (n, yes) <body = b (int64 i, bool c) => (bool c2, float[2] r) {
            c2 = Identity (c) f = Cast <to = 1> (i) r = Add (x, f) }> }"""
    for pass_ in (VectorizeLoops(**option), BlockLoops(block_bytes=64)):
        assert_keeps(pass_, text, "whose sizes may not be those that the body declares")
    feed = {"x": numbers(3), "n": np.array(0)}
    assert reference.run(as_model(text), feed)[0].shape == (0, 2)
    static = text.replace("[K]", "[2]")
    assert_same(as_model(static), vectorized(as_model(static)).model, feed | {"x": numbers(2)})


def test_sizes_of_what_is_carried_into_the_loop_are_not_asked():
    """The body declares symbols, which tell no sizes, though those outside are known."""
    text = """g (float[3, 4] x, int64 n) => (float[3, 4] v, float[?, ?, ?] z) <bool yes = {1}> {
        v, z = Loop (n, yes, x) <body = b (int64 i, bool c, float[A, B] a)
                => (bool c2, float[A, B] r, float[A, B] s) {
            c2 = Identity (c) r = Tanh (a) s = Exp (r) }> }"""
    before = as_model(text)
    result = vectorized(before)
    assert "Exp" in set(op_types(result.model.graph)), "computed at once"
    x = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
    for n, shape in ((0, (0, 0, 0)), (2, (2, 3, 4))):
        feed = {"x": x, "n": np.array(n)}
        assert reference.run(before, feed)[1].shape == shape
        assert_same(before, result.model, feed)
