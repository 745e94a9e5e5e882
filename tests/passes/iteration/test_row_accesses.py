import pytest
from harness import as_model
from straightline import ir
from straightline.analysis.shapes.inference import ShapeInference
from straightline.passes.iteration.iterations import Iterations
from straightline.passes.iteration.loop_view import read
from straightline.passes.iteration.places import Places
from straightline.passes.iteration.row_accesses import RowAccesses, distinct, written_before
from tables import table

TEXT = """g (float[N, 2] x, float[8, 2] y0) => (float[M, 2] y)
        <bool yes = {{1}}, int64[1] z = {{0}},
        int64 three = {{3}}, int64 one = {{1}}, int64 two = {{2}}, int64[1] last = {{-1}},
        int64[2] one_place = {{1, 1}}, int64[1] far = {{9223372036854775807}}> {{
    y = Loop (three, yes, y0) <body = b (int64 i, bool c, float[?, 2] s)
            => (bool c2, float[?, 2] t) {{ c2 = Identity (c) e = Gather (x, i) {} }}> }}"""
WRITE = " at = Reshape (w, one_place) u = Unsqueeze (v, z) t = ScatterND (s, at, u)"
GROW = " u = Unsqueeze (v, z) t = Concat <axis = 0> (s, u)"


def accesses_of(body):
    text = TEXT.format(body).replace("int64 one =", "int64 eight = {8}, int64 one =")
    model = ir.load(as_model(text))
    loop_view, inference = read(model.graph.nodes()[-1]), ShapeInference(model)
    places = Places(Iterations(loop_view, inference), True)
    return loop_view.states[0], RowAccesses(loop_view, places)


@table(
    ("the row before", "w = Add (i, one) v = Gather (s, i)" + WRITE, [(0, 1)]),
    ("two rows before", "w = Add (i, two) v = Gather (s, i)" + WRITE, [(0, 2)]),
    ("its own row", "w = Identity (i) v = Gather (s, i)" + WRITE, [None]),
    ("every second row", "w = Mul (i, two) k = Add (w, one) v = Gather (s, k)" + WRITE, [None]),
    ("its sizes", "w = Identity (i) k = Shape (s) f = Expand (e, k) v = Identity (e)" + WRITE, []),
    ("the newest row", "v0 = Slice (s, last, far, z) v = Squeeze (v0, z)" + GROW, [(0, 1)]),
    ("row 7 + i", "k = Sub (i, one) l = Add (k, eight) v = Gather (s, l)" + GROW, [(0, 1)]),
)
def test_writes_before_reads(case, body, expected):
    state, accesses = accesses_of(body)
    store = accesses.store(state)
    assert distinct(store.rows)
    loads = accesses.loads(store)
    assert [written_before(store, load.row) for load in loads if load.row is not None] == expected
    assert all(accesses.is_inside(load, store) for load in loads)


@table(
    ("rows of a run-time place", "w = Cast <to = 7> (c) v = Gather (s, i)" + WRITE),
    ("a sum", "v = Gather (s, i) u = Unsqueeze (v, z) t = Add (s, u)"),
)
def test_no_store(case, text):
    state, accesses = accesses_of(text)
    assert accesses.store(state) is None


def test_a_read_of_the_whole_state():
    state, accesses = accesses_of("w = Identity (i) v = ReduceSum <keepdims = 0> (s, z)" + WRITE)
    assert accesses.loads(accesses.store(state)) is None


def test_places_of_unknown_distance():
    state, accesses = accesses_of("w = Mul (i, two) v = Gather (s, i)" + WRITE)
    store = accesses.store(state)
    (load,) = accesses.loads(store)
    with pytest.raises(ValueError, match="distance"):
        written_before(store, load.row)
