"""The recurrence that every version of Scan runs over one row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .bodies import Array, BoundBody
from .errors import EvaluationError


def scan_row(
    run: BoundBody, states: Sequence[Array], rows: Sequence[Array], length: int
) -> tuple[list[Array], list[list[Any]]]:
    """Run the body ``length`` times over the first axis of ``rows``.

    Returns the final states, and per scan output its elements in the order they were made.
    Raises EvaluationError if a state changes its shape: the specification requires one shape
    in all iterations.
    """
    count, final = len(states), list(states)
    elements: list[list[Any]] = [[] for _ in range(run.body.output_count - count)]
    for t in range(length):
        outputs = run([*final, *(row[t, ...] for row in rows)])
        for i, (old, new) in enumerate(zip(final, outputs[:count], strict=True)):
            if old.shape != new.shape:
                raise EvaluationError(
                    f"state {i} changes shape from {list(old.shape)} to {list(new.shape)} in "
                    f"iteration {t}; the specification requires one shape in all iterations"
                )
        final = outputs[:count]
        for collected, element in zip(elements, outputs[count:], strict=True):
            collected.append(element)
    return final, elements
