import numpy as np
import onnx
import pytest
from conversions import VERIFIED
from harness import as_model, run_in_onnxruntime
from sessions import open_session
from straightline import convert_version, ir, reference, rewrite
from straightline.version_converter import ConversionError
from tables import table

TARGETS = (8, 9, 10, 11, 12, 13, 15, 16, 18, 19, 21, 23, 24, 25, 28)

SCAN_13 = """<ir_version: 8, opset_import: ["": 13]>
g (float[3, 4] x, float[4] s) => (float[4] last, float[4, 3] all) {
    last, all = Scan <num_scan_inputs = 1, scan_output_axes = [-1], scan_input_directions = [1],
        body = b (float[4] a, float[4] e) => (float[4] t, float[4] u) {
            t = Add (a, e)
            zero = Constant <value_ints = [0]> ()
            q = ReduceSum (e, zero)
            u = Mul (t, q)
        }> (s, x) }"""

SCAN_8 = """<ir_version: 3, opset_import: ["": 8]>
g (float[2, 4] s, float[2, 3, 4] x) => (float[2, 4] last, float[2, 3, 4] all) {
    last, all = Scan <num_scan_inputs = 1, directions = [1],
        body = b (float[4] a, float[4] e) => (float[4] t, float[4] u) {
            t = Add (a, e)
            u = Softmax <axis = 0> (t)
        }> (, s, x) }"""

LOOP = """<ir_version: 8, opset_import: ["": 13]>
g (int64 n, float[2] x) => (float[2] y, float[K, 2] rows) {
    go = Constant <value = bool {1}> ()
    y, rows = Loop (n, go, x) <
        body = b (int64 i, bool c, float[2] v) => (bool d, float[2] w, float[2] r) {
        d = Identity (c)
        p = Greater (v, x)
        q = Cast <to = 1> (p)
        one = If (c) <
            then_branch = t () => (float[2] f) { f = Relu (v) },
            else_branch = e () => (float[2] h) { h = Neg (v) }>
        w = Add (one, q)
        r = Identity (w) }> }"""

X = np.arange(12, dtype=np.float32).reshape(3, 4) - 5


def same(before: onnx.ModelProto, after: onnx.ModelProto, feeds: dict[str, np.ndarray]) -> None:
    onnx.checker.check_model(after, full_check=True)
    ir.verify(ir.load(after))
    for wanted, found in zip(
        reference.run(before, feeds), reference.run(after, feeds), strict=True
    ):
        np.testing.assert_allclose(found, wanted, rtol=1e-5)
        assert found.shape == wanted.shape


@pytest.mark.parametrize("target", TARGETS)
def test_a_scan_of_13(target: int) -> None:
    before = onnx.parser.parse_model(SCAN_13)
    feeds = {"x": X, "s": np.ones(4, np.float32)}
    after = convert_version(before, target, **VERIFIED)
    same(before, after, feeds)
    same(before, convert_version(after, 13, **VERIFIED), feeds)


@pytest.mark.parametrize("target", TARGETS)
def test_a_scan_of_8_with_a_batch(target: int) -> None:
    before = onnx.parser.parse_model(SCAN_8)
    feeds = {"x": np.stack([X, 2 - X]), "s": np.ones((2, 4), np.float32)}
    after = convert_version(before, target, **VERIFIED)
    same(before, after, feeds)
    same(before, convert_version(after, 8, **VERIFIED), feeds)


LENGTHS = """<ir_version: 4, opset_import: ["": 8]>
g (int64[B] lens, float[B, 2] h, float[B, T, 3] x) => (float[B, 2] f, float[B, T, r] y) {
    f, y = Scan <num_scan_inputs = 1, directions = [BACKWARD], body = b IN => OUT {
        sum = ReduceSum <axes = [0]> (e)
        t = Add (s, sum)
        all = ReduceSum <axes = [0]> (t)
        o = Mul (e, all)
    }> (lens, h, x) }"""

NESTED = """<ir_version: 4, opset_import: ["": 8]>
g (int64[B] lens, float[B, 2] h, float[B, T, 2] x) => (float[B, 2] f, float[B, T, r] y)
    <int64[1] two = {2}> {
    f, y = Scan <num_scan_inputs = 1, body = b IN => OUT {
        row = Unsqueeze <axes = [0]> (s)
        column = Unsqueeze <axes = [0]> (e)
        u, p = Scan <num_scan_inputs = 1, body = c (a, d) => (q, r) {
            q = Add (a, d)
            r = Mul (q, d) }> (two, row, column)
        t = Squeeze <axes = [0]> (u)
        o = ReduceSum <axes = [0, 2], keepdims = 0> (p)
    }> (lens, h, x) }"""


