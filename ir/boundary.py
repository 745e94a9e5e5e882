"""Where onnx's own code is asked about a node: what it raises becomes an error of straightline.

onnx's C++ lets out RuntimeError, IndexError, ValueError and errors of its own, and its Python
whatever numpy raises. Only the call into onnx stands inside the boundary, so that a fault of
straightline itself is never taken for one of a model.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from .errors import Error, ModelError

P = ParamSpec("P")
T = TypeVar("T")

_LONGEST = 500


class OnnxError(ModelError):
    """onnx itself failed at a node; the cause is what it raised."""


class Boundary:
    """A way into onnx.

    Args:
        kind: the error that is raised for what onnx raises.
    """

    def __init__(self, kind: type[Error]) -> None:
        self.kind = kind

    def __call__(
        self, place: object, call: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """What a function of onnx gives.

        Args:
            place: the node that it is asked about, as errors name it.

        Raises:
            Error: of the boundary's kind, the function raised something.
        """
        try:
            return call(*args, **kwargs)
        except Exception as error:
            raise self.kind(f"{place}: {one_line(error)}") from error


ask_onnx = Boundary(OnnxError)


def one_line(error: BaseException) -> str:
    """What an error says, on one line; its type where it says nothing."""
    detail = error.args[0] if len(error.args) == 1 else str(error)
    text = detail.decode(errors="replace") if isinstance(detail, bytes) else str(detail)
    return " ".join(text.split())[:_LONGEST] or type(error).__name__
