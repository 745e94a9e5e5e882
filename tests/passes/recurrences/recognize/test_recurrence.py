import numpy as np
import pytest
from harness import assert_keeps, run_in_onnxruntime, run_passes
from straightline import ir
from straightline.analysis.shapes.inference import ShapeInference
from straightline.passes import RaiseRecurrences
from straightline.passes.iteration.loop_view import read
from straightline.passes.recurrences.recognize.recurrence import AllIterations, Replacement

TEXT = """<ir_version: 8, opset_import: ["" : 17]>
g (float[3] a0, float[3] b0, float[3] k0, float[N, 3] s) => (float[3] z, float[N, 3] y) {
    a, b, k, y = Scan <num_scan_inputs = 1,
        body = f (float[3] a, float[3] b, float[3] k, float[3] e)
            => (float[3] a2, float[3] b2, float[3] k2, float[3] r) {
                v = Exp (e) p = Add (a, v) a2 = Tanh (p)
                q = Add (b, a2) b2 = Tanh (q)
                r = Add (b2, k) k2 = Identity (k) }> (a0, b0, k0, s)
    z = Add (a, k) }"""


def test_recurrences_come_in_order_and_are_given_what_is_free_of_them():
    model = ir.parse(TEXT)
    node = next(n for n in model.graph.nodes() if n.is_op("Scan"))
    seen = []

    def raiser(recurrence):
        (state,) = recurrence.states
        seen.append((state.argument.name, [n.op_type for n in recurrence.nodes]))
        name = {"a": "v", "b": "a2"}[state.argument.name]
        value = next(
            v
            for n in recurrence.iterations.loop_view.body.nodes()
            for v in n.outputs
            if v.name == name
        )
        every = recurrence.iterations.operand(value)
        assert every.batched
        return Replacement("an operator", True, {state: every.value})

    loop_view = read(node)
    iterations = AllIterations(
        loop_view, ShapeInference(model), RaiseRecurrences(), False, [raiser]
    )
    assert seen == [("a", ["Add", "Tanh"]), ("b", ["Add", "Tanh"])]
    assert [raised.what for raised in iterations.replacements] == ["an operator"] * 2
    assert [iterations.final(state).name for state in loop_view.states][2] == "k0"


def test_elements_of_iterations_are_made_on_demand():
    model = ir.parse(TEXT)
    node = next(n for n in model.graph.nodes() if n.is_op("Scan"))

    def raiser(recurrence):
        (state,) = recurrence.states
        value = recurrence.iterations.feeding.same(state.initial).value
        return Replacement(
            "an operator", True, {state: recurrence.iterations.emit.unsqueeze(value, 0, "all")}
        )

    loop_view = read(node)
    iterations = AllIterations(
        loop_view, ShapeInference(model), RaiseRecurrences(), False, [raiser]
    )
    graph = iterations.emit.graph
    assert not any(n.is_op("Concat", "Slice") for n in graph.nodes())
    a, b, _ = loop_view.states
    given = iterations.operand(a.argument)
    assert given.batched and given.value.producer.is_op("Slice")
    assert iterations.final(b).producer.is_op("Squeeze")
    assert iterations.operand(a.argument) is given
    assert [n.op_type for n in graph.nodes()].count("Concat") == 2


SWAP = """<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x, float[2] y, int64 n) => (float[2] p, float[2] q) <bool yes = {1}> {
    p, q = Loop (n, yes, x, y) <body = f (int64 i, bool c, float[2] a, float[2] b)
        => (bool d, float[2] b, float[2] a) { d = Identity (c) }> }"""


@pytest.mark.parametrize("length", [0, 1, 2, 5])
def test_states_that_only_swap_values(length):
    """Each is the other one, bit for bit, whatever it is."""
    result = run_passes(SWAP, RaiseRecurrences(exact=True, straight=False))
    assert "products of matrices" in result.remarks[0].reason
    x, y = np.array([np.nan, -0.0], np.float32), np.array([np.inf, 2], np.float32)
    fed = {"x": x, "y": y, "n": np.array(length)}
    for one, other in zip(run_in_onnxruntime(result.model, fed), (x, y), strict=True):
        np.testing.assert_array_equal(one, other if length % 2 == 0 else {0: y, 1: x}[other is y])


