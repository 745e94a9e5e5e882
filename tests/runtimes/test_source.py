import os
from pathlib import Path

import numpy as np
import onnx
import pytest
from straightline import ir, prove, reference, verify
from straightline.runtimes.source import Source, expanded_nodes


def model():
    """Its weights are inside."""
    text = """<ir_version: 10, opset_import: ["": 21]>
    g (float[2] x) => (float[2] y) { y = Add (x, w) }"""
    proto = onnx.parser.parse_model(text)
    proto.graph.initializer.append(onnx.numpy_helper.from_array(np.float32([1, 2]), "w"))
    return proto


@pytest.fixture
def path(tmp_path):
    """A file whose weights are beside it."""
    path = tmp_path / "m.onnx"
    onnx.save(model(), path, save_as_external_data=True, location="w.bin", size_threshold=0)
    return path


def light(path):
    return onnx.load(path, load_external_data=False)


def test_a_file_is_read_where_it_is(path, monkeypatch):
    monkeypatch.chdir(path.parent)
    for given in (path, str(path), path.name):
        source = Source(given)
        assert source.data == (str(path), None, None)
        assert not source.proto.graph.initializer[0].raw_data
        assert source.unreadable == "" and source.fault == ""


def test_models_in_memory_are_sent_as_bytes(path):
    for given in (model(), model().SerializeToString(), ir.load(model())):
        data = Source(given).data
        assert data.path is None and data.base_dir is None
        assert onnx.load_from_string(data.data) == model()
    data = Source(light(path), base_dir=path.parent).data
    assert data.base_dir == str(path.parent) and onnx.load_from_string(data.data) == light(path)
    assert Source(ir.load(path)).data.base_dir == str(path.parent)


def test_a_folder_is_made_absolute(path, monkeypatch):
    monkeypatch.chdir(path.parent.parent)
    assert Source(light(path), base_dir=path.parent.name).data.base_dir == str(path.parent)


def test_data_in_an_unknown_folder_is_said_and_never_looked_for(path):
    source = Source(light(path))
    assert "w" in source.unreadable
    with pytest.raises(ir.LoadError) as caught:
        _ = source.data
    assert str(caught.value) == source.unreadable


def test_each_has_a_number_of_its_own():
    proto = model()
    assert len({Source(proto).key for _ in range(3)}) == 3


@pytest.mark.skipif(os.name != "posix", reason="names of files are bytes there")
def test_a_path_that_is_no_text_is_sent_as_bytes(tmp_path):
    folder = os.fsencode(tmp_path) + b"/caf\xe9"
    try:
        os.mkdir(folder)
    except OSError:
        pytest.skip("the file system takes UTF-8 only")
    odd = os.path.join(os.fsdecode(folder), "m.onnx")
    onnx.save(model(), odd)
    data = Source(odd).data
    assert data.path is None and onnx.load_from_string(data.data) == model()


def test_complaints_of_the_checker_are_one_line():
    proto = model()
    proto.graph.node[0].input[1] = "nowhere"
    fault = Source(proto).fault
    assert "nowhere" in fault and "\n" not in fault
    assert Source(model()).fault == ""


def test_foreign_models_are_checked():
    broken = model()
    del broken.graph.node[0].input[1]
    with pytest.raises(ir.ModelError, match="Add 'y' has 1 inputs"):
        Source(broken).require_well_formed()
    Source(model()).require_well_formed()
    loaded = ir.load(model())
    loaded.graph.resize_inputs(loaded.graph.nodes()[0], 1)
    Source(loaded).require_well_formed()


def test_large_models_go_through_a_file(monkeypatch):
    source = Source(model())

    class Large:
        """Protobuf refuses messages of more than 2 GB."""

        graph, functions = source.proto.graph, ()

        def SerializeToString(self):
            raise ValueError("too large")

    saved = []
    proto, source.proto = source.proto, Large()
    monkeypatch.setattr(ir, "save", lambda _, path: saved.append(path) or onnx.save(proto, path))
    source.__dict__["unreadable"] = ""
    data = source.data
    assert data.data is None and saved == [Path(data.path)]
    assert onnx.load(data.path) == proto


def test_the_size_counts_external_data(tmp_path):
    weights = onnx.numpy_helper.from_array(np.zeros(1000, np.float32), "w")
    text = "g (float[1000] x) => (float[1000] y) { y = Add (x, w) }"
    proto = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["": 17]> {text}')
    proto.graph.initializer.append(weights)
    assert 4000 < Source(proto).size < 4500
    onnx.save(proto, tmp_path / "m.onnx", save_as_external_data=True, size_threshold=0)
    assert 4000 < Source(tmp_path / "m.onnx").size < 4500


@pytest.mark.parametrize("way", ["hard link", "link"])
def test_data_with_several_names_is_no_fault(path, way):
    """onnx refuses such files, which runtimes read."""
    data = path.parent / "w.bin"
    if way == "link":
        data.rename(path.parent / "real.bin")
        data.symlink_to("real.bin")
    else:
        (path.parent / "other").hardlink_to(data)
    assert Source(path).fault == ""
    assert reference.run(path, {"x": np.float32([1, 1])})[0].tolist() == [2, 3]
    verdict = verify(path, model(), runtime="both", prove=False, samples=1)
    assert verdict.equal, verdict


def test_the_checker_is_given_no_large_weights(tmp_path):
    proto = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["": 17]>'
        "g (float[500, 600] x) => (float[500, 600] y) { s = Add (x, w) y = Mul (s, v) }"
    )
    for name in ("w", "v"):
        array = np.ones((500, 600), np.float32)
        proto.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    onnx.save(proto, tmp_path / "m.onnx", save_as_external_data=True)
    for given in (proto, ir.load(tmp_path / "m.onnx")):
        source = Source(given)
        assert source.fault == ""
        assert source._checked().ByteSize() < 10_000
    proto.graph.output[0].type.tensor_type.shape.dim[0].dim_value = 7
    assert "dimension" in Source(proto).fault
    onnx.save(proto, tmp_path / "m.onnx", save_as_external_data=True)
    assert "dimension" in Source(ir.load(tmp_path / "m.onnx")).fault


def of_calls(depth):
    """Functions that each call the next one twice."""
    of_two = """<opset_import: ["": 21, "d": 1], domain: "d">
    f{} (x) => (y) {{ t = d.f{} (x) y = d.f{} (t) }} """
    functions = [of_two.format(k, k + 1, k + 1) for k in range(depth)]
    functions += [f'<opset_import: ["": 21], domain: "d"> f{depth} (x) => (y) {{ y = Relu (x) }}']
    text = """<ir_version: 10, opset_import: ["": 21, "d": 1]>
        g (float[2] x) => (float[2] y) { y = d.f0 (x) } """
    return onnx.parser.parse_model(text + "".join(functions))


def test_nodes_are_counted_as_runtimes_expand_them():
    assert expanded_nodes(model()) == 1
    assert [expanded_nodes(of_calls(depth)) for depth in (0, 1, 2, 40)] == [1, 2, 4, 1 << 40]


@pytest.mark.parametrize("ask", [verify, prove])
def test_functions_that_no_runtime_can_expand_are_refused(ask):
    """onnx's checker and onnxruntime expand them, which does not end."""
    few, many = of_calls(4), of_calls(40)
    assert verify(few, few)
    with pytest.raises(ir.ModelError, match="1099511627776 nodes with its functions expanded"):
        ask(many, many)
