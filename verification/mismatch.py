"""Errors of a verification: the outputs differ, or nothing could be compared."""

import warnings
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from ..ir import Error
from ..ir.option_names import by
from ..records import record
from .runs.verdict import Verdict

MARK = "violated_assumption_"
"""The name of a guard, before the number of its claim."""
_TO_THE_CALLER = 5
"""Frames between a warning and the caller of a public function."""


_MOST_SHOWN = 4
"""Limit of inputs in a message, and of the elements of each."""


def feeds_text(feeds: Mapping[str, Any], first: Collection[str] = ()) -> str:
    """Return inputs in a line, those named in `first` before others.

    >>> feeds_text({"n": np.int64(3), "x": np.ones((2, 512))}, ["n"])
    'n=3, x of float64[2, 512]'
    """
    names = sorted(feeds, key=lambda name: name not in first)
    more = len(names) - _MOST_SHOWN
    text = ", ".join(_input_text(name, feeds[name]) for name in names[:_MOST_SHOWN])
    return text + (f" and {more} more" if more > 0 else "")


def _input_text(name: str, value: Any) -> str:
    if isinstance(value, np.ndarray | np.generic) and np.size(value) <= _MOST_SHOWN:
        return f"{name}={np.asarray(value).tolist()}"
    if isinstance(value, np.ndarray):
        return f"{name} of {value.dtype}{list(value.shape)}"
    return f"{name} with {len(value)} parts" if isinstance(value, list) else f"no {name}"


@record(frozen=True)
class Claim:
    """One assumption.

    Attributes:
        path: the Loop or If.
        content: what is assumed, a noun.
        violation: what an input makes the construct do that violates it.
        remedy: what a message says then.
        most: the largest trip count that it allows; None for a branch.
    """

    path: str
    content: str
    violation: str
    remedy: str
    most: int | None = None


class MismatchError(Error):
    """A rewrite has other outputs than its original, or is not a valid model; it is withheld.

    Attributes:
        verdict: the differences.
        culprit: the first pass after which outputs differ; "" where no single one is at fault.
        remarks: the remarks of that pass.
        violation: an input that violates an assumption, where there is one.
    """

    def __init__(
        self, verdict: Verdict, culprit: str, remarks: Sequence[Any] = (), violation: Any = None
    ) -> None:
        where = f"the pass {culprit} changed the outputs" if culprit else "the outputs changed"
        if verdict.fault:
            blame = f"the pass {culprit} produced an invalid model"
            where = blame if culprit else "the result is invalid"
        if remarks:
            more = f" (and {len(remarks) - 1} more)" if len(remarks) > 1 else ""
            where += f" when it rewrote {remarks[0].op_type} '{remarks[0].path}'{more}"
        where = f"{where}; {verdict.reason}"
        if violation is not None:
            claim = violation.claim
            where = (
                f"an input makes {claim.violation}, {claim.remedy}, or pass inputs"
                f" that satisfy it with {by('--inputs FILE.npz')}; it is {violation.shown}"
            )
        super().__init__(f"{where}; nothing was written")
        self.verdict = verdict
        self.culprit = culprit
        self.remarks = tuple(remarks)
        self.violation = violation


class NotVerifiedError(Error):
    """Strict mode asked for a verified rewrite, and nothing could be compared."""


class NotVerifiedWarning(UserWarning):
    """Verification was asked for, and nothing could be compared."""


def require_compared(verdict: Verdict, what: str, demanded: bool) -> None:
    """Report a verification that compared nothing.

    An open proof is no failure where the caller asked for a proof alone.

    Args:
        verdict: the verdict, which is not "different".
        what: the name of the result in messages.
        demanded: raise rather than warn.

    Raises:
        NotVerifiedError: nothing could be compared, and that is demanded.

    Warns:
        NotVerifiedWarning: nothing could be compared.
    """
    if verdict.equal or verdict.status == "open":
        return
    message = f"{what} was not verified: {verdict.reason}"
    if demanded:
        raise NotVerifiedError(message)
    warnings.warn(message, NotVerifiedWarning, stacklevel=_TO_THE_CALLER)
