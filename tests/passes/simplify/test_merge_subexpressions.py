import numpy as np
import pytest
import straightline as sl
from harness import as_model, assert_equal_outputs, assert_rewrites, op_types, run_passes
from straightline.passes import MergeSubexpressions
from tables import table

X = {"x": np.array([1, -0.0], np.float32)}


def merges(before, after, *feeds):
    assert_rewrites(MergeSubexpressions(), before, after, feeds)
    proof = sl.prove(as_model(before), as_model(after))
    assert (proof.status, proof.equality) == ("proved", "bits")


def test_chains_of_equal_nodes():
    merges(
        """g (float[2] x) => (float[2] y) <float[2] k = {1, 2}, float[2] l = {1, 2}> {
            a = Add (x, k) b = Add (l, x) c = Softmax (a) d = Softmax <axis = -1> (b)
            y = Sub (c, d) }""",
        """g (float[2] x) => (float[2] y) <float[2] k = {1, 2}, float[2] l = {1, 2}> {
            a = Add (x, k) c = Softmax (a) y = Sub (c, c) }""",
        X,
    )


def test_outputs_keep_their_names_and_types():
    merges(
        """g (float[2] x) => (float[2] y, float[N] z, float[2] w) {
            a = Exp (x) y = Exp (x) z = Exp (x) b = Neg (a) w = Neg (z) }""",
        """g (float[2] x) => (float[2] y, float[N] z, float[2] w) {
            y = Exp (x) w = Neg (y) z = Identity (y) }""",
        X,
    )


def test_a_body_uses_what_is_computed_around_it():
    merges(
        """g (float[2] x, bool p) => (float[2] y, float[2] z) {
            a = Exp (x)
            z = If (p) <then_branch = t () => (float[2] q) { e = Exp (x) q = Neg (e) },
                else_branch = f () => (float[2] r) { r = Exp (x) }>
            y = Abs (a) }""",
        """g (float[2] x, bool p) => (float[2] y, float[2] z) {
            a = Exp (x)
            z = If (p) <then_branch = t () => (float[2] q) { q = Neg (a) },
                else_branch = f () => (float[2] a_1) { a_1 = Identity (a) }>
            y = Abs (a) }""",
        {**X, "p": np.array(True)},
        {**X, "p": np.array(False)},
    )


KEPT = {
    "other operands": "a = Sub (x, k) b = Sub (k, x) y = Add (a, b)",
    "other attributes": "a = Softmax (x) b = Softmax <axis = 0> (x) y = Add (a, b)",
    "zeros of either sign": "a = Div (k, zero) b = Div (k, minus) y = Add (a, b)",
    "random numbers": "a = RandomNormalLike (x) b = RandomNormalLike (x) y = Add (a, b)",
    "dropout that trains": "a = Dropout (x, h, t) b = Dropout (x, h, t) y = Add (a, b)",
    "a default that callers override": "a = Add (x, d) b = Add (x, k) y = Sub (a, b)",
    "two branches": """y = If (p) <then_branch = t () => (float[2, 2] q) { q = Exp (x) },
        else_branch = f () => (float[2, 2] r) { r = Exp (x) }>""",
    "a body before": """b = If (p) <
        then_branch = t () => (float[2, 2] q) { s = Exp (x) q = Abs (s) },
        else_branch = f () => (float[2, 2] r) { r = Neg (x) }> e = Exp (x) y = Add (b, e)""",
}


@pytest.mark.parametrize("what", KEPT)
def test_others_stay(what):
    text = f"""g (float[2, 2] x, float[2, 2] d, bool p) => (float[2, 2] y)
        <float[2, 2] k = {{1, 2, 3, 4}}, float[2, 2] d = {{1, 2, 3, 4}}, float zero = {{0}},
         float minus = {{-0.0}}, float h = {{0.5}}, bool t = {{1}}> {{ {KEPT[what]} }}"""
    assert not run_passes(text, MergeSubexpressions()).changed


def test_operators_of_others_and_functions_around_them_stay():
    text = """<ir_version: 8, opset_import: ["" : 17, "own" : 1, "odd" : 1]>
        g (float[2] x) => (float[2] y) { a = own.f (x) b = own.f (x) c = own.h (x) d = own.h (x)
            y = Sum (a, b, c, d) }
        <domain: "own", opset_import: ["" : 17]> f (u) => (v) { v = Exp (u) }
        <domain: "own", opset_import: ["own" : 1, "odd" : 1]> h (u) => (v) { v = odd.print (u) }"""
    after = sl.rewrite(as_model(text), "merge-subexpressions", verify=False)
    assert op_types(after) == ["f", "h", "h", "Sum"]


