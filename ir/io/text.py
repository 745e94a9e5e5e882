"""Conversion between models and ONNX's own text syntax."""

import math

import onnx.parser
import onnx.printer

from ..errors import LoadError
from ..kinds import takes
from ..model import Model
from ..onnx_errors import ask_onnx
from .deserialize import deserialize
from .external_data import tensors_of
from .serialize import serialize


@takes(model=Model)
def to_text(model: Model, most: int | None = None) -> str:
    """Print a model in ONNX's text syntax.

    Args:
        model: the model; unchanged.
        most: omit the elements of tensors that have more; `{}` replaces them, and the text does not
            parse.

    Raises:
        OnnxError: onnx cannot print it: the syntax allows only UTF-8 text.

    Examples:
        >>> import straightline as sl
        >>> head = '<ir_version: 8, opset_import: ["" : 17]> '
        >>> model = sl.ir.parse(head + "g (float[2] x) => (float[2] y) { y = Exp (x) }")
        >>> "y = Exp (x)" in sl.ir.to_text(model)
        True
    """
    proto = serialize(model)
    if most is not None:
        for tensor in tensors_of(proto):
            if math.prod(tensor.dims) > most:
                empty = onnx.TensorProto(name=tensor.name, dims=tensor.dims)
                empty.data_type = tensor.data_type
                tensor.CopyFrom(empty)
    return str(ask_onnx(model, onnx.printer.to_text, proto))


@takes(text=str)
def parse(text: str) -> Model:
    """Parse a model in ONNX's text syntax.

    Raises:
        LoadError: the text is not valid.
        ModelError: the model is not well formed.

    Examples:
        >>> import straightline as sl
        >>> head = '<ir_version: 8, opset_import: ["" : 17]> '
        >>> model = sl.ir.parse(head + "g (float[2] x) => (float[2] y) { y = Exp (x) }")
        >>> [node.op_type for node in model.graph.nodes()]
        ['Exp']
    """
    try:
        proto = onnx.parser.parse_model(text)
    except (onnx.parser.ParseError, IndexError, RuntimeError, UnicodeError) as error:
        # The C++ parser also raises the errors of number conversions.
        detail = error.args[0] if error.args else ""
        if isinstance(detail, bytes):
            detail = detail.decode(errors="replace")
        raise LoadError(f"the text is not a model: {' '.join(str(detail).split())}") from error
    return deserialize(proto)
