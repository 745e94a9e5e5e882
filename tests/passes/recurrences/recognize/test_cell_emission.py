import numpy as np
import onnx
import pytest
from cells import HEAD, Spelling, difference, raised
from counting import assert_linear
from harness import as_model, assert_same_text, run_passes
from straightline.passes import HoistInvariants, RaiseRecurrences, VectorizeLoops
from straightline.passes.recurrences.recognize.cell_emission import TESTED_ULPS
from tables import table

RNG = np.random.default_rng(6)


@pytest.fixture(autouse=True)
def same_numbers():
    """Draw the same numbers in a test whichever tests run before."""
    RNG.bit_generator.state = np.random.default_rng(6).bit_generator.state


def numbers(*shape):
    return (RNG.normal(size=shape) * 0.4).astype(np.float32)


WEIGHTS = {"u": (4, 4), "v": (4, 4), "b": (4,), "c": (1, 4), "k": (1,), "m": (4, 2)}
BODIES = {
    "several inputs": "p = MatMul (e, u) q = MatMul (h, v) s = Add (p, q) t = Add (s, d)"
    " w = Add (t, f)",
    "biases of several shapes": "q = MatMul (h, v) s = Add (q, b) t = Add (s, c) t2 = Add (t, k)"
    " t3 = Add (t2, e) w = Sub (t3, row)",
    "no input": "w = MatMul (h, v)",
    "a product of inputs": "s = Mul (e, d) t = Mul (s, b) r0 = Add (t, h)"
    " q = MatMul (r0, v) w = Neg (q)",
    "the same matrix twice": "q = MatMul (h, v) s = MatMul (h, u) t = Sub (q, s) w = Add (t, q)",
    "a number for each iteration": "q = MatMul (h, v) n = ReduceSum (f) w = Add (q, n)",
    "a number for each row": "q = MatMul (h, v) w = Add (q, column)",
    "another batch for all iterations": "q = MatMul (h, v) w = Add (q, every)",
}


@pytest.mark.parametrize("case", BODIES)
@pytest.mark.parametrize("fed", [False, True])
def test_inputs_of_an_emitted_cell(case, fed):
    """With weights that are constants, and with weights that are inputs."""
    text = f"""g (float[B, 4] h0, float[T, B, 4] x, float[T, B, 4] x2, float[T, 1, 4] x3,
        float[B, 4] every, float[1, 4] row, float[B, 1] column)
        => (float[B, 4] h1, float[?, ?, ?] y) {{
        h1, y = Scan <num_scan_inputs = 3, body = g (float[B, 4] h, float[B, 4] e,
            float[B, 4] d, float[1, 4] f) => (float[B, 4] h2, float[B, 4] r) {{ {BODIES[case]}
            h2 = Tanh (w) r = Identity (h2) }}> (h0, x, x2, x3) }}"""
    model = as_model(HEAD + text)
    weights = {name: numbers(*shape) for name, shape in WEIGHTS.items()}
    for name, array in weights.items():
        if fed:
            model.graph.input.append(onnx.helper.make_tensor_value_info(name, 1, array.shape))
        else:
            model.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    after = raised(model)
    assert [n.op_type for n in after.graph.node].count("RNN") == 1
    for iterations, batch in [(5, 2), (0, 3), (1, 1), (2, 0)]:
        feed = {"h0": numbers(batch, 4), "x": numbers(iterations, batch, 4)}
        feed |= {"x2": numbers(iterations, batch, 4), "x3": numbers(iterations, 1, 4)}
        feed |= {"every": numbers(batch, 4), "row": numbers(1, 4)}
        feed |= {"column": numbers(batch, 1)} | (weights if fed else {})
        assert difference(model, after, feed) <= 8