def test_equal_outputs_of_a_body_stay():
    text = """g (float[2] x, int64 n) => (float[2] z, float[k, 2] u, float[k, 2] v)
        <bool yes = {1}> {
        z, u, v = Loop (n, yes, x) <body = b (int64 i, bool c, float[2] s) =>
            (bool c2, float[2] q, float[2] e, float[2] f) {
                c2 = Identity (c) q = Exp (s) e = Neg (q) f = Neg (q) }> }"""
    assert not run_passes(text, MergeSubexpressions()).changed


def test_below_opset_7_operands_have_an_order():
    text = """<ir_version: 3, opset_import: ["" : 6]> g (float[2] x, float[2] k) => (float[2] y) {
        a = Add (x, k) b = Add (k, x) y = Sub (a, b) }"""
    assert not run_passes(text, MergeSubexpressions()).changed


BODIES = {
    "If": """If (p) <then_branch = t () => (float[2] q) { e = Exp (x) q = Neg (e) },
        else_branch = f () => (float[2] r) { r = Add (x, k) }>""",
    "If with other names": """If (p) <
        then_branch = t2 () => (float[2] q2) { e2 = Exp (x) q2 = Neg (e2) },
        else_branch = f2 () => (float[2] r2) <float[2] k2 = {1, 2}> { r2 = Add (k2, x) }>""",
    "If with another branch": """If (p) <
        then_branch = t () => (float[2] q) { e = Exp (x) q = Neg (e) },
        else_branch = f () => (float[2] r) { r = Sub (x, k) }>""",
    "If with branches swapped": """If (p) <
        then_branch = f () => (float[2] r) { r = Add (x, k) },
        else_branch = t () => (float[2] q) { e = Exp (x) q = Neg (e) }>""",
    "If that draws": """If (p) <
        then_branch = t () => (float[2] q) { q = RandomNormalLike (x) },
        else_branch = f () => (float[2] r) { r = Add (x, k) }>""",
    "Loop": """Loop (n, yes, x) <body = b (int64 i, bool c, float[2] s) => (bool c, float[2] u) {
        u = If (p) <then_branch = t () => (float[2] q) { q = Sin (s) },
            else_branch = f () => (float[2] r) { r = Add (s, k) }> }>""",
    "Loop over another value": """Loop (n, yes, x) <body = b (int64 i, bool c, float[2] s) =>
        (bool c, float[2] u) { u = If (p) <then_branch = t () => (float[2] q) { q = Sin (s) },
            else_branch = f () => (float[2] r) { r = Add (x, k) }> }>""",
}


def twice(one, other):
    text = f"""g (float[2] x, bool p, int64 n) => (float[2] y)
        <float[2] k = {{1, 2}}, bool yes = {{1}}> {{ v = {one} w = {other} y = Sub (v, w) }}"""
    return as_model(text)


@table(("If", "If"), ("If", "If with other names"), ("Loop", "Loop"))
def test_nodes_with_equal_bodies(one, other):
    before = twice(BODIES[one], BODIES[other])
    after = sl.rewrite(before, "merge-subexpressions", verify=False)
    assert op_types(after) == [one, "Sub"]
    proof = sl.prove(before, after)
    assert (proof.status, proof.equality) == ("proved", "bits")
    for truth in (True, False):
        assert_equal_outputs(before, after, {**X, "p": np.array(truth), "n": np.array(3)})


@table(
    ("If", "If with another branch"),
    ("If", "If with branches swapped"),
    ("If that draws", "If that draws"),
    ("Loop", "Loop over another value"),
    ("Loop", "Loop with another condition"),
)
def test_nodes_with_other_bodies_stay(one, other):
    model = twice(BODIES[one], BODIES.get(other, BODIES[one].replace("(n, yes, x)", "(n, p, x)")))
    assert not run_passes(model, MergeSubexpressions()).changed


def test_one_of_three_with_equal_operands_differs():
    one, other = BODIES["If with another branch"], BODIES["If"]
    text = f"""g (float[2] x, bool p) => (float[2] y) <float[2] k = {{1, 2}}> {{
        u = {one} v = {other} w = {other} s = Sub (u, v) y = Mul (s, w) }}"""
    after = sl.rewrite(as_model(text), "merge-subexpressions", verify=False)
    assert op_types(after) == ["If", "If", "Sub", "Mul"]


@pytest.mark.parametrize("name, left", [("com.microsoft.FastGelu", 2), ("own.Gelu", 3)])
def test_nodes_of_other_domains(name, left):
    text = f"""<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1, "own" : 1]>
        g (float[2] x) => (float[2] y) {{ a = {name} (x) b = {name} (x) y = Sub (a, b) }}"""
    assert len(run_passes(text, MergeSubexpressions()).model.graph.node) == left
