"""SequenceMap over the parts of a tensor, and Loops that read such parts by their number."""

import pytest
from harness import as_model
from loops import op_types
from straightline.passes import EliminateDeadNodes
from tables import table
from vectorized import assert_same, numbers, vectorized

MAP = """g (float[{n}, 4, 3] x, float[{n}, 4, 3] z, float[3, 3] w) => ({out})
        <int64 two = {{2}}, int64 zero = {{0}}, int64[2] halves = {{2, 2}}> {{
    s = SplitToSequence {split}
    {node} {after} }}"""
ROW = (
    """t = SequenceMap <body = b ({e} e) => ({r} r) {{ a = MatMul (e, w) r = Sigmoid (a) }}> (s)"""
)
STACKED = "y = ConcatFromSequence <axis = 0, new_axis = 1> (t)"
SPLITS = {
    "rows": ("<axis = 0, keepdims = 0> (x)", "float[4, 3]", STACKED, "float[?, 4, 3] y"),
    "columns": ("<axis = 1, keepdims = 0> (x)", "float[?, 3]", STACKED, "float[?, ?, 3] y"),
    "parts of one row": ("<axis = 0> (x)", "float[1, 4, 3]", STACKED, "float[?, ?, ?, ?] y"),
    "parts of two": ("<axis = 1> (x, two)", "float[?, 2, 3]", STACKED, "float[?, ?, ?, ?] y"),
    "halves": ("<axis = 1> (x, halves)", "float[?, 2, 3]", STACKED, "float[?, ?, ?, ?] y"),
    "joined again": ("<axis = -2> (x)", "float[?, 1, 3]", "y = ConcatFromSequence <axis = 1> (t)",
     "float[?, 4, 3] y"),
    "one of them": ("<axis = 1, keepdims = 0> (x)", "float[?, 3]", "y = SequenceAt (t, two)",
     "float[?, 3] y"),
    "their number": ("<axis = 0, keepdims = 0> (x)", "float[4, 3]", "y = SequenceLength (t)",
     "int64 y"),
    "given out": ("<axis = 0, keepdims = 0> (x)", "float[4, 3]", "",
     "seq(float[4, 3]) t")}  # fmt: skip


@pytest.mark.parametrize("n", ["N", "3"])
@pytest.mark.parametrize("what", SPLITS)
def test_all_elements_at_once(what, n):
    if what in ("parts of two", "halves") and n == "N":
        n = "3"
    split, element, after, out = SPLITS[what]
    node = ROW.format(e=element, r=element)
    model = as_model(MAP.format(n=n, out=out, split=split, node=node, after=after))
    result = vectorized(model, EliminateDeadNodes())
    types = set(op_types(result.model.graph))
    assert not types & {"SequenceMap", "Loop", "Scan"}, result.remarks
    assert what == "given out" or not types & {"SplitToSequence", "ConcatFromSequence"}
    for count in (1, 3, 0) if n == "N" else (3,):
        feed = {"x": numbers(count, 4, 3), "z": numbers(count, 4, 3), "w": numbers(3, 3)}
        if count or what in ("columns", "their number"):
            assert_same(model, result.model, feed, zero_length_runs=bool(count))


@table(
    ("two sequences", """u = SplitToSequence <axis = 0, keepdims = 0> (z)
        t = SequenceMap <body = b (float[4, 3] e, float[4, 3] f) => (float[4, 3] r) {
        r = Add (e, f) }> (s, u)"""),
    ("a tensor besides", """t = SequenceMap <body = b (float[4, 3] e, float[3, 3] f)
        => (float[4, 3] r) { a = MatMul (e, f) r = Sigmoid (a) }> (s, w)"""),
    ("two results, one of them the same for all", """t, t2 = SequenceMap <body = b (float[4, 3] e)
        => (float[4, 3] r, float[3, 3] q) { r = Neg (e) q = Exp (w) }> (s)
        one = SequenceAt (t2, zero)"""),
    ("one behind another", """u = SequenceMap <body = b (float[4, 3] e) => (float[4, 3] r) {
        r = Neg (e) }> (s)
        t = SequenceMap <body = b2 (float[4, 3] e2) => (float[4, 3] r2) { r2 = Exp (e2) }> (u)"""),
    ("in the body of a Loop", """t0 = SequenceEmpty <dtype = 1> () always = Constant <value =
        bool {1}> () length = Constant <value = int64 {2}> ()
        t = Loop (length, always, t0) <body = l (int64 i, bool c, seq(float[4, 3]) g)
            => (bool c2, seq(float[4, 3]) g2) { c2 = Identity (c) e = SequenceAt (s, i)
            r = Neg (e) g2 = SequenceInsert (g, r) }>"""))  # fmt: skip
