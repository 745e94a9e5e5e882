"""What the commands ask of a verification, and what its outcome means for them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .boundary import EXIT_DIFFERENT, EXIT_NOT_VERIFIED
from .options import Runtime

if TYPE_CHECKING:
    from ..reference.verdict import Verdict
    from ..rewriting import MismatchError


def comparison(
    prove: bool | None,
    inputs: Path | None,
    runtime: Runtime,
    rtol: float | None,
    atol: float | None,
    samples: int | None,
    seed: int,
    timeout: float | None,
) -> dict[str, Any]:
    """The options of a verification as `straightline.verify` takes them."""
    found = {"runtime": runtime.value, "rtol": rtol, "atol": atol, "samples": samples, "seed": seed}
    return {"prove": prove, "feeds": inputs, "timeout": timeout, **found}


def verified(
    compare: Callable[..., Verdict], options: dict[str, Any], strict: bool = False
) -> tuple[Verdict | MismatchError, int]:
    """Compare with the original: what was found, whatever it is, and the exit code.

    Raises:
        NotVerifiedError: (`strict`) nothing could be compared.
    """
    from ..rewriting import MismatchError, NotVerifiedError

    try:
        verdict = compare(**options)
    except MismatchError as error:
        return error, EXIT_DIFFERENT
    if options["prove"] and not verdict.proved:
        return verdict, EXIT_NOT_VERIFIED
    if strict and not verdict.equal:
        raise NotVerifiedError(f"the rewrite was not verified: {verdict.reason}")
    return verdict, 0
