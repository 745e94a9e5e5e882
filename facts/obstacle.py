"""The one form of "no": an obstacle to a rewrite, with its reason."""

from collections.abc import Mapping
from typing import Any

from ..ir import Node
from ..ir.errors import Signal
from .reason import Reason


class Obstacle(Signal):
    """The first thing in the way of a rewrite, raised before anything changes.

    Attributes:
        node: the node in the way; None for the construct itself.
    """

    def __init__(self, reason: str, node: Node | None = None) -> None:
        super().__init__(reason)
        self.node = node

    @property
    def reason(self) -> Reason:
        """The sentence of a remark, with its code and arguments."""
        return Reason.of(self.args[0])

    @property
    def code(self) -> str:
        """The name of the sentence."""
        return self.reason.code

    @property
    def arguments(self) -> Mapping[str, Any]:
        """The fields of the sentence."""
        return self.reason.arguments


def require_none(*reasons: str | None) -> None:
    """Raise the first of several reasons against a rewrite, if there is one.

    Raises:
        Obstacle: a reason.
    """
    for reason in reasons:
        if reason is not None:
            raise Obstacle(reason)