def test_a_default_that_callers_may_override_is_no_constant():
    text = """<ir_version: 8, opset_import: ["" : 18]> g (float[4] h0, float[T, 4] x,
        float[4, 4] u) => (float[4] h1) <float[4, 4] u> { h1 = Scan <num_scan_inputs = 1,
        body = f (float[4] h, float[4] e) => (float[4] h2) {
            q = MatMul (h, u) s = Add (q, e) h2 = Tanh (s) }> (h0, x) }"""
    model = as_model(text.replace("<float[4, 4] u> ", ""))
    model.graph.initializer.append(onnx.numpy_helper.from_array(numbers(4, 4), "u"))
    after = raised(model)
    feed = {"h0": numbers(4), "x": numbers(3, 4)}
    for more in ({}, {"u": numbers(4, 4)}):
        assert difference(model, after, feed | more) <= 8


SIZES = [(6, 2), (1, 1), (0, 2), (3, 0), (40, 3)]
"""Iterations and rows of a batch; onnxruntime aborts on operators without them."""


def with_weights(text, **shapes):
    model = as_model(HEAD + text)
    for name, shape in shapes.items():
        model.graph.initializer.append(onnx.numpy_helper.from_array(numbers(*shape), name))
    return model


def operators(model):
    """The recurrent operators of a model with what they are told."""
    found = []
    for node in model.graph.node:
        if node.op_type in ("RNN", "GRU", "LSTM"):
            told = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
            told.pop("hidden_size")
            found.append((node.op_type, told))
    return found


RNN = (
    "g (float[5, 2, 1] x, float[2, 2] h0, float[1, 2] w, float[2, 2] u, float[2] b)"
    " => (float[2, 2] h1, float[5, 2, 2] y)"
)


def test_an_elman_cell():
    before = f"""{RNN} {{ h1, y = Scan <num_scan_inputs = 1,
        body = f (float[2, 2] h, float[2, 1] e) => (float[2, 2] h2, float[2, 2] r) {{
            p = MatMul (e, w) q = MatMul (h, u) s = Add (p, q) t = Add (s, b) h2 = Tanh (t)
            r = Identity (h2) }}> (h0, x) }}"""
    after = f"""{RNN} <int64[1] k = {{0}}, float[2] weights = {{0, 0}}, int64[1] axes = {{1}}> {{
        w_t = Transpose <perm = [1, 0]> (w) u_t = Transpose <perm = [1, 0]> (u)
        w_t_1 = Unsqueeze (w_t, k) u_t_1 = Unsqueeze (u_t, k)
        weights_1 = Concat <axis = 0> (b, weights) weights_2 = Unsqueeze (weights_1, k)
        h = Unsqueeze (h0, k)
        h2_all, h2_last = RNN <hidden_size = 2> (x, w_t_1, u_t_1, weights_2, "", h)
        y = Squeeze (h2_all, axes) h1 = Squeeze (h2_last, k) }}"""
    result = run_passes(HEAD + before, RaiseRecurrences())
    assert [str(remark) for remark in result.remarks] == [
        "Scan 'h1': rewritten, is now an RNN, up to rounding (16 ULPs in tests)"
    ]
    assert_same_text(result.model, HEAD + after)
    feed = {"x": numbers(5, 2, 1), "h0": numbers(2, 2), "w": numbers(1, 2), "u": numbers(2, 2)}
    assert difference(as_model(HEAD + before), result.model, feed | {"b": numbers(2)}) <= 4


def torch_gru(direction=0, name="y"):
    """torch.nn.GRUCell, scripted: Gemm with transB, Split, Sigmoid, Sigmoid, Tanh."""
    return f"""{name}h, {name} = Scan <num_scan_inputs = 1, scan_input_directions = [{direction}],
        scan_output_directions = [{direction}],
        body = {name}f (float[B, 4] h, float[B, 3] e) => (float[B, 4] h2, float[B, 4] r) {{
            gi = Gemm <transB = 1> (e, wi, bi) gh = Gemm <transB = 1> (h, wh, bh)
            ir, iz, i = Split <axis = 1, num_outputs = 3> (gi)
            hr, hz, hn = Split <axis = 1, num_outputs = 3> (gh)
            r0 = Add (ir, hr) rs = Sigmoid (r0) z0 = Add (iz, hz) z = Sigmoid (z0)
            n0 = Mul (rs, hn) n1 = Add (i, n0) n = Tanh (n1)
            d = Sub (h, n) d2 = Mul (d, z) h2 = Add (d2, n) r = Identity (h2) }}> (h0, x)"""


