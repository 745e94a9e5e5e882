import os
import tracemalloc
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from straightline import ir
from straightline.ir import LoadError, SaveError
from straightline.ir.io import external_data, files
from tables import table

ROWS = 600


def tensor(name: str, value: float) -> onnx.TensorProto:
    return numpy_helper.from_array(np.full((ROWS,), value, np.float32), name)


def model_with_data() -> onnx.ModelProto:
    """Large tensors as initializers, in Constant nodes, in a body and in a function."""
    model = onnx.parser.parse_model("""<ir_version: 10, opset_import: ["": 21, "own": 1]>
        main (bool c, float[600] x) => (float[600] y) {
            k = Constant ()
            s = Add(x, k)
            t = Add(s, w)
            u = If (c) <
                then_branch = yes () => (float[600] p) { p = Add(t, v) },
                else_branch = no () => (float[600] q) { q = Neg(t) } >
            y = own.shift(u) }
        <domain: "own", opset_import: ["": 21]> shift (x) => (y) { k = Constant () y = Add(x, k) }
        """)
    model.graph.initializer.append(tensor("w", 1))
    model.graph.node[3].attribute[0].g.initializer.append(tensor("v", 2))
    model.graph.node[0].attribute.append(helper.make_attribute("value", tensor("k", 3)))
    model.functions[0].node[0].attribute.append(helper.make_attribute("value", tensor("k", 4)))
    return model


