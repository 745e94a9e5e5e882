import os
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto
from sessions import open_session
from straightline import KindError, ir
from straightline.ir import LoadError, SaveError
from straightline.ir.io import files


@pytest.fixture
def source(tmp_path):
    """A model in a folder of its own, with two data files, one in a folder below."""
    home = tmp_path / "home"
    (home / "sub").mkdir(parents=True)
    text = """<ir_version: 10, opset_import: ["": 21]>
    g (float[600] x) => (float[600] z) { y = Add (x, w) z = Mul (y, v) }"""
    model = onnx.parser.parse_model(text)
    for number, (name, place) in enumerate((("w", "w.bin"), ("v", "sub/v.bin")), 1):
        weight = model.graph.initializer.add(name=name, data_type=TensorProto.FLOAT, dims=[600])
        weight.data_location = TensorProto.EXTERNAL
        weight.external_data.add(key="location", value=place)
        weight.external_data.add(key="offset", value="2400")
        np.full(1200, number, np.float32).tofile(home / place)
    (home / "m.onnx").write_bytes(model.SerializeToString())
    return home / "m.onnx"


def locations(path):
    proto = onnx.load(path, load_external_data=False)
    return [t.external_data[0].value for t in proto.graph.initializer if t.external_data]


def assert_same(source, target):
    x = {"x": np.arange(600, dtype=np.float32)}
    one, other = ir.load(source), ir.load(target)
    for before, after in zip(
        one.graph.initializers.values(), other.graph.initializers.values(), strict=False
    ):
        np.testing.assert_array_equal(before.numpy(), after.numpy())
    from straightline import reference

    np.testing.assert_array_equal(reference.run(source, x)[0], reference.run(target, x)[0])


