"""Interface of a runtime: load a model, then run feeds."""

from typing import Any, NamedTuple, Protocol

Feeds = dict[str, Any]


class ModelData(NamedTuple):
    """A model on its way to the child: a path, or bytes and the folder of its external data."""

    path: str | None
    data: bytes | None
    base_dir: str | None


class Unsupported(Exception):
    """The runtime cannot take this model or this type at all, whatever the values."""


class Session(Protocol):
    """A loaded model."""

    def __call__(self, feeds: Feeds) -> list[Any]:
        """The outputs, in the order of the graph."""
