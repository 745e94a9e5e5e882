import pytest
import straightline as sl
from proofs import assert_open, assert_proved, model
from straightline.verification.proof.terms.term_manager import Terms

LOOP = """g (float[n, 2] x, float[2] h, float[1] w) => (float[2] z)
    <int64 times = {{6}}, bool yes = {{1}}, float[1] two = {{{factor}}}, int64[1] wide = {{2}}> {{
    {before} z = Loop (times, yes, h)
    <body = b (int64 i, bool k, float[2] s) => (bool k2, float[2] t) {{
    k2 = Identity (k) {body} }}> }}"""
CELL = "a = Sin (s) b = Add (a, h) c = Exp (b) r = Gather (x, i) d = Tanh (c) e = Add (d, r)"
BODIES = {
    "facts that stay": f"{CELL} t = Atan (e)",
    "a product": f"{CELL} p = Mul (e, s) q = Mul (p, a) t = Mul (q, w)",
    "a product with a constant": f"{CELL} p = Mul (e, two) q = Mul (p, a) t = Sin (q)",
    "a sum over what grows": """v = Range (one, i, one) f = Cast <to = 1> (v)
        a = Exp (f) b = Sin (a) c = Tanh (b) d = ReduceSum <keepdims = 0> (c) t = Add (s, d)""",
}


def looped(name, factor=1):
    before = "one = Constant <value_int = 1> ()"
    return model(LOOP.format(body=BODIES[name], before=before, factor=factor))


@pytest.mark.parametrize("name", BODIES)
def test_iterations_are_those_of_the_unrolled_loop(name):
    before = looped(name)
    after = sl.rewrite(before, "unroll-loops", verify=False)
    assert not any(node.op_type == "Loop" for node in after.graph.node)
    assert sl.prove(before, after, search=False).proved


def test_another_node_in_one_iteration_is_found():
    before = looped("a product")
    after = sl.rewrite(before, "unroll-loops", verify=False)
    next(node for node in reversed(after.graph.node) if node.op_type == "Sin").op_type = "Atan"
    assert not sl.prove(before, after, search=False).proved


def test_nodes_of_equal_facts_run_in_a_block(monkeypatch):
    runs, rows = [], Terms.opaque_rows

    def counted(self, block, frame):
        runs.append((len(block), rows(self, block, frame)))
        return runs[-1][1]

    monkeypatch.setattr(Terms, "opaque_rows", counted)
    before = looped("a product")
    after = sl.rewrite(before, "unroll-loops", verify=False)
    assert sl.prove(before, after, search=False).proved
    assert {(3, 3), (5, 5)} <= set(runs)


def test_a_product_with_a_stretched_constant_is_not_opaque():
    """The fact of the stretched constant is that of any such tensor, and one is neutral."""
    body = "p = Mul (s, e) a = Sin (p) c = Exp (a) d = Tanh (c) t = Mul (d, e)"
    one = LOOP.format(body=body, before="e = Expand (two, wide)", factor=1)
    assert_proved(one, one.replace("Mul (s, e)", "Identity (s)"))
    assert_open(one.replace("{1}, int64[1] wide", "{3}, int64[1] wide"), one)