GRU_WEIGHTS = {"wi": (12, 3), "wh": (12, 4), "bi": (12,), "bh": (12,)}
GIVEN = "float[T, B, 3] x, float[B, 4] h0"


def check(model, states=("h0",), op_types=None, **more):
    """Raise a model, compare the numbers for all sizes, and say of what it consists then."""
    after = raised(model, HoistInvariants())
    for iterations, batch in SIZES:
        feed = {"x": numbers(iterations, batch, 3)} | {s: numbers(batch, 4) for s in states}
        feed |= {name: np.array(iterations) for name in more.get("iterations", ())}
        assert difference(model, after, feed) <= TESTED_ULPS, (iterations, batch)
    return operators(after)


def test_torch_scripted_gru_cell_in_a_loop():
    text = f"""g ({GIVEN}, int64 n) => (float[B, 4] h1, float[?, ?, ?] y) <bool yes = {{1}}> {{
        h1, y = Loop (n, yes, h0) <body = f (int64 i, bool c, float[B, 4] h)
            => (bool c2, float[B, 4] h2, float[B, 4] r) {{
            c2 = Identity (c) e = Gather (x, i)
            gi = Gemm <transB = 1> (e, wi, bi) gh = Gemm <transB = 1> (h, wh, bh)
            ir, iz, in = Split <axis = 1, num_outputs = 3> (gi)
            hr, hz, hn = Split <axis = 1, num_outputs = 3> (gh)
            r0 = Add (ir, hr) rs = Sigmoid (r0) z0 = Add (iz, hz) z = Sigmoid (z0)
            n0 = Mul (rs, hn) n1 = Add (in, n0) nn = Tanh (n1)
            one = Constant <value_float = 1.0> () z1 = Sub (one, z)
            d = Mul (z1, nn) d2 = Mul (z, h) h2 = Add (d, d2) r = Identity (h2) }}> }}"""
    model = with_weights(text, **GRU_WEIGHTS)
    assert check(model, iterations=["n"]) == [("GRU", {"linear_before_reset": 1})]


def test_a_gru_by_separate_gates():
    text = f"""g ({GIVEN}) => (float[B, 4] h1, float[?, ?, ?] y) {{
        h1, y = Scan <num_scan_inputs = 1,
            body = f (float[B, 4] h, float[B, 3] e) => (float[B, 4] h2, float[B, 4] out) {{
            a1 = MatMul (e, wz) a2 = MatMul (h, uz) a3 = Add (a1, a2) a4 = Add (a3, bz)
            z = Sigmoid (a4)
            b1 = MatMul (e, wr) b2 = MatMul (h, ur) b3 = Add (b1, b2) b4 = Add (b3, br)
            r = Sigmoid (b4)
            rh = Mul (r, h) c1 = MatMul (e, wn) c2 = MatMul (rh, un) c3 = Add (c1, c2)
            c4 = Add (c3, bn) n = Tanh (c4)
            d = Sub (n, h) d2 = Mul (z, d) h2 = Add (h, d2) out = Identity (h2) }}> (h0, x) }}"""
    kinds = {"w": (3, 4), "u": (4, 4), "b": (4,)}
    shapes = {f"{kind}{gate}": shape for gate in "zrn" for kind, shape in kinds.items()}
    assert check(with_weights(text, **shapes)) == [("GRU", {})]


LSTM_END = """s1 = Sigmoid (f0) s2 = Sigmoid (i0) s3 = Tanh (g0) s4 = Sigmoid (o0)
    k1 = Mul (s1, c) k2 = Mul (s2, s3) c2 = Add (k1, k2) t = Tanh (c2) h2 = Mul (s4, t)
    out = Identity (h2)"""


