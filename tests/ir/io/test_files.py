import os
import stat
from pathlib import Path

import onnx
import pytest
from straightline.ir import SaveError
from straightline.ir.io import files
from straightline.ir.io.files import encode, open_to_append, replacing


class TestReplacing:
    def test_new_files_get_the_mode_of_any_new_file(self, tmp_path: Path) -> None:
        path, other = tmp_path / "new", tmp_path / "other"
        other.write_bytes(b"")
        with replacing(path) as (temporary,):
            temporary.write_bytes(b"content")
        assert path.read_bytes() == b"content"
        assert path.stat().st_mode == other.stat().st_mode

    def test_replaced_files_keep_their_mode(self, tmp_path: Path) -> None:
        path = tmp_path / "old"
        path.write_bytes(b"old")
        path.chmod(0o640)
        with replacing(path) as (temporary,):
            temporary.write_bytes(b"new")
        assert path.read_bytes() == b"new"
        assert stat.S_IMODE(path.stat().st_mode) == 0o640

    @pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
    def test_a_failure_while_writing(self, tmp_path: Path, error: type[BaseException]) -> None:
        path = tmp_path / "old"
        path.write_bytes(b"old")

        def write() -> None:
            with replacing(path) as (temporary,):
                temporary.write_bytes(b"half")
                raise error

        with pytest.raises(error):
            write()
        assert contents(tmp_path) == {"old": b"old"}

    def test_a_full_disk(self, tmp_path: Path) -> None:
        def write() -> None:
            with replacing(tmp_path / "new"):
                raise OSError(28, "No space left on device")

        with pytest.raises(SaveError, match="new': No space left on device"):
            write()
        assert contents(tmp_path) == {}

    @pytest.mark.parametrize("existing", [{}, {"data": b"old data"}, {"model": b"old model"}])
    @pytest.mark.parametrize("fails", ["model", "data"])
    def test_two_files_or_none(
        self,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        existing: dict[str, bytes],
        fails: str,
    ) -> None:
        for name, content in existing.items():
            (tmp_path / name).write_bytes(content)
        replace = os.replace

        def broken(source: str | Path, target: str | Path) -> None:
            if Path(target).name == fails and not Path(source).name.endswith(".old"):
                raise PermissionError(13, "Permission denied")
            replace(source, target)

        def write() -> None:
            with replacing(tmp_path / "model", tmp_path / "data") as temporaries:
                for temporary in temporaries:
                    temporary.write_bytes(b"new")

        monkeypatch.setattr(files.os, "replace", broken)
        with pytest.raises(SaveError, match="Permission denied"):
            write()
        assert contents(tmp_path) == existing
        monkeypatch.undo()
        write()
        assert contents(tmp_path) == {"model": b"new", "data": b"new"}

    def test_special_files_stay(self, tmp_path: Path) -> None:
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        for path in (pipe, tmp_path, Path(os.devnull)):
            with pytest.raises(SaveError, match="it is not a regular file"), replacing(path):
                pass
        assert stat.S_ISFIFO(pipe.stat().st_mode)

    def test_a_folder_that_does_not_exist(self, tmp_path: Path) -> None:
        path = tmp_path / "none" / "m.onnx"
        with pytest.raises(SaveError, match=r"make the folder .*none' first"), replacing(path):
            pass


def test_messages_over_two_gigabytes_have_no_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    model = onnx.ModelProto(producer_name="x" * 100)
    assert encode(model) == model.SerializeToString()
    monkeypatch.setattr(files, "TWO_GB", 100)
    assert encode(model) is None


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_appending_never_truncates(tmp_path):
    path = tmp_path / "file"
    for content in (b"one", b"two"):
        with open_to_append(path) as stream:
            stream.write(content)
    assert path.read_bytes() == b"onetwo"


@pytest.mark.parametrize("what", ["link", "dangling", "pipe", "folder", "device"])
def test_only_regular_files_are_appended_to(tmp_path, what):
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "dangling").symlink_to("missing")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    path = Path("/dev/null") if what == "device" else tmp_path / what
    with pytest.raises(SaveError, match="cannot write"):
        open_to_append(path)
    assert not (tmp_path / "missing").exists()
