"""What is known of values from outside the code that runs on trial, and of functions in it."""

from harness import as_model
from straightline import ir
from straightline.analysis.safety.speculation import Hazard, Speculation
from straightline.analysis.shapes.inference import ShapeInference


def hazard(before, node, signature="float[3,4] w, float[2,3] x, int64[2] k, bool c"):
    """Why a branch that holds one node cannot run where it is not taken; None if it can."""
    head = '<ir_version: 8, opset_import: ["" : 17, "local" : 1]>\n'
    function = """
    <domain: "local", opset_import: ["" : 17]> pick (w, i, unused) => (r) { r = Gather (w, i) }"""
    model = ir.load(
        as_model(f"""{head} g ({signature}) => (y) <int64 one = {{1}}> {{ {before}
            y = If (c) <then_branch = t () => (u) {{ u = {node} }},
                        else_branch = e () => (v) {{ v = Neg (w) }}> }} {function}""")
    )
    branch = model.graph.nodes()[-1].body("then_branch")
    try:
        Speculation(ShapeInference(model), model.functions).run(branch)
    except Hazard as found:
        return str(found)
    return None


def test_bounds_are_followed_back_outside():
    assert hazard("i = ArgMax <axis = 1> (x)", "Gather (w, i)") is None
    assert hazard("a = ArgMax <axis = 1> (x) i = Neg (a)", "Gather (w, i)") is None
    assert "may be out of range" in hazard("i = Neg (k)", "Gather (w, i)")
    far = "i = ArgMax <axis = 1> (x) j = Add (i, one)"
    assert "it is known to lie between 0 and 3" not in (hazard(far, "Gather (w, i)") or "")
    assert "it is known to lie between 1 and 3" in hazard(far, "Gather (w, j)")


def test_bounds_are_followed_a_number_of_steps():
    chain = "s0 = ArgMax <axis = 1> (x) " + " ".join(
        f"s{k + 1} = Identity (s{k})" for k in range(40)
    )
    assert hazard(chain, "Gather (w, s10)") is None
    assert "may be out of range" in hazard(chain, "Gather (w, s40)")


def test_functions_are_looked_into():
    assert hazard("i = ArgMax <axis = 1> (x)", "local.pick (w, i)") is None
    assert "may be out of range" in hazard("", "local.pick (w, k)")
