import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from straightline.ir import ModelError
from straightline.ir.message_contents import (
    Types,
    check_element_type,
    check_sparse,
    check_tensor,
    first_odd_text,
    has_odd_text,
)
from tables import table

KNOWN = [t for t in TensorProto.DataType.values() if t != TensorProto.UNDEFINED]


@pytest.mark.parametrize("elem_type", KNOWN, ids=TensorProto.DataType.Name)
@pytest.mark.parametrize("raw", [False, True])
def test_every_element_type_in_both_forms(elem_type: int, raw: bool) -> None:
    if raw and elem_type == TensorProto.STRING:
        return
    dtype = helper.tensor_dtype_to_np_dtype(elem_type)
    array = np.zeros((8, 1)).astype(dtype) if elem_type != TensorProto.STRING else None
    if raw:
        tensor = numpy_helper.from_array(array)
    else:
        values = ["a"] * 8 if array is None else array.reshape(-1)
        tensor = helper.make_tensor("t", elem_type, (8, 1), values)
    check_tensor(tensor, "tensor {}", "t")
    tensor.dims[0] = 2000 if elem_type != TensorProto.STRING else 2
    with pytest.raises(ModelError, match=r"tensor t has .* where its shape \[.*, 1\] needs"):
        check_tensor(tensor, "tensor {}", "t")


def tensor(**fields: object) -> onnx.TensorProto:
    return TensorProto(**{"data_type": TensorProto.FLOAT, **fields})


@table(
    (tensor(data_type=0), "tensor t has no element type"),
    (tensor(data_type=99), "tensor t has the element type 99, which ONNX does not know"),
    (tensor(dims=[2, -1]), r"tensor t has a negative dimension: \[2, -1\]"),
    (tensor(dims=[2], float_data=[1]), r"has 1 elements where its shape \[2\] needs 2"),
    (tensor(dims=[2], raw_data=b"1234567"), r"has 7 bytes where its shape \[2\] needs 8"),
    (tensor(dims=[1], int64_data=[1]), r"has 0 elements where its shape \[1\] needs 1"),
)
def test_tensors_that_are_refused(given: onnx.TensorProto, fault: str) -> None:
    with pytest.raises(ModelError, match=fault):
        check_tensor(given, "tensor {}", "t")


def test_contents_that_are_not_checked() -> None:
    check_tensor(tensor(dims=[2]), "weights that were taken out")
    check_tensor(tensor(dims=[1 << 20], raw_data=b"1"), "large ones")
    check_tensor(tensor(dims=[2], data_location=TensorProto.EXTERNAL), "data elsewhere")
    check_element_type(0, "a type that is not said")


def sparse(values: int, indices: np.ndarray, dims: list[int]) -> onnx.SparseTensorProto:
    return helper.make_sparse_tensor(
        numpy_helper.from_array(np.ones(values, np.float32)), numpy_helper.from_array(indices), dims
    )


@pytest.mark.parametrize("indices", [np.arange(2), np.zeros((2, 3), np.int64)])
def test_sparse_tensors_in_both_forms(indices: np.ndarray) -> None:
    check_sparse(sparse(2, indices, [2, 2, 2]), "s")


@table(
    (sparse(2, np.arange(3), [4]), r"indices of shape \[3\] for 2 values"),
    (sparse(2, np.zeros((2, 2), np.int64), [4]), r"indices of shape \[2, 2\] for 2 values"),
    (sparse(2, np.arange(2, dtype=np.int32), [4]), "indices that are not 64-bit integers"),
    (sparse(2, np.arange(2), [-4]), r"s has a negative dimension: \[-4\]"),
)
def test_sparse_tensors_that_are_refused(given: onnx.SparseTensorProto, fault: str) -> None:
    with pytest.raises(ModelError, match=fault):
        check_sparse(given, "s")


def test_types_are_checked_to_their_ground_and_remembered() -> None:
    inner = helper.make_tensor_type_proto(TensorProto.FLOAT, ["N", 2])
    odd = helper.make_tensor_type_proto(99, [])
    for wrap in (
        lambda t: t,
        helper.make_sequence_type_proto,
        helper.make_optional_type_proto,
        lambda t: helper.make_map_type_proto(TensorProto.INT64, t),
        lambda t: helper.make_optional_type_proto(helper.make_sequence_type_proto(t)),
    ):
        types = Types()
        types.check(wrap(inner), "'x'")
        assert wrap(inner).SerializeToString() in types.valid
        with pytest.raises(ModelError, match="'x' has the element type 99"):
            types.check(wrap(odd), "'x'")
        assert wrap(odd).SerializeToString() not in types.valid
    with pytest.raises(ModelError, match="element type 98"):
        Types().check(helper.make_map_type_proto(98, inner), "'x'")


MODEL = onnx.parser.parse_model("""<ir_version: 10, opset_import: ["": 21]>
    main (float[width] x) => (float[width] y) { y = Concat <axis = 0> (x) }""")


@table(
    ("main", "graph.name"),
    ("width", "graph.input[0].type.tensor_type.shape.dim[0].dim_param"),
    ("Concat", "graph.node[0].op_type"),
    ("axis", "graph.node[0].attribute[0].name"),
)
def test_the_first_place_is_named(text: str, place: str) -> None:
    broken = text[:-1].encode() + b"\xe2"
    proto = onnx.ModelProto.FromString(MODEL.SerializeToString().replace(text.encode(), broken))
    said = first_odd_text(proto)
    assert has_odd_text(proto) and said is not None
    assert said.startswith(f"{place} is {broken!r}, which is not UTF-8; rename it")
    assert not has_odd_text(proto, ("graph",)), "a field that is left out"


def test_bytes_need_be_no_text() -> None:
    proto = onnx.ModelProto()
    proto.CopyFrom(MODEL)
    proto.graph.node[0].attribute.add(name="s", s=b"\xff", strings=[b"\xfe"])
    proto.graph.initializer.add(name="ü", raw_data=b"\xff")
    assert first_odd_text(proto) is None and not has_odd_text(proto)
