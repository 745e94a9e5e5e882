"""Scan version 8: with a batch axis and an optional length per row."""

from typing import Any

import numpy as np

from .bodies import Array, BoundBody, empty, scan_row
from .errors import EvaluationError


def scan_8(
    run: BoundBody, lengths: Any, states: list[Array], scanned: list[Array], backward: list[bool]
) -> tuple[Any, ...]:
    """Run each row of the batch from its own state, for its own length.

    States are ``[batch, ...]``, scan inputs ``[batch, length, ...]``. Scan outputs are
    ``[batch, length, ...]`` in forward order, with zeros past the length of a row (which the
    specification leaves undefined; onnxruntime writes zeros). A backward input starts at the
    last valid element of its row.

    Raises EvaluationError for scan inputs or states that disagree on batch or length, and for
    a length outside ``0..length``.
    """
    batch, longest = _extent(states, scanned)
    iterations = _iterations(lengths, batch, longest)
    finals: list[list[Array]] = []
    rows: list[list[list[Any]]] = []
    for b, length in enumerate(iterations):
        valid = [s[b, :length] for s in scanned]
        ordered = [v[::-1] if flag else v for v, flag in zip(valid, backward, strict=True)]
        final, elements = scan_row(run, [s[b, ...] for s in states], ordered, length)
        finals.append(final)
        rows.append(elements)
    sample = [
        *(np.empty(s.shape[1:], s.dtype) for s in states),
        *(np.empty(s.shape[2:], s.dtype) for s in scanned),
    ]
    padded = [
        _pad(run, len(states) + i, [row[i] for row in rows], (batch, longest), sample)
        for i in range(run.body.output_count - len(states))
    ]
    # A batch of 0 has no rows to stack; its states are as empty as the results.
    stacked = [np.stack([f[i] for f in finals]) if finals else s for i, s in enumerate(states)]
    return (*stacked, *padded)


def _extent(states: list[Array], scanned: list[Array]) -> tuple[int, int]:
    """Batch and length, on which all inputs must agree."""
    if any(s.ndim < 2 for s in scanned) or any(s.ndim < 1 for s in states):
        raise EvaluationError(
            "Scan 8 needs states of shape [batch, ...] and scan inputs of shape "
            "[batch, length, ...]"
        )
    extents = {s.shape[:2] for s in scanned}
    if len(extents) > 1:
        raise EvaluationError(f"scan inputs differ in [batch, length]: {sorted(extents)}")
    batch, longest = extents.pop()
    for i, state in enumerate(states):
        if len(state) != batch:
            raise EvaluationError(f"state {i} has batch {len(state)}, the scan inputs have {batch}")
    return batch, longest


def _iterations(lengths: Any, batch: int, longest: int) -> list[int]:
    if lengths is None:
        return [longest] * batch
    if np.shape(lengths) != (batch,):
        raise EvaluationError(f"sequence_lens has shape {list(np.shape(lengths))}, not [{batch}]")
    iterations = [int(length) for length in lengths]
    for b, length in enumerate(iterations):
        if not 0 <= length <= longest:
            raise EvaluationError(f"sequence_lens[{b}] is {length}, outside 0..{longest}")
    return iterations


def _pad(
    run: BoundBody, index: int, rows: list[list[Any]], extent: tuple[int, int], sample: list[Array]
) -> Array:
    """The scan output of all rows, with zeros where a row has ended."""
    elements = [element for row in rows for element in row]
    # Stacking all elements at once also checks that the rows agree on their shape.
    flat = run.body.stacked(index, elements, inputs=sample, captured=run.captured)
    result = empty((*extent, *flat.shape[1:]), flat.dtype)
    start = 0
    for b, row in enumerate(rows):
        result[b, : len(row)] = flat[start : start + len(row)]
        start += len(row)
    return result
