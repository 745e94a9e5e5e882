"""Scatter became ScatterElements in opset 11; Upsample became Resize in opset 10."""

from __future__ import annotations

from ..site import Site
from .registry import Outcome, downgrade, upgrade


@upgrade(11, "Scatter")
def to_scatter_elements(site: Site) -> Outcome:
    """The same operator under another name."""
    site.op_type = "ScatterElements"
    return None


@downgrade(11, "ScatterElements")
def to_scatter(site: Site) -> Outcome:
    """The same operator under its old name."""
    site.op_type = "Scatter"
    return None