def lstm(body, **shapes):
    text = f"""g ({GIVEN}, float[B, 4] c0) => (float[B, 4] h1, float[B, 4] c1, float[?, ?, ?] y) {{
        h1, c1, y = Scan <num_scan_inputs = 1,
            body = f (float[B, 4] h, float[B, 4] c, float[B, 3] e)
                => (float[B, 4] h2, float[B, 4] c2, float[B, 4] out) {{ {body} {LSTM_END} }}>
            (h0, c0, x) }}"""
    return with_weights(text, **shapes)


def test_torch_lstm_cell_with_fused_gates():
    body = """gi = Gemm <transB = 1> (e, wi, bi) gh = Gemm <transB = 1> (h, wh, bh)
        g = Add (gi, gh) i0, f0, g0, o0 = Split <axis = 1, num_outputs = 4> (g)"""
    model = lstm(body, wi=(16, 3), wh=(16, 4), bi=(16,), bh=(16,))
    assert check(model, ["h0", "c0"]) == [("LSTM", {})]


def test_a_keras_lstm_on_what_is_joined_with_a_forget_bias():
    body = """xh = Concat <axis = 1> (e, h) p = MatMul (xh, w) g = Add (p, b)
        i0, g0, f1, o0 = Split <axis = 1, num_outputs = 4> (g)
        one = Constant <value_float = 1.0> () f0 = Add (f1, one)"""
    assert check(lstm(body, w=(7, 16), b=(16,)), ["h0", "c0"]) == [("LSTM", {})]


def test_peepholes():
    body = """gi = MatMul (e, w) gh = MatMul (h, u) g = Add (gi, gh)
        i1, f1, g0, o1 = Split <axis = 1, num_outputs = 4> (g)
        pi = Mul (c, p) i0 = Add (i1, pi) pf = Mul (q, c) f0 = Add (pf, f1) o0 = Identity (o1)"""
    assert check(lstm(body, w=(3, 16), u=(4, 16), p=(4,), q=(4,)), ["h0", "c0"]) == [("LSTM", {})]


def test_two_scans_forward_and_backward():
    text = f"""g ({GIVEN}) => (float[?, ?, 8] y) {{ {torch_gru(0, "one")} {torch_gru(1, "two")}
        y = Concat <axis = -1> (one, two) }}"""
    model = with_weights(text, **GRU_WEIGHTS)
    after = raised(model)
    directions = [told.get("direction", b"forward") for _, told in operators(after)]
    assert directions == [b"forward", b"reverse"]
    for iterations, batch in SIZES:
        feed = {"x": numbers(iterations, batch, 3), "h0": numbers(batch, 4)}
        assert difference(model, after, feed) <= TESTED_ULPS

    sized = text.replace("float[T, B", "float[7, 2").replace("float[B", "float[2")
    known = raised(with_weights(sized, **GRU_WEIGHTS))
    assert [n.op_type for n in known.graph.node] == ["Unsqueeze", "GRU", "Squeeze"] * 2 + ["Concat"]


def test_layers_in_one_loop_and_what_is_made_of_their_states():
    text = f"""g ({GIVEN}) => (float[B, 4] h1, float[?, ?, ?] y, float[?, ?, ?] z) {{
        g1, h1, y, z = Scan <num_scan_inputs = 1, body = f (float[B, 4] g, float[B, 4] h,
            float[B, 3] e) => (float[B, 4] g2, float[B, 4] h2, float[B, 2] r, float[B, 4] s) {{
            a = MatMul (e, w) b = MatMul (g, u) c = Add (a, b) g2 = Tanh (c)
            a2 = MatMul (g2, v) b2 = MatMul (h, u) c3 = Add (a2, b2) h2 = Relu (c3)
            r = MatMul (h2, o) s = Sub (h2, h) }}> (h0, h0, x) }}"""
    model = with_weights(text, w=(3, 4), u=(4, 4), v=(4, 4), o=(4, 2))
    assert check(model) == [("RNN", {}), ("RNN", {"activations": [b"Relu"]})]


