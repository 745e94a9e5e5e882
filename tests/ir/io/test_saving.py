import os
from pathlib import Path

import onnx
import pytest
from straightline import ir
from straightline.ir import Model, SaveError


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

    def test_unwritable_destinations(self, proto: onnx.ModelProto, tmp_path: Path) -> None:
        model = ir.load(proto)
        with pytest.raises(SaveError, match=r"make the folder .* first"):
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
