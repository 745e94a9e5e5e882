import os
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto
from straightline import ir
from straightline.ir import SaveError

SIZE = 600
TEXT = """<ir_version: 10, opset_import: ["": 21]>
g (float[600] x) => (float[600] y) { y = Add(x, w) }"""


def write_model(path: Path, location: str, value: float = 1) -> Path:
    """A model with external data, and that data."""
    model = onnx.parser.parse_model(TEXT)
    tensor = model.graph.initializer.add(name="w", data_type=TensorProto.FLOAT, dims=[SIZE])
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=location)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(model.SerializeToString())
    np.full(SIZE, value, np.float32).tofile(path.parent / location)
    return path


def weight(path: Path) -> float:
    """The weight of a model as onnx loads it."""
    return float(onnx.numpy_helper.to_array(onnx.load(path).graph.initializer[0])[-1])


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write_model(tmp_path / "home" / "in.onnx", "w.bin")


def assert_refused(source: Path, target: Path, message: str, **options: bool) -> None:
    before = contents(source.parent.parent)
    with pytest.raises(SaveError, match=message):
        ir.save(ir.load(source), target, **options)
    assert contents(source.parent.parent) == before


class TestWhatIsRead:
    @pytest.mark.parametrize("force", [False, True])
    @pytest.mark.parametrize("kind", ["itself", "link", "hard link", "through a linked folder"])
    def test_data_of_the_input(self, source: Path, tmp_path: Path, kind: str, force: bool) -> None:
        data, target = source.parent / "w.bin", tmp_path / "out.onnx"
        if kind == "itself":
            target = data
        elif kind == "link":
            target.symlink_to(data)
        elif kind == "hard link":
            target.hardlink_to(data)
        else:
            (tmp_path / "linked").symlink_to(source.parent)
            target = tmp_path / "linked" / "w.bin"
        assert_refused(source, target, "it is read itself", force=force)

    def test_data_that_is_itself_a_link(self, source: Path) -> None:
        data = source.parent / "w.bin"
        data.rename(source.parent / "real.bin")
        data.symlink_to("real.bin")
        for name in ("w.bin", "real.bin"):
            assert_refused(source, source.parent / name, "it is read itself", force=True)

    def test_data_that_the_result_needs_no_more(self, source: Path) -> None:
        model = ir.load(source)
        (node,) = model.graph.nodes()
        model.graph.set_outputs(model.graph.inputs, model.graph.output_infos)
        model.graph.remove(node)
        for weights in list(model.graph.initializers):
            model.graph.remove_initializer(weights)
        for copy in (model, ir.load(model)):
            with pytest.raises(SaveError, match="it is read itself"):
                ir.save(copy, source.parent / "w.bin", force=True)
        assert weight(source) == 1

    def test_data_that_is_missing_is_not_replaced_by_a_model(self, source: Path) -> None:
        (source.parent / "w.bin").unlink()
        assert_refused(source, source.parent / "w.bin", "it is read itself")

    def test_other_files_that_are_read(self, source: Path, tmp_path: Path) -> None:
        inputs = tmp_path / "inputs.npz"
        np.savez(inputs, x=np.zeros(SIZE, np.float32))
        before = inputs.read_bytes()
        with pytest.raises(SaveError, match="it is read itself"):
            ir.save(ir.load(source), inputs, force=True, keep=[inputs])
        assert inputs.read_bytes() == before

    @pytest.mark.parametrize("link", [False, True])
    def test_the_input_may_take_the_place_of_itself(self, source: Path, link: bool) -> None:
        target = source
        if link:
            target = source.with_name("link.onnx")
            target.symlink_to(source.name)
        for _ in range(2):
            ir.save(ir.load(source), target)
            assert weight(source) == weight(target) == 1
        assert target.is_symlink() == link


