"""Facts on demand, and what holds in bodies and after them (shape_inference, body_facts)."""

import onnx
import pytest
from harness import as_model
from straightline import ir
from straightline.analysis.shapes.inference import ShapeInference

HEAD = '<ir_version: 10, opset_import: ["" : 21, "local" : 1, "other" : 1]>\n'


def shapes(text, head=HEAD):
    """The inferred shape of every value, by name; "?" for a size without a name."""
    model = ir.load(as_model(head + text))
    inference = ShapeInference(model)
    found = {}
    for graph in model.graphs():
        values = [*graph.inputs, *(v for n in graph.nodes() for v in n.outputs if v)]
        for value in values:
            shape = inference.fact(value).shape
            known = None if shape is None else [str(dim) for dim in shape]
            found[value.name] = known and ["?" if d.startswith("?") else d for d in known]
    return found


def loop(body, states="float[P,Q] a", results="float[R,S] r", initial="x", outputs="y"):
    return f"""g (float[N,3] x, float[N,3] w, int64 n) => ({outputs}) {{
        {outputs} = Loop (n, , {initial}) <body = b (int64 i, bool c, {states}) => (bool c2,
            {results}) {{
            c2 = Identity (c) {body}
        }}>
    }}"""


@pytest.mark.parametrize(
    ("body", "inside", "after"),
    [
        ("r = Neg (a)", ["N", "3"], ["N", "3"]),
        ("r = Add (a, w)", ["N", "3"], ["N", "3"]),
        ("r = Concat <axis = 0> (a, w)", ["?", "3"], ["?", "3"]),
        ("r = Concat <axis = 0> (w, w)", ["?", "3"], ["?", "3"]),
        ("r = Transpose (a)", ["?", "?"], ["?", "?"]),
        ("r = Unsqueeze (a, i)", None, None),
        ("r = other.Strange (a)", None, None),
    ],
)
def test_carried_values(body, inside, after):
    found = shapes(loop(body))
    assert (found["a"], found["y"]) == (inside, after)


def test_a_size_that_varies_differs_after_each_use():
    text = loop("r = Concat <axis = 0> (a, w) p = Concat <axis = 0> (a, r)")
    model = ir.load(as_model(HEAD + text))
    inference = ShapeInference(model)
    node = model.graph.nodes()[0]
    inside = inference.fact(node.body("body").inputs[2]).shape[0]
    after = inference.fact(node.output()).shape[0]
    assert inside.equals(after) is None


def test_swapped_carried_values():
    text = loop("", "float[P,Q] a, float[R,S] b", "float[R,S] b, float[P,Q] a", "x, w", "y, z")
    found = shapes(text)
    assert found["a"] == found["b"] == found["y"] == found["z"] == ["N", "3"]


def test_scan_outputs_gain_an_axis():
    text = loop("r = Neg (a) s = Relu (a)", results="float[R,S] r, float[T,U] s", outputs="y, z")
    assert shapes(text)["z"] == ["?", "N", "3"]


def test_nested_loops():
    inner = """r = Loop (i, , a) <body = d (int64 j, bool e, float[A,B] f) => (bool e2, float[C,D]
        g0) {
        e2 = Identity (e) g0 = Concat <axis = 1> (f, f)
    }>"""
    found = shapes(loop(inner))
    assert (found["a"], found["f"], found["y"]) == (["N", "?"], ["N", "?"], ["N", "?"])


def test_number_and_condition_have_the_declared_rank():
    text = loop("r = Neg (a) s = Identity (i) t = Shape (s)", results="float[R,S] r")
    assert shapes(text)["t"] == ["0"]
    assert shapes(text.replace("int64 i,", "int64[1] i,"))["t"] == ["1"]


@pytest.mark.parametrize(
    ("axes", "element", "output"),
    [
        ("", ["3"], ["N", "3"]),
        (", scan_input_axes = [1]", ["N"], ["3", "N"]),
        (", scan_input_axes = [-1], scan_output_axes = [-1]", ["N"], ["N", "3"]),
    ],
)
def test_scans(axes, element, output):
    text = f"""g (float[N,3] x, float s) => (y, z) {{
        y, z = Scan <num_scan_inputs = 1{axes}, body = b (float a, float[P] e) => (float a2,
            float[Q] r) {{
            a2 = Identity (a) r = Neg (e)
        }}> (s, x)
    }}"""
    found = shapes(text)
    assert (found["e"], found["z"], found["y"]) == (element, output, [])


@pytest.mark.parametrize(
    ("one", "other", "joined"),
    [
        ("Neg (x)", "Abs (x)", ["N", "3"]),
        ("Concat <axis = 0> (x, x)", "Abs (x)", ["?", "3"]),
        ("Size (x)", "Abs (x)", None),
    ],
)
def test_branches(one, other, joined):
    text = f"""g (float[N,3] x, bool q) => (y) {{
        y = If (q) <then_branch = t () => (u) {{ u = {one} }}, else_branch = e () => (v) {{ v =
            {other} }}>
    }}"""
    assert shapes(text)["y"] == joined


