"""Running passes one after another, on a copy of the caller's model."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
from collections.abc import Iterator, Sequence
from typing import Generic, TypeVar

from ..budget import current, governed
from ..ir import Model, ModelSource, Node, in_kind, load
from ..ir.collector import paused_collector
from .base import Pass, Progress, Remark, RewriteError, Run, kept_constructs
from .registry import default_passes
from .running import rewrite_model
from .watching import current_watcher

M = TypeVar("M")


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
    def apply(
        self,
        model: Model,
        progress: Progress | None = None,
        *,
        trial: bool = False,
        run: Run | None = None,
    ) -> Result[Model]:
        """Rewrite an IR model in place.

        Args:
            model: the model.
            progress: told what is worked on.
            trial: it is only tried: logged in detail alone, and no watcher is told.
            run: takes the remarks, and has its own watcher, if any; a new one where it is None.
        """
        if run is None:
            run = Run(progress)
            run.watcher = None if trial else current_watcher()
        run.told_at = logging.DEBUG if trial else logging.INFO
        run.standard = default_passes()
        with governed(), notes() as noted:
            changed = rewrite_model(self.passes, model, run, self.repeat)
        timings = tuple(Timing(name, spent) for name, spent in run.seconds.items())
        return Result(model, changed, (*run.remarks, *noted), timings)

    def __str__(self) -> str:
        return ",".join(str(pass_) for pass_ in self.passes)


@contextlib.contextmanager
def notes() -> Iterator[list[Remark]]:
    """A list that holds, when what is done inside is over, what was over the budget in it."""
    noted: list[Remark] = []
    before = dict(current().refused)
    yield noted
    for why, (place, count) in current().refused.items():
        if before.get(why) != (place, count) and isinstance(place, Node):
            more = f" (and {count - 1} more)" if count > 1 else ""
            noted.append(Remark("budget", place.op_type, place.path, "noted", f"{why}{more}"))


def require_all_rewritten(remarks: Sequence[Remark]) -> None:
    """Raise for the first construct that was kept.

    Raises:
        StrictError: there is one.
    """
    kept = list(kept_constructs(remarks).values())
    if kept:
        more = f" (and {len(kept) - 1} more)" if len(kept) > 1 else ""
        raise StrictError(f"{kept[0]}{more}")
