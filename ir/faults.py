"""Faults of straightline that a result survives: a warning, or the exception itself."""

import inspect
import os
import warnings

FAULTS = "STRAIGHTLINE_FAULTS"
"""The environment variable that, with the value "raise", lets every such fault be raised."""


class FaultWarning(UserWarning):
    """A part of straightline failed; the result is right without it."""


def raises_faults() -> bool:
    """Test whether faults are to be raised rather than survived."""
    return os.environ.get(FAULTS) == "raise"


def warn_of_fault(message: str) -> None:
    """Warn of a fault at the place of the caller's own code.

    Warns:
        FaultWarning: always.
    """
    warnings.warn(message, FaultWarning, stacklevel=_level_of_caller())


def described(error: BaseException) -> str:
    """The type and the message of an exception in one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}".rstrip(": ")


def _level_of_caller() -> int:
    """Return the stack level of the first frame outside of this package."""
    package, level, frame = __name__.partition(".")[0], 0, inspect.currentframe()
    while frame is not None and frame.f_globals["__name__"].partition(".")[0] == package:
        frame, level = frame.f_back, level + 1
    return level
