"""Bounds of values that are bounded again."""

import math
from typing import Any

import numpy as np

from ..rules.match import Match
from ..rules.registry import law

_FIRST = 11
"""The first opset with bounds as operands."""

_CHOICES = [(-1.0, 6.0, 0.5, 2.0), (0.5, 4.0, -2.0, 3.0), (1.0, 2.0, 2.0, 5.0)]


class _Bounds:
    """Texts of two operators that bound a value.

    Args:
        kinds: Relu or Clip, twice.
        are_operands: true where the opset has bounds as operands.
    """

    def __init__(self, kinds: tuple[str, str], are_operands: bool) -> None:
        self.kinds = kinds
        self.are_operands = are_operands
        clips = [n for n, kind in enumerate(kinds) if kind == "Clip"]
        self.names = [name for n in clips for name in (f"lo{n}", f"hi{n}")]

    def node(self, number: int, value: str) -> str:
        """The text of one of the operators."""
        if self.kinds[number] == "Relu":
            return f"Relu ({value})"
        if self.are_operands:
            return f"Clip ({value}, lo{number}, hi{number})"
        return f"Clip <min = @lo{number}, max = @hi{number}> ({value})"

    def numbers(self, match: Match) -> list[float] | None:
        """The bounds of all operators, lower ones first in each pair."""
        if not self.are_operands:
            return [float(match[name]) for name in self.names]
        arrays = [match.array(name) for name in self.names]
        return (
            None if any(a is None for a in arrays) else [float(a) for a in arrays if a is not None]
        )

    def add(self) -> None:
        """Add the rule that bounds the value once."""

        def where(match: Match) -> bool:
            numbers = self.numbers(match)
            if numbers is None:
                return False
            pairs = list(zip(numbers[::2], numbers[1::2], strict=True))
            lows = [low for low, _ in pairs] + [0.0] * self.kinds.count("Relu")
            low, high = max(lows), min(high for _, high in pairs)
            match.bind("low", self._constant(match, low))
            match.bind("high", self._constant(match, high))
            is_finite = all(map(math.isfinite, numbers))
            return is_finite and all(a <= b for a, b in pairs) and low <= high

        header = "".join(f", const floats {name}[]" for name in self.names)
        after = ("Clip <min = @low, max = @high> (x)", "Clip (x, @low, @high)")[self.are_operands]
        law(
            f"{self.kinds[1]}Of{self.kinds[0]}{'' if self.are_operands else 'Attributes'} (reals):"
            f" Bound a value once instead of by {self.kinds[0]} and {self.kinds[1]}.",
            f"""(floats x{header if self.are_operands else ""}) => (y) {{
                t = {self.node(0, "x")}  y = {self.node(1, "t")} }}""",
            f"(x) => (y) {{ y = {after} }}",
            where,
            lambda ranks: [dict(zip(self.names, bounds, strict=False)) for bounds in _CHOICES],
            since=_FIRST if self.are_operands else 7,
            until=None if self.are_operands else _FIRST,
        )

    def _constant(self, match: Match, number: float) -> Any:
        if not self.are_operands:
            return number
        bounds = match.array(self.names[0])
        return number if bounds is None else np.array(number, bounds.dtype)


for _kinds in (("Relu", "Clip"), ("Clip", "Relu"), ("Clip", "Clip")):
    for _are_operands in (False, True):
        _Bounds(_kinds, _are_operands).add()
