"""A property that is computed once, without a lock, so that a process can be forked at any time."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

import networkx as nx
import numpy as np

Result = TypeVar("Result")


class lazy_property(Generic[Result]):
    """A property that an object computes when it is first asked for, and then keeps.

    `functools.cached_property` holds a lock of all objects while it computes, up to Python 3.11: a
    process that is forked meanwhile waits for it for ever. Here two threads may compute the same
    value twice; the first one that is kept counts for both.
    """

    def __init__(self, compute: Callable[[Any], Result]) -> None:
        self._compute = compute
        self._name = ""
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> lazy_property[Result]: ...

    @overload
    def __get__(self, instance: object, owner: type) -> Result: ...

    def __get__(self, instance: object | None, owner: type) -> lazy_property[Result] | Result:
        if instance is None:
            return self
        computed = self._compute(instance)
        kept: Result = instance.__dict__.setdefault(self._name, computed)
        return kept


_OF_LIBRARIES = (nx.Graph, nx.DiGraph, np.finfo)
"""The classes of libraries that passes use and that have properties with locks."""


def _renew_locks() -> None:
    """Free the locks that threads of the parent process held when it was forked."""
    for kind in _OF_LIBRARIES:
        for attribute in vars(kind).values():
            if isinstance(attribute, functools.cached_property) and hasattr(attribute, "lock"):
                attribute.lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_locks)
