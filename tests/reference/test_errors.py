import pytest
from straightline import ir
from straightline.reference.errors import EvaluationError, ask_onnx


def test_errors_of_onnx_are_wrapped():
    with pytest.raises(EvaluationError, match=r"^body 'b': .* by zero$") as caught:
        ask_onnx("body 'b'", lambda: 1 // 0)
    assert isinstance(caught.value, ir.Error) and not isinstance(caught.value, ir.ModelError)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
