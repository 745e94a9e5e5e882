"""How RNN, GRU and LSTM are taken apart for targets that lack them.

The cells are written out where the number of steps is known; else a Scan or a Loop makes the steps,
where the target takes one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator

from ..analysis.constants.folding import Folder
from ..analysis.constants.provenance import origins
from ..ir import Model, Node, Value
from ..passes import ExpandRecurrences, Pass, PassContext, ScansToLoops
from ..passes.recurrences.expand.expand_recurrences import LENGTH_UNKNOWN, Expander
from ..passes.utils.budget import Budget
from ..passes.utils.fixpoint import run_passes
from ..version_converter import convert
from ..version_converter.errors import Refused
from ..version_converter.types import Types
from .target import Target

RECURRENT = ExpandRecurrences.works_on
_SAYS_ALL = 11
"""In this opset nothing is lacking that takes cells apart; what it has, conversion takes back."""


def ways_apart(
    node: Node, target: Target, types: Types, budget: Budget, folder: Folder
) -> Iterator[Callable[[Model], None]]:
    """How such a node may be taken apart, alone in a model of its own; the straightest way first.

    Args:
        node: the node where it is in its model.
        target: lacks it.
        types: what is known about the values of that model.
        budget: what may be added.
        folder: computes weights, one for all nodes that share them.
    """
    apart = functools.partial(_apart, budget, folder)
    assert node.graph is not None
    opset, fed = node.graph.root.opset(), node.input(0)
    straight = ExpandRecurrences(straight=True, max_nodes=budget.max_nodes)
    if fed is not None and _length(node, fed, types) is None:
        yield _refusing(LENGTH_UNKNOWN(origins(fed, sizes=True)))
    else:
        yield apart(straight)
        if opset < _SAYS_ALL:
            yield apart(straight, _SAYS_ALL)
    anyhow = ExpandRecurrences(max_nodes=budget.max_nodes)
    if target.lists("Scan", opset):
        yield apart(anyhow)
    elif target.lists("Loop", opset):
        yield apart(anyhow, None, ScansToLoops())


def _length(node: Node, fed: Value, types: Types) -> int | None:
    """How many steps there are; None where only run time tells."""
    shape = types.shape(fed)
    axis = 1 if node.attribute("layout", 0) else 0
    return None if shape is None or len(shape) <= axis else shape[axis]


def _refusing(reason: str) -> Callable[[Model], None]:
    def way(scratch: Model) -> None:
        raise Refused(reason)

    return way


def _apart(
    budget: Budget,
    folder: Folder,
    expand: ExpandRecurrences,
    at: int | None = None,
    *more: Pass,
) -> Callable[[Model], None]:
    """By passes, in the opset that the model has or in another one, from which all is brought
    back."""

    def way(scratch: Model) -> None:
        opset, ir_version, context = scratch.opset(), scratch.ir_version, PassContext()
        context.meter.added_nodes = budget.meter.added_nodes
        if at is not None:
            convert(scratch, at)
        Expander(expand, scratch, context, folder).expand()
        kept = dict.fromkeys(remark.reason for remark in context.remarks if remark.action == "kept")
        if kept:
            raise Refused("; ".join(kept))
        run_passes(more, scratch, context, repeat=False)
        if at is not None:
            convert(scratch, opset, ir_version)

    return way
