"""Trials of passes on a copy of a model."""

from collections.abc import Sequence
from typing import NamedTuple

from ...ir import Model, Node
from ...limits import governed
from ..base import Analyses, Pass, PassContext
from ..remarks import Remark
from .fixpoint import rewrite_model, run_passes


class Trial(NamedTuple):
    """Result of passes on a copy of a model.

    Attributes:
        model: the copy.
        changed: true after a change.
        context: the remarks and the cost of the trial.
    """

    model: Model
    changed: bool
    context: PassContext


def try_passes(
    passes: Sequence[Pass],
    model: Model,
    context: PassContext,
    *,
    repeat: bool = True,
    analyses: Analyses | None = None,
) -> Trial:
    """Run passes on a copy of a model, with their own remarks and meter.

    No watcher observes a trial. The limits of the rewrite hold, and inference shares its memory.

    Args:
        passes: the passes, in order.
        model: the copy, or a model of extracted nodes; changed in place.
        context: the rewrite around the trial.
        repeat: run them to a fixed point, then correct the declarations of the copy.
        analyses: the facts of the copy, from a trial that changed nothing.
    """
    trial = PassContext(
        analyses or Analyses(context.analyses.memory),
        default_passes=context.default_passes,
        supports=context.supports,
    )
    with governed():
        if repeat:
            changed = rewrite_model(passes, model, trial, repeat=True)
        else:
            changed = run_passes(passes, model, trial, repeat=False)
    return Trial(model, changed, trial)


def take_over(
    context: PassContext, trial: PassContext, before: list[tuple[Remark, Node | None]]
) -> None:
    """Go on with a copy of the model and what a trial said of it.

    Args:
        trial: the context of the passes on the copy.
        before: the remarks when the copy was made; later ones are dropped.
    """
    context.remarks.restore(before + trial.remarks.entries)
    context.offers = trial.offers
    context.analyses.facts = trial.analyses.facts
    context.analyses.invalidate()
    context.meter.added_nodes = trial.meter.added_nodes
    context.meter.growth = trial.meter.growth
    for name, seconds in trial.meter.seconds.items():
        context.meter.seconds[name] = context.meter.seconds.get(name, 0.0) + seconds
