import numpy as np
import pytest
import straightline as sl
from harness import as_model, assert_equal, run_in_onnxruntime
from straightline import ir, reference
from straightline.analysis.iterations.constructs_in_doubt import constructs_in_doubt
from straightline.analysis.shapes.inference import ShapeInference
from tables import table

HEAD = '<ir_version: 8, opset_import: ["" : 17, "my" : 1]>\n'
INPUTS = "float[N, 3] x, float[3] w, int64 n, bool p"
CONSTANTS = "int64 two = {2}, int64 zero = {0}, bool yes = {1}, int64[1] v0 = {0}"
OUTER = """g ({inputs}) => (float[a, b] y) <{constants}> {{
    y = Loop ({limit}, yes) <body = b (int64 i, bool c) => (bool d, {element} e) {{
        d = Identity (c) {nodes} }}> }}"""
INNER = """{0} = Loop (two, , {1}) <body = l{0} (int64 j{0}, bool f{0}, float[3] s{0}) =>
    (bool h{0}, float[3] t{0}) {{ h{0} = Identity (f{0}) t{0} = Mul (s{0}, w) }}>"""
LOOP = INNER.format("e", "w")
GROWS = """e = Loop (two, , w) <body = l (int64 j, bool f, float[k] s) => (bool h, float[m] t) {
    h = Identity (f) t = Concat <axis = 0> (s, s) }>"""
TYPED = """e = If (yes) <then_branch = p () => (float[] u) { u = Neg (w) },
    else_branch = q () => (float[] v) { v = Unsqueeze (w, v0) }>"""
IN_IF = """r = Not (p) e = If (r) <then_branch = p1 () => (float[] u) {{ {0} }},
    else_branch = q1 () => (float[] v) {{ {1} }}>"""
MIDDLE = """g = Loop (n, yes) <body = m (int64 k, bool o) => (bool o2, float[] z) {{
    o2 = Identity (o) {0} }}> e = ReduceSum <keepdims = 0> (g, v0)"""
SCAN = """e0 = Scan <num_scan_inputs = 1, body = s (float[3] el) => (float[3] z) {{ {0} }}> (x)
    e = Identity (e0)"""
CALL = "e = my.F (w)"
FUNCTION = f"""<domain: "my", opset_import: ["" : 17]> F (w) => (e) {{
    two = Constant <value_int = 2> () {LOOP} }}"""


def model_of(nodes, limit="n", element="float[]", functions=""):
    text = OUTER.format(
        inputs=INPUTS, constants=CONSTANTS, limit=limit, element=element, nodes=nodes
    )
    return as_model(HEAD + text + functions * ("my.F" in nodes))


def feeds(n):
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    return {"x": x, "w": x[1], "n": np.array(n), "p": np.array(n == 1)}


@pytest.mark.sample(9)
@pytest.mark.parametrize("passes", [None, "accelerate", "simplify"])
@table(
    ("Loop", LOOP),
    ("two in a row", INNER.format("a1", "w") + INNER.format("e", "a1")),
    ("a size that grows", GROWS),
    ("If", TYPED),
    ("Loop in an If", IN_IF.format(INNER.format("u", "w"), INNER.format("v", "w"))),
    ("Loop in a Loop", MIDDLE.format(INNER.format("z", "w"))),
    ("Loop in a Scan", SCAN.format(INNER.format("z", "el"))),
    ("Loop in a function", CALL),
    ("after it", INNER.format("a1", "w") + "e = Unsqueeze (a1, v0)"),
)
def test_no_replacement_changes_sizes_without_an_iteration(name, case, passes):
    model = model_of(case, functions=FUNCTION)
    rewrite = sl.rewrite(model, passes, verify=False)
    for n in (0, 2):
        for run in (run_in_onnxruntime, reference.run):
            assert_equal(run(rewrite, feeds(n)), run(model, feeds(n)))


@pytest.mark.parametrize("passes", ["unroll-loops", "straighten"])
@table(
    ("two", "float[]", LOOP),  # there is an iteration
    ("n", "float[3]", LOOP),
    ("n", "float[]", INNER.format("other", "w") + "e = Neg (w)"),  # nothing reads it
    ("n", "float[u]", INNER.format("r", "w") + "f = Cast <to = 1> (i) e = Expand (f, v0)"),
)
def test_certain_sizes_allow_the_replacement(limit, element, nodes, passes):
    model = model_of(nodes, limit, element)
    rewrite = sl.rewrite(model, passes, verify=False)
    bodies = [a.g for node in rewrite.graph.node for a in node.attribute if node.op_type == "Loop"]
    assert not any(node.op_type == "Loop" for body in bodies for node in body.node)
    for n in (0, 2):
        for run in (run_in_onnxruntime, reference.run):
            assert_equal(run(rewrite, feeds(n)), run(model, feeds(n)))


def test_the_reason_names_the_loop_and_its_output():
    rewrite = sl.transform(model_of(LOOP), "unroll-loops", verify=False)
    (remark,) = (each for each in rewrite.remarks if each.path == "y/e")
    assert (remark.op_type, remark.path, remark.code) == ("Loop", "y/e", "around-in-doubt")
    assert remark.arguments == {"loop": "y", "output": "e"}


def test_certain_sizes_are_declared():
    """A replacement may also let less be inferred."""
    model = ir.load(model_of(IN_IF.format("u = Neg (w)", "v = Abs (w)")))
    assert constructs_in_doubt(model, ShapeInference(model)) == {}
    (loop,) = model.graph.holders()
    (dim,) = loop.body("body").output_infos[1].type.tensor_type.shape.dim
    assert dim.dim_value == 3
