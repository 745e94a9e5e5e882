"""Which adapter carries an operator across which change of version."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...ir import Value
from ..site import Site

Outcome = Sequence[Value | None] | None
"""The values that replace a node's outputs; None where the draft of the node says it all."""

Adapter = Callable[[Site], Outcome]

UPGRADES: dict[tuple[str, int], Adapter] = {}
"""From the version before to this one."""

DOWNGRADES: dict[tuple[str, int], Adapter] = {}
"""From this version to the one before."""


def upgrade(version: int, *op_types: str) -> Callable[[Adapter], Adapter]:
    """Register an adapter from opset `version` - 1 to `version`."""
    return _registrar(UPGRADES, version, op_types)


def downgrade(version: int, *op_types: str) -> Callable[[Adapter], Adapter]:
    """Register an adapter from opset `version` to `version` - 1."""
    return _registrar(DOWNGRADES, version, op_types)


def _registrar(
    table: dict[tuple[str, int], Adapter], version: int, op_types: tuple[str, ...]
) -> Callable[[Adapter], Adapter]:
    def register(adapter: Adapter) -> Adapter:
        for op_type in op_types:
            before = table.get((op_type, version))
            table[op_type, version] = adapter if before is None else _both(before, adapter)
        return adapter

    return register


def _both(first: Adapter, second: Adapter) -> Adapter:
    def adapt(site: Site) -> Outcome:
        outcome = first(site)
        return outcome if outcome is not None else second(site)

    return adapt


def adapter_for(op_type: str, source: int, target: int) -> Adapter | None:
    """The adapter for one step; None where the schemas say it all."""
    if target > source:
        return UPGRADES.get((op_type, target))
    return DOWNGRADES.get((op_type, source))
