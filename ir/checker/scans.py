"""Checks of Scan's lists: one entry for each scanned input or output."""

from collections.abc import Sequence

import onnx

from ..errors import ModelError

_INPUTS = ("scan_input_axes", "scan_input_directions", "directions")
_OUTPUTS = ("scan_output_axes", "scan_output_directions")


def check_scan(node: onnx.NodeProto, label: str, version: int) -> None:
    """Check the lengths of a Scan's lists, and its directions.

    Raises:
        ModelError: they do not fit (operator specification of Scan).
    """
    attributes = {attribute.name: attribute for attribute in node.attribute}
    number = attributes.get("num_scan_inputs")
    if number is None or number.ref_attr_name:
        return
    scanned = number.i
    states = len(node.input) - scanned - (version == 8)
    body = attributes.get("body")
    counts: list[tuple[Sequence[str], int, str]] = [(_INPUTS, scanned, "scanned inputs")]
    # The reader of the body checks whether there are enough.
    if body is not None and not body.ref_attr_name and len(body.g.output) >= states:
        counts.append((_OUTPUTS, len(body.g.output) - states, "scan outputs"))
    for names, count, what in counts:
        for name in names:
            if name in attributes:
                _check_list(attributes[name], count, what, label)


def _check_list(attribute: onnx.AttributeProto, count: int, what: str, label: str) -> None:
    name, entries = attribute.name, attribute.ints
    if attribute.ref_attr_name:
        return
    if entries and len(entries) != count:
        raise ModelError(f"{label} has {len(entries)} {name} for {count} {what}")
    for entry in entries:
        if name.endswith("directions") and entry not in (0, 1):
            raise ModelError(f"{label} has {entry} among its {name}, which are 0 or 1")
