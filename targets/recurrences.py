"""Expansion of RNN, GRU and LSTM for targets that lack them.

The cells are unrolled where the number of steps is known; else a Scan or a Loop iterates, where the
target supports one.
"""

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
"""Opset with all operators for an expansion, from which conversion returns to the model's."""


def expansions(
    node: Node, target: Target, types: Types, budget: Budget, folder: Folder
) -> Iterator[Callable[[Model], None]]:
    """Yield expansions of a node in a scratch model, the straightest first.

    Args:
        node: the node in its model.
        target: the target, which lacks it.
        types: the types of that model's values.
        folder: computes weights, once for all nodes that share them.
    """
    apart = functools.partial(_apart, budget, folder)
    opset, data = node.root.opset(), node.input(0)
    straight = ExpandRecurrences(straight=True, max_nodes=budget.max_nodes)
    if data is not None and _length(node, data, types) is None:
        yield functools.partial(_refuse, LENGTH_UNKNOWN(origins(data, sizes=True)))
    else:
        yield apart(straight)
        if opset < _SAYS_ALL:
            yield apart(straight, _SAYS_ALL)
    anyhow = ExpandRecurrences(max_nodes=budget.max_nodes)
    if target.lists("Scan", opset):
        yield apart(anyhow)
    elif target.lists("Loop", opset):
        yield apart(anyhow, None, ScansToLoops())


def _length(node: Node, data: Value, types: Types) -> int | None:
    """The number of steps; None where it is computed at run time."""
    shape = types.shape(data)
    axis = 1 if node.attribute("layout", 0) else 0
    return None if shape is None or len(shape) <= axis else shape[axis]


def _refuse(reason: str, _: Model) -> None:
    raise Refused(reason)


def _apart(
    budget: Budget, folder: Folder, expand: ExpandRecurrences, at: int | None = None, *more: Pass
) -> Callable[[Model], None]:
    """Expand by passes, in the opset of the model or in another one and back."""

    def way(scratch: Model) -> None:
        opset, ir_version, context = scratch.opset(), scratch.ir_version, PassContext()
        # Nodes that other expansions added count against the same limit.
        context.meter.added_nodes = budget.meter.added_nodes
        if at is not None:
            convert(scratch, at)
        Expander(expand, scratch, context, folder).expand()
        reasons = dict.fromkeys(
            remark.reason for remark in context.remarks if remark.action == "kept"
        )
        if reasons:
            raise Refused("; ".join(reasons))
        run_passes(more, scratch, context, repeat=False)
        if at is not None:
            convert(scratch, opset, ir_version, restores=False)

    return way
