"""Transformations of models: the functions that scripts call, and the one that all of them are."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from ..display import OnProgress, silent
from ..ir import Model, ModelSource, to_proto
from ..ir.gc_pause import collector_pause
from ..ir.io.model_source import read_open
from ..limits import governed
from ..passes.manager.pipeline import require_all_rewritten
from ..verification.mismatch import require_compared
from ..verification.runs.options import VerifyOptions
from .job import Request
from .line import run
from .options import RewriteOptions
from .residual import left_over
from .result import Outcome
from .suggestions import Advice, advise

if TYPE_CHECKING:
    pass


def transform_model(
    model: ModelSource,
    options: RewriteOptions,
    verification: VerifyOptions | None = None,
    *,
    what: str = "the result",
    is_short: bool = False,
    on_progress: OnProgress = silent,
) -> Outcome[Any]:
    """Rewrite a model, convert it and compare, as the options say.

    Args:
        what: the name of the result in messages.
        is_short: whether the caller returns the model alone, at once.

    Raises:
        Error: as `transform`.
    """
    request = Request(read_open(model), options)
    with collector_pause(), governed(options.limits):
        if verification is not None and (verification.sample_shapes or verification.dims):
            from ..verification import with_sample_shapes

            with_sample_shapes(request.original, verification, options.values)
        job = run(request, on_progress=on_progress)
        if options.strict:
            require_all_rewritten(job.remarks)
        residual, advice = [], Advice()
        if request.has_passes:
            residual = left_over(job.model, job.remarks)
        if residual and options.hints:
            advice = advise(request, job.model, on_progress)
            residual = [
                dataclasses.replace(r, reason=advice.reason((r.op_type, r.path), r.reason))
                for r in residual
            ]
        outcome: Outcome[Any] = Outcome.of(job, residual, advice.hints)
        if verification is None:
            return outcome
        if is_short and not isinstance(model, Model):
            # Both the comparison and the caller want it.
            outcome = dataclasses.replace(outcome, message=to_proto(outcome.ir))
        outcome = outcome.compared(verification, on_progress=on_progress, loaded=True)
        assert outcome.verdict is not None
        require_compared(outcome.verdict, what, options.strict or verification.prove is True)
        return outcome
