import numpy as np
import onnx
import pytest
import straightline.ir
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun
from reference_oracle import assert_same, parse
from straightline import reference
from straightline.reference import EvaluationError, Evaluator
from tables import table

X = np.arange(3, dtype=np.float32)
SIMPLE = (
    "agraph (float[n] x, float[n] k) => (float[n] y) <float[3] k = {1., 2., 3.}> { y = Add (x, k) }"
)


def test_an_initializer_that_is_an_input_is_a_default():
    evaluator = Evaluator(parse(SIMPLE))
    assert (evaluator.input_names, evaluator.output_names) == (["x", "k"], ["y"])
    assert_same(evaluator.run({"x": X}), [X + X + 1])
    assert_same(evaluator.run({"x": X, "k": X}), [X + X])


@table(
    ({}, "input 'x' is missing from the feeds"),
    ({"x": X, "z": X}, r"no input 'z'; it has 'x', 'k'"),
    ({"x": X.astype(np.float64)}, "input 'x' is float64, the model declares float32"),
    ({"x": X.reshape(1, 3)}, r"input 'x' has shape \[1, 3\], the model declares \['n'\]"),
    ({"x": None}, "input 'x' is None, its type is not optional"),
)
def test_feeds_are_checked(feeds, message):
    with pytest.raises(EvaluationError, match=message):
        reference.run(parse(SIMPLE), feeds)


def test_an_absent_output_does_not_define_the_absent_input():
    model = parse("""agraph (float[n] x) => (float[n] y)
      <float[1, 1, 1] s = {1}, float[1, 1, 1] w = {1}, float h = {1.5}> {
      , last = RNN <hidden_size = 1> (s, w, w)
      y = Clip (x, , h) }""")
    assert_same(reference.run(model, {"x": X}), [np.minimum(X, np.float32(1.5))])


def test_sparse_initializers_are_dense_values():
    model = parse("agraph (float[2, 2] x) => (float[2, 2] y) { y = Add (x, s) }")
    values = numpy_helper.from_array(np.array([5], np.float32), "s")
    indices = numpy_helper.from_array(np.array([3]))
    model.graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, [2, 2]))
    x = np.zeros((2, 2), np.float32)
    assert_same(reference.run(model, {"x": x}), [np.array([[0, 0], [0, 5]], np.float32)])


def test_operators_of_other_domains_can_be_given():
    class Triple(OpRun):
        op_domain = "local"

        def _run(self, x):
            return (x * 3,)

    model = parse("""agraph (float[n] x) => (float[n] y) {
      m = Constant <value_int = 2> ()
      y = Loop (m, , x) <body = b (int64 i, bool c, float[n] v) => (bool c, float[n] w)
        { w = local.Triple (v) }> }""")
    assert_same(reference.run(model, {"x": X}, operators=[Triple]), [X * 9])
    with pytest.raises(EvaluationError, match="Triple 'w': no operator or function local:Triple"):
        Evaluator(model)


def test_the_operators_serve_the_evaluator_of_onnx_too():
    model = parse("""agraph (int64 m, float[n] x) => (float[n] y, float[t, n] z) {
      i = Neg (x)
      y, z = Loop (m, , x) <body = b (int64 i, bool c, float[n] v)
        => (bool c, float[n] w, float[n] v) { f = Cast <to = 1> (i)  w = Add (v, f) }> }""")
    evaluator = ReferenceEvaluator(model, new_ops=reference.control_flow_operators())
    y, z = evaluator.run(None, {"m": np.array(3), "x": X})
    assert_same([y, z], [X + 3, np.stack([X, X, X + 1])])


def test_values_that_nothing_defines_are_named():
    model = parse("agraph (float[n] x) => (float[n] y) { y = Add (x, ghost) }")
    with pytest.raises(EvaluationError, match="Add 'y': input 'ghost' is not defined"):
        reference.run(model, {"x": X})
    del model.graph.node[:]
    with pytest.raises(EvaluationError, match="output 'y' is not computed by any node"):
        reference.run(model, {"x": X})


def test_external_data_that_is_not_there_is_an_error():
    model = parse(SIMPLE)
    tensor = model.graph.initializer[0]
    tensor.ClearField("float_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="nowhere.bin")
    with pytest.raises(EvaluationError, match=r"tensor 'k' has .* pass it as base_dir="):
        Evaluator(model)
    with pytest.raises(EvaluationError, match="external data cannot be read"):
        Evaluator(model, base_dir=".")


def test_a_path_is_read_with_its_external_data(tmp_path):
    model = parse("agraph (float[2] x) => (float[2] y) { y = Add (x, k) }")
    model.graph.initializer.append(numpy_helper.from_array(np.array([5, 6], np.float32), "k"))
    path = tmp_path / "model.onnx"
    onnx.save(model, path, save_as_external_data=True, location="weights", size_threshold=0)
    x = np.zeros(2, np.float32)
    expected = [np.array([5, 6], np.float32)]
    assert_same(reference.run(path, {"x": x}), expected)
    assert_same(reference.run(straightline.ir.load(path), {"x": x}), expected)
    (tmp_path / "weights").unlink()
    with pytest.raises(EvaluationError, match="external data cannot be read"):
        reference.run(path, {"x": x})


def test_bytes_are_a_model():
    assert_same(reference.run(parse(SIMPLE).SerializeToString(), {"x": X}), [X + X + 1])


def test_feeds_that_are_no_mapping_are_refused():
    with pytest.raises(
        EvaluationError, match="feeds must be a mapping of input names to values, not 5"
    ):
        reference.run(parse(SIMPLE), 5)
