"""Instrumentation: watchers of the passes that pipelines run."""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Iterator

from ..context import Watcher

_watcher: contextvars.ContextVar[Watcher | None] = contextvars.ContextVar("watcher", default=None)


@contextlib.contextmanager
def watching(watcher: Watcher) -> Iterator[None]:
    """Notify a watcher of the passes of every pipeline in this block.

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
    """The current watcher, if any."""
    return _watcher.get()
