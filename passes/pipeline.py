"""Running passes one after another, on a copy of the caller's model."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from typing import ClassVar, Generic, TypeVar

from ..ir import Model, ModelSource, in_kind, load
from ..ir.collector import paused_collector
from .base import Pass, Progress, Remark, RewriteError, Run
from .cleanup.declarations import CorrectDeclarations

M = TypeVar("M")

_MOST_ROUNDS = 1000


class StrictError(RewriteError):
    """A pass left a construct alone although strict mode asked for all of them."""


@dataclasses.dataclass(frozen=True)
class Timing:
    """How long one pass took, all its runs together, in seconds."""

    pass_name: str
    seconds: float


@dataclasses.dataclass(frozen=True)
class Result(Generic[M]):
    """What a pipeline made.

    Attributes:
        model: the rewritten model, in the kind in which the original was given.
        changed: whether any pass changed anything.
        remarks: what was rewritten, and why anything was kept.
        timings: the time of each pass.
    """

    model: M
    changed: bool
    remarks: tuple[Remark, ...]
    timings: tuple[Timing, ...]

    @property
    def kept(self) -> tuple[Remark, ...]:
        """The remarks on what was left alone."""
        return tuple(remark for remark in self.remarks if remark.action == "kept")


@dataclasses.dataclass(frozen=True)
class Pipeline:
    """Passes in order.

    Args:
        passes: the passes.
        repeat: run them again and again until none changes anything.

    >>> from straightline.passes import InlineIfs, Pipeline, UnrollLoops
    >>> print(Pipeline([UnrollLoops(max_trips=64), InlineIfs()]))
    unroll-loops{max_trips=64},inline-ifs
    """

    passes: Sequence[Pass]
    repeat: bool = False

    @paused_collector
    def run(self, model: ModelSource, *, strict: bool = False) -> Result[ModelSource]:
        """Rewrite a copy of the model; the caller's object is never changed.

        Raises:
            LoadError, ModelError: the model cannot be read or is not well formed.
            StrictError: `strict` is set and a pass kept a construct.
        """
        rewritten = load(model)
        result = self.apply(rewritten)
        if strict:
            require_all_rewritten(result.remarks)
        return Result(in_kind(rewritten, model), result.changed, result.remarks, result.timings)

    @paused_collector
    def apply(self, model: Model, progress: Progress | None = None) -> Result[Model]:
        """Rewrite an IR model in place."""
        run = Run(progress)
        changed = run_passes(self.passes, model, run, self.repeat)
        run.forget_gone(model)
        if changed:
            CorrectDeclarations().run(model, run)
        timings = tuple(Timing(name, spent) for name, spent in run.seconds.items())
        return Result(model, changed, tuple(run.remarks), timings)

    def __str__(self) -> str:
        return ",".join(str(pass_) for pass_ in self.passes)


def run_passes(passes: Sequence[Pass], model: Model, run: Run, repeat: bool) -> bool:
    """Run passes in order, if wanted again and again until none changes anything.

    A pass looks again only after one has changed something that might give it new work.
    """
    changed = False
    stale = dict.fromkeys(passes, True)
    for pass_ in passes:
        run.seconds.setdefault(pass_.name, 0.0)
    for _ in range(_MOST_ROUNDS if repeat else 1):
        for pass_ in passes:
            if stale[pass_]:
                stale[pass_] = False
                if _run_timed(pass_, model, run):
                    changed = True
                    if not pass_.cleans_up:
                        stale = dict.fromkeys(passes, True)
        if not any(stale.values()):
            break
    return changed


def _run_timed(pass_: Pass, model: Model, run: Run) -> bool:
    started = time.perf_counter()
    run.forget_kept(pass_)
    try:
        return pass_.run(model, run)
    finally:
        if not isinstance(pass_, Repeated):
            run.seconds[pass_.name] += time.perf_counter() - started


@dataclasses.dataclass(frozen=True)
class Repeated(Pass):
    """Run passes again and again until none changes anything; `straighten` in a written pipeline.

    Options:
        passes: the passes.
    """

    name: ClassVar[str] = "straighten"
    passes: tuple[Pass, ...] = dataclasses.field(default=(), metadata={"code_only": True})

    def run(self, model: Model, run: Run) -> bool:
        """Run them to a fixed point."""
        return run_passes(self.passes, model, run, repeat=True)

    def __str__(self) -> str:
        return self.name


def require_all_rewritten(remarks: Sequence[Remark]) -> None:
    """Raise for the first construct that was kept.

    Raises:
        StrictError: there is one.
    """
    kept = [remark for remark in remarks if remark.action == "kept"]
    if kept:
        more = f" (and {len(kept) - 1} more)" if len(kept) > 1 else ""
        raise StrictError(f"{kept[0]}{more}")