@table(
    ("it holds Softmax", "q = MatMul (h, u) s = Softmax (q) t = Add (s, e) h2 = Tanh (t)"),
    ("with the activation Exp", "q = MatMul (h, u) s = Add (q, e) h2 = Exp (s)"),
    ("it adds 'h' times 'b'", "s = Mul (h, b) t = Add (s, e) h2 = Tanh (t)"),
    ("is neither an activation nor a blend", "q = MatMul (h, u) s = Tanh (q) h2 = Add (s, h)"),
    ("has no reset gate in its candidate", """q = MatMul (h, u) t = Add (q, e) c = Tanh (t)
        z = Sigmoid (t) d = Sub (c, h) f = Mul (z, d) h2 = Add (h, f)"""),
    ("multiplies it by itself", "n = Tanh (e) p = Mul (h, h) h2 = Add (n, p)"),
    ("is broadcast by Add", "q = MatMul (h, u) s = Unsqueeze (q, one1) t = Add (s, q)"
    " p = ReduceMax <keepdims = 0> (t, zero1) h2 = Tanh (p)"),
    ("which depends on it", "s = MatMul (h, h) t = MatMul (s, u) h2 = Tanh (t)"),
    ("has 1 - Tanh as a gate", """q = MatMul (h, u) t = Add (q, e) z = Tanh (t)
        v = MatMul (h, w) r = Tanh (v) rh = Mul (r, h) m = MatMul (rh, u) m2 = Add (m, e)
        c = Tanh (m2) d = Sub (c, h) f = Mul (z, d) h2 = Add (h, f)"""),
    ("has an update gate with Sigmoid and a reset gate with Tanh", """q = MatMul (h, u)
        t = Add (q, e) z = Sigmoid (t) v = MatMul (h, w) r = Tanh (v) rh = Mul (r, h)
        m = MatMul (rh, u) m2 = Add (m, e) c = Tanh (m2) d = Sub (c, h) f = Mul (z, d)
        h2 = Add (h, f)"""),
    ("differs from iteration to iteration, in MatMul", """p = Reshape (e, s44) q = MatMul (h, p)
        h2 = Tanh (q)"""),
    ("adds a number before", "one = Constant <value_float = 1.0> () s = Add (h, one)"
    " q = MatMul (s, u) h2 = Tanh (q)"))  # fmt: skip
def test_bodies_that_are_no_cell(reason, nodes):
    wide = "float[16]" if "s44" in nodes else "float[4, 4]"
    text = f"""g (float[N, {wide[6:-1]}] x, float[4, 4] h0) => (float[4, 4] h1)
        <int64[2] s44 = {{4, 4}}, int64[1] one1 = {{1}}, int64[1] zero1 = {{0}}> {{
        h1 = Scan <num_scan_inputs = 1, body = f (float[4, 4] h, {wide} e) => (float[4, 4] h2) {{
            {nodes} }}> (h0, x) }}"""
    model = with_weights(text, u=(4, 4), w=(4, 4), b=(4,), k=(3, 4, 4))
    result = run_passes(model, RaiseRecurrences())
    assert not result.changed
    assert [r for r in result.kept if reason in r.reason], result.kept


@pytest.mark.parametrize("shape", ["4", "4, 1", "1, 4"])
def test_columns_with_an_addend_of_any_shape(shape):
    """With as many rows as columns, only the meaning tells along which axis it stands."""
    text = f"""g (float[N, 4, 4] x, float[4, 4] h0, float[{shape}] v) => (float[4, 4] h1) {{
        h1 = Scan <num_scan_inputs = 1, body = f (float[4, 4] h, float[4, 4] e)
            => (float[4, 4] h2) {{ q = MatMul (w, h) s = Add (q, e) t = Add (s, v)
            h2 = Tanh (t) }}> (h0, x) }}"""
    model = with_weights(text, w=(4, 4))
    result = run_passes(model, RaiseRecurrences(spread_nan=True))
    sizes = [int(size) for size in shape.split(", ")]
    feed = {"x": numbers(5, 4, 4), "h0": numbers(4, 4), "v": numbers(*sizes)}
    assert result.changed == (shape != "4")
    assert difference(model, result.model, feed) <= TESTED_ULPS


