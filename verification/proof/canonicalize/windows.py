"""Convolutions and pools: attributes with the values that they have when absent."""

from __future__ import annotations

from collections.abc import Sequence

from ..terms.term import Args, Head, Term
from ..terms.term_manager import Terms, canonical_form

_DEFAULTS = {"pads": 0, "strides": 1, "dilations": 1}


@canonical_form("Conv", "AveragePool", "LpPool", "MaxPool")
def defaults(terms: Terms, head: Head, args: Args, count: int) -> Sequence[Term | None] | None:
    """Omit pads of 0, strides and dilations of 1, and a kernel shape of Conv."""
    values = {name: head.attribute(name) for name in _DEFAULTS}
    changed: dict[str, None] = {
        name: None for name, listed in values.items() if listed and set(listed) == {_DEFAULTS[name]}
    }
    if head.text("auto_pad") not in ("", "NOTSET"):
        changed.pop("pads", None)
    if head.name == "Conv" and head.attribute("kernel_shape") and args[1] is not None:
        kernel = [dim.value for dim in args[1].fact.shape or ()][2:]
        if kernel and kernel == list(head.attribute("kernel_shape")):
            changed["kernel_shape"] = None
    if not changed:
        return None
    return terms.apply(terms.heads.with_attributes(head, **changed), args, count)
