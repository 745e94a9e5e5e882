"""The argument `verify` of the functions that rewrite a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from ..ir import instead
from .runs.options import VerifyError

Verify: TypeAlias = Literal["proof"] | bool | Mapping[str, Any]
"""How a result is verified: "proof" proves and runs nothing; True also runs samples where the proof
stays open; False verifies nothing; a mapping holds options of `straightline.verify`."""

_NAMES = (
    *("feeds", "runtime", "rtol", "atol", "samples", "sample_shapes", "seed", "timeout", "prove"),
)
"""The options of `straightline.verify` that are the caller's to choose."""


def comparison_options(verify: Verify) -> Mapping[str, Any] | None:
    """Return the options of a verification, or None for no verification.

    Raises:
        VerifyError: the argument is of another kind, or holds an unknown option.
    """
    if isinstance(verify, bool):
        return {} if verify else None
    if verify == "proof":
        return {"prove": "only"}
    if not isinstance(verify, Mapping):
        raise VerifyError(
            f"verify is 'proof', True, False or a mapping of options of straightline.verify, not"
            f" {verify!r}"
        )
    for name in verify:
        if name not in _NAMES:
            raise VerifyError(
                f"verify has no option '{name}'; {instead(name, _NAMES, are='its options:')}"
            )
    return verify
