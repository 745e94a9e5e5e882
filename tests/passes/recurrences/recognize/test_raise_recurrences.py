import re

import numpy as np
import onnx
import pytest
from harness import HEAD, as_model, assert_keeps, run_in_onnxruntime
from loops import op_types
from sessions import by_reference
from straightline import ir, reference
from straightline.passes import PassContext, RaiseRecurrences, parse_pipeline, straighten
from tables import table

KEPT = {
    "carries nothing that an operator could compute": """
        g (float[N, 3] s) => (float[N, 3] z) { z = Scan <num_scan_inputs = 1,
            body = f (float[3] e) => (float[3] r) { r = Tanh (e) }> (s) }""",
    "its body decides when it ends": """g (int64 n, int64 k) => (int64[?] z) <bool yes = {1}> {
            z = Loop (n, yes) <body = b (int64 i, bool c) => (bool c2, int64 r) {
                r = Mul (i, i) m = Mod (r, k) c2 = Less (m, i) }> }""",
    "draws random numbers": """g (float[3] x, float[N, 3] s, float[3, 3] u) => (float[3] z) {
            z = Scan <num_scan_inputs = 1,
            body = f (float[3] a, float[3] e) => (float[3] b) {
                q = RandomNormalLike (e) m = MatMul (a, u) b = Add (m, q) }> (x, s) }""",
}


@pytest.mark.parametrize("reason", KEPT)
def test_kept_recurrences_and_their_reasons(reason):
    assert_keeps(RaiseRecurrences(), KEPT[reason], reason)


def test_a_loop_that_counts_to_its_end_is_counted_first():
    text = """g (float[2, 4] h0, float[B, 2, 4] x, float[4, 4] u, float[4, 4] v) => (float[2, 4] y)
        <int64 zero = {0}, int64 one = {1}> {
        s = Shape (x) n = Gather (s, zero) some = Less (zero, n)
        k, y = Loop (, some, zero, h0) <body = b (int64 i, bool c, int64 j, float[2, 4] h)
            => (bool d, int64 k, float[2, 4] r) {
            k = Add (j, one) d = Less (k, n) e = Gather (x, j)
            a = MatMul (h, u) b = MatMul (e, v) f = Add (a, b) r = Tanh (f) }> }"""
    model = ir.load(as_model(text))
    context = PassContext()
    assert RaiseRecurrences().run(model, context)
    operators = {node.op_type for node in model.graph.nodes()}
    assert "RNN" in operators and "Loop" not in operators
    assert [remark.code for remark in context.remarks] == ["counted", "recurrence-raised"]
    rng = np.random.default_rng(0)
    for steps in (0, 1, 3):
        shapes = {"h0": (2, 4), "x": (steps, 2, 4), "u": (4, 4), "v": (4, 4)}
        feeds = {name: rng.random(shape, np.float32) for name, shape in shapes.items()}
        expected = by_reference(as_model(text), feeds)[0]
        got = run_in_onnxruntime(ir.to_proto(model), feeds)[0]
        np.testing.assert_allclose(got, expected, rtol=1e-5)


# As part of straighten --------------------------------------------------------------------------

GATED = "float[2, 4] h0, float[{0}, 2, 4] x, float[4, 4] u, float[4, 4] v"


def cell(body, length):
    return f"""g ({GATED.format(length)}) => (float[2, 4] h1) {{
        h1 = Scan <num_scan_inputs = 1, body = f (float[2, 4] h, float[2, 4] e)
            => (float[2, 4] h2) {{ {body} }}> (h0, x) }}"""


def lstm(length):
    return f"""g (float[2, 4] c0, {GATED.format(length)}) => (float[2, 4] h1, float[2, 4] c1) {{
        h1, c1 = Scan <num_scan_inputs = 1, body = f (float[2, 4] h, float[2, 4] c, float[2, 4] e)
            => (float[2, 4] h2, float[2, 4] c2) {{
            a = MatMul (h, u) b = MatMul (e, v) d = Add (a, b) i = Sigmoid (a) f = Sigmoid (d)
            o = Sigmoid (d) n = Tanh (a) k = Mul (f, c) m = Mul (i, n) c2 = Add (k, m)
            t = Tanh (c2) h2 = Mul (o, t) }}> (h0, c0, x) }}"""


