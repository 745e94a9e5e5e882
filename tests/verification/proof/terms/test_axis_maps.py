import numpy as np
import pytest
from harness import as_model
from proofs import assert_open, assert_proved, is_proved, model
from sessions import by_reference
from straightline import reference
from tables import table
from vectorized import loop, untyped, vectorized

CUT = """b = Constant <value_ints = [1]> () e = Constant <value_ints = [2]> ()
    a = Constant <value_ints = [%d]> ()"""


def outcome(nodes, axis, opset=18):
    """Whether a part along an axis is proved to be what the operator makes of that part, and
    whether a run says so."""
    whole = "g (float[2, 3, 4] x) => (float[p, q, r] z) { %s y = %s z = Slice (y, b, e, a) }"
    before = model(whole % (CUT % axis, nodes % "x"), opset)
    part = "g (float[2, 3, 4] x) => (float[p, q, r] z) { %s y = Slice (x, b, e, a) z = %s }"
    after = model(part % (CUT % axis, nodes % "y"), opset)
    x = np.random.default_rng(0).normal(size=(2, 3, 4)).astype(np.float32)
    try:
        one, other = (by_reference(m, {"x": x})[0] for m in (before, after))
        equal = one.shape == other.shape and one.tobytes() == other.tobytes()
    except reference.EvaluationError:
        equal = False
    return is_proved(before, after), equal


@table(
    "Abs",
    "Acos",
    "Acosh",
    "Asin",
    "Asinh",
    "Atan",
    "Atanh",
    "Ceil",
    "Celu",
    "Cos",
    "Cosh",
    "Elu",
    "Erf",
    "Exp",
    "Floor",
    "Gelu",
    "HardSigmoid",
    "HardSwish",
    "LeakyRelu",
    "Log",
    "Mish",
    "Neg",
    "Reciprocal",
    "Relu",
    "Round",
    "Selu",
    "Shrink",
    "Sigmoid",
    "Sign",
    "Sin",
    "Sinh",
    "Softplus",
    "Softsign",
    "Sqrt",
    "Tan",
    "Tanh",
    "ThresholdedRelu",
)
@pytest.mark.parametrize("axis", [0, 2])
def test_elementwise_operators_take_each_element_by_itself(op_type, axis):
    opset = 20 if op_type == "Gelu" else 18
    assert outcome(f"{op_type} (%s)", axis, opset) == (True, True)


@pytest.mark.sample(10)
@pytest.mark.parametrize("op_type", ["Softmax", "LogSoftmax", "Hardmax"])
@pytest.mark.parametrize("opset", [12, 18])
@pytest.mark.parametrize("own", [0, 1, 2])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_along_an_axis_the_others_are_taken_by_themselves(op_type, opset, own, axis):
    proved, equal = outcome(f"{op_type} <axis = {own}> (%s)", axis, opset)
    assert equal or not proved
    assert proved == (axis < own if opset == 12 else axis != own)


@table("ReduceMax", "ReduceMin", "ReduceSum", "ReduceProd", "ReduceMean")
@pytest.mark.parametrize("reduced", [0, 1, -1])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_reductions_take_the_axes_that_stay_one_by_one(op_type, reduced, axis):
    proved, equal = outcome(f"{op_type} <axes = [{reduced}]> (%s)", axis, 12)
    assert equal or not proved
    assert proved == (axis != reduced % 3)


def test_a_batch_that_is_normalized_by_itself_is_taken_as_a_whole():
    text = """g (float[2, 3] x, float[3] s) => (float[1, 3] z) {
        b = Constant <value_ints = [0]> () e = Constant <value_ints = [1]> () %s }"""
    whole = "y%s = BatchNormalization%s (x, s, s, s, s) z = Slice (y, b, e, b)"
    part = "y = Slice (x, b, e, b) z%s = BatchNormalization%s (y, s, s, s, s)"
    assert_proved(text % (whole % ("", "")), text % (part % ("", "")))
    training = ", m, v", " <training_mode = 1>"
    assert_open(text % (whole % training), text % (part % training))


def test_operands_that_version_6_aligned_from_the_front_stay():
    text = """g (float[2, 3] x, float[2] y, float[1] v) => (float[2, 1] z) { %s }"""
    whole = """w = Add <broadcast = 1, axis = 0> (x, y)
        z = Slice <axes = [1], starts = [0], ends = [1]> (w)"""
    part = """w = Slice <axes = [1], starts = [0], ends = [1]> (x)
        z = Add <broadcast = 1, axis = 0> (w, v)"""
    assert_open(text % whole, text % part, opset=6)


