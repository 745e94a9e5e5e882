"""Which adapter carries an operator across which change of version."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...ir import Value
from ..site import Site

Outcome = Sequence[Value | None] | None
"""The values that replace a node's outputs; None where the draft of the node says it all."""

Adapter = Callable[[Site], Outcome]

Adapters = dict[tuple[str, int], tuple[Adapter, ...]]

UPGRADES: Adapters = {}
"""From the version before to this one."""

DOWNGRADES: Adapters = {}
"""From this version to the one before."""


def upgrade(version: int, *op_types: str) -> Callable[[Adapter], Adapter]:
    """Register an adapter from opset `version` - 1 to `version`."""
    return _registrar(UPGRADES, version, op_types)


def downgrade(version: int, *op_types: str) -> Callable[[Adapter], Adapter]:
    """Register an adapter from opset `version` to `version` - 1."""
    return _registrar(DOWNGRADES, version, op_types)


def _registrar(
    table: Adapters, version: int, op_types: tuple[str, ...]
) -> Callable[[Adapter], Adapter]:
    def register(adapter: Adapter) -> Adapter:
        for op_type in op_types:
            table[op_type, version] = (*table.get((op_type, version), ()), adapter)
        return adapter

    return register


def adapt(site: Site) -> Outcome:
    """Run the adapters of one step on a draft, in order, until one replaces the node.

    Raises:
        Refused: one of them cannot carry the node over.
    """
    table, version = (UPGRADES, site.target) if site.is_upgrade else (DOWNGRADES, site.source)
    for adapter in table.get((site.node.op_type, version), ()):
        outcome = adapter(site)
        if outcome is not None:
            return outcome
    return None
