"""What the tests of straightening share: what a model becomes, and its numbers."""

from typing import Any

import numpy as np
import onnx
import pytest
from harness import assert_equal_outputs, assert_same_text
from straightline import ir
from straightline.version_converter import ConversionError, convert
from straightline.version_converter.unblock import PIPELINES, UnblockResult, unblock

X = np.array([0.5, -2.0], np.float32)
Y = np.array([3.0, 4.0], np.float32)


def straightened(text: str, target: int, which: int = 0) -> tuple[onnx.ModelProto, UnblockResult]:
    """A model after what stands in the way of an opset was rewritten; it is in its own opset."""
    with pytest.raises(ConversionError) as caught:
        convert(ir.load(onnx.parser.parse_model(text)), target)
    model = ir.load(onnx.parser.parse_model(text))
    found = unblock(model, caught.value.failures, PIPELINES[which])
    ir.verify(model)
    return ir.to_proto(model), found


def told(found: UnblockResult) -> list[str]:
    return [str(remark) for remark in found.remarks]


def assert_straightens(
    text: str, target: int, after: str, *feeds: dict[str, Any]
) -> tuple[onnx.ModelProto, UnblockResult]:
    """Check what a model becomes, that it can be converted then, and its numbers both times."""
    made, found = straightened(text, target)
    assert_same_text(made, after)
    converted = ir.load(made)
    convert(converted, target)
    proto = ir.to_proto(converted)
    onnx.checker.check_model(proto, full_check=True)
    for feed in feeds:
        assert_equal_outputs(text, made, feed)
        assert_equal_outputs(text, proto, feed)
    return made, found