def test_a_linear_recurrence():
    text = f"""g ({GIVEN}) => (float[B, 4] h1, float[?, ?, ?] y) {{
        h1, y = Scan <num_scan_inputs = 1, body = f (float[B, 4] h, float[B, 3] e)
            => (float[B, 4] h2, float[B, 4] r) {{
            a = MatMul (e, w) b = MatMul (h, u) h2 = Add (a, b) r = Identity (h2) }}> (h0, x) }}"""
    (found,) = check(with_weights(text, w=(3, 4), u=(4, 4)))
    assert found == (
        "RNN",
        {"activations": [b"Affine"], "activation_alpha": [1.0], "activation_beta": [0.0]},
    )


def test_all_values_of_a_cell_are_not_there():
    body = """gi = MatMul (e, wi) gh = MatMul (h, wh)
        g = Add (gi, gh) i0, f0, g0, o0 = Split <axis = 1, num_outputs = 4> (g)"""
    model = lstm(body, wi=(3, 16), wh=(4, 16))
    scan = model.graph.node[0]
    for node in scan.attribute[-1].g.node:
        node.input[:] = ["c2" if node.op_type == "Identity" else n for n in node.input]
    assert "it needs all values of 'c'" in run_passes(model, RaiseRecurrences()).kept[0].reason


def test_gates_that_are_given_are_multiplied_by_an_identity_if_they_are_narrow():
    text = """g (float[N, 4] x, float[4] h0, float[4, 4] u) => (float[4] h1) {
        r = Relu (x) h1 = Scan <num_scan_inputs = 1, body = f (float[4] h, float[4] e)
            => (float[4] h2) { q = MatMul (h, u) s = Add (q, e) h2 = Tanh (s) }> (h0, r) }"""
    assert run_passes(HEAD + text, RaiseRecurrences(max_identity=4, spread_nan=True)).changed
    result = run_passes(HEAD + text, RaiseRecurrences(max_identity=3, spread_nan=True))
    assert "multiply its 4 columns by ones and zeros, over max_identity=3" in str(result.kept[0])


def test_a_list_is_for_vectorize_loops():
    text = """g (int64 n, float[4] h0, float[4, 4] u) => (float[?, 4] y) <bool yes = {1}> {
        s0 = SequenceEmpty ()
        h1, all = Loop (n, yes, h0, s0) <body = f (int64 i, bool c, float[4] h,
            seq(float[4]) s) => (bool c2, float[4] h2, seq(float[4]) s2) {
            c2 = Identity (c) q = MatMul (h, u) h2 = Tanh (q) s2 = SequenceInsert (s, h2) }>
        y = ConcatFromSequence <axis = 0, new_axis = 1> (all) }"""
    result = run_passes(HEAD + text, RaiseRecurrences())
    assert "vectorize-loops makes one of a list" in str(result.kept[0])
    after = run_passes(HEAD + text, VectorizeLoops(), RaiseRecurrences())
    assert operators(after.model) == [("RNN", {})]
    feed = {"n": np.array(6), "h0": numbers(4), "u": numbers(4, 4)}
    assert difference(as_model(HEAD + text), after.model, feed) <= 8


def test_double_has_no_operator_in_onnxruntime():
    text = """g (double[N, 4] x, double[4] h0, double[4, 4] u) => (double[4] h1) {
        h1 = Scan <num_scan_inputs = 1, body = f (double[4] h, double[4] e) => (double[4] h2) {
            q = MatMul (h, u) s = Add (q, e) h2 = Tanh (s) }> (h0, x) }"""
    result = run_passes(HEAD + text, RaiseRecurrences())
    assert "of an element type for which onnxruntime has no such operator" in str(result.kept[0])


