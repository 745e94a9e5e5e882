"""Every error of straightline: one clear line that names the place and what to do next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class Error(Exception):
    """Base class of every error that straightline raises on purpose.

    Errors survive copying and pickling with their attributes, whatever their constructors take.
    """

    def lines(self) -> Sequence[str]:
        """What it says; the items of a list, if it ends with one, apart."""
        return [str(self)]

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self.args), self.__dict__


def _restored(kind: type[Error], args: tuple[Any, ...]) -> Error:
    """An error with these arguments, without its constructor, which may take others."""
    return kind.__new__(kind, *args)


def reason(error: Exception) -> str:
    """What went wrong, without the file name that an OSError repeats."""
    return getattr(error, "strerror", None) or str(error)


class Signal(Error):
    """What one part of straightline tells another that asked; caught before callers see it."""


class ModelError(Error):
    """The model itself is not well formed: an undefined name, a cycle, a wrong arity."""


class LoadError(Error):
    """The file or object could not be read as an ONNX model."""


class SaveError(Error):
    """The model could not be written; nothing was left behind."""


class GraphError(Error):
    """A mutator of the IR was asked for something that would break the graph."""
