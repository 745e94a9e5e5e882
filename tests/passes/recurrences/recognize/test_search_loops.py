import numpy as np
import pytest
from harness import as_model, assert_equal_outputs, run_passes
from loops import op_types
from straightline import reference, transform
from straightline.passes import EliminateDeadNodes, SearchLoops

TEXT = """g (float[N, 3] x, int64 n, float t) => ({outputs}) <bool yes = {{1}}, bool no = {{0}},
        int64 minus = {{-1}}, int64 zero = {{0}}, int64 one = {{1}}, float none = {{0}},
        float[3] row = {{0, 0, 0}}, int32 zero_32 = {{0}}, int32 one_32 = {{1}}> {{
    s = Shape (x) z = Gather (s, zero) last = Sub (z, one) n_32 = Cast <to = 6> (n)
    {names} = Loop ({most}, {start}{initial}) <body = b (int64 i, bool c{states}) =>
            (bool go{after}) {{
        e = Gather (x, {at}) m = ReduceMax <keepdims = 0> (e) hit = Greater (m, t) {body} }}> }}"""
PLAIN = {"states": "", "initial": "", "most": "n", "start": "yes", "at": "i"}
ROWS = {**PLAIN, "outputs": "float[M, 3] y", "names": "y", "after": ", float[3] r"}
INDEX = {
    **PLAIN,
    "outputs": "int64 j",
    "names": "j",
    "states": ", int64 j0",
    "initial": ", minus",
    "after": ", int64 j1",
}
FORMS = {
    "rows up to the hit": {**ROWS, "body": "go = Not (hit) r = Exp (e)"},
    "rows backward": {**ROWS, "at": "p", "body": "go = Not (hit) r = Neg (e)"},
    "a first index": {**INDEX, "body": "go = Not (hit) j1 = Where (hit, i, j0)"},
    "an index that is tested": {**INDEX, "body": "j1 = Where (hit, i, j0) go = Less (j1, zero)"},
    "a row, and a flag that is carried": {**PLAIN, "outputs": "bool f, float[3] y", "names": "f, y",
     "states": ", bool f0, float[3] y0", "initial": ", no, row", "after": ", bool f1, float[3] y1",
     "body": "f1 = Or (f0, hit) y1 = Where (hit, e, y0) go = Not (f1)"},
    "an extreme up to the hit, by a counter of its own": {**PLAIN, "outputs": "int32 k, float y",
     "names": "k, y", "states": ", int32 k0, float y0", "initial": ", zero_32, none",
     "after": ", int32 k1, float y1", "at": "k0",
     "body": "k1 = Add (k0, one_32) y1 = Max (y0, m) more = Less (k1, n_32) on = Not (hit)"
     " go = And (more, on)", "most": ""}}  # fmt: skip


def model_of(form):
    text = TEXT.format(**form)
    if form["at"] == "p":
        text = text.replace("e = Gather", "p = Sub (last, i) e = Gather")
    return as_model(text)


def test_a_search_counts_the_iterations():
    after = """g (float[N, 3] x, int64 n, float t) => (float[M, 3] y) <bool yes = {1},
            int64 axis = {0}, bool holds = {1}, int32[1] beyond = {1}, int64 one = {1},
            int64 endless = {9223372036854775807}> {
        shape = Shape (x) size = Gather <axis = 0> (shape, axis)
        hits = Loop (size, holds) <body = search (int64 i, bool c) => (bool c, bool hit) {
            e = Gather (x, i) m = ReduceMax <keepdims = 0> (e) hit = Greater (m, t) }>
        numbers = Cast <to = 6> (hits) every = Concat <axis = 0> (numbers, beyond)
        first = ArgMax <axis = 0, keepdims = 0> (every) count = Size (hits)
        met = Less (first, count) following = Add (first, one)
        some = Where (met, following, endless) iterations = Min (n, some)
        y = Loop (iterations, yes) <body = b (int64 j, bool d) => (bool d, float[3] r) {
            f = Gather (x, j) r = Exp (f) }> }"""
    before = model_of(FORMS["rows up to the hit"])
    result = run_passes(before, SearchLoops(), EliminateDeadNodes())
    wanted = as_model(after)
    assert sorted(op_types(result.model.graph)) == sorted(op_types(wanted.graph))
    for n, t in ((5, 0.5), (3, 9)):
        x = np.random.default_rng(1).normal(size=(5, 3)).astype(np.float32)
        feed = {"x": x, "n": np.array(n), "t": np.array(t, np.float32)}
        assert_equal_outputs(before, result.model, feed)
        assert_equal_outputs(before, wanted, feed)


@pytest.mark.parametrize("what", FORMS)
def test_nothing_stays_of_a_search(what):
    before = model_of(FORMS[what])
    result = transform(before, "straighten")
    assert not set(op_types(result.model.graph)) & {"Loop", "Scan"}, result.remarks
    for rows, n, t in ((0, 0, 0), (5, 0, 0), (5, 5, 9), (5, 4, 1), (5, 7, 0.5)):
        x = np.random.default_rng(rows).normal(size=(rows, 3)).astype(np.float32)
        x[-1:, 0] = np.nan
        feed = {"x": x, "n": np.array(n), "t": np.array(t, np.float32)}
        if FORMS[what]["most"] or n:  # the first iteration is always made
            assert_equal_outputs(before, result.model, feed)


KEPT = {
    "an absent condition": {**INDEX, "start": "", "body": "go = Not (hit) j1 = Where (hit, i, j0)"},
    "rows that may not be there": {**ROWS, "at": "q", "body": "go = Not (hit) r = Exp (e)"},
    "a recurrence that decides": {**INDEX, "states": ", float j0", "initial": ", none",
     "after": ", float j1", "outputs": "float j",
     "body": "u = Tanh (j0) j1 = Add (u, m) go = Less (j1, t)"},
    "a recurrence that stays": {**ROWS, "outputs": "float[3] f", "names": "f",
     "states": ", float[3] f0", "initial": ", row",
     "body": "u = Mul (f0, f0) r = Add (u, e) go = Not (hit)"},
    "no end": {**INDEX, "most": "", "body": "go = Not (hit) j1 = Where (hit, i, j0)"}}  # fmt: skip


@pytest.mark.parametrize("what", KEPT)
def test_kept_searches(what):
    form = KEPT[what]
    text = TEXT.format(**form).replace("e = Gather (x, q)", "q = Mul (i, i) e = Gather (x, q)")
    result = run_passes(as_model(text), SearchLoops())
    assert [node.op_type for node in result.model.graph.node].count("Loop") == 1
    assert not result.changed


def test_a_loop_that_fails_still_fails():
    """Without a hit in the rows that are there, the iteration after them is made."""
    result = transform(model_of(FORMS["rows up to the hit"]), "straighten")
    x, n = np.zeros((2, 3), np.float32), np.array(3)
    with pytest.raises(reference.EvaluationError):
        reference.run(result.model, {"x": x, "n": n, "t": np.array(1, np.float32)})
