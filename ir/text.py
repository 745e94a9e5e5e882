"""The canonical text form: ONNX's own text syntax."""

from __future__ import annotations

import onnx.parser
import onnx.printer

from .boundary import ask_onnx
from .deserialize import deserialize
from .errors import LoadError
from .model import Model
from .serialize import serialize


def to_text(model: Model) -> str:
    """The model in ONNX's text syntax.

    Raises:
        OnnxError: onnx cannot print it: the syntax holds no text but UTF-8.
    """
    return str(ask_onnx(model, onnx.printer.to_text, serialize(model)))


def parse(text: str) -> Model:
    """A model from ONNX's text syntax.

    Raises:
        LoadError: the text is not valid.
        ModelError: the model is not well formed.
    """
    try:
        proto = onnx.parser.parse_model(text)
    except (onnx.parser.ParseError, IndexError, RuntimeError, UnicodeError) as error:
        # The C++ parser lets out what its number conversions throw.
        detail = error.args[0] if error.args else ""
        if isinstance(detail, bytes):
            detail = detail.decode(errors="replace")
        raise LoadError(f"the text is not a model: {' '.join(str(detail).split())}") from error
    return deserialize(proto)
