from collections import Counter

import numpy as np
import onnx
import pytest
import straightline as sl
from harness import as_model, op_types
from operator_cases import FAMILIES, cases, versions
from special_values import disagreements
from straightline.ir import Operator
from straightline.ops import agreement, rules_of
from straightline.ops.randomness import Draw
from tables import table

NEWEST = 26
UNDRAWN = {
    *("If", "Loop", "Scan", "SequenceMap"),  # what they hold is computed node by node
    *("Optional", "OptionalGetElement", "OptionalHasElement"),
    *("SequenceAt", "SequenceConstruct", "SequenceEmpty", "SequenceErase", "SequenceInsert"),
    *("SequenceLength", "SplitToSequence", "ConcatFromSequence"),  # tensors are moved
    *("Constant", "CastLike"),  # as ConstantOfShape and Cast
    *("DeformConv", "ImageDecoder", "MaxRoiPool", "QLinearConv", "TensorScatter"),
}
NEVER = {"Attention", "MeanVarianceNormalization", "NonMaxSuppression", "QLinearMatMul"}
"""Operators that are never computed."""
RARELY = {"Einsum", "ReduceLogSum"}
"""Operators that few draws suit."""

ADD = " y = Add (x, s)"
FLOAT = '<ir_version: 8, opset_import: ["" : 18]> g (float[1] x) => (float[N] y) '


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_results_agree_with_onnxruntime():
    seen = Counter()
    found = [f"{case}: {text}" for case, text in disagreements(cases(1, 0), seen)]
    assert not found, "\n".join(found)
    names = {name for name, _ in versions(NEWEST) if name in FAMILIES}
    assert {name for name in names if not seen[f"{name} computed"]} <= NEVER | RARELY


def test_each_operator_is_drawn_that_may_be_computed():
    names = {name for name, _ in versions(NEWEST)}
    drawing = {name for name in names if isinstance(rules_of(Operator(name)), Draw)}
    assert names - drawing - set(FAMILIES) == UNDRAWN


SPECIAL = [
    "l = Log (zero) m = Concat <axis = 0> (l, l) s = ReduceLogSumExp (m) y = Max (x, s)",
    "n = Log (minus) m = Concat <axis = 0> (n, one) s = ReduceMax (m)" + ADD,
    "n = Log (minus) s = Max (n, one)" + ADD,
    "n = Log (minus) s = PRelu (n, one)" + ADD,
    "n = Log (minus) s = Clip (one, n)" + ADD,
    "i = Div (one, zero) s = Clip (i)" + ADD,
    "n = Log (minus) c = Cast <to = 7> (n) s = Cast <to = 1> (c)" + ADD,
    "b = Constant <value_float = 3e9> () c = Cast <to = 6> (b) s = Cast <to = 1> (c)" + ADD,
    "n = Log (minus) m = Concat <axis = 0> (n, one) t = ArgMax (m) s = Cast <to = 1> (t)" + ADD,
    "e = Constant <value_ints = [0]> () f = ConstantOfShape (e) s = ReduceMean (f)" + ADD,
    "q, r, z = DynamicQuantizeLinear (zero) y = Add (x, r)",
    "b = Constant <value_float = 3e9> () q = QuantizeLinear (b, one) d = DequantizeLinear (q, one)"
    " y = Add (x, d)",
]


@pytest.mark.parametrize("body", SPECIAL)
def test_results_that_runtimes_may_choose_are_not_computed(body):
    constants = "<float[1] zero = {0}, float[1] one = {1}, float[1] minus = {-1}>"
    kept = op_types(sl.rewrite(as_model(FLOAT + constants + "{" + body + "}")))
    assert len(kept) > 1, kept


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("body", SPECIAL[:3])
def test_a_proof_computes_none_of_them_either(body):
    """Whatever the rewrite says in its place."""
    constants = "<float[1] zero = {0}, float[1] one = {1}, float[1] minus = {-1}>"
    before = as_model(FLOAT + constants + "{" + body + "}")
    for number in (np.nan, -np.inf, 1.0, np.finfo(np.float32).max):
        after = as_model(FLOAT + "<float[1] s = {0}> { " + body[body.index("y =") :] + " }")
        tensor = onnx.numpy_helper.from_array(np.array([number], np.float32), "s")
        after.graph.initializer[0].CopyFrom(tensor)
        assert sl.prove(before, after, search=False).status == "open", number


def test_bits_of_what_is_moved_stay():
    """The payload of a NaN, and the sign of a zero."""
    bits = np.array([0x7FC12345, 0xFFA00001, 0x80000000, 0x7F800000], np.uint32)
    body = "e = Expand (w, two) t = Transpose (e) c = Concat <axis = 0> (t, t) y = Add (x, c)"
    text = FLOAT.replace("[N] y", "[8, 2] y") + "<float[4] w = {0, 0, 0, 0}, int64[2] two = {2, 4}>"
    model = as_model(text + "{" + body + "}")
    model.graph.initializer[0].CopyFrom(onnx.numpy_helper.from_array(bits.view(np.float32), "w"))
    result = sl.rewrite(model)
    (held,) = [onnx.numpy_helper.to_array(t) for t in result.graph.initializer]
    assert (held.view(np.uint32) == np.tile(bits[:, None], (2, 2))).all()


@table(
    (1, np.float32, True),
    (0, np.float32, True),
    (1e9, np.float32, True),
    (1e10, np.float32, False),
    (-0.0, np.float32, False),
    (1e-45, np.float32, False),
    (np.nan, np.float16, False),
    (np.inf, np.float64, False),
    (2**31 - 1, np.int32, True),
    ("nan", object, True),
)
def test_ordinary_numbers(number, dtype, ordinary):
    assert agreement.are_ordinary([np.array([number], dtype), None]) == ordinary
    assert not agreement.are_ordinary([np.array([number], dtype)[:0]])


def test_an_operator_of_another_domain_is_computed_by_no_proof():
    text = """<ir_version: 8, opset_import: ["" : 18, "ai.onnx.ml" : 3]>
    g (float[1] x) => (float[1] y) <float[1] w = {2}> {
        s = ai.onnx.ml.Binarizer <threshold = 1.0> (w) y = Add (x, s) }"""
    after = text.replace("s = ai.onnx.ml.Binarizer <threshold = 1.0> (w) ", "").replace(
        "{2}", "{1}"
    )
    proof = sl.prove(as_model(text), as_model(after.replace("(x, s)", "(x, w)")), search=False)
    assert proof.status == "open"
