"""Comparison of a transformed model with its original: the last step, which may undo rewrites."""

from __future__ import annotations

import dataclasses
import os
from functools import partial
from typing import TYPE_CHECKING, Any

from ..display import OnProgress, silent
from ..ir import to_proto
from ..passes.manager.undo import Task, compared, probing, settle
from ..passes.simplify.apply_rules import uses_trusted_rules
from ..verification import compare
from ..verification.mismatch import MismatchError, NotVerifiedError
from . import line
from .job import Job

if TYPE_CHECKING:
    import onnx

    from ..runtimes.workers import Workers
    from ..verification.runs.options import VerifyOptions
    from ..verification.runs.verdict import Verdict


def verify(
    job: Job,
    options: VerifyOptions,
    *,
    workers: Workers | None = None,
    on_progress: OnProgress = silent,
    loaded: bool = False,
    message: onnx.ModelProto | None = None,
) -> tuple[Job, Verdict]:
    """Compare with the original, and undo what the verdict does not accept.

    Args:
        job: the job after all other steps.
        options: options of the comparison.
        workers: child processes to use again.
        on_progress: progress callback.
        loaded: whether this call has loaded the original; a proof need not check it again.
        message: the message of the result, if the caller has it.

    Raises:
        MismatchError: the outputs differ, and no construct can be kept for that.
        NotVerifiedError: only what is proved may change, and the conversion is not.
    """
    request, original = job.request, job.request.original
    if isinstance(options.feeds, str | os.PathLike):  # read once, too
        from ..runtimes.feeds import read_feeds

        feeds = read_feeds(options.feeds, to_proto(original), job.bound)
        options = dataclasses.replace(options, feeds=feeds)
    options = dataclasses.replace(options, minima=job.model.minima)
    if uses_trusted_rules(job.remarks):
        options = options.with_runs()

    def judged(other: Job) -> Verdict:
        settings: dict[str, Any] = {"workers": workers, "on_progress": on_progress}
        if other is job:
            settings |= {"loaded": loaded, "message": message}
        comparison = partial(compare, original, other.model, options, **settings)

        def renew() -> None:
            if message is not None and other is job:
                message.CopyFrom(to_proto(job.model))

        converted = other.converted is not None  # an opset may infer more than another
        verdict = compared(
            lambda: comparison(**other.fixed()), other.model, always=converted, renew=renew
        )
        return check_trust(other, verdict, options, workers)

    task = Task(
        rerun=partial(line.run, request),
        compare=judged,
        watch=lambda observe, vetoes: line.run(request, vetoes, observe=observe),
        probe=probing(original, options, job.fixed(workers=workers)),
        only_proved=options.unproved == "keep",
        strict=request.options.strict,
        reproduce=request.reproduce,
        last="" if job.converted is None else line.CONVERSION.format(job.model.opset()),
    )
    settled, verdict = settle(task, job, job.vetoes)
    if job.converted is not None and not task.accepts(verdict):
        raise NotVerifiedError(f"the conversion is not proved: {verdict.reason}")
    return settled, verdict


def check_trust(
    job: Job, verdict: Verdict, options: VerifyOptions, workers: Workers | None
) -> Verdict:
    """Add to a verdict whether inputs violate what the caller vouches for.

    Raises:
        MismatchError: a sample violates it.
    """
    request = job.request
    assumptions = request.options.assumptions
    if not assumptions or verdict.proved:
        return verdict
    contents = [claim.content for claim in assumptions.claims()]
    trust = f"{', '.join(contents)} is assumed"
    if verdict.status == "open":
        return dataclasses.replace(verdict, notes=(*verdict.notes, trust))
    from ..verification import with_sample_shapes
    from ..verification.violations import Search

    model, bound = request.bound()
    options = dataclasses.replace(options, minima=model.minima)
    options = with_sample_shapes(request.original, options, bound)
    fixed: dict[str, Any] = {"bound": bound, "base_dir": request.base_dir, "workers": workers}
    search = Search(request.original, model, assumptions.guard(model), options, **fixed)
    violation = search.on_samples(verdict.feeds if verdict.differs else None)
    if violation is not None:
        reason = f"an input makes {violation.claim.violation}: {violation.shown}"
        different = dataclasses.replace(
            verdict, status="different", reason=reason, feeds=violation.feeds
        )
        raise MismatchError(different, "", violation=violation)
    if verdict.differs:
        return verdict
    further = search.further()
    note = f"{trust}; no tried input contradicts it"
    if further is not None:
        note = (
            f"{trust}; inputs make {further.claim.violation}, such as {further.shown}; there"
            " the result differs"
        )
    return dataclasses.replace(verdict, notes=(*verdict.notes, note))