def test_each_state_has_its_first_obstacle():
    text = """<ir_version: 8, opset_import: ["" : 17]>
    g (float[2] x, float[2] y, float[2] z, int64 n) => (float[2] p, float[2] q, float[2] r)
            <bool yes = {1}> {
        p, q, r = Loop (n, yes, x, y, z) <body = f (int64 i, bool c, float[2] a, float[2] b,
            float[2] d)
            => (bool c2, float[2] s, float[2] t, float[2] u) {
            c2 = Identity (c) s0 = Mul (a, a) s = Exp (s0) t = Sin (b) u = Mul (d, s) }> }"""
    parts = [
        "it carries 'b', which no operator computes: Sin 'p/t' computes the next value",
        "it carries 'a', which no operator computes: Mul 'p/s0' multiplies it by itself",
    ]
    assert_keeps(RaiseRecurrences(), text, "; ".join(parts))


def test_straight_steps_of_several_nodes_are_not_written_by_default():
    pass_ = RaiseRecurrences(exact=True, straight=True)
    assert_keeps(pass_, SWAP, "take more than four nodes each")


def test_a_state_that_is_too_large_is_named():
    text = """<ir_version: 8, opset_import: ["" : 17]>
    g (float[2] x, float[2] y) => (float[2] p, float[2] q) <bool yes = {1}, int64 n = {3}> {
        p, q = Loop (n, yes, x, y) <body = f (int64 i, bool c, float[2] a, float[2] b)
            => (bool d, float[2] s, float[2] a) { d = Identity (c) s = Mul (a, b) }> }"""
    limit = "it carries 'a', of which all iterations take 48 bytes, over max_bytes=40"
    assert_keeps(RaiseRecurrences(max_bytes=40), text, limit)


def of_opset_8(nodes, row="i"):
    return f"""<ir_version: 4, opset_import: ["" : 8]>
    g (float[N, 3] x, float[3] s0) => (float[3] last, float[T, 3] every)
            <bool yes = {{1}}, int64 one = {{1}}, int64 first = {{0}}, float[3] w = {{1, 2, 3}}> {{
        shape = Shape (x) n = Gather (shape, first) end = Sub (n, one)
        last, every = Loop (n, yes, s0) <body = b (int64 i, bool c, float[3] s)
            => (bool c2, float[3] s2, float[3] r) {{
            c2 = Identity (c) j = Sub (end, i) e = Gather (x, {row}) {nodes}
            r = Identity (s2) }}> }}"""


@pytest.mark.parametrize("node", ["Add (s, e)", "Mul (e, s)", "Max (s, e)", "Min (e, s)"])
def test_rows_in_order_are_read_without_numbers(node):
    """Opset 8 has no operator that counts, and Slices of constant bounds alone."""
    text = of_opset_8(f"s2 = {node}")
    result = run_passes(text, RaiseRecurrences(straight=False))
    assert result.changed and not result.model.opset_import[0].version > 8
    for length in (0, 1, 2, 5, 40):
        x = np.random.default_rng(length).normal(size=(length, 3)).astype(np.float32)
        feeds = {"x": x, "s0": np.array([1, -2, 0.5], np.float32)}
        old = run_in_onnxruntime(ir.to_proto(ir.parse(text)), feeds)
        for one, other in zip(run_in_onnxruntime(result.model, feeds), old, strict=True):
            np.testing.assert_allclose(one, other, 2e-5, 2e-5)


def test_operators_that_opset_8_lacks_stay():
    pass_, text = RaiseRecurrences(straight=False), of_opset_8("s2 = Max (s, e)", "j")
    assert_keeps(pass_, text, "it is of opset 8; convert to 9 first")
    row = "u = Unsqueeze <axes = [0]> (e) v = BatchNormalization (u, w, w, w, w)"
    text = of_opset_8(f"{row} t = Squeeze <axes = [0]> (v) s2 = Max (s, t)")
    assert_keeps(pass_, text, "BatchNormalization 'last/v', whose rule is for opset 9 on")
