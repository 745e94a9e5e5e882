import onnx
import pytest
from harness import HEAD, as_model
from loops import op_types
from straightline import ir
from straightline.facts.obstacle import Obstacle
from straightline.passes import EliminateDeadNodes
from straightline.passes.iteration.loop_view import (
    LoopView,
    add_holder,
    copy_body,
    declaration,
    map_unique,
    output_labels,
    read,
    read_scan,
    row_type,
    unreadable,
)
from straightline.passes.utils.replace_all_uses import replace_outputs
from tables import table
from vectorized import assert_same, numbers, vectorized

LOOP = """g (int64 n, bool go, float[3] x, float[2] u) => (float[3] y, float[?, 2] z) {
    y, q, z, h = Loop (n, go, x, x) <body = b (int64 i, bool c, float[3] a, float[3] d)
            => (bool c2, float[3] e, float[3] f, float[2] r, float[2] s) {
        c2 = Identity (c) e = Neg (a) f = Exp (d) r = Neg (u) s = Exp (u) }> }"""
SCAN = """g (float[3] x, float[3, N] s, float[N, 3] t) => (float[3] y, float[2, ?] z) {
    y, z = Scan <num_scan_inputs = 2, scan_input_axes = [-1, 0], scan_input_directions = [0, 1],
            scan_output_axes = [1, 0], scan_output_directions = [1, 0],
            body = b (float[3] a, float[3] e, float[3] f) => (float[3] o, float[2] r, float[3] k) {
        o = Add (a, e) k = Exp (f) i = Constant <value_ints = [0, 1]> () r = Gather (f, i)
    }> (x, s, t) }"""


def first(text, head=HEAD):
    model = ir.load(as_model(head + text))
    return next(node for node in model.graph.nodes() if node.bodies)


def test_a_loop():
    node = first(LOOP)
    found = read(node)
    assert isinstance(found, LoopView)
    assert (found.maximum, found.start) == node.inputs[:2]
    assert (found.iteration, found.condition) == found.body.inputs[:2]
    assert [(s.initial.name, s.argument.name, s.result.name) for s in found.states] == [
        ("x", "a", "e"),
        ("x", "d", "f"),
    ]
    assert [state.final for state in found.states] == list(node.outputs[:2])
    assert [(one.result.name, one.output) for one in found.scan_outputs] == [
        ("r", node.outputs[2]),
        ("s", node.outputs[3]),
    ]
    assert not found.scan_inputs


def test_a_scan():
    node = first(SCAN)
    found = read(node)
    assert isinstance(found, LoopView)
    assert found.maximum is found.start is found.iteration is found.condition is None
    assert [(s.initial.name, s.argument.name, s.result.name) for s in found.states] == [
        ("x", "a", "o")
    ]
    assert [(s.source.name, s.argument.name, s.axis, s.backward) for s in found.scan_inputs] == [
        ("s", "e", -1, False),
        ("t", "f", 0, True),
    ]
    assert [(s.result.name, s.output, s.axis, s.backward) for s in found.scan_outputs] == [
        ("r", node.outputs[1], 1, True),
        ("k", None, 0, False),
    ]


@table(
    (
        LOOP.replace("c2 = Identity (c)", "k = Constant <value_int = 2> () c2 = Less (i, k)"),
        "its body decides",
    ),
    (LOOP.replace("Loop (n, go", "Loop (, go"), "it has no maximum"),
)
def test_nodes_that_are_no_repetition(text, reason):
    with pytest.raises(Obstacle, match=reason):
        read(first(text))


def test_a_scan_of_opset_8_is_none():
    text = """g (float[2, 3] s) => (float[2, 3] z) {
        z = Scan <num_scan_inputs = 1, body = b (float e) => (float r) { r = Neg (e) }> (, s) }"""
    with pytest.raises(Obstacle, match="opset 8"):
        read(first(text, '<ir_version: 3, opset_import: ["" : 8]>'))


def test_pinned_outputs_stay():
    node = first(LOOP)
    node.outputs[0].pinned = True
    with pytest.raises(Obstacle, match="named from outside"):
        read(node)


BODY = (
    "body = b (float[2] a, float[2] e) => (float[2] a2, float[2] r) { a2 = Add (a, e) r = Neg (e) }"
)


def scan_of(version=11, attributes="num_scan_inputs = 1", inputs="(s, x)", outputs="y, z", more=""):
    lens = ", int64[B] n" if version == 8 else ""
    text = f"""<ir_version: 8, opset_import: ["" : {version}]>
        g (float[B,2] s, float[B,L,2] x{lens}) => ({more or "y"}) {{
        {outputs} = Scan <{attributes}, {BODY}> {inputs} }}"""
    model = ir.load(onnx.parser.parse_model(text))
    return model, next(node for node in model.graph.nodes() if node.is_op("Scan"))


