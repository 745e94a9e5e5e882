import onnx
import pytest
from texts import WEIGHTED


@pytest.fixture
def proto() -> onnx.ModelProto:
    """A small model with a weight."""
    return onnx.parser.parse_model(WEIGHTED)
