"""Scan: its axes. `version_converter/scans.py` converts between opsets 8 and 9.

- 8: the operator appears; all inputs have a batch axis, and the axis after it is scanned.
- 9: no batch; `scan_input_axes` and `scan_output_axes` select the scanned axes.
- 11: these axes may be negative.
- 16: bfloat16.
- 19: 8-bit floats.
- 21: 4-bit integers.
- 23: float4e2m1.
- 24: float8e8m0.
- 25: 2-bit integers.
"""

from __future__ import annotations

from ..node_draft import NodeDraft
from ..registry import downgrade


@downgrade(11, "Scan")
def count_scan_axes(draft: NodeDraft) -> None:
    """Convert negative axes to positive ones, by the rank of each input or output."""
    body = draft.body("body")
    scanned = draft.attribute("num_scan_inputs")
    states = len(draft.inputs) - scanned
    inputs = [draft.rank(states + index) for index in range(scanned)]
    outputs = []
    for value in body.outputs[states:]:
        rank = draft.types.rank(value)
        outputs.append(None if rank is None else rank + 1)
    for name, ranks in (("scan_input_axes", inputs), ("scan_output_axes", outputs)):
        axes = draft.attribute(name) if name in draft.attributes else []
        if all(axis >= 0 for axis in axes):
            continue
        counted = []
        for axis, rank in zip(axes, ranks, strict=True):
            if axis < 0 and rank is None:
                draft.refuse(f"a negative axis in '{name}' needs a rank that is not known")
            counted.append(axis + (rank or 0) if axis < 0 else axis)
        draft.set(name, counted)
