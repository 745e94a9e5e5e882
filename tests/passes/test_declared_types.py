"""What a body declares is a part of its meaning: a scan output of no iterations has those sizes.

A Loop whose iterations run time decides may stay in a body that is copied, and then the copies
declare what it declared.
"""

import numpy as np
import pytest
from harness import as_model, assert_equal_outputs, run_passes
from straightline import reference
from straightline.passes import (
    ForwardInvariants,
    InlineFunctions,
    InlineIfs,
    LowerSequences,
    UnrollLoops,
    UnrollScans,
)
from tables import table

HEAD = '<ir_version: 8, opset_import: ["" : 18, "local" : 1]>\n'
X = np.arange(6, dtype=np.float32).reshape(2, 3)


def inner(state, result, rows="float[2,3] w"):
    """Sums the rows that a Loop stacks, of which there may be none."""
    return f"""
        u_{result}, v_{result} = Loop (count, t, {state}) <body = bb (int64 j, bool d, float[2,3] a)
                => (bool d2, float[2,3] n, {rows}) {{
            d2 = Identity (d) n = Relu (a) w = Add (a, a) }}>
        {result} = ReduceSum <keepdims = 0> (v_{result}, ax)"""


SHARED = "<int64 two = {2}, bool t = {1}, int64[1] ax = {0}>"


@table(
    ("Loop", UnrollLoops(), f"""g (float[2,3] x, int64 count) => (float[2,3] y) {SHARED} {{
            y = Loop (two, t, x) <body = b (int64 i, bool c, float[2,3] s) => (bool c2, so) {{
                c2 = Identity (c) {inner("s", "so")} }}> }}"""),
    ("Loop, by the state's type", UnrollLoops(),
     f"""g (float[2,3] x, int64 count) => (float[2,3] y) {SHARED} {{
            y = Loop (two, t, x) <body = b (int64 i, bool c, float[2,3] s) => (bool c2, so) {{
                c2 = Identity (c) {inner("s", "so", "float[] w")} }}> }}"""),
    ("Scan", UnrollScans(), f"""g (float[4,2,3] x, int64 count) => (float[4,2,3] y) {SHARED} {{
            y = Scan <num_scan_inputs = 1, body = b (float[2,3] s) => (float[2,3] so) {{
                {inner("s", "so")}
            }}> (x) }}"""),
    ("If", InlineIfs(), f"""g (float[2,3] x, int64 count) => (float[2,3] y) {SHARED} {{
            y = If (t) <
                then_branch = b () => (float[2,3] so) {{ {inner("x", "so")} }},
                else_branch = e () => (float[2,3] no) {{ no = Identity (x) }} > }}"""),
    ("Loop in a Loop that stays", UnrollLoops(),
     f"""g (float[2,3] x, int64 count) => (float[2,3] y) {SHARED} {{
            y = Loop (count, t, x) <body = o (int64 k, bool e, float[2,3] q) => (bool e2, p) {{
                e2 = Identity (e)
                p = Loop (two, t, q) <body = b (int64 i, bool c, float[2,3] s) => (bool c2, so) {{
                    c2 = Identity (c) {inner("s", "so")} }}> }}> }}"""),
    ("SequenceMap", LowerSequences(),
     f"""g (float[2,3] x, int64 count) => (float[2,3] y) {SHARED} {{
            q = SequenceConstruct (x, x)
            r = SequenceMap <body = b (float[2,3] s) => (float[2,3] so) {{
                {inner("s", "so")} }}> (q)
            y = ConcatFromSequence <axis = 0, new_axis = 0> (r)
        }}""".replace("(float[2,3] y)", "(float[4,3] y)", 1)),
    ("function", InlineFunctions(always=True),
     f"""g (float[2,3] x, int64 count) => (float[2,3] y) {{ y = local.f (x, count) }}
        <domain: "local", opset_import: ["" : 18]> f (s, count) => (so) {{
            t = Constant <value = bool {{1}}> () ax = Constant <value_ints = [0]> ()
            {inner("s", "so")} }}"""))  # fmt: skip
def test_a_loop_of_no_iterations_in_a_copy_gives_the_sizes_that_its_body_declares(
    kind, pass_, text
):
    result = run_passes(HEAD + text, pass_)
    assert result.changed
    for iterations in (0, -1, 2):
        feeds = {"x": np.stack([X] * 4) if kind == "Scan" else X, "count": np.array(iterations)}
        assert_equal_outputs(HEAD + text, result.model, feeds)


def test_a_state_that_is_forwarded_leaves_the_sizes_it_told():
    """The body's input tells the shape of `w`; afterwards no node reads that input."""
    text = """g (float[?,?] x, int64 count) => (float[?,?] y)
        <bool t = {1}, int64[1] ax = {0}> {
        u, v = Loop (count, t, x) <body = b (int64 i, bool c, float[2,3] a)
                => (bool c2, float[2,3] n, float[] w) {
            c2 = Identity (c) n = Identity (a) w = Add (a, a) }>
        y = ReduceSum <keepdims = 0> (v, ax) }"""
    result = run_passes(
        HEAD + text,
        ForwardInvariants(),
        feeds=[{"x": X, "count": np.array(iterations)} for iterations in (0, 2)],
    )
    assert result.changed


def test_sizes_that_the_copies_contradict_become_those_that_are_inferred():
    """An exporter wrote down the sizes of the first iteration; the second one's are others."""
    text = f"""g (float[2] x, int64 count) => (float[K] y) {SHARED} {{
        y = Loop (two, t, x) <body = b (int64 i, bool c, float[N] s) => (bool c2, float[M] so) {{
            c2 = Identity (c)
            u, v = Loop (count, t, s) <body = bb (int64 j, bool d, float[2] a)
                    => (bool d2, float[2] n, float[2] w) {{
                d2 = Identity (d) n = Relu (s) w = Add (s, s) }}>
            row = ReduceSum <keepdims = 0> (v, ax) so = Concat <axis = 0> (s, row) }}> }}"""
    result = run_passes(
        HEAD + text,
        UnrollLoops(),
        feeds=[{"x": X[0, :2], "count": np.array(iterations)} for iterations in (1, 2)],
    )
    (_, second) = [n for n in result.model.graph.node if n.op_type == "Loop"]
    body = next(a.g for a in second.attribute if a.name == "body")
    assert [o.type.tensor_type.shape.dim[0].dim_value for o in body.output[1:]] == [4, 4]


@pytest.mark.parametrize("declared", ["float[] w", "float[A] w", "w"])
def test_a_state_of_a_scan_that_is_forwarded_tells_its_sizes_where_it_is_read(declared):
    text = f"""g (float[L,2] x, float[S] s0) => (float[S] s1, float[L,S] z) {{
        s1, z = Scan <num_scan_inputs = 1,
            body = b (float[3] s, float[2] e) => (float[3] s2, {declared}) {{
                s2 = Identity (s) w = Add (s, s)
            }}> (s0, x) }}"""
    result = run_passes(HEAD + text, ForwardInvariants())
    assert result.changed
    for length in (0, 2):
        feeds = {"x": np.zeros((length, 2), np.float32), "s0": np.ones(3, np.float32)}
        for model in (as_model(HEAD + text), result.model):
            assert reference.run(model, feeds)[1].shape == (length, 3)
