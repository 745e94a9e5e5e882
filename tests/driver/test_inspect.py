import onnx
import straightline as sl

HEADER = '<ir_version: 8, opset_import: ["" : 17]>\n'
NESTED = """g (float[2] x, bool c) => (float[2] y, float[2] z) {
    three = Constant <value_int = 3> ()
    [outer] y = Loop (three, , x) <body = b (int64 i, bool g, float[2] a) => (bool h, float[2] e) {
        h = Identity (g)
        one = Constant <value_int = 1> ()
        first = Less (i, one)
        [inner] e = If (first) <
            then_branch = t () => (float[2] r) { r = Relu (a) },
            else_branch = f () => (float[2] s) { s = Neg (a) } > }>
    [open] z = If (c) <
        then_branch = t2 () => (float[2] r2) { r2 = Relu (x) },
        else_branch = f2 () => (float[2] s2) { s2 = Neg (x) } >
    yes = Constant <value = bool {1}> ()
    [taken] unused = If (yes) <
        then_branch = t3 () => (float[2] r3) { r3 = Relu (x) },
        else_branch = f3 () => (float[2] s3) {
            [never] s3 = If (c) <
                then_branch = t4 () => (float[2] r4) { r4 = Relu (x) },
                else_branch = f4 () => (float[2] s4) { s4 = Neg (x) } > } > }"""


def model(text=NESTED):
    return onnx.parser.parse_model(HEADER + text)


def test_each_construct_is_listed_once_with_its_outcome():
    found = {c.path: c for c in sl.inspect(model()).constructs}
    assert list(found) == ["outer", "outer/inner", "open", "taken", "taken/never"]
    assert found["outer"].outcome == "rewritten"
    assert found["outer"].reason == "unrolled, 3 iterations"
    assert found["outer/inner"].outcome in ("rewritten", "removed")
    assert found["outer/inner"].decided_by == "constants"
    assert found["open"].outcome == "kept"
    assert found["open"].decided_by == "input 'c'"
    assert "--set c=" in found["open"].reason
    assert found["taken/never"].outcome == "removed"


def test_inspections_agree_with_rewrites_of_the_same_arguments():
    for arguments in ({}, {"values": {"c": True}}, {"max_trips": 1}, {"passes": "inline-ifs"}):
        found = sl.inspect(model(), **arguments)
        rewritten = sl.ir.load(sl.rewrite(model(), **arguments))
        left = [node for graph in rewritten.graphs() for node in graph.nodes() if node.bodies]
        assert found.straight_line == (not left), arguments
        assert sum(c.remaining for c in found.constructs) == len(left), arguments
        assert found.nodes_after == sum(len(graph) for graph in rewritten.graphs())


def test_copies_of_what_stays_are_counted():
    body = """[o] y = Loop (three, , x) <body = b (int64 i, bool g, float[2] a)
        => (bool h, float[2] e) {
            h = Identity (g)
            [n] e = If (c) <then_branch = t () => (float[2] r) { r = Relu (a) },
                            else_branch = f () => (float[2] s) { s = Neg (a) }>
        }>"""
    text = "g (float[2] x, bool c) => (float[2] y) { three = Constant <value_int = 3> () %s }"
    loop, inner = sl.inspect(model(text % body)).constructs
    assert (loop.outcome, loop.remaining) == ("rewritten", 0)
    assert (inner.outcome, inner.remaining) == ("kept", 3)
    assert "3 copies" in inner.reason


def test_a_construct_that_no_pass_handles_says_so():
    found = sl.inspect(model(), "eliminate-identities").constructs[0]
    assert found.reason == "no pass of the pipeline rewrites Loop"


def test_the_model_is_not_changed_and_may_be_of_every_kind(tmp_path):
    original = model()
    before = original.SerializeToString(deterministic=True)
    loaded = sl.ir.load(original)
    onnx.save(original, tmp_path / "m.onnx")
    kinds = (original, loaded, before, tmp_path / "m.onnx")
    assert len({sl.inspect(kind).to_dict().__repr__() for kind in kinds}) == 1
    assert original.SerializeToString(deterministic=True) == before
    assert sl.ir.to_proto(loaded).SerializeToString(deterministic=True) == before


def test_inspections_as_text():
    lines = str(sl.inspect(model())).splitlines()
    assert lines[0] == "Loop 'outer': rewritten, unrolled, 3 iterations"
    assert str(sl.inspect(model("g (float x) => (float y) { y = Abs (x) }"))) == "no control flow"


def test_a_projection_leaves_the_recurrence():
    """A recurrence stays, and its projection is computed before it."""
    text = """g (float[N, 4] x, float[4, 3] w, float[3] h0) => (float[3] h) {
        h = Scan <num_scan_inputs = 1, body = b (float[3] s, float[4] e) => (float[3] t) {
            p = MatMul (e, w) q = Add (s, p) t = Tanh (q) }> (h0, x) }"""
    found = sl.inspect(model(text))
    (construct,) = found.constructs
    assert not found.straight_line and found.left == 1
    assert (construct.outcome, construct.remaining) == ("kept", 1)
    assert "1 node runs once, for all iterations" in construct.reason
    assert "--shape" in construct.reason


def test_a_construct_in_another_form_is_still_one():
    text = """g (float[4, 3] x) => (float[4, 3] y) {
        y = Scan <num_scan_inputs = 1, body = b (float[3] e) => (float[3] t) { t = Tanh (e) }> (x)
    }"""
    assert sl.inspect(model(text)).straight_line
    assert not sl.inspect(model(text), "scans-to-loops").straight_line


def test_the_deciding_input_alone_without_details():
    from straightline.display import as_text

    decides = "trip count depends on input 'n'"
    recurrence = """g (float[2] x, int64 n) => (float[2] y, float[k] z) {
        yes = Constant <value = bool {1}> ()
        [l] y, z = Loop (n, yes, x) <body = b (int64 i, bool c, float[2] s)
            => (bool d, float[2] t, float u) {
            d = Identity (c) r = Relu (s) t = Add (r, r) u = ReduceSum <keepdims = 0> (t) }> }"""
    for arguments, remedy in (({}, "--set n=..."), ({"max_trips": 1}, "it stays with --set n=4")):
        result = sl.inspect(model(recurrence), **arguments)
        (construct,) = result.constructs
        assert construct.reason.startswith(decides) and "it carries" in construct.reason
        assert construct.brief.startswith(decides) and remedy in construct.brief
        assert "it carries" not in construct.brief and "1 node runs once" in construct.brief
        assert "it carries" in as_text(result.blocks())
        assert "it carries" not in as_text(result.blocks(brief=True))
        (described,) = result.to_dict()["constructs"]
        assert described["reason"] == construct.reason and "brief" not in described


def test_an_exceeded_limit_is_reported():
    text = """g (float[2] x) => (float[2] y) <bool yes = {1}, bool no = {0}> {
        c = And (yes, no)
        y = If (c) <then_branch = t () => (float[2] a) { a = Neg (x) },
                    else_branch = e () => (float[2] b) { b = Abs (x) }> }"""
    assert sl.inspect(model(text)).notes == ()
    found = sl.inspect(model(text), max_work=1)
    (note,) = found.notes
    assert (note.op_type, note.path) == ("And", "c") and "--max-work" in note.reason
    assert found.to_dict()["notes"] == [note.to_dict()]
    from straightline.display import as_text

    assert f"note: And 'c': {note.reason}" in as_text(found.blocks())
