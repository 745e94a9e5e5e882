"""A property computed once without a lock, safe for forks at any time."""

import functools
import os
import sys
import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

import numpy as np

Result = TypeVar("Result")


class lazy_property(Generic[Result]):
    """A property that an object computes at its first use and caches.

    Up to Python 3.11 `functools.cached_property` locks all objects while it computes: a process
    forked meanwhile deadlocks. Here two threads may compute the same value twice; both get the
    first result.
    """

    def __init__(self, compute: Callable[[Any], Result]) -> None:
        self._compute = compute
        self._name = ""
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> "lazy_property[Result]": ...

    @overload
    def __get__(self, instance: object, owner: type) -> Result: ...

    def __get__(self, instance: object | None, owner: type) -> "lazy_property[Result] | Result":
        if instance is None:
            return self
        computed = self._compute(instance)
        cached: Result = instance.__dict__.setdefault(self._name, computed)
        return cached


_OF_NETWORKX = ("Graph", "DiGraph")
"""Its classes with locked properties that passes use, where it is imported."""


def _renew_locks() -> None:
    """Replace locks that threads of the parent process held at the fork."""
    networkx = sys.modules.get("networkx")
    kinds = [getattr(networkx, name) for name in _OF_NETWORKX if hasattr(networkx, name)]
    for kind in (*kinds, np.finfo):
        for attribute in vars(kind).values():
            if isinstance(attribute, functools.cached_property) and hasattr(attribute, "lock"):
                attribute.lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_locks)