@pytest.mark.sample(3)
@table(
    ("declared", "(float[2] s, float[w] e)", "(float[2] t, float[w] o)"),
    ("bare", "(s, e)", "(t, o)"),
)
@pytest.mark.parametrize("text", [LENGTHS, LENGTHS.replace("BACKWARD", "1"), NESTED])
def test_rows_of_several_lengths(how, inputs, outputs, text):
    """onnxruntime wants the ranks of what bodies give out."""
    text = text.replace("IN =>", f"{inputs} =>").replace("OUT {", f"{outputs} {{")
    before = onnx.parser.parse_model(text.replace("BACKWARD", "0"))
    rng, width = np.random.default_rng(0), 2 if text.count("Scan") > 1 else 3
    feeds = {"lens": np.array([4, 2, 1, 3]), "h": rng.normal(size=(4, 2)).astype(np.float32)}
    feeds["x"] = rng.normal(size=(4, 4, width)).astype(np.float32)
    wanted = run_in_onnxruntime(before, feeds)
    for target in (8, 9, 11, 18):
        after = convert_version(before, target) if target > 8 else rewrite(before)
        same(before, after, feeds)
        for one, other in zip(run_in_onnxruntime(after, feeds), wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5)


@pytest.mark.parametrize("target", TARGETS)
def test_a_loop_with_an_if(target: int) -> None:
    before = onnx.parser.parse_model(LOOP)
    feeds = {"n": np.array(3), "x": np.array([1, -2], np.float32)}
    same(before, convert_version(before, target, **VERIFIED), feeds)


@pytest.mark.parametrize("target", TARGETS)
def test_a_loop_that_carries_nothing(target: int) -> None:
    before = as_model(
        """g (int64 n, float[2] x) => (float[K, 2] rows) {
            go = Constant <value = bool {1}> ()
            rows = Loop (n, go) <body = b (int64 i, bool c) => (bool d, float[2] r) {
                d = Identity (c)
                q = Cast <to = 1> (i)
                r = Mul (x, q) }> }""",
        13,
    )
    feeds = {"n": np.array(3), "x": np.array([1, -2], np.float32)}
    same(before, convert_version(before, target, **VERIFIED), feeds)


def test_there_is_no_scan_below_8() -> None:
    with pytest.raises(ConversionError) as caught:
        convert_version(onnx.parser.parse_model(SCAN_8), 7, rewrite=False)
    assert [(f.path, f.op_type) for f in caught.value.failures] == [("last", "Scan")]


def test_a_failure_is_told_of_the_node_that_the_user_knows() -> None:
    with pytest.raises(ConversionError) as caught:
        convert_version(onnx.parser.parse_model(SCAN_13), 7, rewrite=False)
    assert [(f.path, f.op_type) for f in caught.value.failures] == [("last", "Scan")]


@table((13, 12, "seq(float[2])"), (16, 15, "optional(float[2])"))
def test_types_that_an_if_does_not_take(opset: int, target: int, type_: str) -> None:
    proto = onnx.parser.parse_model(f"""<ir_version: 8, opset_import: ["": {opset}]>
        g (bool c, {type_} s) => ({type_} y) {{
            y = If (c) <
                then_branch = t () => ({type_} p) {{ p = com.example.Keep (s) }},
                else_branch = e () => ({type_} q) {{ q = com.example.Keep (s) }}> }}""")
    proto.opset_import.add(domain="com.example", version=1)
    with pytest.raises(ConversionError, match=r"If 'y'.* (seq|optional)\(tensor\(float\)\)"):
        convert_version(proto, target)


@table("sh = Concat <axis = 0> (k, rest) z = Reshape (o, sh)", "z = Range (zero, n, one)")
def test_the_rank_of_what_a_body_gives_out_is_declared(body: str) -> None:
    """onnxruntime infers it in opset 14, asks for it at run time, and does not see it in 8."""
    rank = "p, q" if "Reshape" in body else "p"
    before = onnx.parser.parse_model(f"""<ir_version: 7, opset_import: ["": 14]>
        g (float[2] s, float[n, 2] x, int64[1] k, float n) => (float[2] last, float[n, {rank}] all)
        <int64[1] rest = {{-1}}, float zero = {{0}}, float one = {{1}}> {{
            last, all = Scan <num_scan_inputs = 1,
                body = b (float[2] a, float[2] e) => (float[2] o, z) {{ o = Add (a, e) {body} }}
            > (s, x) }}""")
    feeds = {"s": X[0, :2], "x": X[:, :2], "k": np.array([2]), "n": np.array(3, np.float32)}
    after = convert_version(before, 8)
    sessions = [open_session(proto) for proto in (before, after)]
    wanted, found = [session.run(None, feeds) for session in sessions]
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, other)
