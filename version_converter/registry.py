"""What the operators' files say about them: adapters, and what schemas do not tell.

`adapters/__init__.py` tells how these files are written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import onnx

from ..ir import Value
from .attribute_to_input import MOVES, carry_moves
from .form import Concern, Form, always
from .node_draft import Site

Outcome = Sequence[Value | None] | None
"""The values that replace a node's outputs; None where the draft of the node says it all."""

Adapter = Callable[[Site], Outcome]

Adapters = dict[tuple[str, int], tuple[Adapter, ...]]

UPGRADES: Adapters = {}
"""From the version before to this one."""

DOWNGRADES: Adapters = {}
"""From this version to the one before."""

CONCERNS: dict[tuple[str, int, Adapter], Concern] = {}
"""By operator and the higher version of a step: the nodes that an adapter has to look at there."""

LONGER_FORMS: dict[tuple[str, int], Adapter] = {}
"""From this version to the one before, where that has been refused otherwise."""

ADDED_VALUES: dict[str, dict[str, dict[Any, int]]] = {}
"""By operator and attribute: the opset in which a value of the attribute came to be."""

HARMLESS: set[tuple[str, str]] = set()
"""Operators with attributes that an older version can do without, whatever they say."""

BODY_MENDS: dict[str, tuple[Callable[[onnx.FunctionProto], None], ...]] = {}
"""By operator: corrections of the function that onnx defines it by."""

INEXACT_BODIES: set[str] = set()
"""Operators whose function in onnx is less accurate than they are, or says something else."""


def upgrade(
    version: int, *op_types: str, where: Callable[[Form], bool] = always, kinds: str = ""
) -> Callable[[Adapter], Adapter]:
    """Register an adapter from opset `version` - 1 to `version`.

    Args:
        where: of which forms nodes are that it may change or refuse; all others it would leave.
        kinds: the kinds of numbers, as numpy names them, that input 0 holds in such nodes.
    """
    return _registrar(UPGRADES, version, op_types, Concern(where, kinds))


def downgrade(
    version: int, *op_types: str, where: Callable[[Form], bool] = always, kinds: str = ""
) -> Callable[[Adapter], Adapter]:
    """Register an adapter from opset `version` to `version` - 1; arguments as of `upgrade`."""
    return _registrar(DOWNGRADES, version, op_types, Concern(where, kinds))


def concerns(form: Form, source: int, target: int) -> Iterator[Concern]:
    """What adapters of a step may have to look at in nodes of a form."""
    table, version = step_table(source, target)
    for adapter in table.get((form.op_type, version), ()):
        concern = CONCERNS[form.op_type, version, adapter]
        if concern.where(form):
            yield concern


def step_table(source: int, target: int) -> tuple[Adapters, int]:
    """The adapters of a step up or down, and the version by which they are found there."""
    return (UPGRADES, target) if target > source else (DOWNGRADES, source)


def longer_form(version: int, *op_types: str) -> Callable[[Adapter], Adapter]:
    """Register what says a node by several, still in opset `version`, where the step below it has
    been refused. These are converted further; none of them may need the same form again."""

    def register(adapter: Adapter) -> Adapter:
        LONGER_FORMS.update(dict.fromkeys([(op_type, version) for op_type in op_types], adapter))
        return adapter

    return register


def _registrar(
    table: Adapters, version: int, op_types: tuple[str, ...], concern: Concern
) -> Callable[[Adapter], Adapter]:
    def register(adapter: Adapter) -> Adapter:
        for op_type in op_types:
            CONCERNS[op_type, version, adapter] = concern
            table[op_type, version] = (*table.get((op_type, version), ()), adapter)
        return adapter

    return register


def added_values(version: int, *op_types: str, attribute: str, values: Sequence[Any]) -> None:
    """Say in which opset values of an attribute came to be: below, they are refused."""
    for op_type in op_types:
        since = ADDED_VALUES.setdefault(op_type, {}).setdefault(attribute, {})
        since.update(dict.fromkeys(values, version))


def harmless(*op_types: str, attribute: str) -> None:
    """Say that a version without an attribute can do without it, whatever it says."""
    HARMLESS.update((op_type, attribute) for op_type in op_types)


def inexact_body(*op_types: str) -> None:
    """Say that operators are never replaced by the function that onnx defines them by."""
    INEXACT_BODIES.update(op_types)


def mends_body(
    *op_types: str,
) -> Callable[[Callable[[onnx.FunctionProto], None]], Callable[[onnx.FunctionProto], None]]:
    """Register a correction of the function that onnx defines operators by."""

    def register(
        mend: Callable[[onnx.FunctionProto], None],
    ) -> Callable[[onnx.FunctionProto], None]:
        for op_type in op_types:
            BODY_MENDS[op_type] = (*BODY_MENDS.get(op_type, ()), mend)
        return mend

    return register


def in_longer_form(site: Site) -> Outcome:
    """The values that replace a node's outputs, computed by several nodes of its own version; None
    where the operator has no such form.

    Raises:
        Refused: it has one, but not for this node.
    """
    form = None if site.is_upgrade else LONGER_FORMS.get((site.node.op_type, site.source))
    if form is None:
        return None
    site.builder.opset = site.source
    return form(site)


def has_adapter(site: Site) -> bool:
    """Whether an adapter or a plain move looks at the node in this step."""
    table, version = step_table(site.source, site.target)
    return any((site.node.op_type, version) in each for each in (table, MOVES))


def adapt(site: Site) -> Outcome:
    """Run the adapters of one step on a draft, in order, until one replaces the node.

    Plain moves come last: adapters look at a node before its constants have moved.

    Raises:
        Refused: one of them cannot carry the node over.
    """
    table, version = step_table(site.source, site.target)
    for adapter in table.get((site.node.op_type, version), ()):
        outcome = adapter(site)
        if outcome is not None:
            return outcome
    carry_moves(site)
    return None
