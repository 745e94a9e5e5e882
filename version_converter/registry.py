"""Registry of adapters, and of facts that schemas lack.

`adapters/__init__.py` documents how the operators' files use it.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import onnx

from ..ir import Node, Value
from .attribute_to_input import MOVES, apply_moves
from .form import Concern, OperatorForm, always
from .node_draft import NodeDraft as NodeDraft  # noqa: PLC0414, adapters import it from here

AdapterResult = Sequence[Value | None] | None
"""The values that replace a node's outputs; None where its draft does."""

Adapter = Callable[[NodeDraft], AdapterResult]

AdapterT = TypeVar("AdapterT", bound=Adapter)

Adapters = dict[tuple[str, int], tuple[Adapter, ...]]

UPGRADES: Adapters = {}
"""Adapters from the version before to this one."""

DOWNGRADES: Adapters = {}
"""Adapters from this version to the one before."""

CONCERNS: dict[tuple[str, int, Adapter], Concern] = {}
"""By operator and the higher version of a step: the nodes that an adapter must visit."""

LONGER_FORMS: dict[tuple[str, int], Adapter] = {}
"""Longer forms in this version, for where the step to the one before is refused."""

ADDED_VALUES: dict[str, dict[str, dict[Any, int]]] = {}
"""By operator and attribute: the opset that introduced a value of the attribute."""

HARMLESS: set[tuple[str, str]] = set()
"""Operators with attributes that an older version does not need."""

BODY_MENDS: dict[str, Callable[[onnx.FunctionProto], None]] = {}
"""By operator: the correction of its function in onnx."""

UNFIT_BODIES: dict[str, Callable[[Node], bool]] = {}
"""By operator: a test of nodes that its function in onnx does not compute."""

INEXACT_BODIES: set[str] = set()
"""Operators that are never replaced by their function in onnx: it is less accurate, or differs."""


def upgrade(
    version: int, *op_types: str, where: Callable[[OperatorForm], bool] = always, kinds: str = ""
) -> Callable[[AdapterT], AdapterT]:
    """Register an adapter from opset `version` - 1 to `version`.

    Args:
        where: the test of forms that the adapter may change or refuse.
        kinds: the kinds of numbers, as numpy names them, that input 0 of such nodes holds.
    """
    return _registrar(UPGRADES, version, op_types, Concern(where, kinds))


def downgrade(
    version: int, *op_types: str, where: Callable[[OperatorForm], bool] = always, kinds: str = ""
) -> Callable[[AdapterT], AdapterT]:
    """Register an adapter from opset `version` to `version` - 1; arguments as of `upgrade`."""
    return _registrar(DOWNGRADES, version, op_types, Concern(where, kinds))


def concerns(form: OperatorForm, source: int, target: int) -> Iterator[Concern]:
    """The concerns of a step's adapters for nodes of a form."""
    table, version = step_table(source, target)
    for adapter in table.get((form.op_type, version), ()):
        concern = CONCERNS[form.op_type, version, adapter]
        if concern.where(form):
            yield concern


def step_table(source: int, target: int) -> tuple[Adapters, int]:
    """The adapters of a step up or down, and their version there."""
    return (UPGRADES, target) if target > source else (DOWNGRADES, source)


def longer_form(version: int, *op_types: str) -> Callable[[AdapterT], AdapterT]:
    """Register a longer form in opset `version`, used where the step below is refused. Its
    nodes are converted further; none of them may need the same form again."""

    def register(adapter: AdapterT) -> AdapterT:
        LONGER_FORMS.update(dict.fromkeys([(op_type, version) for op_type in op_types], adapter))
        return adapter

    return register


def _registrar(
    table: Adapters, version: int, op_types: tuple[str, ...], concern: Concern
) -> Callable[[AdapterT], AdapterT]:
    def register(adapter: AdapterT) -> AdapterT:
        for op_type in op_types:
            CONCERNS[op_type, version, adapter] = concern
            table[op_type, version] = (*table.get((op_type, version), ()), adapter)
        return adapter

    return register


def added_values(version: int, *op_types: str, attribute: str, values: Sequence[Any]) -> None:
    """Register the opset of new values of an attribute: below, they are refused."""
    for op_type in op_types:
        since = ADDED_VALUES.setdefault(op_type, {}).setdefault(attribute, {})
        since.update(dict.fromkeys(values, version))


def harmless(*op_types: str, attribute: str) -> None:
    """Register an attribute that older versions do not need."""
    HARMLESS.update((op_type, attribute) for op_type in op_types)


def expand_longer_form(draft: NodeDraft) -> AdapterResult:
    """The replacements of a node's outputs by its longer form; None where it has none.

    Raises:
        Refused: the form does not support this node.
    """
    form = None if draft.is_upgrade else LONGER_FORMS.get((draft.node.op_type, draft.source))
    if form is None:
        return None
    # Its nodes are of the node's own version; they are converted afterwards.
    draft.builder.opset = draft.source
    return form(draft)


def has_adapter(draft: NodeDraft) -> bool:
    """Test whether an adapter or a plain move concerns the node in this step."""
    table, version = step_table(draft.source, draft.target)
    return any((draft.node.op_type, version) in each for each in (table, MOVES))


def adapt(draft: NodeDraft) -> AdapterResult:
    """Run the adapters of one step in order, until one replaces the node.

    Plain moves come last: adapters visit a node before its constants have moved.

    Raises:
        Refused: one of them cannot convert the node.
    """
    table, version = step_table(draft.source, draft.target)
    for adapter in table.get((draft.node.op_type, version), ()):
        outcome = adapter(draft)
        if outcome is not None:
            return outcome
    apply_moves(draft)
    return None