@pytest.mark.sample(15)
@pytest.mark.parametrize("seed", range(0, 60))
def test_drawn_spellings(seed):
    """Any order of gates, fused or not, any layout and direction: the operator, and its numbers."""
    spelling = Spelling(seed)
    after = raised(spelling.model, HoistInvariants())
    assert [op_type for op_type, _ in operators(after)] == [spelling.op_type]
    for iterations, batch in SIZES:
        assert difference(spelling.model, after, spelling.feed(iterations, batch)) <= TESTED_ULPS


def test_the_work_is_linear_in_the_body():
    def work(length):
        lines = [f"a{i + 1} = {'Tanh' if i % 5 else 'Sigmoid'} (a{i})" for i in range(length)]
        text = f"""g (float[N, 4] x, float[4] h0) => (float[4] h1) {{
            h1 = Scan <num_scan_inputs = 1, body = f (float[4] h, float[4] e) => (float[4] h2) {{
                a0 = Add (h, e) {" ".join(lines)} h2 = Identity (a{length}) }}> (h0, x) }}"""
        model = as_model(HEAD + text)

        def run():
            assert "nests more than" in run_passes(model, RaiseRecurrences()).kept[0].reason

        return run

    assert_linear(work, 500, 4)


TWICE = {
    "a product": "p = MatMul (e, m) q = Add (p, n) r = MatMul (q, w) s = Add (r, a)",
    "a Gemm": "q = Gemm <alpha = 0.5> (e, m, n) r = Gemm (q, w, n) s = Add (r, a)",
    "joined": "q = MatMul (e, m) both = Concat <axis = 1> (q, h) s = MatMul (both, wide)",
    "parts": """q0 = MatMul (e, m) q, other = Split <axis = 1, num_outputs = 2> (q0)
        r = MatMul (q, low) t = MatMul (other, low) r2 = Sub (r, t) s = Add (r2, a)""",
}


@pytest.mark.parametrize("case", TWICE)
@pytest.mark.parametrize("before", [(), (VectorizeLoops(),), (HoistInvariants(), VectorizeLoops())])
def test_a_projected_input_is_multiplied_twice(case, before):
    """A projection in front of the cell, in the body or moved out of it."""
    text = f"""g ({GIVEN}) => (float[B, 4] h1, float[?, ?, ?] y) {{
        h1, y = Scan <num_scan_inputs = 1,
            body = f (float[B, 4] h, float[B, 3] e) => (float[B, 4] h2, float[B, 4] out) {{
            a = MatMul (h, u) {TWICE[case]} h2 = Tanh (s) out = Identity (h2) }}> (h0, x) }}"""
    shapes = {"m": (3, 4), "n": (4,), "w": (4, 4), "u": (4, 4), "wide": (8, 4), "low": (2, 4)}
    model = with_weights(text, **shapes)
    after = raised(model, *before)
    assert operators(after) == [("RNN", {})]
    for iterations, batch in SIZES:
        feed = {"x": numbers(iterations, batch, 3), "h0": numbers(batch, 4)}
        assert difference(model, after, feed) <= TESTED_ULPS, (iterations, batch)


@pytest.mark.parametrize(("rows", "pays"), [("2", True), ("200", False), ("B", True)])
def test_an_operator_of_a_large_state_is_not_made_where_costs_count(rows, pays):
    text = f"""{HEAD}g (float[6, {rows}, 3] x, float[{rows}, 4] h) => (float[6, {rows}, 4] y)
        <float[3, 4] w = {{1,2,3,4,5,6,7,8,9,1,2,3}},
         float[4, 4] u = {{1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7}}> {{
        last, y = Scan <num_scan_inputs = 1, body = b (float[{rows}, 4] a, float[{rows}, 3] e)
            => (float[{rows}, 4] r, float[{rows}, 4] q) {{
            p = MatMul (e, w) s = MatMul (a, u) t = Add (p, s) r = Tanh (t) q = Identity (r)
        }}> (h, x) }}"""
    result = run_passes(text, RaiseRecurrences(costs="onnxruntime"))
    assert result.changed == pays
    assert run_passes(text, RaiseRecurrences()).changed
    if not pays:
        assert "which may be slower in onnxruntime for states of" in result.kept[0].reason
