"""Conditions of a claim about inputs that have one value."""

from collections.abc import Container, Mapping

from ..ir import Array

GIVEN = "has the value that was set"
"""Ending of a condition on a value that is too long to be written out."""
_MOST_ELEMENTS, _LONGEST = 16, 80


def bound_conditions(bound: Mapping[str, Array], inputs: Container[str]) -> set[str]:
    """Conditions on bound inputs, a clause each.

    Args:
        bound: their values.
        inputs: the inputs of the rewrite, which may still have some of them.
    """
    return {_condition(name, value, name in inputs) for name, value in bound.items()}


def _condition(name: str, value: Array, is_kept: bool) -> str:
    subject = f"input '{name}'{', which the rewrite still has,' if is_kept else ''}"
    text = str(value.tolist()) if value.size <= _MOST_ELEMENTS else ""
    return f"{subject} is {text}" if 0 < len(text) <= _LONGEST else f"{subject} {GIVEN}"
