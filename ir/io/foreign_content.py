"""Content of a file that is no ONNX model, by its first bytes."""

from typing import NamedTuple

import onnx

from .protobuf.wire import varint_at

_HEAD = 512
"""The bytes in which a format shows."""
_LENGTH_DELIMITED = 2
_FIELDS = {f.number: f.type == f.TYPE_INT64 for f in onnx.ModelProto.DESCRIPTOR.fields}
"""The fields of a model, and whether they are numbers; all others have a length."""


class _Format(NamedTuple):
    """A row of the table: what a file begins with, what that is, and what to do."""

    magic: bytes
    offset: int
    text: str


_FORMATS = (
    _Format(
        b"version https://git-lfs.github.com",
        0,
        "it is a Git LFS pointer; get the file itself with git lfs pull",
    ),
    _Format(b"PK\x03\x04", 0, "it is a zip archive; extract the .onnx file from it"),
    _Format(b"\x1f\x8b", 0, "it is a gzip archive; extract the .onnx file from it"),
    *(
        _Format(bytes((0x80, n)), 0, "it is a Python pickle, such as a checkpoint; export it")
        for n in (2, 3, 4, 5)
    ),
    _Format(b"GGUF", 0, "it holds weights of llama.cpp; export the model to ONNX"),
    _Format(b'{"', 8, "it holds weights alone (safetensors); export the model to ONNX"),
    _Format(
        b"TFL3",
        4,
        "it is a model of TensorFlow Lite; convert it with python -m tf2onnx.convert --tflite",
    ),
    _Format(b"ORTM", 4, "it is a model in the ORT format; pass the .onnx file it was made from"),
    _Format(b"\x89HDF", 0, "it is an HDF5 file, such as a model of Keras; export it"),
    _Format(b"\x93NUMPY", 0, "it is an array of NumPy"),
)
_CHECKPOINT = "it is a checkpoint of PyTorch; export the model with torch.onnx.export"
_PAGE = "it is an HTML page; download the file that it links to"


def description(content: bytes | bytearray) -> str:
    """Description of bytes that do not parse, with advice where the format is recognized."""
    head = bytes(content[:_HEAD])
    # In the table, a checkpoint would be a zip archive.
    if head.startswith(b"PK") and b"/data.pkl" in head:
        return _CHECKPOINT
    for row in _FORMATS:
        if head.startswith(row.magic, row.offset):
            return row.text
    if head.lstrip().lower().startswith((b"<!doctype html", b"<html")):
        return _PAGE
    if _is_truncated(content):
        return "it is truncated; copy or download it again"
    return "its bytes do not parse; download or export it again"


def _is_truncated(content: bytes | bytearray) -> bool:
    """Test for fields of a model, the last of which exceeds the end."""
    at, end = 0, len(content)
    while at < end:
        tag, at = varint_at(content, at, end)
        is_number = _FIELDS.get(tag >> 3)
        if is_number is None or tag & 7 != (0 if is_number else _LENGTH_DELIMITED):
            return False
        number, at = varint_at(content, at, end)
        at += 0 if is_number else number
    return at > end
