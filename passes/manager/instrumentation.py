"""Watching passes at work: what a pipeline runs is told to whoever watches."""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Iterator

from ..context import Watcher

_watcher: contextvars.ContextVar[Watcher | None] = contextvars.ContextVar("watcher", default=None)


@contextlib.contextmanager
def watching(watcher: Watcher) -> Iterator[None]:
    """Let a watcher be told of the passes of every pipeline that is applied meanwhile.

    >>> from straightline import ir, rewrite
    >>> class Names:
    ...     def before(self, pass_, model):
    ...         pass
    ...     def after(self, pass_, model, changed):
    ...         if changed:
    ...             print(pass_.name)
    >>> model = ir.parse('''<ir_version: 10, opset_import: ["": 21]>
    ...     main (float[3] x) => (float[3] y) { a = Identity (x) y = Exp (a) }''')
    >>> with watching(Names()):
    ...     flat = rewrite(model)
    eliminate-identities
    """
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


def current_watcher() -> Watcher | None:
    """Who watches now, if anybody does."""
    return _watcher.get()