class TestWhatBelongsToOthers:
    def test_data_of_another_model(self, source: Path, tmp_path: Path) -> None:
        other = write_model(tmp_path / "out" / "other.onnx", "out.onnx.data", 5)
        target = other.with_name("out.onnx")
        assert_refused(source, target, "its data would overwrite .*out.onnx.data.*--force")
        write_model(target, "own.bin", 7)
        assert_refused(source, target, "its data would overwrite .*out.onnx.data.*--force")
        ir.save(ir.load(source), target, force=True)
        assert (weight(source), weight(target)) == (1, 1)

    def test_a_link_in_the_place_of_the_data(self, source: Path, tmp_path: Path) -> None:
        shared = tmp_path / "shared.bin"
        shared.write_bytes(b"mine")
        (tmp_path / "out.onnx.data").symlink_to(shared)
        assert_refused(source, tmp_path / "out.onnx", "its data would overwrite")
        ir.save(ir.load(source), tmp_path / "out.onnx", force=True)
        assert (shared.read_bytes(), weight(tmp_path / "out.onnx")) == (b"mine", 1)

    def test_data_of_the_model_that_is_replaced(self, source: Path, tmp_path: Path) -> None:
        target = write_model(tmp_path / "out.onnx", "out.onnx.data", 5)
        ir.save(ir.load(source), target)
        assert weight(target) == 1

    def test_data_of_the_input_under_the_name_of_the_new_data(self, tmp_path: Path) -> None:
        source = write_model(tmp_path / "in.onnx", "w.bin")
        out = tmp_path / "out"
        out.mkdir()
        (out / "out.onnx.data").hardlink_to(tmp_path / "w.bin")
        before = contents(tmp_path)
        ir.save(ir.load(source), out / "out.onnx")
        assert (out / "out.onnx.1.data").exists()
        assert weight(out / "out.onnx") == 1
        assert before.items() <= contents(tmp_path).items()

    @pytest.mark.parametrize("content", [b"my notes", bytes(range(256)), b"\x08\x07"])
    def test_a_file_that_is_no_model(self, source: Path, tmp_path: Path, content: bytes) -> None:
        target = tmp_path / "notes.txt"
        target.write_bytes(content)
        assert_refused(source, target, "the file there is not an ONNX model.*--force")
        ir.save(ir.load(source), target, force=True)
        assert weight(target) == 1

    def test_a_tensor_whose_bytes_parse_as_a_model(self, source: Path, tmp_path: Path) -> None:
        tensor = TensorProto(dims=[2], data_type=TensorProto.INT64, int64_data=[10, 0])
        target = tmp_path / "input_0.pb"
        target.write_bytes(tensor.SerializeToString())
        assert ir.to_proto(target).HasField("graph")
        assert_refused(source, target, "not an ONNX model")

    def test_models_and_empty_files_are_replaced(self, source: Path, tmp_path: Path) -> None:
        (tmp_path / "empty").touch()
        ir.save(ir.load(source), tmp_path / "empty")
        target = tmp_path / "old.onnx"
        target.write_bytes(onnx.parser.parse_model(TEXT.replace("w)", "x)")).SerializeToString())
        ir.save(ir.load(source), target)
        assert (weight(tmp_path / "empty"), weight(target)) == (1, 1)


class TestLinks:
    def test_a_link_to_the_input_in_another_folder(self, source: Path, tmp_path: Path) -> None:
        link = tmp_path / "link.onnx"
        link.symlink_to(source)
        assert_refused(source, link, "a link into another folder.*home/in.onnx")
        assert weight(source) == 1

    def test_a_link_to_a_new_file_in_another_folder(self, source: Path, tmp_path: Path) -> None:
        (tmp_path / "out").mkdir()
        link = tmp_path / "link.onnx"
        link.symlink_to(tmp_path / "out" / "new.onnx")
        assert_refused(source, link, "a link into another folder")

    def test_a_link_in_the_same_folder(self, source: Path, tmp_path: Path) -> None:
        link, target = tmp_path / "link.onnx", tmp_path / "new.onnx"
        link.symlink_to(target.name)
        for _ in range(2):
            ir.save(ir.load(source), link)
            assert link.is_symlink()
            assert weight(link) == weight(target) == 1
        assert (tmp_path / "new.onnx.data").exists()

    def test_a_folder_that_is_a_link(self, source: Path, tmp_path: Path) -> None:
        (tmp_path / "out").mkdir()
        (tmp_path / "linked").symlink_to("out")
        ir.save(ir.load(source), tmp_path / "linked" / "new.onnx")
        assert weight(tmp_path / "linked" / "new.onnx") == 1
        assert weight(tmp_path / "out" / "new.onnx") == 1


class TestWhatIsNoFile:
    def test_open_streams_and_devices(self, source: Path, tmp_path: Path) -> None:
        with (tmp_path / "open").open("wb") as stream:
            link = tmp_path / "link"
            link.symlink_to(f"/dev/fd/{stream.fileno()}")
            for path in (f"/dev/fd/{stream.fileno()}", link, "/dev/stdout", "/proc/self/fd/1"):
                assert_refused(source, Path(path), "an open stream")
        assert_refused(source, Path(os.devnull), "not a regular file")
        assert_refused(source, tmp_path, "it is a folder, not a regular file")
        assert_refused(source, tmp_path / ("long" * 80), "File name too long")

    def test_a_name_with_a_zero_byte(self, source: Path) -> None:
        assert_refused(source, Path("a\0b"), "zero byte")
