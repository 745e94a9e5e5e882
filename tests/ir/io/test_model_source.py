import io
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir
import pytest
import straightline
from harness import as_model
from onnxscript import FLOAT, script
from onnxscript import opset17 as op
from straightline import ir
from straightline.ir import LoadError
from straightline.ir.io.model_source import parse_bytes, read_proto
from texts import WEIGHTED


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

    def test_file_objects(self, proto: onnx.ModelProto, tmp_path: Path) -> None:
        path = tmp_path / "m.onnx"
        onnx.save(proto, path, save_as_external_data=True, size_threshold=0, location="w.data")
        with path.open("rb") as stream:
            loaded = straightline.rewrite(stream)
        assert loaded == straightline.rewrite(path)
        assert ir.to_proto(io.BytesIO(proto.SerializeToString())) == proto
        assert ir.to_proto(ir.load(io.BytesIO(proto.SerializeToString()))) == proto
        with path.open(encoding="latin-1") as text, pytest.raises(LoadError, match="text stream"):
            ir.load(text)  # type: ignore[arg-type]
        content = io.TextIOWrapper(io.BytesIO(b"\xff\xfe"), encoding="utf-8")
        with pytest.raises(LoadError, match="text stream"):
            ir.load(content)  # type: ignore[arg-type]
        with pytest.raises(LoadError, match="read of closed file"):
            straightline.rewrite(stream)
        with pytest.raises(LoadError, match="the stream is empty"):
            ir.load(io.BytesIO())

    def test_arguments_that_are_not_models(self, tmp_path: Path) -> None:
        with pytest.raises(
            LoadError, match=r"a model must be a path, a file object, bytes, .*, not int"
        ):
            ir.load(3)  # type: ignore[arg-type]
        with pytest.raises(LoadError, match="holds no graph"):
            ir.load(onnx.ModelProto())
        with pytest.raises(LoadError, match="there is no file"):
            ir.load(tmp_path / "none.onnx")
        with pytest.raises(LoadError, match=r"not ONNX text; pass onnx\.parser\.parse_model"):
            ir.load("g (float[3] x) => (float[3] y) { y = Neg (x) }\n" * 30)


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
        assert onnx.numpy_helper.to_array(answer.graph.initializer[0]).tolist() == [1, 2, 3]


def with_external_data(folder: Path) -> Path:
    proto = onnx.parser.parse_model(WEIGHTED)
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


# What stands for a model


class Program:
    """As torch.onnx.ONNXProgram is, of which more is not asked."""

    def __init__(self, model: Any) -> None:
        self.model = model

    @property
    def model_proto(self) -> onnx.ModelProto:
        """The model as a message."""
        if isinstance(self.model, onnx.ModelProto):
            return self.model
        return onnx_ir.to_proto(self.model)


PLAIN = """g (float[2] x) => (float[2] y) { i = Identity (x) y = Exp (i) }"""


def test_an_exporter_result_is_a_model() -> None:
    proto = as_model(PLAIN)
    program = Program(onnx_ir.from_proto(proto))
    found = straightline.rewrite(program)
    assert isinstance(found, onnx_ir.Model)
    assert [node.op_type for node in found.graph] == ["Exp"]
    assert len(program.model.graph) == 2
    program.model = found
    assert straightline.verify(proto, program).equal
    assert not straightline.inspect(program).constructs
    (y,) = straightline.reference.run(program, {"x": np.float32([0, 1])})
    assert y[0] == 1


def test_an_exporter_that_gives_messages_only() -> None:
    result = straightline.rewrite(Program(as_model(PLAIN)))
    assert isinstance(result, onnx.ModelProto)
    assert [node.op_type for node in result.graph.node] == ["Exp"]


def test_a_script_is_a_model() -> None:
    @script(default_opset=op)
    def twice(x: FLOAT[2]) -> FLOAT[2]:
        for _ in range(2):
            x = op.Add(x, x)
        return x

    found = straightline.transform(twice)
    assert isinstance(found.model, onnx.ModelProto)
    assert [node.op_type for node in found.model.graph.node] == ["Add", "Add"]
    assert found.verdict is not None and found.verdict.proved
    assert [c.op_type for c in straightline.inspect(twice).constructs] == ["Loop"]
    assert straightline.verify(twice, found.model).equal
    assert straightline.prove(twice, found.model).proved
    (y,) = straightline.reference.run(twice, {"x": np.float32([1, 2])})
    assert y.tolist() == [4, 8]


def test_a_script_that_is_no_model() -> None:
    class Bad:
        name = "bad"

        def to_model_proto(self) -> onnx.ModelProto:
            raise TypeError("no type for 'x'")

    with pytest.raises(LoadError, match=r"^the script 'bad': no type for 'x'"):
        straightline.rewrite(Bad())


@pytest.mark.parametrize("held", [5, None, "m.onnx", b""])
def test_a_lookalike_of_an_exporter_result_is_refused(held: Any) -> None:
    with pytest.raises(LoadError, match="a model must be a path"):
        ir.load(type("Other", (), {"model": held, "model_proto": held})())


class TestReading:
    @pytest.mark.parametrize("content", [b"", b"\x08\x07", b"not a model", b"\xff" * 99])
    def test_bytes_that_are_not_models(self, content: bytes, tmp_path: Path) -> None:
        with pytest.raises(LoadError, match="the argument is not an ONNX model"):
            parse_bytes(content, "the argument")
        path = tmp_path / "m.onnx"
        path.write_bytes(content)
        with pytest.raises(LoadError, match=r"m\.onnx' is not an ONNX model"):
            read_proto(path)

    def test_unreadable_files(self, tmp_path: Path) -> None:
        with pytest.raises(LoadError, match="there is no file"):
            read_proto(tmp_path / "none.onnx")
        with pytest.raises(LoadError, match="cannot be read: it is a folder"):
            read_proto(tmp_path)
        with pytest.raises(LoadError, match="cannot be read"):
            read_proto(Path("a\0b"))
