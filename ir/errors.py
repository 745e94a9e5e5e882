"""The errors of straightline: one line with the place and the remedy."""

from collections.abc import Sequence
from typing import Any


class Error(Exception):
    """Base class of every error that straightline raises on purpose.

    Errors survive copying and pickling with their attributes, whatever their constructors take.
    """

    def lines(self) -> Sequence[str]:
        """The message by lines: a list at its end has a line for each item."""
        return [str(self)]

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), self.args), self.__dict__


def _restore(kind: type[Error], args: tuple[Any, ...]) -> Error:
    """Restore an error from its arguments without calling its constructor."""
    return kind.__new__(kind, *args)


def reason(error: Exception) -> str:
    """The text of an error, without the file name that an OSError repeats."""
    return getattr(error, "strerror", None) or str(error)


class Signal(Error):
    """Base class of internal errors, all of which straightline catches."""


class ModelError(Error):
    """A malformed model: an undefined name, a cycle, a wrong arity."""


class OpenAttributeError(ModelError):
    """A read of an attribute that the calls of the function around it give."""


class BindingError(Error):
    """A mismatch between a given value, shape or name and the inputs of a model."""


class LoadError(Error):
    """A file or object that cannot be read as an ONNX model."""


class SaveError(Error):
    """A failure to write a model; no partial file remains."""


class GraphError(Error):
    """An argument of a graph mutator that would break the graph."""