def externalize(model: onnx.ModelProto, location: str, folder: Path) -> None:
    """Move all tensors into a file, behind a few bytes that belong to none."""
    with (folder / location).open("wb") as stream:
        stream.write(b"head")
        for t in external_data.tensors_of(model):
            offset = stream.tell()
            length = stream.write(t.raw_data)
            t.ClearField("raw_data")
            t.data_location = TensorProto.EXTERNAL
            for key, value in (("location", location), ("offset", offset), ("length", length)):
                t.external_data.add(key=key, value=str(value))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a model `m.onnx` and its data `weights.bin`."""
    home = tmp_path / "home"
    home.mkdir()
    model = model_with_data()
    externalize(model, "weights.bin", home)
    (home / "m.onnx").write_bytes(model.SerializeToString())
    return home


def read_back(path: Path) -> onnx.ModelProto:
    """The model with all its data inside, as onnx reads it, functions through our reader."""
    proto = onnx.load(path, load_external_data=False)
    external_data.load_external_data(proto, path.parent)
    return proto


def locations(path: Path) -> set[str]:
    proto = onnx.load(path, load_external_data=False)
    return {t.external_data[0].value for t in external_data.external_tensors(proto)}


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


class TestSameFolder:
    @pytest.mark.parametrize("name", ["n.onnx", "m.onnx"])
    def test_references_are_carried_over(self, folder: Path, name: str) -> None:
        data = (folder / "weights.bin").stat()
        before = (folder / "m.onnx").read_bytes()
        ir.save(ir.load(folder / "m.onnx"), folder / name)
        assert names_in(folder) == {"m.onnx", "weights.bin", name}
        assert onnx.load_from_string(before) == onnx.load(folder / name, load_external_data=False)
        assert (folder / "weights.bin").stat() == data

    def test_a_model_loaded_by_a_relative_path(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(folder)
        model = ir.load("m.onnx")
        monkeypatch.chdir("/")
        (weights,) = model.graph.initializers.values()
        assert weights.numpy()[0] == 1
        ir.save(model, folder / "n.onnx")
        assert names_in(folder) == {"m.onnx", "weights.bin", "n.onnx"}

    def test_references_of_a_folder_below(self, folder: Path) -> None:
        top = folder.parent
        proto = onnx.load(folder / "m.onnx", load_external_data=False)
        for t in external_data.external_tensors(proto):
            t.external_data[0].value = "home/weights.bin"
        (top / "m.onnx").write_bytes(proto.SerializeToString())
        (folder / "weights.bin").rename(folder / "n.onnx.data")
        for t in external_data.external_tensors(proto):
            t.external_data[0].value = "home/n.onnx.data"
        (top / "m.onnx").write_bytes(proto.SerializeToString())
        ir.save(ir.load(top / "m.onnx"), folder / "n.onnx")
        assert locations(folder / "n.onnx") == {"n.onnx.1.data"}
        assert read_back(top / "m.onnx") == model_with_data(), "the source's data was overwritten"


class TestOtherFolder:
    def test_data_is_streamed_beside_the_output(self, folder: Path, tmp_path: Path) -> None:
        ir.save(ir.load(folder / "m.onnx"), tmp_path / "n.onnx")
        assert names_in(tmp_path) == {"home", "n.onnx", "n.onnx.data"}
        assert locations(tmp_path / "n.onnx") == {"n.onnx.data"}
        assert read_back(tmp_path / "n.onnx") == model_with_data()
        onnx.checker.check_model(tmp_path / "n.onnx", full_check=True)

    def test_twice_to_the_same_place(self, folder: Path, tmp_path: Path) -> None:
        for _ in range(2):
            ir.save(ir.load(folder / "m.onnx"), tmp_path / "n.onnx")
        assert names_in(tmp_path) == {"home", "n.onnx", "n.onnx.data"}
        ir.save(ir.load(tmp_path / "n.onnx"), tmp_path / "n.onnx")
        assert read_back(tmp_path / "n.onnx") == model_with_data()

    def test_a_model_that_was_a_message(self, folder: Path, tmp_path: Path) -> None:
        proto = onnx.load(folder / "m.onnx", load_external_data=False)
        with pytest.raises(LoadError, match="folder is not known; load the model from its path"):
            ir.save(proto, tmp_path / "n.onnx")
        assert names_in(tmp_path) == {"home"}

    def test_data_without_a_length(self, folder: Path, tmp_path: Path) -> None:
        proto = onnx.load(folder / "m.onnx", load_external_data=False)
        for t in external_data.external_tensors(proto):
            del t.external_data[2]
        (folder / "m.onnx").write_bytes(proto.SerializeToString())
        ir.save(ir.load(folder / "m.onnx"), tmp_path / "n.onnx")
        assert read_back(tmp_path / "n.onnx") == model_with_data()

    def test_external_data_is_never_all_in_memory(self, tmp_path: Path) -> None:
        home = tmp_path / "home"
        home.mkdir()
        size = 200 << 20
        with (home / "w.bin").open("wb") as stream:
            stream.truncate(size)
        weights = TensorProto(name="w", data_type=TensorProto.UINT8, dims=[size])
        weights.data_location = TensorProto.EXTERNAL
        weights.external_data.add(key="location", value="w.bin")
        onnx.save(helper.make_model(helper.make_graph([], "g", [], [], [weights])), home / "m.onnx")
        tracemalloc.start()
        ir.save(ir.load(home / "m.onnx"), tmp_path / "m.onnx")
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert (tmp_path / "m.onnx.data").stat().st_size == size
        assert peak < 32 << 20
        (tmp_path / "m.onnx.data").unlink()


class TestFaults:
    def break_file(self, folder: Path, how: str) -> None:
        data = folder / "weights.bin"
        if how == "missing":
            data.unlink()
        elif how == "short":
            os.truncate(data, ROWS)
        elif how == "folder":
            data.unlink()
            data.mkdir()

    @table(("missing", "is missing"), ("short", "which has 600"), ("folder", "is missing"))
    def test_data_that_is_not_there(self, how: str, what: str, folder: Path) -> None:
        self.break_file(folder, how)
        model = ir.load(folder / "m.onnx")
        (weights,) = model.graph.initializers.values()
        with pytest.raises(LoadError, match=what):
            weights.numpy()
        with pytest.raises(LoadError, match=what):
            ir.save(model, folder.parent / "n.onnx")
        assert names_in(folder.parent) == {"home"}
        with pytest.raises(LoadError, match=what):
            ir.in_kind(model, folder / "m.onnx")

    def rewrite(self, folder: Path, **entries: str) -> None:
        proto = onnx.load(folder / "m.onnx", load_external_data=False)
        for t in external_data.external_tensors(proto):
            for entry in t.external_data:
                entry.value = entries.get(entry.key, entry.value)
        (folder / "m.onnx").write_bytes(proto.SerializeToString())

    @table("../secret", "/etc/passwd", "link", "linked/secret", "", ".", "a/../../secret")
    def test_data_outside_the_folder(self, location: str, folder: Path) -> None:
        (folder.parent / "secret").write_bytes(bytes(1 << 14))
        (folder / "link").symlink_to(folder.parent / "secret")
        (folder / "linked").symlink_to(folder.parent)
        self.rewrite(folder, location=location)
        model = ir.load(folder / "m.onnx")
        (weights,) = model.graph.initializers.values()
        for use in (
            weights.numpy,
            lambda: ir.save(model, folder / "n.onnx"),
            lambda: ir.save(model, folder.parent / "n.onnx"),
            lambda: ir.in_kind(model, folder / "m.onnx"),
        ):
            with pytest.raises(LoadError, match="outside the model's folder"):
                use()
        assert names_in(folder) == {"m.onnx", "weights.bin", "link", "linked"}
        assert names_in(folder.parent) == {"home", "secret"}

    @table(
        ("offset", "-4", "non-negative"),
        ("offset", "many", "invalid literal"),
        ("length", "8", "has 8 bytes; it needs 2400"),
        ("length", "9" * 12, "ends at byte"),
    )
    def test_numbers_that_make_no_sense(
        self, key: str, value: str, what: str, folder: Path
    ) -> None:
        self.rewrite(folder, **{key: value})
        model = ir.load(folder / "m.onnx")
        (weights,) = model.graph.initializers.values()
        with pytest.raises(LoadError, match=what):
            weights.numpy()
        with pytest.raises(LoadError, match=what):
            ir.save(model, folder.parent / "n.onnx")
        assert names_in(folder.parent) == {"home"}

    def test_data_that_shrinks_while_it_is_read(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        extent = external_data.external_extent

        def shrinking(t: onnx.TensorProto, base: Path | None) -> tuple[Path, int, int]:
            found = extent(t, base)
            os.truncate(found[0], 10)
            return found

        monkeypatch.setattr(external_data, "external_extent", shrinking)
        with pytest.raises(LoadError, match="became shorter while it was read"):
            ir.save(ir.load(folder / "m.onnx"), folder.parent / "n.onnx")
        assert names_in(folder.parent) == {"home"}

    def test_a_failed_save_harms_neither_file(
        self, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("n.onnx", "n.onnx.data"):
            (tmp_path / name).write_bytes(name.encode())
        replace = os.replace

        def broken(source: str, target: Path) -> None:
            if Path(target).name == "n.onnx":
                raise OSError(28, "No space left on device")
            replace(source, target)

        monkeypatch.setattr(files.os, "replace", broken)
        with pytest.raises(SaveError, match="No space left"):
            ir.save(ir.load(folder / "m.onnx"), tmp_path / "n.onnx", force=True)
        assert names_in(tmp_path) == {"home", "n.onnx", "n.onnx.data"}
        for name in ("n.onnx", "n.onnx.data"):
            assert (tmp_path / name).read_bytes() == name.encode()


class TestLargeModels:
    @pytest.fixture(autouse=True)
    def limit(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for module in (files, external_data):
            monkeypatch.setattr(module, "TWO_GB", 5000)

    def test_saved_with_external_data_by_itself(self, tmp_path: Path) -> None:
        ir.save(ir.load(model_with_data()), tmp_path / "m.onnx")
        assert names_in(tmp_path) == {"m.onnx", "m.onnx.data"}
        assert locations(tmp_path / "m.onnx") == {"m.onnx.data"}
        loaded = ir.load(tmp_path / "m.onnx")
        assert all(t.numpy()[0] == 1 for t in loaded.graph.initializers.values())
        with pytest.raises(LoadError, match="over 2 GB with its external data"):
            ir.in_kind(loaded, tmp_path / "m.onnx")

    def test_a_message_is_not_changed(self, tmp_path: Path) -> None:
        proto = model_with_data()
        ir.save(proto, tmp_path / "m.onnx")
        assert proto == model_with_data()

    def test_elements_in_typed_fields(self, tmp_path: Path) -> None:
        proto = model_with_data()
        proto.graph.initializer[0].CopyFrom(
            helper.make_tensor("w", TensorProto.FLOAT, [3 * ROWS], [1.0] * (3 * ROWS))
        )
        ir.save(proto, tmp_path / "m.onnx")
        (weights,) = ir.load(tmp_path / "m.onnx").graph.initializers.values()
        assert weights.is_external
        assert weights.numpy().tolist() == [1.0] * (3 * ROWS)

    def test_next_to_the_data_that_it_has(self, folder: Path) -> None:
        model = ir.load(folder / "m.onnx")
        model.graph.add_initializer("big", ir.Tensor(tensor("big", 5)))
        for value in range(3):
            model.graph.add_initializer("big", ir.Tensor(tensor("big", value)))
        ir.save(model, folder / "m.onnx")
        assert names_in(folder) == {"m.onnx", "weights.bin", "m.onnx.data"}
        loaded = ir.load(folder / "m.onnx").graph.initializers.values()
        assert [t.numpy()[-1] for t in loaded] == [1, 5, 0, 1, 2]

    def test_a_model_that_is_too_large_without_tensors(self, tmp_path: Path) -> None:
        proto = model_with_data()
        proto.doc_string = "long " * 2000
        with pytest.raises(SaveError, match="over 2 GB even without its tensors"):
            ir.save(proto, tmp_path / "m.onnx")
        assert names_in(tmp_path) == set()


def test_tensors_of_every_kind_are_found() -> None:
    values, indices = tensor("s", 1), helper.make_tensor("i", TensorProto.INT64, [1], [0])
    sparse = helper.make_sparse_tensor(values, indices, [ROWS])
    model = model_with_data()
    model.graph.sparse_initializer.append(sparse)
    node = model.graph.node.add(op_type="Any", domain="own")
    node.attribute.append(helper.make_attribute("list", [tensor("l", 1)]))
    node.attribute.append(helper.make_attribute("sparse", sparse))
    node.attribute.append(helper.make_attribute("graphs", [model_with_data().graph]))
    model.training_info.add().algorithm.CopyFrom(model_with_data().graph)
    names = [t.name for t in external_data.tensors_of(model)]
    assert sorted(names) == sorted("wvkk" + "si" + "l" + "si" + "wvk" + "wvk")


def test_every_tensor_starts_at_a_multiple_of_the_page_of_a_mapping(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (files, external_data):
        monkeypatch.setattr(module, "TWO_GB", 5000)
    proto = model_with_data()
    proto.graph.initializer.append(numpy_helper.from_array(np.zeros(601, np.float32), "odd"))
    proto.graph.initializer.append(tensor("last", 7))
    ir.save(proto, tmp_path / "m.onnx")
    saved = onnx.load(tmp_path / "m.onnx", load_external_data=False)
    offsets = [
        int(entry.value)
        for t in external_data.tensors_of(saved)
        for entry in t.external_data
        if entry.key == "offset"
    ]
    assert len(offsets) > 4 and len(set(offsets)) == len(offsets)
    assert all(offset % external_data._ALIGNMENT == 0 for offset in offsets)
    largest = max(offsets)
    assert largest < len(offsets) * (601 * 4 + external_data._ALIGNMENT), "no more than is needed"


def test_data_of_a_function_lies_beside_the_model_too(tmp_path: Path) -> None:
    proto = model_with_data()
    externalize(proto, "weights.bin", tmp_path)
    (tmp_path / "m.onnx").write_bytes(proto.SerializeToString())
    (function,) = ir.load(tmp_path / "m.onnx").functions.values()
    constant = function.graph.nodes()[0].output().constant
    assert constant is not None and constant.is_external
    assert constant.numpy()[0] == 4
    assert function.base_dir == tmp_path


def test_a_location_that_is_no_text(tmp_path: Path) -> None:
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> g () => (float y) <float w = {1}> { y = Abs (w) }'
    )
    weights = model.graph.initializer[0]
    weights.CopyFrom(numpy_helper.from_array(np.ones((), np.float32), "w"))
    onnx.external_data_helper.set_external_data(weights, "w.bin")
    weights.data_location = TensorProto.EXTERNAL
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString().replace(b"w.bin", b"w.\xe2in"))
    with pytest.raises(ir.Error, match=r"value is b'w\.\\xe2in', which is not UTF-8"):
        ir.load(tmp_path / "m.onnx")


@pytest.mark.parametrize("is_large", [False, True])
def test_many_nodes_are_not_walked_where_their_encoding_is_short(monkeypatch, is_large):
    nodes = [helper.make_node("Neg", [f"x{n}"], [f"x{n + 1}"], "n" * 2000) for n in range(700)]
    nodes = nodes if is_large else [helper.make_node("Neg", ["x"], ["y"])] * 200_000
    proto = helper.make_model(helper.make_graph(nodes, "g", [], []))
    assert proto.ByteSize() > 1 << 20
    walked = []
    monkeypatch.setattr(external_data, "tensors_of", lambda proto: walked.append(proto) or [])
    assert external_data.external_tensors(proto) == []
    assert bool(walked) is is_large
