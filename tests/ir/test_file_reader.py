import contextlib
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import straightline as sl
from harness import as_model
from straightline import ir
from straightline.ir import LoadError, file_reader
from straightline.ir.file_reader import folder_of, is_descriptor, open_regular, read_bytes

TEXT = """g (float[2] x) => (float[2] y) {
    iterations = Constant <value_int = 3> ()
    y = Loop (iterations, , x) <body = b (int64 i, bool c, float[2] a) => (bool d, float[2] e) {
        d = Identity (c)
        e = Add (a, a) }> }"""
CONTENT = as_model(TEXT).SerializeToString()


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


@contextlib.contextmanager
def written(pipe: Path, content: bytes) -> Iterator[None]:
    """Somebody writes to a pipe, once."""

    def write() -> None:
        with contextlib.suppress(BrokenPipeError):
            pipe.write_bytes(content)

    writer = threading.Thread(target=write)
    writer.start()
    yield
    writer.join(timeout=10)
    assert not writer.is_alive()


class TestBounds:
    @pytest.mark.parametrize("size", [100, 100_000])
    @pytest.mark.parametrize("extra", [0, 1])
    def test_files_and_pipes_up_to_a_size(
        self, tmp_path: Path, pipe: Path, extra: int, size: int
    ) -> None:
        content = bytes(size)
        (tmp_path / "file").write_bytes(content)
        for path in (tmp_path / "file", pipe):
            with written(pipe, content) if path == pipe else contextlib.nullcontext():
                if not extra:
                    assert read_bytes(path, len(content)) == content
                    continue
                with pytest.raises(
                    LoadError, match=rf"larger than {size - 1} bytes.*--max-input-size"
                ):
                    read_bytes(path, len(content) - 1, option="--max-input-size")

    def test_a_huge_file_is_not_read_at_all(self, tmp_path: Path) -> None:
        with (tmp_path / "huge").open("wb") as stream:
            stream.truncate(1 << 40)
        with pytest.raises(LoadError, match="larger than 2 GB, which no single ONNX file can be"):
            read_bytes(tmp_path / "huge")

    def test_a_file_that_does_not_tell_its_size(self) -> None:
        assert read_bytes(Path("/proc/self/cmdline"))

    @pytest.mark.parametrize("path", ["/dev/zero", "/dev/null", "/dev/random"])
    def test_devices(self, path: str) -> None:
        with pytest.raises(LoadError, match="neither a file nor a pipe"):
            read_bytes(Path(path))