def test_products_of_rows_are_rows_of_products_as_far_as_a_kernel_does_not_choose():
    text = """g (float[4, 3] x, float[3, 2] w) => (float[1, 2] z) {
        b = Constant <value_ints = [1]> () e = Constant <value_ints = [2]> ()
        a = Constant <value_ints = [0]> () %s }"""
    proof = assert_proved(
        text % "y = MatMul (x, w) z = Slice (y, b, e, a)",
        text % "y = Slice (x, b, e, a) z = MatMul (y, w)",
    )
    assert proof.assumptions == ("MatMul of some rows gives the same bits as of all rows",)


E3 = "float[N, 2, 3] x, uint8[2, 3] w, float[3] s, uint8 o, int64 n"
LOOPS = {
    "Pad": ("q = Constant <value_ints = [0, 1, 2, 0]> () r = Pad (e, q)", "float[4, 4] r"),
    "Tile": ("q = Constant <value_ints = [1, 2]> () r = Tile (e, q)", "float[2, 6] r"),
    "Trilu": ("r = Trilu (e)", "float[2, 3] r"),
    "OneHot": (
        """l = ArgMax <axis = 1, keepdims = 0> (e) d = Constant <value_int = 4> ()
        v = Constant <value_floats = [0.5, 2.0]> () r = OneHot <axis = 0> (l, d, v)""",
        "float[4, 2] r",
    ),
    "LpNormalization": ("r = LpNormalization <axis = -2> (e)", "float[2, 3] r"),
    "QuantizeLinear": (
        """k = Constant <value_float = 0.5> () q = QuantizeLinear (e, k, o)
        r = DequantizeLinear (q, k, o)""",
        "float[2, 3] r",
    ),
    "GatherElements": (
        """q = Constant <value = int64[2, 1] {1, -1}> ()
        r = GatherElements <axis = -1> (e, q)""",
        "float[2, 1] r",
    ),
    "ScatterElements": (
        """q = Constant <value = int64[1, 3] {1, 0, 1}> () z0 = Constant <value_ints = [0]> ()
        u = Unsqueeze (s, z0) r = ScatterElements (e, q, u)""",
        "float[2, 3] r",
    ),
    "CumSum": ("a = Constant <value_int = -1> () r = CumSum (e, a)", "float[2, 3] r"),
    "a matrix by a vector": (
        """k = Constant <value_int = 0> () f = Gather (e, k)
        h = Constant <value = float[2, 3] {1, 2, 3, 4, 5, 6}> () r = MatMul (h, f)""",
        "float[2] r",
    ),
    "Slice": (
        """a = Constant <value_ints = [1]> () b = Constant <value_ints = [-9]> ()
        m = Constant <value_ints = [-1]> () r = Slice (e, a, b, m, m)""",
        "float[2, 2] r",
    ),
}


@pytest.mark.parametrize("rule", LOOPS)
def test_loops_over_operators_that_pass_axes_are_proved(rule):
    body, out = LOOPS[rule]
    before = untyped(loop(body, out, E3))
    after = vectorized(before).model
    assert "Loop" not in {node.op_type for node in after.graph.node}
    assert is_proved(before, after)


@table(
    ("Einsum", 'r = Einsum <equation = "ij , kj"> (e, e)', "float[2, 2] r"),
    ("CenterCropPad", "t = Constant <value_ints = [2]> () r = CenterCropPad <axes = [-1]> (e, t)",
     "float[2, 2] r"),
    ("GroupNormalization", """a = Constant <value_ints = [0, 3]> () u = Unsqueeze (e, a)
        k = Constant <value_floats = [1.0, 2.0]> ()
        v = GroupNormalization <num_groups = 2> (u, k, k) r = Squeeze (v, a)""", "float[2, 3] r"),
    ("Det", "t = Transpose (e) q = MatMul (e, t) r = Det (q)", "float r"),
    ("QuantizeLinear", """m = ReduceMax <keepdims = 0> (e) k = Abs (m) q = QuantizeLinear (e, k)
        r = DequantizeLinear (q, k)""", "float[2, 3] r"),
    ("MatMulInteger",
     """k = Constant <value_float = 0.5> () q = QuantizeLinear (e, k) t = Transpose (q)
        w = QuantizeLinear (m, k) r = MatMulInteger (w, t)""", "int32[4, 2] r"))  # fmt: skip
def test_scans_over_operators_that_pass_axes_are_proved(rule, body, out):
    opset = 21 if rule == "GroupNormalization" else 18
    text = f"""g (float[5, 2, 3] x, float[4, 3] m) => (z) {{ z = Scan <num_scan_inputs = 1,
        body = f (float[2, 3] e) => ({out}) {{ {body} }}> (x) }}"""
    before = untyped(as_model(text, opset))
    after = vectorized(before).model
    assert "Scan" not in {node.op_type for node in after.graph.node}
    assert is_proved(before, after)
