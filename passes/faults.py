"""Faults of passes, apart from errors for the caller."""

import contextlib
import contextvars
from collections.abc import Iterator

from ..ir import Error

Place = tuple[str, str]
"""The operator and the path of a construct."""

isolating: contextvars.ContextVar[bool] = contextvars.ContextVar("isolating", default=False)
"""True while passes run under vetoes, and so a fault has a remedy."""


class Fault(Exception):
    """An unexpected exception in a pass, which is its cause.

    Attributes:
        places: constructs that it may have been working on, the most likely first.
    """

    def __init__(self, pass_name: str, places: tuple[Place, ...]) -> None:
        super().__init__(pass_name, places)
        self.pass_name, self.places = pass_name, places


class ObserverFault(BaseException):
    """An exception of the caller's own function, which is its cause."""


@contextlib.contextmanager
def observing() -> Iterator[None]:
    """Mark exceptions of observers in this block, for which no pass is at fault."""
    try:
        yield
    except Exception as error:
        if not isolating.get() or isinstance(error, Error | Fault):
            raise
        raise ObserverFault from error
