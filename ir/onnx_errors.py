"""Calls into onnx's own code, whose exceptions become errors of straightline.

onnx's C++ raises RuntimeError, IndexError, ValueError and errors of its own; its Python raises
whatever numpy does. Only the call into onnx stands inside the boundary, so that a fault of
straightline never looks like a fault of a model.
"""

from collections.abc import Callable, Iterable
from typing import ParamSpec, TypeVar

import onnx

from .errors import Error, ModelError

P = ParamSpec("P")
T = TypeVar("T")

_LONGEST = 500


class OnnxError(ModelError):
    """A failure of onnx itself at a node; `__cause__` is its exception."""


class Boundary:
    """A boundary around calls into onnx.

    Args:
        kind: the class of the errors that replace onnx's.
    """

    def __init__(self, kind: type[Error]) -> None:
        self.kind = kind

    def __call__(
        self, place: object, call: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Call a function of onnx.

        Args:
            place: the node of the call, as errors name it.

        Raises:
            Error: of the boundary's kind, the function raised something.
        """
        try:
            return call(*args, **kwargs)
        except Exception as error:
            raise self.kind(f"{place}: {one_line(error)}") from error


ask_onnx = Boundary(OnnxError)

_DEADLY: dict[str, tuple[str, Callable[[int], bool]]] = {
    "GatherND": ("batch_dims", lambda number: number < 0),
    "LayerNormalization": ("axis", lambda number: not -(2**31) <= number < 2**31),
    "Split": ("num_outputs", lambda number: number < 1),
}
"""By operator an attribute and the invalid numbers at which onnx's inference crashes: it divides by
them, or uses them as an address."""


def ends_inference(op_type: str, attributes: Iterable[onnx.AttributeProto]) -> bool:
    """Test whether onnx's shape inference crashes at such a node."""
    if op_type not in _DEADLY:
        return False
    name, is_deadly = _DEADLY[op_type]
    return any(a.name == name and not a.ref_attr_name and is_deadly(a.i) for a in attributes)


def one_line(error: BaseException) -> str:
    """The message of an error on one line; its type where it has none."""
    detail = error.args[0] if len(error.args) == 1 else str(error)
    text = detail.decode(errors="replace") if isinstance(detail, bytes) else str(detail)
    return " ".join(text.split())[:_LONGEST] or type(error).__name__
