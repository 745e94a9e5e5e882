"""Where onnx's own code is asked about a node: what it raises becomes an error of straightline.

onnx's C++ lets out RuntimeError, IndexError, ValueError and errors of its own, and its Python
whatever numpy raises. Only the call into onnx stands inside the boundary, so that a fault of
straightline itself is never taken for one of a model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ParamSpec, TypeVar

import onnx

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

_DEADLY: dict[str, tuple[str, Callable[[int], bool]]] = {
    "GatherND": ("batch_dims", lambda number: number < 0),
    "LayerNormalization": ("axis", lambda number: not -(2**31) <= number < 2**31),
    "Split": ("num_outputs", lambda number: number < 1),
}
"""By operator an attribute, and the numbers that no node has and at which onnx's inference ends the
process: it divides by them, or writes where they point to."""


def ends_inference(op_type: str, attributes: Iterable[onnx.AttributeProto]) -> bool:
    """Whether onnx must not be asked what comes of such a node."""
    name, is_deadly = _DEADLY.get(op_type, ("", bool))
    return any(a.name == name and not a.ref_attr_name and is_deadly(a.i) for a in attributes)


def one_line(error: BaseException) -> str:
    """What an error says, on one line; its type where it says nothing."""
    detail = error.args[0] if len(error.args) == 1 else str(error)
    text = detail.decode(errors="replace") if isinstance(detail, bytes) else str(detail)
    return " ".join(text.split())[:_LONGEST] or type(error).__name__