def test_other_maps_over_sequences(what, nodes):
    split = "<axis = 0, keepdims = 0> (x)"
    text = MAP.format(n="N", out="float[?, 4, 3] y", split=split, node=nodes, after=STACKED)
    model = as_model(text)
    result = vectorized(model, EliminateDeadNodes())
    types = set(op_types(result.model.graph))
    assert not types & {"SequenceMap", "Loop", "SplitToSequence"}, result.remarks
    for count in (1, 3) if "Loop" not in what else (3,):
        feed = {"x": numbers(count, 4, 3), "z": numbers(count, 4, 3), "w": numbers(3, 3)}
        assert_same(model, result.model, feed)


@table(
    ("may differ in shape", "<axis = 1> (x, three)", "r = Neg (e)", "(s)", "float[?, ?, 3] e"),
    ("may be of other lengths", "<axis = 0, keepdims = 0> (x)", "r = Add (e, f)", "(s, u)",
     "float[4, 3] e, float[4, 3] f"),
    ("draws random numbers", "<axis = 0, keepdims = 0> (x)", "r = RandomNormalLike (e)", "(s)",
     "float[4, 3] e"))  # fmt: skip
def test_kept_maps_and_their_reasons(reason, split, body, given, inputs):
    node = f"""u = SplitToSequence <axis = 0, keepdims = 0> (q)
        t = SequenceMap <body = b ({inputs}) => (float r) {{ {body} }}> {given}"""
    node, out = node.replace("float r", f"{inputs.split(' e')[0]} r"), inputs.split(" e")[0]
    text = MAP.format(n="N", out=f"seq({out}) t", split=split, node=node, after="")
    text = text.replace("float[3, 3] w", "float[3, 3] w, float[M, 4, 3] q").replace(
        "<int64 two", "<int64 three = {3}, int64 two", 1
    )
    result = vectorized(as_model(text))
    assert "SequenceMap" in op_types(result.model.graph)
    assert any(reason in remark.reason for remark in result.kept), result.kept


def test_a_recurrence_over_the_parts_of_a_tensor():
    """The loop stays, and reads the tensor."""
    text = MAP.format(
        n="N",
        out="float[4, 3] y",
        split="<axis = 0, keepdims = 0> (x)",
        node="""y = Loop (length, , w4) <body = l (int64 i, bool c, float[4, 3] g)
            => (bool c2, float[4, 3] g2) { c2 = Identity (c) e = SequenceAt (s, i)
            r = Add (g, e) g2 = Tanh (r) }>""",
        after="",
    )
    text = text.replace(
        "s = Split",
        "w4 = ReduceSum <keepdims = 0> (x, at) sizes = Shape (x)"
        " length = Gather (sizes, zero) s = Split",
    ).replace("<int64 two", "<int64[1] at = {0}, int64 two")
    model = as_model(text)
    result = vectorized(model, EliminateDeadNodes())
    types = set(op_types(result.model.graph))
    assert "Loop" in types
    assert not types & {"SequenceAt", "SplitToSequence"}
    for count in (0, 1, 3):
        feed = {"x": numbers(count, 4, 3), "z": numbers(count, 4, 3), "w": numbers(3, 3)}
        assert_same(model, result.model, feed)
