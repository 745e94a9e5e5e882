"""The options of a verification, and whether what a caller gives is in range."""

from __future__ import annotations

import importlib.util
from typing import Any, Literal, get_args

import numpy as np

from ...ir.did_you_mean import instead
from ...ir.errors import Error

RuntimeChoice = Literal["auto", "onnxruntime", "reference", "both"]

_WHOLE = int, np.integer
_REAL = *_WHOLE, float, np.floating


def has_onnxruntime() -> bool:
    """Whether onnxruntime is installed."""
    return importlib.util.find_spec("onnxruntime") is not None


class VerifyError(Error):
    """An option of the verification is out of range."""


def check_options(
    runtime: str, rtol: Any, atol: Any, samples: Any, seed: Any, timeout: Any
) -> None:
    """Check options of `verify`.

    Raises:
        VerifyError: one is out of range.
    """
    if runtime not in get_args(RuntimeChoice):
        choices = instead(runtime, get_args(RuntimeChoice))
        raise VerifyError(f"there is no runtime '{runtime}'; {choices}")
    if runtime in ("onnxruntime", "both") and not has_onnxruntime():
        raise VerifyError(
            "onnxruntime is not installed; the extra `ort` brings it:"
            " pip install 'straightline[ort]'"
        )
    for name, value in (("rtol", rtol), ("atol", atol)):
        if value is not None and not (isinstance(value, _REAL) and value >= 0):
            raise VerifyError(f"{name} is {value!r}; it must be a number, 0 or more")
    if timeout is not None and not (isinstance(timeout, _REAL) and timeout > 0):
        raise VerifyError(f"timeout is {timeout!r}; it must be more than 0 seconds")
    for name, value, least in (("samples", samples, 1), ("seed", seed, 0)):
        if not (isinstance(value, _WHOLE) and value >= least):
            raise VerifyError(f"{name} is {value!r}; it must be a whole number, {least} or more")