def test_equal_contents_of_branches_are_known():
    text = """g (float[N,3] x, bool q) => (y) <int64[1] one = {1}> {
        s = If (q) <then_branch = t () => (u) { u = Shape (x) }, else_branch = e () => (v) { v =
            Shape (x) }>
        y = Expand (one, s)
    }"""
    assert shapes(text)["y"] == ["N", "3"]


def test_functions_are_looked_at_by_themselves():
    text = """g (float[N,3] x) => (y) { y = local.f (x) }
    <domain: "local", opset_import: ["" : 21]> f (p) => (q) {
        c = Constant <value_floats = [1.0, 2.0]> () d = Neg (c) q = Add (p, d)
    }"""
    found = shapes(text)
    assert (found["y"], found["d"], found["q"]) == (None, ["2"], None)


def test_declarations_fill_in_what_does_not_follow():
    text = """g (float[N,3] x, int64[2] t) => (y) <float[K,3] r, float[9,9] u> {
        r = Reshape (x, t) u = Relu (x) y = Neg (r)
    }"""
    found = shapes(text)
    assert found["y"] == ["K", "3"]
    assert found["u"] == ["N", "3"]


def test_a_long_chain_needs_no_deep_recursion():
    nodes = " ".join(f"v{k + 1} = Neg (v{k})" for k in range(3000))
    text = f"g (float[N] v0) => (float[N] y) {{ {nodes} y = Neg (v3000) }}"
    assert shapes(text)["y"] == ["N"]


def test_copies_of_one_operator_have_sizes_of_their_own():
    model = ir.load(
        as_model(
            """<ir_version: 8, opset_import: ["" : 18]> g (bool[4] x, bool[4] w) => (y, z, u) {
               y = NonZero (x)  z = NonZero (w)  u = Add (y, y) }"""
        )
    )
    first, second, _ = model.graph.nodes()
    second.graph.set_operator(second, first.op)
    inference = ShapeInference(model)
    one, other = [inference.fact(node.output()).shape for node in (first, second)]
    assert one is not None and other is not None
    assert one[0] == other[0] == 1
    assert one[1] != other[1]


def test_copies_that_omit_other_outputs():
    model = ir.load(
        as_model(
            """<ir_version: 8, opset_import: ["" : 18]> g (float[4] x) => (v, w)
               <int64[1] k = {2}> { v, i = TopK (x, k)  u, w = TopK (x, k) }"""
        )
    )
    first, second = model.graph.nodes()
    second.graph.set_operator(second, first.op)
    inference = ShapeInference(model)
    types = [
        inference.fact(node.outputs[index]).elem_type for node, index in ((first, 0), (second, 1))
    ]
    assert types == [1, 7]


def facts(text, head=HEAD):
    """What is known about every value, by name."""
    model = ir.load(as_model(head + text))
    inference = ShapeInference(model)
    graphs = list(model.graphs())
    values = [v for g in graphs for v in g.inputs]
    values += [v for g in graphs for n in g.nodes() for v in n.outputs if v]
    return {value.name: inference.fact(value) for value in values}


INT64, FLOAT, BOOL = onnx.TensorProto.INT64, onnx.TensorProto.FLOAT, onnx.TensorProto.BOOL


def test_types_of_what_a_loop_hands_to_its_body():
    found = facts(
        loop(
            "r = Neg (a) s = Cast <to = 7> (a)",
            results="float[R,S] r, int64[R,S] s",
            outputs="y, z",
        )
    )
    assert (found["i"].elem_type, found["c"].elem_type) == (INT64, BOOL)
    assert (found["a"].elem_type, found["y"].elem_type, found["z"].elem_type) == (
        FLOAT,
        FLOAT,
        INT64,
    )


def test_a_type_that_changes_from_trip_to_trip_is_not_known():
    found = facts(loop("r = Cast <to = 11> (a)"))
    assert (found["a"].elem_type, found["y"].elem_type) == (0, 0)


def test_a_size_without_a_name_is_the_same_after_a_loop_that_keeps_it():
    text = loop("r = Neg (a)").replace("float[N,3] x", "float[?,3] x")
    found = facts(text)
    assert found["y"].shape == found["a"].shape == found["x"].shape


def test_what_a_scan_output_holds_differs_from_what_the_body_saw():
    """The rows of all trips have one size, but not one that the body can speak of outside."""
    text = loop(
        "r = Concat <axis = 0> (a, w) s = Neg (a)",
        results="float[R,S] r, float[T,U] s",
        outputs="y, z",
    )
    found = facts(text)
    rows, inside = found["z"].shape[1], found["a"].shape[0]
    assert rows.equals(inside) is None


