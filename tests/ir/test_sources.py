"""Every kind of thing that a user calls a model."""

from __future__ import annotations

import os
from pathlib import Path

import onnx
import onnx_ir
import pytest
from straightline import ir
from straightline.ir import LoadError, Model, SaveError

TEXT = """
<ir_version: 10, opset_import: ["": 21]>
main (float[3] x) => (float[3] y) <float[3] w = {1, 2, 3}> { y = Add(x, w) }
"""


@pytest.fixture
def proto() -> onnx.ModelProto:
    return onnx.parser.parse_model(TEXT)


class TestLoading:
    def test_every_kind(self, proto: onnx.ModelProto, tmp_path: Path) -> None:
        path = tmp_path / "m.onnx"
        path.write_bytes(proto.SerializeToString())
        kinds = [path, str(path), path.read_bytes(), proto, onnx_ir.from_proto(proto)]
        for source in [*kinds, ir.load(proto)]:
            loaded = ir.load(source)
            ir.verify(loaded)
            assert [n.op_type for n in loaded.graph.nodes()] == ["Add"]
            assert ir.to_proto(loaded).graph.initializer[0].name == "w"

    def test_a_model_is_copied_but_its_tensors_are_shared(self, proto: onnx.ModelProto) -> None:
        first = ir.load(proto)
        second = ir.load(first)
        second.graph.add_node(ir.Operator("Relu"), second.graph.inputs, ["r"])
        assert len(first.graph) == 1
        assert ir.to_proto(first) == proto

    def test_bytes_like_objects(self, proto: onnx.ModelProto) -> None:
        content = proto.SerializeToString()
        assert ir.to_proto(bytearray(content)) == proto  # type: ignore[arg-type]
        assert ir.to_proto(memoryview(content)) == proto  # type: ignore[arg-type]

    def test_what_is_no_model(self, tmp_path: Path) -> None:
        with pytest.raises(LoadError, match=r"a model is a path, bytes, .*, not int"):
            ir.load(3)  # type: ignore[arg-type]
        with pytest.raises(LoadError, match="holds no graph"):
            ir.load(onnx.ModelProto())
        with pytest.raises(LoadError, match="there is no file"):
            ir.load(tmp_path / "none.onnx")


class TestAnswers:
    def test_are_of_the_kind_of_the_source(self, proto: onnx.ModelProto, tmp_path: Path) -> None:
        model = ir.load(proto)
        path = tmp_path / "m.onnx"
        ir.save(model, path)
        assert ir.in_kind(model, model) is model
        for source in (path, str(path), proto, proto.SerializeToString()):
            assert ir.in_kind(model, source) == proto
        assert isinstance(ir.in_kind(model, onnx_ir.from_proto(proto)), onnx_ir.Model)

    def test_a_path_gives_a_message_with_its_external_data(self, tmp_path: Path) -> None:
        path = with_external_data(tmp_path)
        answer = ir.in_kind(ir.load(path), path)
        assert isinstance(answer, onnx.ModelProto)
        array = onnx.numpy_helper.to_array(answer.graph.initializer[0])
        assert array.tolist() == [1, 2, 3]


def with_external_data(folder: Path) -> Path:
    proto = onnx.parser.parse_model(TEXT)
    (weights,) = proto.graph.initializer
    array = onnx.numpy_helper.to_array(weights)
    weights.Clear()
    weights.name, weights.data_type = "w", onnx.TensorProto.FLOAT
    weights.dims.append(3)
    weights.data_location = onnx.TensorProto.EXTERNAL
    weights.external_data.add(key="location", value="w.bin")
    (folder / "w.bin").write_bytes(array.tobytes())
    path = folder / "external.onnx"
    path.write_bytes(proto.SerializeToString())
    return path


class TestSaving:
    def test_a_message_and_a_model(self, proto: onnx.ModelProto, tmp_path: Path) -> None:
        for number, model in enumerate((proto, ir.load(proto))):
            path = tmp_path / f"{number}.onnx"
            ir.save(model, path)
            assert onnx.load(path) == proto
        assert len(list(tmp_path.iterdir())) == 2

    def test_a_link_stays_a_link(self, proto: onnx.ModelProto, tmp_path: Path) -> None:
        target, link = tmp_path / "target.onnx", tmp_path / "link.onnx"
        link.symlink_to(target)
        for _ in range(2):
            ir.save(ir.load(proto), link)
            assert link.is_symlink()
            assert onnx.load(target) == proto

    def test_a_cycle_leaves_the_file_that_is_there(
        self, proto: onnx.ModelProto, tmp_path: Path
    ) -> None:
        model = ir.load(proto)
        path = tmp_path / "m.onnx"
        ir.save(model, path)
        (node,) = model.graph.nodes()
        model.graph.set_input(node, 0, node.output())
        with pytest.raises(ir.ModelError, match="cycle"):
            ir.save(model, path)
        assert onnx.load(path) == proto
        assert len(list(tmp_path.iterdir())) == 1

    def test_where_nothing_can_be_written(self, proto: onnx.ModelProto, tmp_path: Path) -> None:
        model = ir.load(proto)
        with pytest.raises(SaveError, match="does not exist"):
            ir.save(model, tmp_path / "none" / "m.onnx")
        with pytest.raises(SaveError, match="not a regular file"):
            ir.save(model, tmp_path)
        with pytest.raises(SaveError, match="not a regular file"):
            ir.save(model, os.devnull)
        assert list(tmp_path.iterdir()) == []

    def test_graphs_nested_deeper_than_the_format_bears(
        self, proto: onnx.ModelProto, tmp_path: Path
    ) -> None:
        with pytest.raises(SaveError, match="nested 60 deep"):
            ir.save(nested(ir.load(proto), 60), tmp_path / "m.onnx")
        assert list(tmp_path.iterdir()) == []
        ir.save(nested(ir.load(proto), 30), tmp_path / "m.onnx")
        assert ir.load(tmp_path / "m.onnx").is_as_loaded


def nested(model: Model, depth: int) -> Model:
    graph = model.graph
    for _ in range(depth):
        node = graph.add_node(ir.Operator("Hold", domain="own"), [], ["h"])
        if graph is not model.graph:
            graph.set_outputs([node.output()], [onnx.ValueInfoProto()])
        graph = graph.add_body(node, "body", onnx.GraphProto(name="body"))
    return model
