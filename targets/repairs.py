"""Conditions, outputs and names of a whole model, as targets require them."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..facts.reason import Message
from ..ir import Model, Node
from ..passes import Pass, PassContext
from ..passes.utils.loop_conditions import isolate_conditions
from .declarations import drop_open_declarations
from .name_repair import name_bodies, name_colliding_nodes, name_open_sizes
from .outputs import compute_empty_constants, end_in_nodes, store_raw_data
from .target import Target


class _Repair(NamedTuple):
    """One repair.

    Attributes:
        key: the key of targets that require it.
        run: changes a model, and returns the changed nodes, or the number of other things.
        remark: on each node, or on the model with the number.
    """

    key: str
    run: Callable[[Model], Sequence[Node] | int]
    remark: Message


_REPAIRS = (
    _Repair(
        *("own_conditions", isolate_conditions),
        Message("own-condition", "{target} requires its body to return a condition of its own"),
    ),
    _Repair(
        *("own_outputs", end_in_nodes),
        Message(
            "own-ends",
            "{target} requires bodies that end in nodes: an Identity follows their constants",
        ),
    ),
    _Repair(
        *("computes_empty", compute_empty_constants),
        Message(
            "empty-constants",
            "{count} constants without elements are computed, as {target} needs it",
        ),
    ),
    _Repair(
        *("raw_data", store_raw_data),
        Message("raw-data", "{count} constants are stored as raw data, as {target} reads them"),
    ),
    _Repair(
        *("names_nodes", name_colliding_nodes),
        Message("nodes-named", "{count} unnamed nodes were named, as {target} names them alike"),
    ),
    _Repair(
        *("names_sizes", name_open_sizes),
        Message("sizes-named", "{count} open sizes were named, as {target} requires names"),
    ),
    _Repair(
        *("names_bodies", name_bodies),
        Message(
            "bodies-named", "{count} bodies were named, as {target} tells them apart by their names"
        ),
    ),
    _Repair(
        *("known_declarations", drop_open_declarations),
        Message(
            "declarations-dropped",
            "{count} declared types with open sizes were dropped, as {target} refuses numbers where"
            " names are declared",
        ),
    ),
)


def repair(model: Model, target: Target, fit: Pass, context: PassContext) -> bool:
    """Repair a model as a target requires it; `fit`: the pass of the remarks on each change."""
    changed = False
    for key, run, remark in _REPAIRS:
        result = run(model) if getattr(target, key) else 0
        changed |= bool(result)
        if not isinstance(result, int):
            for node in result:
                context.rewritten(fit, node, node.path, remark(target=target.name))
        elif result:
            what = remark(target=target.name, count=result)
            context.remarks.add_on_model(fit, model, "rewritten", what)
    return changed
