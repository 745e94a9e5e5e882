import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from reference_oracle import assert_same, onnxruntime_outputs
from straightline import convert_version, prove, reference
from straightline.version_converter import ConversionError
from tables import table

RANDOM = np.random.default_rng(4)
X = RANDOM.normal(size=(2, 8)).astype(np.float32)
SCALE = np.array([0.5, 0.25, 2], np.float32)


def held(name, numbers, kind):
    """A constant of a narrow type."""
    numbers = np.asarray(numbers)
    return helper.make_tensor(name, kind, numbers.shape, numbers.ravel().tolist())


def model(nodes, constants, opset=21, outputs=("y",)):
    """A model over x of sizes 2 and 8, with these nodes as text."""
    results = ", ".join(f"float[a, b] {name}" for name in outputs)
    parsed = onnx.parser.parse_model(
        f'<ir_version: 10, opset_import: ["" : {opset}]>'
        f" g (float[2, 8] x, bool c) => ({results}) {{ {nodes} }}"
    )
    parsed.graph.initializer.extend(constants)
    parsed.graph.initializer.append(onnx.numpy_helper.from_array(SCALE, "s"))
    return parsed


def weights(low, high, shape=(8, 3)):
    return RANDOM.integers(low, high, shape)


def check(proto, target):
    """Convert, compare with the reference, run in onnxruntime, and prove."""
    after = convert_version(proto, target)
    onnx.checker.check_model(after, full_check=True)
    feeds = {"x": X, "c": np.array(True)}
    wanted = reference.run(proto, feeds)
    assert_same(reference.run(after, feeds), wanted)
    if target < 22:
        assert_same(onnxruntime_outputs(after, feeds), wanted, rtol=1e-6, atol=1e-6)
    assert prove(proto, after)
    return {tensor.data_type for tensor in after.graph.initializer}


INT4 = (TensorProto.INT4, -8, 8)
UINT4 = (TensorProto.UINT4, 0, 16)


@pytest.mark.parametrize(("kind", "low", "high"), [INT4, UINT4])
@pytest.mark.parametrize(
    "nodes",
    [
        "f = DequantizeLinear <axis = 1> (w, s, z) y = MatMul (x, f)",
        "f = DequantizeLinear <axis = 1> (w, s) y = MatMul (x, f)",
        """t = Transpose <perm = [1, 0]> (w) f = DequantizeLinear <axis = 0> (t, s, z)
            u = Transpose <perm = [1, 0]> (f) y = MatMul (x, u)""",
        "f = Cast <to = 1> (w) y = MatMul (x, f)",
        """y = If (c) <then_branch = t () => (p)
            { f = DequantizeLinear <axis = 1> (w, s, z) p = MatMul (x, f) },
            else_branch = e () => (q) { q = Identity (x) }>""",
    ],
)
def test_numbers_of_four_bits_are_held_in_eight(kind, low, high, nodes):
    constants = [held("w", weights(low, high), kind), held("z", weights(low, high, 3), kind)]
    wide = TensorProto.INT8 if kind == TensorProto.INT4 else TensorProto.UINT8
    for target in (20, 13):
        assert wide in check(model(nodes, constants), target)


def test_blocks_are_spread():
    scales = np.array([[0.5, 0.25, 2], [1, 4, 0.125]], np.float32)
    constants = [
        held("w", weights(-8, 8), TensorProto.INT4),
        held("z", weights(-2, 3, (2, 3)), TensorProto.INT4),
        onnx.numpy_helper.from_array(scales, "b"),
    ]
    nodes = "f = DequantizeLinear <axis = 0, block_size = 4> (w, b, z) y = MatMul (x, f)"
    for target in (19, 13, 10):
        check(model(nodes, constants), target)


@table(
    (TensorProto.INT2, weights(-2, 2), 25),
    (TensorProto.UINT2, weights(0, 4), 25),
    (TensorProto.FLOAT4E2M1, RANDOM.choice([0, 0.5, -1.5, 6], (8, 3)), 23),
    (TensorProto.FLOAT6E2M3, RANDOM.choice([0, 0.125, -7.5], (8, 3)), 28),
    (TensorProto.FLOAT6E3M2, RANDOM.choice([0, 0.0625, -28], (8, 3)), 28),
)
def test_other_narrow_types(kind, numbers, opset):
    nodes = "f = DequantizeLinear <axis = 1> (w, s) y = MatMul (x, f)"
    proto = model(nodes, [held("w", numbers, kind)], opset)
    after = convert_version(proto, opset - 1)
    onnx.checker.check_model(after, full_check=True)
    feeds = {"x": X, "c": np.array(True)}
    assert_same(reference.run(after, feeds), reference.run(proto, feeds))


@table(
    "q = QuantizeLinear (x, one, zero) f = DequantizeLinear (q, one, zero) y = Neg (f)",
    "q = CastLike (x, w) f = Cast <to = 1> (q) y = Neg (f)",
    "q = If (c) <then_branch = t () => (a) { a = Identity (w) },"
    " else_branch = e () => (b) { b = Identity (w) }> y = Cast <to = 1> (q)",
)
def test_a_reader_that_depends_on_the_type_keeps_it(nodes):
    constants = [
        held("w", weights(-8, 8), TensorProto.INT4),
        held("zero", 0, TensorProto.INT4),
        onnx.numpy_helper.from_array(np.float32(0.5), "one"),
    ]
    with pytest.raises(ConversionError):
        convert_version(model(nodes, constants), 20, rewrite=False)


def test_an_output_keeps_its_type():
    constants = [held("w", weights(-8, 8), TensorProto.INT4)]
    proto = model("y = Identity (w) z = Cast <to = 1> (w)", constants, outputs=("y", "z"))
    proto.graph.output[0].type.tensor_type.elem_type = TensorProto.INT4
    feeds = {"x": X, "c": np.array(True)}
    for found, wanted in zip(
        reference.run(convert_version(proto, 20), feeds), reference.run(proto, feeds), strict=True
    ):
        assert found.dtype == wanted.dtype and (found == wanted).all()


@pytest.mark.parametrize("kind", ["FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ"])
@pytest.mark.parametrize(
    "nodes",
    ["f = Cast <to = 1> (w) y = MatMul (x, f)", "f = DequantizeLinear (w, s) y = MatMul (x, f)"],
)
def test_floats_of_eight_bits_are_held_in_sixteen(kind, nodes):
    dtype = helper.tensor_dtype_to_np_dtype(getattr(TensorProto, kind))
    numbers = np.append(RANDOM.normal(size=23), 2.0**-9).astype(dtype)
    w = onnx.numpy_helper.from_array(numbers.reshape(8, 3), "w")
    for opset, target in ((19, 18), (23, 13)):
        before = model(nodes, [w], opset)
        after = convert_version(before, target)
        onnx.checker.check_model(after, full_check=True)
        assert TensorProto.FLOAT16 in {tensor.data_type for tensor in after.graph.initializer}
        feeds = {"x": X, "c": np.array(True)}
        wanted = reference.run(before, feeds)
        assert_same(onnxruntime_outputs(after, feeds), wanted, rtol=1e-6, atol=1e-6)


def test_floats_of_eight_bits_from_run_time_stay():
    nodes = "t = Constant <value_float = 2.0> () w = Cast <to = 17> (x) y = DequantizeLinear (w, t)"
    with pytest.raises(ConversionError):
        convert_version(model(nodes, [], 19), 18)
