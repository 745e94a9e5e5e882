import numpy as np
import pytest
import straightline as sl
from harness import as_model, op_types, run_passes
from straightline.passes import InlineIfs
from tables import table

IF = """q = If (r) <then_branch = t () => (float[A, B, C] a) { a = Squeeze (x, two) },
    else_branch = e () => (float[D, E, F, G] b) { b = Identity (x) }> """
WEIGHTS = "w = Expand (one, input) u = Expand (one, state) "


def model(nodes):
    return as_model(f""" g (float[N, M, 1, 3] x, bool r) => (float z) <int64[1] two = {{2}},
        float one = {{1}}, int64[3] input = {{1, 12, 3}}, int64[3] state = {{1, 12, 4}}> {{
        {WEIGHTS} {nodes} z = ReduceSum <keepdims = 0> (y) }}""")


@table(
    ("a cell", IF + "y = GRU <hidden_size = 4> (q, w, u)", True),
    ("a cell, later", IF + "p = Relu (q) k = Exp (p) y = GRU <hidden_size = 4> (k, w, u)", True),
    ("an order of axes", IF + "y = Transpose <perm = [3, 2, 1, 0]> (q)", False),
    ("one added", IF + "p = Unsqueeze (q, two) y = Transpose <perm = [3, 2, 1, 0]> (p)", True),
)
def test_the_branch_that_fits_is_inlined(name, nodes, then):
    before = model(nodes)
    result = run_passes(before, InlineIfs())
    after = result.model
    assert "If" not in op_types(after) and ("Squeeze" in op_types(after)) is then
    assert [remark.code for remark in result.remarks] == ["branch-refused"]
    assert sl.prove(before, after, search=False).proved
    feeds = {"x": np.ones((2, 5, 1, 3), np.float32), "r": np.array(then)}
    expected, got = (sl.reference.run(proto, feeds) for proto in (before, after))
    np.testing.assert_array_equal(got[0], expected[0])
    with pytest.raises(sl.Error):
        sl.reference.run(before, {**feeds, "r": np.array(not then)})


INSIDE = """y = If ({c}) <
    then_branch = t () => (float[A, B, C] a) {{ a = Transpose <perm = [{then}]> (x) }},
    else_branch = e () => (float[D, E, F, G] b) {{ b = Transpose <perm = [3, 2, 1, 0]> (x) }}>"""


def test_a_branch_that_fails_inside_is_not_taken():
    """Silero's branch for 8 kHz at a window of 16 kHz."""
    before = model(INSIDE.format(c="r", then="2, 1, 0"))
    result = run_passes(before, InlineIfs())
    assert "If" not in op_types(result.model)
    assert sl.prove(before, result.model, search=False).proved


def test_a_known_condition_decides_before_what_fails():
    """The branch that runs fails, and stays: the other one would be another model."""
    text = "n = Size (x) big = Greater (n, n) " + INSIDE.format(c="big", then="3, 2, 0, 1")
    assert "Transpose" in op_types(sl.rewrite(model(text.replace("[3, 2, 1, 0]", "[2, 1, 0]"))))


@table(
    ("both fail inside", INSIDE.format(c="r", then="2, 1, 0")
    .replace("[3, 2, 1, 0]", "[1, 0]")
    .replace("[D, E, F, G]", "[F, G]")),
    ("any rank", IF + "y = Exp (q)"),
    ("neither fits", IF + "y = Transpose <perm = [1, 0]> (q)"),
    ("nobody reads it", IF + "p = Transpose <perm = [2, 1, 0]> (q) y = Exp (q)"),
    ("one rank", IF.replace("Identity (x)", "Squeeze (x, two)")
    + "y = Transpose <perm = [1, 0]> (q)"),
    ("inside a branch", IF
    + """y = If (r) <
        then_branch = o () => (float[P, Q, S, T] k) { k = Transpose <perm = [2, 1, 0]> (q) },
        else_branch = p () => (float[I, J, K, L] l) { l = Exp (q) }>"""))  # fmt: skip
def test_branches_that_may_run_stay(name, text):
    assert "If" in op_types(run_passes(model(text), InlineIfs()).model)


def test_a_cell_behind_a_squeeze_of_unknown_size():
    """Silero's squeeze (-1): the Identity gives the LSTM four axes."""
    before = as_model(f""" g (float[batch, 3, t] x) => (float[batch, 4] y) <float one = {{1}},
        int64[1] zero = {{0}}, int64[1] single = {{1}}, int64[1] last = {{2}},
        int64[3] input = {{1, 16, 3}}, int64[3] state = {{1, 16, 4}}> {{ {WEIGHTS}
        s = Shape (x) n = Gather (s, last) c = Equal (n, single)
        q = If (c) <then_branch = a () => (float[p, v] k) {{ k = Squeeze (x, last) }},
            else_branch = b () => (float[d, e, f] l) {{ l = Identity (x) }}>
        o = Unsqueeze (q, zero) z, h = LSTM <hidden_size = 4> (o, w, u) y = Squeeze (h, zero) }}""")
    result = sl.transform(before)
    assert "If" not in op_types(result.model) and result.verdict.proved


CHAIN = """ s = Shape (x) n = Gather (s, last) c = Equal (n, single)
    q = If (c) <then_branch = a () => (float[p, v] k) { k = Squeeze (x, last) },
        else_branch = b () => (float[d, e, f] l) { l = Identity (x) }>
    qs = Shape (q) rank = Size (qs) flat = Equal (rank, two) deep = Not (flat)
    u = If (deep) <then_branch = o () => (float[g, h, i] m) { m = Unsqueeze (q, zero) },
        else_branch = w () => (float[j, r] t) { t = Identity (q) }>
    v = Unsqueeze (u, zero) y = Transpose <perm = [2, 1, 0]> (v) """
SIGNATURE = """ g (float[batch, 3, t] x, bool loud) => (float[A, B, C] z) <int64[1] zero = {0},
    int64 two = {2}, int64[1] single = {1}, int64[1] last = {2}> """


def test_a_rank_passes_through_the_ifs_that_ask_for_it():
    """Silero's decoder: what an If on the rank makes of the refused result, LSTM refuses."""
    result = sl.transform(as_model(f"{SIGNATURE} {{ {CHAIN} z = Identity (y) }}"))
    assert "If" not in op_types(result.model) and result.verdict.proved


@pytest.mark.parametrize("after", ["z = Relu (y)", "z = Identity (y)"])
def test_a_branch_decides_the_ifs_inside(after):
    """In a branch that may not run, and proved there."""
    inner = f"""z = If (loud) <then_branch = yes () => (float[D, E, F] z1) {{
        {CHAIN} {after.replace("z", "z1")} }}, else_branch = no () => (float[G, H, I] z2) {{
        z2 = Exp (x) }}>"""
    before = as_model(f"{SIGNATURE} {{ {inner} }}")
    result = sl.transform(before, target="onnx")
    assert op_types(result.model).count("If") <= 1 and result.verdict.proved
    for loud, size in ((True, 1), (False, 1), (False, 2)):
        feeds = {"x": np.ones((2, 3, size), np.float32), "loud": np.array(loud)}
        expected, got = (sl.reference.run(proto, feeds) for proto in (before, result.model))
        np.testing.assert_array_equal(got[0], expected[0])