class TestRegularFiles:
    def test_links_are_followed(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_bytes(b"content")
        (tmp_path / "link").symlink_to("file")
        with open_regular(tmp_path / "link") as stream:
            assert stream.read() == b"content"

    @pytest.mark.parametrize("path", ["/dev/zero", "/dev/null", "pipe"])
    def test_nothing_else_is_opened(self, tmp_path: Path, pipe: Path, path: str) -> None:
        (tmp_path / "link").symlink_to(path)
        for each in (tmp_path / path, tmp_path / "link"):
            with pytest.raises(LoadError, match="it is not a regular file"):
                open_regular(each)

    def test_folders_and_missing_files(self, tmp_path: Path) -> None:
        with pytest.raises(LoadError, match="it is a folder"):
            open_regular(tmp_path)
        with pytest.raises(LoadError, match="there is no file"):
            open_regular(tmp_path / "missing")

    @pytest.mark.parametrize("name", ["modle.onnx", "model", "MODEL.onnx", "model.onxx"])
    def test_a_missing_file_with_a_similar_name(self, name: str, tmp_path: Path) -> None:
        (tmp_path / "model.onnx").touch()
        with pytest.raises(LoadError, match=r"; did you mean '.*/model.onnx'\?$"):
            open_regular(tmp_path / name)
        with pytest.raises(LoadError, match=r"there is no file '[^;]*'$"):
            open_regular(tmp_path / "other.onnx")


class TestPipes:
    def test_one_that_nothing_writes_to(self, pipe: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(file_reader, "_WRITER_COMES_WITHIN", 0.1)
        with pytest.raises(LoadError, match="a pipe without a writer"):
            read_bytes(pipe)

    def test_one_whose_writer_writes_nothing(self, pipe: Path) -> None:
        with written(pipe, b""), pytest.raises(LoadError, match="a pipe without a writer"):
            read_bytes(pipe)

    def test_one_whose_writer_comes_later_and_is_slow(self, pipe: Path) -> None:
        def write() -> None:
            pause = threading.Event()
            pause.wait(0.3)
            with pipe.open("wb") as stream:
                for byte in CONTENT[:3]:
                    pause.wait(0.1)
                    stream.write(bytes([byte]))
                    stream.flush()

        writer = threading.Thread(target=write)
        writer.start()
        assert read_bytes(pipe) == CONTENT[:3]
        writer.join()

    def test_an_open_one(self) -> None:
        out, into = os.pipe()
        os.write(into, CONTENT)
        os.close(into)
        path = Path(f"/dev/fd/{out}")
        assert read_bytes(path) == CONTENT
        with pytest.raises(LoadError, match="a pipe without a writer"):
            read_bytes(path)
        os.close(out)

    @pytest.mark.parametrize("call", ["rewrite", "convert_version", "inspect", "verify"])
    def test_every_function_reads_it_once(self, pipe: Path, call: str) -> None:
        with written(pipe, CONTENT):
            if call == "rewrite":
                found = sl.rewrite(pipe, verify={"runtime": "reference", "samples": 1})
                assert [n.op_type for n in found.graph.node] == ["Add"] * 3  # type: ignore[union-attr]
            elif call == "convert_version":
                sl.convert_version(pipe, 18, verify={"runtime": "reference", "samples": 1})
            elif call == "inspect":
                assert sl.inspect(pipe).straight_line
            else:
                assert sl.verify(pipe, CONTENT, runtime="reference", samples=1)

    def test_inputs_in_one(self, pipe: Path, tmp_path: Path) -> None:
        import numpy as np

        np.savez(tmp_path / "x.npz", x=np.ones(2, np.float32))
        with written(pipe, (tmp_path / "x.npz").read_bytes()):
            found = sl.verify(CONTENT, CONTENT, feeds=pipe, runtime="reference")
        assert found.samples == ("given sample 0",)


class TestExternalData:
    @pytest.fixture
    def content(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> bytes:
        """A model with external data, and a file of that name in the current folder."""
        model = as_model(TEXT)
        tensor = model.graph.initializer.add(name="w", data_type=1, dims=[2], data_location=1)
        tensor.external_data.add(key="location", value="w.bin")
        model.graph.node.add(op_type="Add", input=["y", "w"], output=["z"])
        model.graph.output[0].name = "z"
        monkeypatch.chdir(tmp_path)
        (tmp_path / "w.bin").write_bytes(bytes(8))
        return model.SerializeToString()

    def test_a_pipe_is_missed_only_if_needed(self, pipe: Path, content: bytes) -> None:
        with written(pipe, content):
            assert sl.inspect(pipe).straight_line
        with written(pipe, content):
            model = ir.load(pipe)
        with pytest.raises(LoadError, match=r"tensor 'w'.*folder is not known"):
            ir.save(model, "out.onnx")
        assert not Path("out.onnx").exists()

    @pytest.mark.parametrize("runtime", ["onnxruntime", "reference"])
    def test_is_not_taken_from_the_current_folder(
        self, pipe: Path, content: bytes, runtime: str
    ) -> None:
        with written(pipe, content):
            verdict = sl.verify(pipe, content, runtime=runtime)  # type: ignore[arg-type]
        assert verdict.status == "not verified"
        assert "folder is not known; pass it as base_dir=" in verdict.reason


def test_folders(tmp_path: Path, pipe: Path) -> None:
    (tmp_path / "link").symlink_to("/dev/stdin")
    for path in (pipe, Path("/dev/stdin"), Path("/dev/fd/0"), tmp_path / "link"):
        assert folder_of(path) is None
    assert folder_of(tmp_path / "m.onnx") == tmp_path
    for name in ("/dev/null", "/dev/shm/x", "/dev/fd", "x", "/proc/self/status"):
        assert not is_descriptor(Path(name))
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    assert not is_descriptor(loop)