def accumulated(step, length, elem="float", given="r"):
    return f"""g ({elem}[3] s, {elem}[{length}, 3] x) => ({elem}[3] y, {elem}[?, 3] z) {{
        y, z = Scan <num_scan_inputs = 1, body = b ({elem}[3] a, {elem}[3] e)
            => ({elem}[3] r, {elem}[3] q) {{ r = {step} q = Identity ({given}) }}> (s, x) }}"""


GRU = """a = MatMul (h, u) b = MatMul (e, v) c = Add (a, b) z = Sigmoid (c) r = Sigmoid (a)
    g = Mul (r, h) k = MatMul (g, v) n = Tanh (k) d = Sub (h, n) f = Mul (z, d) h2 = Add (n, f)"""
OFFERED = {
    "a GRU": lambda length: cell(GRU, length),
    "an LSTM": lstm,
    "an RNN": lambda length: cell("a = MatMul (h, u) b = Add (a, e) h2 = Tanh (b)", length),
    "ReduceProd": lambda length: accumulated("Mul (a, e)", length, given="e"),
    "Mul in steps of doubling distance": lambda length: accumulated("Mul (a, e)", length),
    "CumSum": lambda length: accumulated("Add (a, e)", length, "float16"),
}
HINT = re.compile(r"it could be (.*), up to rounding.*: --passes '(.*)' \(passes= in Python\)$")


@pytest.mark.sample(2)
@pytest.mark.parametrize("what", OFFERED)
@pytest.mark.parametrize("length", ["N", "40"])
def test_a_rounding_form_is_offered(what, length):
    text = OFFERED[what](length)
    said = straighten(spread_nan=True).run(as_model(text)).remarks
    (remark,) = [remark for remark in said if "it could be" in remark.reason]
    assert remark.action == ("kept" if length == "N" else "rewritten")
    hint = HINT.search(remark.reason)
    assert hint is not None and hint[1] == what
    followed = parse_pipeline(hint[2]).run(as_model(text))
    assert not set(op_types(followed.model.graph)) & {"Loop", "Scan"}
    assert not followed.kept and what in followed.remarks[-1].reason


@pytest.mark.sample(2)
@table(
    ("CumSum", accumulated("Add (a, e)", "N")),
    ("CumSum of integers", accumulated("Sub (a, e)", "N", "int64")),
    ("ReduceMax", accumulated("Max (a, e)", "N", given="e")),
    ("ReduceMin", accumulated("And (a, e)", "N", "bool", given="e")),
    ("Max in steps of doubling distance", accumulated("Max (a, e)", "N")),
    ("Or in steps of doubling distance", accumulated("Or (a, e)", "N", "bool")),
)
@pytest.mark.parametrize("length", ["N", "200"])
def test_an_exact_form_is_raised_by_default(what, case, length):
    text = case.replace("[N", f"[{length}")
    result = straighten().run(as_model(text))
    assert not set(op_types(result.model.graph)) & {"Loop", "Scan"} and not result.kept
    said, *cost = result.remarks[-1].reason.parts
    assert said == f"is now {what.removesuffix(' of integers')}"
    assert bool(cost) == ("doubling" in what and length == "N")
    rng = np.random.default_rng(0)
    for iterations in (1, 2, 70) if length == "N" else (200,):
        dtype = onnx.helper.tensor_dtype_to_np_dtype(
            as_model(text).graph.input[0].type.tensor_type.elem_type
        )
        feed = {"s": rng.integers(0, 2, 3).astype(dtype)}
        feed["x"] = (rng.normal(0.5, 2, (iterations, 3)).round(int(dtype != "bool"))).astype(dtype)
        for run in (reference.run, run_in_onnxruntime):
            pairs = zip(run(result.model, feed), run(as_model(text), feed), strict=True)
            for one, other in pairs:
                np.testing.assert_array_equal(one, other)
    nothing = {name: array[:0] if name == "x" else array for name, array in feed.items()}
    if length == "N":
        for one, other in zip(
            run_in_onnxruntime(result.model, nothing),
            by_reference(as_model(text), nothing),
            strict=True,
        ):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("exact", [True, False])