def names(values):
    return [None if value is None else value.name for value in values]


def test_absent_attributes_are_zero():
    _, node = scan_of()
    found = read_scan(node, 11)
    assert (names(found.states), names(found.scan_inputs)) == (["s"], ["x"])
    assert (found.input_axes, found.input_backward) == ((0,), (False,))
    assert (found.output_axes, found.output_backward) == ((0,), (False,))
    assert (names(found.final_states), names(found.scan_outputs)) == (["y"], ["z"])
    assert found.sequence_lens is None and found.body is node.body("body")


def test_version_9_and_later():
    said = """num_scan_inputs = 1, scan_input_axes = [-2], scan_input_directions = [1],
        scan_output_axes = [1], scan_output_directions = [1]"""
    found = read_scan(scan_of(attributes=said)[1], 11)
    assert (found.input_axes, found.input_backward) == ((-2,), (True,))
    assert (found.output_axes, found.output_backward) == ((1,), (True,))


@pytest.mark.parametrize(("inputs", "lens"), [("(n, s, x)", "n"), ("(, s, x)", None)])
def test_version_8(inputs, lens):
    found = read_scan(scan_of(8, "num_scan_inputs = 1, directions = [1]", inputs)[1], 8)
    assert names([found.sequence_lens]) == [lens]
    assert (names(found.states), names(found.scan_inputs)) == (["s"], ["x"])
    assert (found.input_axes, found.input_backward) == ((0,), (True,))
    assert (found.output_axes, found.output_backward) == ((0,), (False,))


def test_an_omitted_output():
    found = read_scan(scan_of(outputs=", z", more="z")[1], 11)
    assert (names(found.final_states), names(found.scan_outputs)) == ([None], ["z"])


def test_unreadable_scans():
    _, node = scan_of()
    assert unreadable(node, 11) is None
    op = node.op
    reference = onnx.AttributeProto(
        name="num_scan_inputs", ref_attr_name="n", type=onnx.AttributeProto.INT
    )
    node.graph.set_operator(node, op.with_attributes([*op.attributes.values(), reference]))
    assert "its attribute 'num_scan_inputs' comes from the function around it" in unreadable(
        node, 11
    )


def test_a_new_holder_with_the_same_body():
    model, node = scan_of()
    made = add_holder(
        model.graph, node.op, {"num_scan_inputs": 1}, ["body"], node.inputs, ["p", "q"], "new"
    )
    copy_body(node, made)
    ir.verify(model)
    assert [n.op_type for n in made.body("body").nodes()] == ["Add", "Neg"]
    assert made.body("body") is not node.body("body")
    assert (made.attribute("num_scan_inputs"), made.name) == (1, "new")


def test_results_in_the_place_of_outputs():
    model, node = scan_of(more="y, z")
    graph = model.graph
    new = graph.add_node(ir.Operator("Identity"), [graph.inputs[0]], ["kept"]).output()
    row = graph.add_node(ir.Operator("Neg"), [graph.inputs[1]], ["row"]).output()
    assert output_labels(node, "_new") == ["y_new", "z_new"]
    replace_outputs(graph, node, [new, row])
    ir.verify(model)
    assert {n.op_type for n in graph.nodes()} == {"Identity", "Neg"}
    assert list(graph.outputs) == [new, row]


def test_an_output_that_nothing_uses_needs_no_result():
    model, node = scan_of()
    result = model.graph.add_node(ir.Operator("Neg"), [model.graph.inputs[0]], ["r"]).output()
    replace_outputs(model.graph, node, [result, None])
    ir.verify(model)
    assert [n.op_type for n in model.graph.nodes()] == ["Neg"]


def test_each_is_made_once():
    model, _ = scan_of()
    s, x = model.graph.inputs
    made = []
    found = map_unique([s, x, s], lambda value: made.append(value) or value)
    assert (made, found) == ([s, x], [s, x, s])


@table((0, [2]), (1, ["L", 2]))
def test_the_type_of_a_row(index, dims):
    model, _ = scan_of()
    declared = declaration("row", row_type(model.graph.inputs[index]))
    shape = declared.type.tensor_type.shape.dim
    assert [dim.dim_param or dim.dim_value for dim in shape] == dims
    assert declared.name == "row"


def test_a_row_of_unknown_type():
    assert row_type(None) is None
    assert not declaration("row", None).HasField("type")


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