def test_sequences_that_are_carried():
    text = """g (float[N,3] x, int64 n) => (y) {
        e = SequenceConstruct (x)
        y = Loop (n, , e) <body = b (int64 i, bool c, seq(float[P,Q]) a) =>
            (bool d, seq(float[R,S]) r) { d = Identity (c) r = SequenceInsert (a, x) }>
    }"""
    found = facts(text)
    elem = found["a"].other.sequence_type.elem_type.tensor_type
    assert elem.elem_type == FLOAT
    assert found["y"].other == found["a"].other
    mixed = text.replace("r = SequenceInsert (a, x)", "r = SequenceEmpty <dtype = 7> ()")
    assert facts(mixed)["y"].other is None and facts(mixed)["a"].other is None


def scan(more="", body="a2 = Identity (a) r = Neg (e)", signature="float[N,3,4] x"):
    return f"""g ({signature}, float s) => (y, z) {{
        y, z = Scan <num_scan_inputs = 1{more}, body = b (float a, float[P,Q] e) => (float a2,
            float[R,S] r) {{ {body} }}> (s, x)
    }}"""


@pytest.mark.parametrize(
    ("axes", "element", "output"),
    [
        ((0, 0), ["3", "4"], ["N", "3", "4"]),
        ((1, 0), ["N", "4"], ["3", "N", "4"]),
        ((-1, 1), ["N", "3"], ["N", "4", "3"]),
        ((-3, -1), ["3", "4"], ["3", "4", "N"]),
        ((2, -2), ["N", "3"], ["N", "4", "3"]),
        ((0, -3), ["3", "4"], ["N", "3", "4"]),
    ],
)
def test_axes_of_scans(axes, element, output):
    found = shapes(scan(f", scan_input_axes = [{axes[0]}], scan_output_axes = [{axes[1]}]"))
    assert (found["e"], found["z"]) == (element, output)


def test_a_scan_over_what_is_not_known():
    found = facts(
        scan(signature="x").replace("(x, float", "(float x, float").replace("float x", "x")
    )
    assert found["e"].shape is None and found["z"].shape is None


def test_states_of_a_scan_are_those_of_every_trip():
    text = """g (float[N,3] x, float[K] s) => (y, z) {
        y, z = Scan <num_scan_inputs = 1, body = b (float[A] a, float[P] e) => (float[B] a2,
            float[Q] r) { a2 = Concat <axis = 0> (a, e) r = Neg (a) }> (s, x)
    }"""
    found = shapes(text)
    assert (found["a"], found["y"], found["z"]) == (["?"], ["?"], ["N", "?"])
    kept = shapes(text.replace("a2 = Concat <axis = 0> (a, e)", "a2 = Neg (a)"))
    assert (kept["a"], kept["y"], kept["z"]) == (["K"], ["K"], ["N", "K"])


def test_scans_of_opset_8_have_a_batch_that_the_body_does_not_see():
    text = """g (float[B,N,3] x, float[B,K] s) => (y, z) {
        y, z = Scan <num_scan_inputs = 1, body = b (float[A] a, float[P] e) => (float[C] a2,
            float[Q] r) { a2 = Identity (a) r = Neg (e) }> (, s, x)
    }"""
    found = shapes(text, '<ir_version: 3, opset_import: ["" : 8]>\n')
    assert (found["a"], found["e"]) == (["K"], ["3"])
    assert (found["y"], found["z"]) == (["B", "K"], ["B", "N", "3"])


def test_a_scan_of_opset_8_of_values_of_unknown_rank():
    text = """g (float x0, int64[R] to) => (y, z) {
        x = Reshape (x0, to)
        y, z = Scan <num_scan_inputs = 1, body = b (float[A] a, float[P] e) => (float[C] a2,
            float[Q] r) { a2 = Identity (a) r = Neg (e) }> (, x, x)
    }"""
    found = facts(text, '<ir_version: 3, opset_import: ["" : 8]>\n')
    for name in ("a", "e", "y", "z"):
        assert (found[name].elem_type, found[name].shape) == (FLOAT, None), name


def test_what_both_branches_hold_is_known():
    text = """g (float[N,3] x, bool q) => (y) {
        y = If (q) <then_branch = t () => (u) { u = Shape (x) },
                    else_branch = e () => (v) { %s }>
    }"""
    same = facts(text % "v = Shape (x)")["y"]
    assert same.elem_type == INT64
    assert [str(size) for size in same.content] == ["N", "3"]
    for other in ("n = Neg (x) m = Transpose (n) v = Shape (m)", "v = Shape <end = 1> (x)"):
        assert facts(text % other)["y"].content is None
    floats = facts(text % "v = Constant <value_floats = [1.0, 2.0]> ()")["y"]
    assert (floats.elem_type, [str(size) for size in floats.shape]) == (0, ["2"])
