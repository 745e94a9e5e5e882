"""Scan: its axes. `version_converter/scans.py` converts between opsets 8 and 9.

- 8: the operator appears; all inputs have a batch axis, and the axis after it is scanned.
- 9: no batch; `scan_input_axes` and `scan_output_axes` select the scanned axes.
- 11: these axes may be negative.
- 16, 19, 21, 23, 24 and 25: more types.
"""

from ..registry import NodeDraft, downgrade


@downgrade(11, "Scan")
def count_scan_axes(draft: NodeDraft) -> None:
    """Convert negative axes to positive ones, by the rank of each input or output."""
    states = len(draft.inputs) - draft.attribute("num_scan_inputs")
    inputs, elements = draft.inputs[states:], draft.body("body").outputs[states:]
    for name, values, more in (("scan_input_axes", inputs, 0), ("scan_output_axes", elements, 1)):
        axes = draft.attribute(name) if name in draft.attributes else []
        if all(axis >= 0 for axis in axes):
            continue
        ranks = [draft.types.rank(value) for value in values]
        pairs = list(zip(axes, ranks, strict=True))
        if any(axis < 0 and rank is None for axis, rank in pairs):
            draft.refuse(f"a negative axis in '{name}' needs a rank that is not known")
        draft.set(name, [axis + ((rank or 0) + more) * (axis < 0) for axis, rank in pairs])