def test_few_iterations_are_unrolled(exact):
    text = accumulated("Add (a, e)", "2")
    result = straighten(exact=exact).run(as_model(text))
    assert [r.reason for r in result.remarks] == ["unrolled, 2 iterations"]


def test_an_offer_holds_for_the_copies_of_a_loop():
    inner = """Loop (i, k, h) <body = g (int64 j, bool l, float[2, 4] p) => (bool l2, float[2, 4] q)
        { l2 = Identity (l) a = MatMul (p, u) b = Tanh (a) q = Identity (b) }>"""
    text = f"""g (float[2, 4] x, float[4, 4] u) => (float[2, 4] y)
        <int64 n = {{4}}, bool yes = {{1}}> {{
        y = Loop (n, yes, x) <body = f (int64 i, bool k, float[2, 4] h)
            => (bool k2, float[2, 4] r) {{ k2 = Identity (k) q = {inner} r = Neg (q) }}> }}"""
    result = straighten().run(as_model(text))
    said = [r.reason for r in result.remarks if "unrolled" in r.reason]
    assert len(said) == 5 and sum("could be an RNN" in reason for reason in said) == 4


def test_an_offer_is_taken_back():
    context, node = PassContext(), ir.parse(HEAD + OFFERED["an RNN"]("N")).graph.nodes()[0]
    context.offers[node.op] = "it could be more"
    assert context.with_offer(node, "kept") == "kept; it could be more"
    both = context.with_offer(node, "kept", 501)
    assert both.startswith("kept; it could be more; onnxruntime runs so many nodes (501)")
    context.offers.clear()
    assert context.with_offer(node, "kept") == "kept"


@pytest.mark.sample(2)
@table(("Max", "float", 144), ("Min", "int64", 144), ("Mul", "int64", 133), ("Add", "uint8", 133))
@pytest.mark.parametrize("straight", [True, False])
def test_the_steps_of_an_open_length_are_few_and_their_cost_is_told(
    kind, elem_type, most, straight
):
    model = as_model(accumulated(f"{kind} (a, e)", "N", elem_type))
    result = straighten(straight=straight).run(model)
    graph = result.model.graph
    assert len(graph.node) <= (most if straight else 15)
    assert ("Loop" in op_types(graph)) != straight
    (cost,) = (part for r in result.remarks for part in r.reason.parts if "steps" in part.code)
    if straight:
        nodes = rf"without a loop {len(graph.node)} nodes run at any number of iterations"
        assert re.match(nodes, cost) and "--passes 'straighten{straight=false}'" in cost
    else:
        assert "at 16 iterations" in cost and "at 1,000, where it ran 2000" in cost
    dtype = onnx.helper.tensor_dtype_to_np_dtype(model.graph.input[0].type.tensor_type.elem_type)
    for count in (0, 1, 2, 3, 16, 70):
        x = np.random.default_rng(count).integers(0, 200, (count, 3))
        feed = {"s": x[:1].reshape(-1)[:3].astype(dtype) if count else np.ones(3, dtype)}
        feed["x"] = x.astype(dtype)
        # onnxruntime fails on a Scan of length 0.
        for run in (reference.run, run_in_onnxruntime) if count else (reference.run,):
            pairs = zip(run(result.model, feed), run(model, feed), strict=True)
            assert all(np.array_equal(one, other) for one, other in pairs)


def test_steps_of_an_open_length_that_take_more_nodes_are_left_to_a_loop():
    text = accumulated("Mul (a, k) r = Add (r0, e)", "N", "int64").replace(
        "r = Mul (a, k)", "k = Identity (e) r0 = Mul (a, k)"
    )
    kept = straighten().run(as_model(text))
    assert any("more than four nodes each" in remark.reason for remark in kept.kept)
    short = straighten().run(as_model(text.replace("[N", "[200")))
    assert not set(op_types(short.model.graph)) & {"Loop", "Scan"}
