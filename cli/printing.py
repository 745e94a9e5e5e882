"""Printed models around passes, and the log of passes."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from .terminal import complain, shown

if TYPE_CHECKING:
    from ..ir import Model
    from ..passes import Pass

_VALUED = ("--print-after", "--print-before")
_MOST_ELEMENTS = 16
"""Tensors with more elements are printed without them."""


def with_values(arguments: Sequence[str]) -> list[str]:
    """Arguments with an empty value for options that may stand without one."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    return [
        f"{one}=" if number < end and one in _VALUED else one
        for number, one in enumerate(arguments)
    ]


@contextlib.contextmanager
def printed(after: Sequence[str] | None, before: Sequence[str] | None) -> Iterator[None]:
    """Print models around passes while these are run.

    Raises:
        PassOptionError: a pass that is named is none.
    """
    if after is None and before is None:
        yield
        return
    from ..passes import watching

    with watching(_Printer(_known(after), _known(before))):
        yield


def _known(names: Sequence[str] | None) -> frozenset[str] | None:
    """Return the names of passes, "" for all of them; None for no printing."""
    from ..passes.manager.pipeline_parser import find_pass
    from ..version_converter.conversion import CONVERT

    if names is None:
        return None
    return frozenset(one and (one if one == CONVERT else find_pass(one).name) for one in names)


class _Printer:
    """Prints a model around passes.

    Args:
        after: print after these passes; "" for each that changes the model.
        before: the same before them.
    """

    def __init__(self, after: Collection[str] | None, before: Collection[str] | None) -> None:
        self._after = after or ()
        self._before = before or ()
        self._text = ""

    def before(self, pass_: Pass, model: Model) -> None:
        """Print before a pass that is named; keep the text for one that may change the model."""
        self._text = ""
        if pass_.name in self._before:
            _print(f"before {pass_}", _text_of(model))
        elif "" in self._before and not _holds_passes(pass_):
            self._text = _text_of(model)

    def after(self, pass_: Pass, model: Model, changed: bool) -> None:
        """Print after a pass."""
        if changed and self._text:
            _print(f"before {pass_}", self._text)
        if pass_.name in self._after and not changed:
            _print(f"{pass_} changed nothing", "")
        elif pass_.name in self._after or (
            changed and "" in self._after and not _holds_passes(pass_)
        ):
            _print(f"after {pass_}", _text_of(model))


def _holds_passes(pass_: Pass) -> bool:
    """Return whether a pass only runs others, which print by themselves."""
    from ..passes.manager.autotune import Accelerate
    from ..passes.utils.fixpoint import Repeated

    return isinstance(pass_, Accelerate | Repeated)


def _text_of(model: Model) -> str:
    from ..ir import to_text

    return to_text(model, _MOST_ELEMENTS)


def _print(title: str, text: str) -> None:
    complain(f"// {shown(title)}")
    for line in text.splitlines():
        complain(shown(line))


@contextlib.contextmanager
def logged(verbose: int) -> Iterator[None]:
    """Write the log to stderr: passes, proofs, and the options that suggestions try.

    Args:
        verbose: nothing with 0, all of it with 2.
    """
    logger = logging.getLogger("straightline")
    suggestions = logging.getLogger("straightline.driver.suggestions")
    handler = _ToStderr()
    handler.setFormatter(logging.Formatter("%(message)s"))
    levels = {logger: logger.level, suggestions: suggestions.level}
    if verbose:
        logger.addHandler(handler)
        logger.setLevel(logging.DEBUG if verbose > 1 else logging.INFO)
        suggestions.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        for one, level in levels.items():
            one.setLevel(level)


class _ToStderr(logging.Handler):
    """Writes each message as a line on stderr."""

    def emit(self, record: Any) -> None:
        """Write a message."""
        complain(shown(self.format(record)))
