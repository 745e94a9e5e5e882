import numpy as np
import pytest
import straightline as sl
from kernels import assert_kernel, one_node
from onnx import TensorProto as T
from straightline.definitions import Signature, Unfit, definitions_of, every, expansion_of
from straightline.definitions.registry import FAMILIES, IN_ONNX_DOMAIN, forget, is_foreign
from straightline.ir import Operator
from tables import table

ONE = {"": 17, "com.microsoft": 1}
X = np.zeros((2, 4), np.float32)
CODES, SCALE, ZERO = np.zeros((2, 4), np.uint8), np.array(0.5, np.float32), np.array(0, np.uint8)


def test_every_definition_of_straightline_is_readable():
    definitions = [each for each in every() if each.source.startswith("docs/")]
    assert FAMILIES and len(definitions) > 10
    for each in definitions:
        assert each.pattern and each.source, each.name
        own = {each.node.op_type} if "." not in each.name else set()
        assert own <= IN_ONNX_DOMAIN
        unknown = set(each.pattern.outputs) - set(each.node.outputs)
        assert not unknown and set(each.pattern.parameters) == set(each.places)


def test_onnx_keeps_its_own_operators():
    assert not is_foreign(Operator.make("Relu")) and is_foreign(Operator.make("Relu", "a"))
    layer = Operator.make("LayerNormalization")
    assert definitions_of(layer, {"": 16}) and not definitions_of(layer, {"": 17})
    assert not definitions_of(Operator.make("Tokenizer", "com.microsoft"), ONE)


def test_expansions_are_shared_until_sizes_decide():
    op = Operator.make("QuickGelu", "com.microsoft")
    one = expansion_of(Signature(op, [T.FLOAT], [(2, 3)], [True]), ONE)
    assert expansion_of(Signature(op, [T.FLOAT], [(4, 5)], [True]), ONE) is one
    assert expansion_of(Signature(op, [T.DOUBLE], [(2, 3)], [True]), ONE) is not one
    assert one.function.graph.outputs[0].name == "y" and one.opset == 17
    with pytest.raises(Unfit, match="element type of 'x' is none"):
        expansion_of(Signature(op, [T.INT64], [(2, 3)], [True]), ONE)
    assert expansion_of(Signature(Operator.make("X", "y"), [T.FLOAT], [(2,)], [True]), ONE) is None


def test_a_newer_opset_has_the_shorter_form():
    signature = Signature(Operator.make("Gelu", "com.microsoft"), [T.FLOAT], [(2, 3)], [True])
    for opset, nodes in ((11, "Erf"), (19, "Erf"), (20, "Gelu"), (23, "Gelu")):
        proto = expansion_of(signature, {"": opset, "com.microsoft": 1}).proto
        assert nodes in {node.op_type for node in proto.node}
        assert proto.opset_import[0].version == opset


def test_users_replace_definitions_and_take_them_back():
    text = "before (x) => (y) { y = com.microsoft.QuickGelu (x) } after (x) => (y) { y = Neg (x) }"
    signature = Signature(Operator.make("QuickGelu", "com.microsoft"), [T.FLOAT], [(2, 3)], [True])
    before = expansion_of(signature, ONE)
    sl.define(text.replace(" after", "\nafter"))
    try:
        assert [n.op_type for n in expansion_of(signature, ONE).proto.node] == ["Neg"]
    finally:
        forget("com.microsoft.QuickGelu")
    assert len(expansion_of(signature, ONE).proto.node) == len(before.proto.node)


@table(
    ("Crop", [X[None, None]], {"border": [1, 2, 3]}, "four numbers"),
    ("com.microsoft.UnfoldTensor", [X], {"size": 2, "dim": 7}, "not one of x"),
    ("com.microsoft.MaxpoolWithMask", [X, X.astype(np.int32)], {"kernel_shape": [1]}, "rank"),
    ("com.microsoft.CDist", [X, X], {"metric": "cosine"}, "no metric"),
    ("com.microsoft.QLinearSigmoid", [CODES.view(np.int8), SCALE, None, SCALE], {}, "uint8"),
    ("com.microsoft.GatherBlockQuantized", [CODES, ZERO.astype(int), X], {"gather_axis": 5},
     "axes"))  # fmt: skip
def test_an_operator_without_a_fitting_definition_stays(name, inputs, attributes, reason):
    model = one_node(name, inputs, opset=9 if name == "Crop" else 11, **attributes)
    (remark,) = sl.transform(model, (), target="onnx", verify=False).untaken
    assert reason in remark.reason


def test_halves_are_floats_where_a_kernel_has_floats_alone():
    x = np.linspace(-3, 3, 24).reshape(2, 3, 4).astype(np.float16)
    w, b = np.eye(4, 12, dtype=np.float16), np.ones(12, np.float16)
    mask = np.array([2, 3], np.int32)
    expected = assert_kernel("com.microsoft.Attention", [x, w, b, mask], 2, num_heads=2)
    assert {array.dtype for array in expected} == {np.dtype(np.float16)}
    assert_kernel("com.microsoft.Gelu", [x])
    sl.define("before (float x) => (y) { y = a.Own (x) }\nafter (x) => (y) { y = Neg (x) }")
    with pytest.raises(Unfit, match="none of the definition's"):  # no kernel was tried
        expansion_of(Signature(Operator.make("Own", "a"), [T.FLOAT16], [(2,)], [True]), ONE)
    forget("a.Own")
