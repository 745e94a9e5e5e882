import numpy as np
import onnx
import pytest
from conversions import statements
from harness import as_model
from sessions import open_session
from straightline import convert_version, reference
from straightline.version_converter import ConversionError

MAP = (
    "t = SequenceMap <body = b (float[2] e, float[2] v) => (float[2] r) { r = Sub (e, v) }> (s, w)"
)
X = np.array([1, np.nan], np.float32)


def parsed(body, signature="seq(float[2]) s, float[2] w", result="seq(float[2]) t", more=""):
    return as_model(f" g ({signature}) => ({result}) {{ {body} }} {more}")


def assert_alike(before, feeds, targets=(16, 15, 13)):
    wanted = reference.run(before, feeds)
    for target in targets:
        after = convert_version(before, target)
        onnx.checker.check_model(after, full_check=True)
        for run in (reference.run, by_onnxruntime):
            for found, values in zip(run(after, feeds), wanted, strict=True):
                assert len(found) == len(values)
                for one, other in zip(found, values, strict=True):
                    np.testing.assert_array_equal(one, other)


def by_onnxruntime(proto, feeds):
    return open_session(proto).run(None, dict(feeds))


def test_elements_are_read_and_inserted():
    after = convert_version(parsed(MAP), 16).graph
    assert [line.partition(" <body")[0] for line in statements(after)] == [
        "t_none = SequenceEmpty <dtype = 1> ()",
        "t_count = SequenceLength (s)",
        "t = Loop",
    ]
    (iteration,) = [a.g for a in after.node[-1].attribute]
    assert [line.partition(" = ")[2] for line in statements(iteration)] == [
        "Identity (condition)",
        "SequenceAt (s, number)",
        "Sub (t_element, w)",
        "SequenceInsert (given, r)",
    ]


@pytest.mark.parametrize("count", [0, 1, 3])
def test_numbers(count):
    feeds = {"s": [X + k for k in range(count)], "w": X}
    if count:  # onnxruntime takes no empty sequence as an input
        assert_alike(parsed(MAP), feeds)
    made = (
        """z = Constant <value = int64[1] {0}> () s = SplitToSequence <axis = 0, keepdims = 0> (x)
        """
        + MAP
    )
    feeds = {"x": np.arange(2 * count, dtype=np.float32).reshape(count, 2), "w": X}
    if count:
        assert_alike(parsed(made, "float[N, 2] x, float[2] w"), feeds)
    assert_alike(parsed(f"s = SequenceEmpty () {MAP}", "float[2] w"), {"w": X})


def test_several_results_and_outer_values_and_sequences():
    body = """k = Neg (w)
        t, u = SequenceMap <body = b (float[2] e, float[2] f) => (float[2] r, int64[1] n) {
            a = Mul (e, f) r = Add (a, k) n = Shape (e) }> (s, s)"""
    feeds = {"s": [X, X + 1], "w": X}
    assert_alike(parsed(body, result="seq(float[2]) t, seq(int64[1]) u"), feeds)


def test_one_in_another():
    body = """t = SequenceMap <body = b (float[2] e) => (float[2] r) {
        i = SequenceMap <body = c (float[2] f) => (float[2] q) { q = Sub (f, e) }> (s)
        r = ConcatFromSequence <axis = 0, new_axis = 0> (i) }> (s)"""
    assert_alike(parsed(body, result="seq(float[N]) t"), {"s": [X, X + 1], "w": X})


def test_in_a_branch_a_body_and_a_function():
    inner, carried = MAP.replace("t =", "p ="), MAP.replace("(s, w)", "(given, w)")
    branch = f"""t = If (c) <then_branch = b1 () => (seq(float[2]) p) {{ {inner} }},
        else_branch = b2 () => (seq(float[2]) q) {{ q = Identity (s) }}>"""
    given = "seq(float[2]) s, float[2] w, bool c"
    for c in (True, False):
        feeds = {"s": [X, X + 1], "w": X, "c": np.array(c)}
        assert_alike(parsed(branch, given), feeds, (16, 14))
    loop = f"""u = Loop (n, c, s) <body = l (int64 i, bool go, seq(float[2]) given)
        => (bool on, seq(float[2]) t) {{ on = Identity (go) {carried} }}>"""
    feeds = {"s": [X, X + 1], "w": X, "c": np.array(True), "n": np.array(2)}
    assert_alike(parsed(loop, f"{given}, int64 n", "seq(float[2]) u"), feeds)
    function = f'<domain: "f", opset_import: ["": 17]> F (s, w) => (t) {{ {MAP} }}'
    before = parsed("t = f.F (s, w)", more=function)
    before.opset_import.add(domain="f", version=1)
    assert_alike(before, {"s": [X, X + 1], "w": X})


def test_below_opset_13_a_loop_carries_no_sequence():
    with pytest.raises(ConversionError, match=r"its replacement needs Loop: .*seq"):
        convert_version(parsed(MAP), 12)


def test_facts_that_must_be_known():
    before = parsed("w = other.Unknown (s) " + MAP, "seq(float[2]) s")
    before.opset_import.add(domain="other", version=1)
    with pytest.raises(ConversionError, match="which of its inputs are sequences"):
        convert_version(before, 16)
