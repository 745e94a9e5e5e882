"""Names of options in messages: options for the shell, keywords for Python."""

import contextlib
import contextvars
from collections.abc import Iterator

from ..options.table import OPTIONS

KEYWORDS = {
    **{option.flag: option.spelling for option in OPTIONS if option.flag},
    "--force": "force=True",
    "--inputs": "feeds=",
    "--link-data": "link_data=",
    "--max-input-size": "max_bytes=",
    "--sample-shape": "sample_shapes=",
}
"""The Python keywords of options of the command line."""

_in_shell: contextvars.ContextVar[bool] = contextvars.ContextVar("in_shell", default=False)


def by(*options: str) -> str:
    """Name options in a message, each with its argument: "--set n=...". Messages for Python name
    the keywords as well.
    """
    text = " ".join(options)
    keywords = dict.fromkeys(KEYWORDS.get(option.split(" ")[0], "") for option in options)
    listed = ", ".join(filter(None, keywords))
    return text if in_shell() or not listed else f"{text} ({listed} in Python)"


@contextlib.contextmanager
def shell_messages() -> Iterator[None]:
    """Let messages name options without keywords."""
    token = _in_shell.set(True)
    try:
        yield
    finally:
        _in_shell.reset(token)


def in_shell() -> bool:
    """Test whether messages name options without keywords."""
    return _in_shell.get()