def names(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_hard_links_lie_beside_the_result(source, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    before = {path: path.stat().st_mode for path in source.parent.rglob("*.bin")}
    for _ in range(2):  # again: nothing is in the way, and nothing is added
        ir.save(ir.load(source), out / "o.onnx", link_data="hard")
        assert names(out) == ["o.onnx", "o.onnx.1.data", "o.onnx.data"]
    assert locations(out / "o.onnx") == ["o.onnx.data", "o.onnx.1.data"]
    assert (out / "o.onnx.data").samefile(source.parent / "w.bin")
    assert (out / "o.onnx.1.data").samefile(source.parent / "sub/v.bin")
    assert {path: path.stat().st_mode for path in before} == before
    assert_same(source, out / "o.onnx")
    session = open_session(out / "o.onnx")
    assert session.run(None, {"x": np.zeros(600, np.float32)})[0].tolist() == [2] * 600


BODIES = """<ir_version: 10, opset_import: ["": 21]>
g (float[600] x, bool c) => (float[600] z) { z = If (c) <
  then_branch = t () => (float[600] p) { k = Constant <value = float[1] {0}> () p = Add (x, k) },
  else_branch = e () => (float[600] q) { q = Mul (x, v) y = Sub (x, w) } > }"""


@pytest.mark.parametrize("place", ["w.bin", "k.bin"])
def test_data_of_bodies_is_copied_for_onnxruntime_takes_no_links_there(source, place):
    """The Constant's data in a file of its own, or in that of an initializer."""
    home, out = source.parent, source.parent.parent / "out"
    out.mkdir()
    proto, bodied = onnx.load(source, load_external_data=False), onnx.parser.parse_model(BODIES)
    bodied.graph.initializer.extend(proto.graph.initializer)
    (held,) = (
        a.g.node[0].attribute[0].t for a in bodied.graph.node[0].attribute if a.name[0] == "t"
    )
    held.CopyFrom(proto.graph.initializer[0])
    held.external_data[0].value = place
    np.full(1200, 1, np.float32).tofile(home / "k.bin")
    source.write_bytes(bodied.SerializeToString())
    ir.save(ir.load(source), out / "o.onnx", link_data="hard")
    linked = [home / "sub/v.bin", *([home / "w.bin"] if place == "k.bin" else [])]
    assert {p for p in home.rglob("*.bin") if p.stat().st_nlink > 1} == {*linked}
    assert len(names(out)) == 2 + len(linked)
    feeds = {"x": np.full(600, 2, np.float32), "c": np.array(True)}
    for path in (source, out / "o.onnx"):
        session = open_session(path)
        assert session.run(None, feeds)[0].tolist() == [3] * 600
        assert session.run(None, {**feeds, "c": np.array(False)})[0].tolist() == [4] * 600
    ir.save(ir.load(source), home.parent / "r.onnx", link_data="reference")
    session = open_session(home.parent / "r.onnx")
    assert session.run(None, feeds)[0].tolist() == [3] * 600


def test_a_copy_takes_the_place_of_links(source, tmp_path):
    target = tmp_path / "o.onnx"
    ir.save(ir.load(source), target, link_data="hard")
    kept = [path.read_bytes() for path in source.parent.rglob("*.bin")]
    ir.save(ir.load(source), target)
    assert [path.read_bytes() for path in source.parent.rglob("*.bin")] == kept
    assert {os.stat(tmp_path / place).st_nlink for place in locations(target)} == {1}
    assert_same(source, target)


def test_new_data_has_its_own_file(source, tmp_path, monkeypatch):
    """Where the model file cannot hold it; else it stays there, as beside the original."""
    for most in (files.TWO_GB, 9000):
        monkeypatch.setattr(files, "TWO_GB", most)
        model = ir.load(source)
        (_, last) = model.graph.nodes()
        new = model.graph.add_initializer("new", ir.Tensor(array=np.ones(3000, np.float32)))
        model.graph.set_input(last, 0, new)
        target = tmp_path / f"{most}.onnx"
        ir.save(model, target, link_data="hard")
        beside = [f"{target.name}.data", f"{target.name}.1.data"]
        if most == 9000:
            beside.append(f"{target.name}.2.data")
        assert locations(target) == beside
        assert (tmp_path / beside[0]).samefile(source.parent / "w.bin")
        assert [t.numpy()[-1] for t in ir.load(target).graph.initializers.values()] == [1, 2, 1]


def test_a_reference_leads_into_the_folder_or_below_it(source, tmp_path):
    top = tmp_path / "o.onnx"
    ir.save(ir.load(source), top, link_data="reference")
    assert locations(top) == ["home/w.bin", "home/sub/v.bin"]
    assert names(tmp_path) == ["home/m.onnx", "home/sub/v.bin", "home/w.bin", "o.onnx"]
    onnx.checker.check_model(top, full_check=True)
    assert_same(source, top)
    for how in ("reference", "hard"):
        ir.save(ir.load(source), source.parent / "n.onnx", link_data=how)
        assert locations(source.parent / "n.onnx") == ["w.bin", "sub/v.bin"]
    (tmp_path / "other").mkdir()
    with pytest.raises(SaveError, match="cannot refer to a file outside its folder; write it into"):
        ir.save(ir.load(source), tmp_path / "other" / "o.onnx", link_data="reference")
    assert not names(tmp_path / "other")


def test_links_that_the_system_refuses(source, tmp_path, monkeypatch):
    def refuse(*arguments):
        raise OSError(1, "Operation not permitted")

    (tmp_path / "out").mkdir()
    monkeypatch.setattr(os, "link", refuse)
    with pytest.raises(SaveError, match=r"cannot be linked into .* not permitted; copy it"):
        ir.save(ir.load(source), tmp_path / "out" / "o.onnx", link_data="hard")
    assert not names(tmp_path / "out")


def test_another_file_system_is_said_before(source, tmp_path, monkeypatch):
    status = Path.stat  # which Python 3.10 does not look up in os

    def elsewhere(path, *arguments, **options):
        found = status(path, *arguments, **options)
        if str(path).endswith(".bin"):
            fields = list(found[:10])
            fields[2] = found.st_dev + 1
            return os.stat_result(fields)
        return found

    (tmp_path / "out").mkdir()
    model = ir.load(source)
    monkeypatch.setattr(Path, "stat", elsewhere)
    with pytest.raises(SaveError, match="on another file system"):
        ir.save(model, tmp_path / "out" / "o.onnx", link_data="hard")


def test_foreign_files_stay(source, tmp_path):
    target = tmp_path / "o.onnx"
    (tmp_path / "o.onnx.data").write_bytes(b"not ours")
    with pytest.raises(SaveError, match="which is not data of a model there"):
        ir.save(ir.load(source), target, link_data="hard")
    assert names(tmp_path) == ["home/m.onnx", "home/sub/v.bin", "home/w.bin", "o.onnx.data"]
    ir.save(ir.load(source), target, link_data="hard", force=True)
    assert (tmp_path / "o.onnx.data").samefile(source.parent / "w.bin")


def test_a_failure_leaves_what_was_there(source, tmp_path, monkeypatch):
    target = tmp_path / "o.onnx"
    ir.save(ir.load(source), target)
    before = {name: (tmp_path / name).read_bytes() for name in names(tmp_path)}
    replace = os.replace

    def broken(one, other):
        if str(other).endswith("o.onnx"):
            raise OSError(28, "No space left on device")
        replace(one, other)

    monkeypatch.setattr(os, "replace", broken)
    with pytest.raises(SaveError, match="No space left"):
        ir.save(ir.load(source), target, link_data="hard")
    assert {name: (tmp_path / name).read_bytes() for name in names(tmp_path)} == before


def test_a_message_of_the_caller_is_not_changed(source, tmp_path):
    proto = onnx.load(source, load_external_data=False)
    kept = proto.SerializeToString()
    with pytest.raises(LoadError, match="folder is not known"):
        ir.save(proto, tmp_path / "o.onnx", link_data="hard")
    assert proto.SerializeToString() == kept


def test_no_other_way(source, tmp_path):
    with pytest.raises(KindError, match="link_data must be 'reference' or 'hard', not 'soft'"):
        ir.save(ir.load(source), tmp_path / "o.onnx", link_data="soft")
