import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from straightline.runtimes.ort import _raw_array, _to_raw, _to_runtime, load
from straightline.runtimes.session import ModelData, Unsupported


def session(body, opset=21):
    model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["": {opset}]> g {body}')
    return load(ModelData(None, model.SerializeToString(), None))


RAW = [
    *(TensorProto.BFLOAT16, TensorProto.FLOAT8E4M3FN, TensorProto.FLOAT8E4M3FNUZ),
    *(TensorProto.FLOAT8E5M2, TensorProto.FLOAT8E5M2FNUZ, TensorProto.INT4, TensorProto.UINT4),
]


@pytest.mark.parametrize("elem_type", RAW, ids=TensorProto.DataType.Name)
@pytest.mark.parametrize("shape", [(), (1,), (3,), (2, 3), (0, 2)])
def test_bits_go_in_and_come_out(elem_type, shape):
    dtype = helper.tensor_dtype_to_np_dtype(elem_type)
    value = np.resize(np.array([1, 7, 3, 0, 5, 2]), shape).astype(dtype)
    handed = _to_runtime("x", value)
    assert tuple(handed.shape()) == shape and handed.element_type() == elem_type
    found = _raw_array(handed)
    assert found.dtype == dtype and found.tolist() == value.tolist()


def test_signs_of_four_bits():
    value = np.array([-8, -1, 7, 0, -3]).astype(ml_dtypes.int4)
    assert _to_raw(value, TensorProto.INT4).reshape(-1)[:3].tolist() == [0xF8, 0x07, 0x0D]
    assert _raw_array(_to_runtime("x", value)).tolist() == [-8, -1, 7, 0, -3]


def test_raw_outputs_stand_among_others_in_order():
    run = session("""(bfloat16[2] x, float[2] w) => (float[2] a, bfloat16[2] b, float[2] c)
        { a = Neg (w) b = Identity (x) c = Abs (w) }""")
    a, b, c = run({"x": np.array([0.5, -3]).astype(ml_dtypes.bfloat16), "w": np.float32([1, -2])})
    assert (a.tolist(), b.tolist(), c.tolist()) == ([-1, 2], [0.5, -3], [1, 2])
    assert b.dtype == ml_dtypes.bfloat16


def test_raw_outputs_alone():
    run = session("(bfloat16[2] x) => (bfloat16[2] y) { y = Identity (x) }")
    assert run({"x": np.array([0.5, -3]).astype(ml_dtypes.bfloat16)})[0].tolist() == [0.5, -3]


def test_unsupported_types_are_reported():
    bfloats = np.ones(1, ml_dtypes.bfloat16)
    with pytest.raises(Unsupported, match="input 'x' is a sequence of bfloat16"):
        _to_runtime("x", [bfloats])
    with pytest.raises(Unsupported, match="input 'x' is of type float8_e8m0fnu"):
        _to_runtime("x", np.ones(1, ml_dtypes.float8_e8m0fnu))
    run = session("""(seq(float[N]) s, bfloat16[1] x) => (int64 n, bfloat16[1] y)
        { n = SequenceLength (s) y = Identity (x) }""")
    with pytest.raises(Unsupported, match="input 's' is not a tensor, output 'y' is raw"):
        run({"s": [np.float32([1])], "x": bfloats})


def test_plain_values_are_made_contiguous_and_others_pass():
    turned = np.arange(6, dtype=np.float32).reshape(2, 3).T
    handed = _to_runtime("x", turned)
    assert handed.flags.c_contiguous and handed.tolist() == turned.tolist()
    assert _to_runtime("x", np.float32(3)) == 3 and _to_runtime("x", None) is None
    assert _to_runtime("x", np.float32(np.ones(())).reshape(())).shape == ()
    assert _to_runtime("x", np.array(["a"], object)).tolist() == ["a"]


def test_sessions_do_not_optimise_and_run_on_one_thread():
    options = session("(float[1] x) => (float[1] y) { y = Neg (x) }")._session.get_session_options()
    assert options.graph_optimization_level.name == "ORT_DISABLE_ALL"
    assert (options.intra_op_num_threads, options.inter_op_num_threads) == (1, 1)
