import onnx
import pytest
from backend import CASES
from onnxruntime.capi.onnxruntime_pybind11_state import Fail, InvalidGraph
from proofs import is_proved, model
from sessions import open_session
from straightline.verification.proof import prove

LOOP = """g (int64 m, bool t, float[2] s) => (y) {{
    y = Loop (m, t, s) <body = b ({0}) => ({1}) {{ {2} }}> }}"""
IF = """g (bool c, float[2] x, int64[2] k) => (z) {{ z = Neg (x)
    y = If (c) <then_branch = a () => ({0}) {{ {1} }}, else_branch = b () => ({2}) {{ {3} }}> }}"""
SCAN = """g (float[2] s, float[3, 2] x) => (y, z) {{
    y, z = Scan <num_scan_inputs = 1, body = b ({0}) => ({1}) {{ {2} }}> (s, x) }}"""
CALL = """<ir_version: 8, opset_import: ["" : 18, "l" : 1]>
    g (float[2] s, int64 m, bool q) => (y) {{ y = {0} }}
    <domain: "l", opset_import: ["" : 18]> f (a, b) => (c) {{ {1} }}"""
UNTAKEN = """If (no) <then_branch = t () => (u) {{ u = {} }},
    else_branch = e () => (v) {{ v = Neg (s) }}> """

STATE, KEPT = "int64 i, bool c, float[2] a", "d = Identity (c) e = Identity (a)"
MISFITS = {
    "a declared state": LOOP.format("int64 i, bool c, int64[2] a", "d, e", KEPT),
    "a state of another type": LOOP.format(
        STATE, "d, e", "d = Identity (c) e = Cast <to = 11> (a)"
    ),
    "an iteration number": LOOP.format("int32 i, bool c, float[2] a", "d, e", KEPT),
    "a condition": LOOP.format("int64 i, float c, float[2] a", "d, e", KEPT),
    "a captured value": LOOP.format(STATE, "d, e", KEPT + " z = Add (a, m)"),
    "a declared output": LOOP.format(STATE, "d, int64[2] e", KEPT),
    "branches": IF.format("u", "u = Identity (x)", "v", "v = Identity (k)"),
    "branches of kinds": IF.format("u", "u = SequenceConstruct (x)", "v", "v = Identity (x)"),
    "elements of a sequence": IF.format(
        "u", "q = SequenceConstruct (k) w = SequenceAt (q, k) u = Add (w, x)", "v", "v = Neg (x)"
    ),
    "a scanned input": SCAN.format("float[2] a, int64[2] r", "e, w", "e = Neg (a) w = Neg (r)"),
    "a state of a Scan": SCAN.format("int64[2] a, float[2] r", "e, w", "e = Neg (a) w = Neg (r)"),
    "a state by a comparison": LOOP.format(STATE, "d, e", "d = Identity (c) e = Less (a, a)"),
    "a default": "g (float[1] x, int64[1] k) => (y) <float[1] k = {1}> { y = Neg (x) }",
    "a default that is read": "g (float[1] x, int64[1] k) => (y) <float[1] k = {1}>"
    " { y = Add (x, k) }",
    "a call": CALL.format("l.f (s, m)", "c = Add (a, b)"),
    "a dead node of a call": CALL.format("l.f (s, m)", "d = Add (a, b) c = Neg (a)"),
    "a call in a branch that is never taken": CALL.format(
        UNTAKEN.format("l.f (s, m)"), "d = Add (a, b) c = Neg (a)"
    ).replace("y = If", "no = Constant <value = bool {0}> () y = If"),
    "a loop in a branch that is never taken": CALL.format(
        UNTAKEN.format(
            "Loop (s, q, s) <body = b (int64 i, bool p, float[2] a) => (bool d, float[2] e)"
            " { d = Identity (p) e = Neg (a) }>"
        ),
        "c = Neg (a)",
    ).replace("y = If", "no = Constant <value = bool {0}> () y = If"),
}
FITTING = {
    "what nobody calls": CALL.format("Neg (s)", "x = Cast <to = 7> (a) c = Add (x, a)"),
    "an untyped body": LOOP.format("i, c, a", "d, e", KEPT),
    "a call of two types": CALL.format("l.f (s, m)", "z = Abs (b) c = Neg (a)").replace("y = l.f",
     "w = l.f (m, s) y = l.f"),
    "a condition that is absent": LOOP.format("int64 i, float c, float[2] a", "d, e",
     "d = Cast <to = 9> (i) e = Identity (a)").replace("(m, t, s)", "(m, , s)"),
    "a constant": IF.format("int64[1] u", "u = Constant <value = float[1] {1}> ()", "v",
     "v = Abs (x)"),
    "an initializer": "g (float[1] x) => (y, int64[1] k) <float[1] k = {1}> { y = Add (x, k) }",
    "two declarations": "g (float[2] x) => (float[2] y, int64[2] y) { y = Neg (x) }",
    "a fitting If": IF.format("u", "u = Cast <to = 7> (x)", "int64[2] v", "v = Identity (k)"),
    "a fitting Scan": SCAN.format("a, r", "e, w", "e = Neg (a) w = Cast <to = 7> (r)")}  # fmt: skip


def loads(proto):
    try:
        open_session(proto)
    except (Fail, InvalidGraph):
        return False
    return True


@pytest.mark.parametrize("text", MISFITS.values(), ids=MISFITS)
def test_a_model_whose_types_do_not_fit_is_not_valid(text):
    proto = model(text)
    assert not loads(proto)
    proof = prove(proto, proto)
    assert proof.status == "open"
    assert proof.reason.startswith("the original is not a valid model: ")


def test_a_rewrite_whose_types_do_not_fit_is_refuted():
    wrong = LOOP.format(STATE, "d, e", KEPT + " z = Add (a, m)")
    proof = prove(model(LOOP.format(STATE, "d, e", KEPT)), model(wrong))
    assert proof.status == "refuted"
    assert proof.reason == "the rewrite is not a valid model: Add 'z' has inputs of different types"


@pytest.mark.parametrize("text", FITTING.values(), ids=FITTING)
def test_a_model_that_onnxruntime_loads_is_valid(text):
    proto = model(text)
    assert loads(proto)
    assert is_proved(proto, proto)


@pytest.mark.sample(20)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_tests_of_onnx_are_valid(case):
    reason = prove(case.model, case.model).reason
    assert "is not a valid model" not in reason, reason


def test_a_value_info_of_a_body_is_checked():
    proto = model(LOOP.format(STATE, "d, e", KEPT + " z = Neg (a)"))
    info = onnx.helper.make_tensor_value_info("z", onnx.TensorProto.INT64, [2])
    proto.graph.node[0].attribute[0].g.value_info.append(info)
    assert not loads(proto)
    assert "'z' is declared as int64 and is float" in prove(proto, proto).reason
