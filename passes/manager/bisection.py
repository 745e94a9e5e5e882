"""Find the first pass after which a model gives other outputs."""

from __future__ import annotations

from collections.abc import Callable

from ...ir import Model
from ...verification.mismatch import MismatchError
from ...verification.runs.verdict import Verdict
from ..base import Pass
from ..context import PassContext


def locate(
    verdict: Verdict, passes: Callable[[PassContext], object], compare: Callable[[Model], Verdict]
) -> MismatchError:
    """Run passes once more and compare after each; return the error that names the culprit.

    Args:
        verdict: the verdict on the whole, for when no single pass is at fault.
        passes: the run of the passes on a new copy of the model.
        compare: the comparison of a model with the original.
    """
    context = PassContext()
    context.instrumentation.watcher = _Comparing(context, compare)
    try:
        passes(context)
    except MismatchError as error:
        return error
    return MismatchError(verdict, "")


class _Comparing:
    """A watcher that raises MismatchError after the first pass that changes the outputs."""

    def __init__(self, context: PassContext, compare: Callable[[Model], Verdict]) -> None:
        self._context = context
        self._compare = compare
        self._count = 0

    def before(self, pass_: Pass, model: Model) -> None:
        """Ignore a pass that is about to run."""

    def after(self, pass_: Pass, model: Model, changed: bool) -> None:
        """Compare the model that a pass changed."""
        rewrites = [remark for remark in self._context.remarks if remark.action == "rewritten"]
        new, self._count = rewrites[self._count :], len(rewrites)
        if changed:
            verdict = self._compare(model)
            if verdict.differs:
                raise MismatchError(verdict, pass_.name, tuple(new))
