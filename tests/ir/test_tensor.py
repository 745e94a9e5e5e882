from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from straightline.ir import LoadError, Tensor
from tables import table

DTYPES = [np.float32, np.int64, np.bool_, np.float16, np.complex64, ml_dtypes.bfloat16]


@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_and_messages_agree(dtype: type) -> None:
    array = np.array([[0, 1, 1]]).astype(dtype)
    made = Tensor(array=array)
    read = Tensor(made.message())
    assert made.dims == read.dims == (1, 3)
    assert made.size == read.size == 3
    assert made.elem_type == read.elem_type
    np.testing.assert_array_equal(read.numpy(), array)
    assert read.numpy() is read.numpy()
    assert made.message() is made.message()


def test_arrays_cannot_be_written_to() -> None:
    tensor = Tensor(numpy_helper.from_array(np.ones(3, np.float32)))
    with pytest.raises(ValueError, match="read-only"):
        tensor.numpy()[0] = 2


def test_strings() -> None:
    tensor = Tensor(helper.make_tensor("s", TensorProto.STRING, [2], ["a", "ö"]))
    assert tensor.numpy().tolist() == ["a", "ö"]
    assert Tensor(array=np.array(["a"], dtype=object)).elem_type == TensorProto.STRING


@pytest.mark.parametrize("indices", [[1, 4], [[0, 1], [1, 1]]])
def test_sparse_tensors(indices: list[int]) -> None:
    values = helper.make_tensor("s", TensorProto.INT32, [2], [5, 6])
    shape = np.array(indices).shape
    where = helper.make_tensor("", TensorProto.INT64, shape, np.array(indices).flatten().tolist())
    tensor = Tensor(helper.make_sparse_tensor(values, where, [2, 3]))
    assert tensor.is_sparse and tensor.elem_type == TensorProto.INT32 and tensor.size == 6
    assert tensor.numpy().tolist() == [[0, 5, 0], [0, 6, 0]]


@table(
    TensorProto(name="t", data_type=TensorProto.FLOAT, dims=[3], raw_data=b"12345"),
    TensorProto(name="t", data_type=TensorProto.FLOAT, dims=[3], raw_data=b"1234"),
    TensorProto(name="t", data_type=TensorProto.STRING, dims=[1], string_data=[b"\xff"]),
    TensorProto(name="t", data_type=99, dims=[1], raw_data=b"1"),
    TensorProto(name="t", dims=[1], raw_data=b"1"),
)
def test_content_that_does_not_fit(message: TensorProto) -> None:
    with pytest.raises(LoadError, match="tensor 't' cannot be read"):
        Tensor(message).numpy()


def test_sparse_indices_that_do_not_fit() -> None:
    values = helper.make_tensor("s", TensorProto.INT32, [1], [5])
    where = helper.make_tensor("", TensorProto.INT64, [1], [7])
    with pytest.raises(LoadError, match="sparse tensor 's' does not fit its shape"):
        Tensor(helper.make_sparse_tensor(values, where, [3])).numpy()


def external(data_type: int, dims: list[int], location: str = "w.bin") -> onnx.TensorProto:
    message = TensorProto(name="w", data_type=data_type, dims=dims)
    message.data_location = TensorProto.EXTERNAL
    message.external_data.add(key="location", value=location)
    return message


