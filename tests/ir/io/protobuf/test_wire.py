import io

import onnx
import pytest
from straightline.ir.io.protobuf.wire import delimit, read_varint, varint, varint_at


@pytest.mark.parametrize("number", [0, 1, 127, 128, 300, 2**31 - 1, 2**32, 2**63 - 1])
def test_numbers_there_and_back(number):
    message = onnx.ModelProto(ir_version=number)
    assert b"\x08" + varint(number) == message.SerializeToString()
    assert read_varint(io.BytesIO(varint(number) + b"more")) == number
    content = b"x" + varint(number) + b"more"
    assert varint_at(content, 1, len(content)) == (number, len(content) - 4)


@pytest.mark.parametrize("content", [b"", b"\x80", b"\xff" * 11])
def test_malformed_varints(content):
    with pytest.raises(ValueError, match="no number"):
        read_varint(io.BytesIO(content))
    assert varint_at(content, 0, len(content)) == (0, len(content) + 1)


def test_bytes_tell_their_length():
    message = onnx.ModelProto(producer_name="n" * 200)
    assert b"\x12" + delimit(b"n" * 200) == message.SerializeToString()
