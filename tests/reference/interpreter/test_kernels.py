import numpy as np
import onnx
import pytest
from onnx import helper, parser
from reference_oracle import assert_same
from straightline.reference import EvaluationError, operator_kernel
from tables import table

OPSET = {"": 18}


def node(text: str) -> onnx.NodeProto:
    return parser.parse_node(text)


@table(
    ("y = Add (a, b)", [np.array([1, 2]), np.array(3)], [np.array([4, 5])]),
    ("y = Gather (a, b)", [np.array([1, 2]), np.array(1)], [np.array(2)]),
    ("y = Size (a)", [np.ones((2, 3))], [np.array(6)]),
    ("y = ReduceSum <keepdims = 0> (a)", [np.ones((2, 2), np.float16)], [np.float16(4)]),
    ("y = Cast <to = 7> (a)", [np.float32(2.5)], [np.array(2)]),
    ("y = Constant <value_float = 2.0> ()", [], [np.array(2, np.float32)]),
    ('y = Constant <value_string = "ab"> ()', [], [np.array("ab", object)]),
    ("y = Clip (a, , b)", [np.array([1, 5]), None, np.array(3)], [np.array([1, 3])]),
    ("y = GlobalAveragePool (a)", [np.ones((1, 1, 2), np.float16)], [np.ones((1, 1, 1), "e")]),
    ("y, z = Split <num_outputs = 2> (a)", [np.arange(3)], [np.arange(2), np.array([2])]),
    ("y = Gelu (a)", [np.zeros(2, np.float32)], [np.zeros(2, np.float32)]),
)
def test_results_are_arrays_of_the_type_the_schema_tells(text, inputs, outputs):
    arrays = [None if value is None else np.asarray(value) for value in inputs]
    got = operator_kernel(node(text), {"": 20} if "Gelu" in text else OPSET)(arrays)
    assert_same(got, [np.asarray(output) for output in outputs])


@table(
    ("Cos", np.array([np.inf], np.float32), np.array([np.nan], np.float32)),
    ("Log", np.array([0.0, -1.0]), np.array([-np.inf, np.nan])),
    ("Exp", np.array([1000.0], np.float16), np.array([np.inf], np.float16)),
    ("Mish", np.array([np.inf, np.nan], np.float32), np.array([np.inf, np.nan], np.float32)),
)
def test_infinities_and_nan_are_results_whatever_numpy_raises(op, operand, output):
    with np.errstate(all="raise"):
        assert_same(operator_kernel(node(f"y = {op} (a)"), OPSET)([operand]), [output])


def test_one_kernel_serves_inputs_of_different_types():
    kernel = operator_kernel(node("y = Shape (a)"), OPSET)
    for dtype in (np.float32, np.int8, np.float32):
        assert_same(kernel([np.ones((2, 3), dtype)]), [np.array([2, 3])])


def test_a_loop_that_captures_nothing_can_be_evaluated():
    loop = node("""y = Loop (m, c, x) <body = b (int64 i, bool d, int64 v) => (bool d, int64 w)
      { w = Add (v, i) }>""")
    assert_same(
        operator_kernel(loop, OPSET)([np.array(4), np.array(True), np.array(1)]), [np.array(7)]
    )


def test_a_sparse_constant_becomes_dense():
    for indices in ([2, 5], [[0, 2], [1, 2]]):
        sparse = helper.make_sparse_tensor(
            helper.make_tensor("v", onnx.TensorProto.FLOAT, [2], [1.0, 2.0]),
            helper.make_tensor(
                "i", onnx.TensorProto.INT64, np.shape(indices), np.ravel(indices).tolist()
            ),
            [2, 3],
        )
        constant = helper.make_node("Constant", [], ["y"], sparse_value=sparse)
        expected = np.array([[0, 0, 1], [0, 0, 2]], np.float32)
        assert_same(operator_kernel(constant, OPSET)([]), [expected])


@table(
    ("y = acme.Thing (a)", OPSET, "domain 'acme' is not imported"),
    ("y = acme.Thing (a)", {"acme": 1}, "no operator or function acme:Thing"),
    ("y = Gelu (a)", {"": 11}, "no operator or function ai.onnx:Gelu at opset 11"),
    ("y = Upsample (a, b)", OPSET, "deprecated at opset 18"),
    ("y = Multinomial (a)", OPSET, "Multinomial 'y': No registered implementation"),
    ("y = Softmax <axis: int = @axis> (a)", OPSET, "refers to an attribute of the function"),
    ("y = If (a) <then_branch = t () => (float r) { r = Neg (x) },"
     " else_branch = e () => (float r) { r = Neg (x) }>", OPSET,
     "its body uses the outer value 'x'"))  # fmt: skip
def test_unsupported_nodes_are_refused_at_once(text, opsets, message):
    with pytest.raises(EvaluationError, match=message):
        operator_kernel(node(text), opsets)


def test_a_failing_operator_is_named():
    kernel = operator_kernel(node("y = Reshape (a, b)"), OPSET)
    with pytest.raises(EvaluationError, match="Reshape 'y': "):
        kernel([np.ones(3), np.array([2])])