class TestExternal:
    def test_is_read_late_and_once(self, tmp_path: Path) -> None:
        tensor = Tensor(external(TensorProto.FLOAT, [2]), base_dir=tmp_path)
        assert tensor.is_external and tensor.dims == (2,) and tensor.size == 2
        (tmp_path / "w.bin").write_bytes(np.array([1, 2], np.float32).tobytes())
        assert tensor.numpy().tolist() == [1, 2]
        (tmp_path / "w.bin").unlink()
        assert tensor.numpy().tolist() == [1, 2]

    def test_packed_elements(self, tmp_path: Path) -> None:
        (tmp_path / "w.bin").write_bytes(b"\x21\x03")
        tensor = Tensor(external(TensorProto.UINT4, [3]), base_dir=tmp_path)
        assert tensor.numpy().astype(int).tolist() == [1, 2, 3]

    @pytest.mark.parametrize("kind", sorted({*TensorProto.DataType.values()} - {0, 8}))
    def test_each_element_type_is_read_as_if_it_were_inside(
        self, kind: int, tmp_path: Path
    ) -> None:
        dtype = helper.tensor_dtype_to_np_dtype(kind)
        inside = numpy_helper.from_array(np.array([[1, 0, 1], [0, 1, 1]]).astype(dtype))
        (tmp_path / "w.bin").write_bytes(b"--" + inside.raw_data + b"more")
        message = external(kind, [2, 3])
        message.external_data.add(key="offset", value="2")
        found = Tensor(message, base_dir=tmp_path).numpy()
        expected = numpy_helper.to_array(inside)
        assert (found.dtype, found.shape) == (expected.dtype, (2, 3))
        assert found.tobytes() == expected.tobytes()
        short = external(kind, [2, 3])
        short.external_data.add(key="length", value=str(len(inside.raw_data) - 1))
        with pytest.raises(LoadError, match="it needs"):
            Tensor(short, base_dir=tmp_path).numpy()

    def test_sparse_values(self, tmp_path: Path) -> None:
        (tmp_path / "w.bin").write_bytes(np.array([7], np.int32).tobytes())
        where = helper.make_tensor("", TensorProto.INT64, [1], [1])
        message = helper.make_sparse_tensor(external(TensorProto.INT32, [1]), where, [3])
        assert Tensor(message, base_dir=tmp_path).numpy().tolist() == [0, 7, 0]

    def test_a_link_to_itself_is_no_file(self, tmp_path: Path) -> None:
        data = tmp_path / "w.bin"
        data.symlink_to(data)
        with pytest.raises(LoadError, match="missing"):
            Tensor(external(TensorProto.FLOAT, [2]), base_dir=tmp_path).numpy()
        data.unlink()
        data.symlink_to(tmp_path / "other")
        (tmp_path / "other").symlink_to(data)
        with pytest.raises(LoadError, match="missing"):
            Tensor(external(TensorProto.FLOAT, [2]), base_dir=tmp_path).numpy()

    def test_faults(self, tmp_path: Path) -> None:
        message = external(TensorProto.FLOAT, [2])
        with pytest.raises(LoadError, match="folder is not known; load the model from its path"):
            Tensor(message).numpy()
        with pytest.raises(LoadError, match="is missing"):
            Tensor(message, base_dir=tmp_path).numpy()
        (tmp_path / "w.bin").write_bytes(b"1234567")
        with pytest.raises(LoadError, match=r"ends at byte 8 of .*, which has 7"):
            Tensor(message, base_dir=tmp_path).numpy()
        with pytest.raises(LoadError, match="cannot be external"):
            Tensor(external(TensorProto.STRING, [2]), base_dir=tmp_path).numpy()
        with pytest.raises(LoadError, match="cannot be external"):
            Tensor(external(77, [2]), base_dir=tmp_path).numpy()


@pytest.mark.parametrize("dtype", [*DTYPES, ml_dtypes.int4])
def test_content_is_the_same_in_every_form(dtype: type, tmp_path: Path) -> None:
    array = (np.arange(12).reshape(3, 4) % 2).astype(dtype)
    computed, written = Tensor(array=array), Tensor(numpy_helper.from_array(array))
    assert (computed.is_computed, written.is_computed) == (True, False)
    raw = written.raw_data()
    assert computed.raw_data() == raw and computed.is_computed
    message = onnx.TensorProto(name="w", data_type=written.elem_type, dims=[3, 4])
    message.data_location = TensorProto.EXTERNAL
    for key, value in (("location", "w.bin"), ("offset", "7")):
        message.external_data.add(key=key, value=value)
    (tmp_path / "w.bin").write_bytes(b"before:" + raw + b"behind")
    (tmp_path / "again.bin").hardlink_to(tmp_path / "w.bin")
    external = Tensor(message, base_dir=tmp_path)
    for tensor in (computed, written, external):
        assert b"".join(tensor.content()) == array.tobytes()
    assert computed.place is written.place is None
    place = external.place
    message.external_data[0].value = "again.bin"
    assert Tensor(message, base_dir=tmp_path).place == place
    message.external_data[1].value = "6"
    assert Tensor(message, base_dir=tmp_path).place != place


def test_content_that_is_cut_short(tmp_path: Path) -> None:
    message = onnx.TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[9])
    message.raw_data = bytes(8)
    with pytest.raises(LoadError, match="'w' cannot be read"):
        list(Tensor(message).content())
