"""How messages name what a user can do: options for the shell, keywords for Python."""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Iterator

KEYWORDS = {
    "--assume-max": "assume_max=",
    "--dim": "dims=",
    "--force": "force=True",
    "--freeze-initializers": "freeze_initializers=True",
    "--inputs": "feeds=",
    "--link-data": "link_data=",
    "--max-input-size": "max_bytes=",
    "--max-memory": "max_memory=",
    "--max-nodes": "max_nodes=",
    "--max-trips": "max_trips=",
    "--passes": "passes=",
    "--sample-shape": "sample_shapes=",
    "--set": "values=",
    "--shape": "shapes=",
    "--target": "target=",
    "--target-file": "target=",
    "--timeout": "timeout=",
}
"""What an option of the command line is called in Python."""

_in_shell: contextvars.ContextVar[bool] = contextvars.ContextVar("in_shell", default=False)


def by(*options: str) -> str:
    """Options as a message names them, each with what follows it: "--set n=...".

    Python is told the keywords, too; a shell has no use for them.
    """
    text = " ".join(options)
    keywords = dict.fromkeys(KEYWORDS.get(option.split(" ")[0], "") for option in options)
    known = ", ".join(filter(None, keywords))
    return text if is_told_to_a_shell() or not known else f"{text} ({known} in Python)"


@contextlib.contextmanager
def told_to_a_shell() -> Iterator[None]:
    """Let messages name options only."""
    token = _in_shell.set(True)
    try:
        yield
    finally:
        _in_shell.reset(token)


def is_told_to_a_shell() -> bool:
    """Whether messages name options only."""
    return _in_shell.get()
