import io
import pickle
import zipfile

import numpy as np
import onnx
import pytest
import straightline as sl
from google.protobuf.message import DecodeError
from straightline.ir.io.foreign_content import description
from tables import table

MODEL = onnx.parser.parse_model(
    '<ir_version: 8, opset_import: ["" : 17]> g (float[2] x) => (float[2] y) { y = Neg (x) }'
)


def archive(name):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as file:
        file.writestr(name, b"x" * 100)
    return stream.getvalue()


def array():
    stream = io.BytesIO()
    np.save(stream, np.zeros(3))
    return stream.getvalue()


LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"


@table(
    (LFS, "git lfs pull"),
    (archive("archive/data.pkl"), "torch.onnx.export"),
    (archive("model.onnx"), "extract the .onnx file"),
    (pickle.dumps({"a": 1}, protocol=2), "pickle"),
    (b"\n<!DOCTYPE HTML><html>", "HTML"),
    (b"\x1c\0\0\0TFL3" + bytes(30), "TensorFlow Lite"),
    (b"\x1c\0\0\0ORTM" + bytes(30), "ORT format"),
    (b"\x89HDF\r\n", "HDF5"),
    (array(), "NumPy"),
    (MODEL.SerializeToString()[:-3], "truncated"),
    (pickle.dumps({"a": 1}), "pickle"),
    (b"GGUF\3\0\0\0", "llama.cpp"),
    ((20).to_bytes(8, "little") + b'{"__metadata__":{}}', "safetensors"),
    (b"", "empty; copy or download"),
    (b"hello", "its bytes do not parse; download"),
    (b"\xff" * 40, "its bytes do not parse"),
)
def test_content_is_named_in_the_error(content, words, tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(content)
    with pytest.raises(sl.LoadError, match=f"is not an ONNX model: .*{words}"):
        sl.rewrite(path)


def test_every_truncation_of_a_model_is_named_or_has_no_graph():
    whole = MODEL.SerializeToString()
    for size in range(1, len(whole)):
        try:
            onnx.ModelProto.FromString(whole[:size])
        except DecodeError:
            assert "truncated" in description(whole[:size])
