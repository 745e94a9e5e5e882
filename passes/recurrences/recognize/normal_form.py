"""The normal form of an iteration: a function of states, with bounds and a condition.

s -> reset ? fresh : min (max (weights[0] * s[0] + weights[1] * s[1] + ... + offset, lower), upper)

A part that is absent is no zero: a product with 0 is NaN for an infinity, and loses the sign of a
zero.
"""

from ....ir import Value
from ....records import record
from .coefficients import ZERO, Coefficient

Part = Coefficient | None
"""A coefficient; None where it is absent, as the neutral element of the sum."""


@record(frozen=True)
class Bounded:
    """The function min (max (weights * states + offset, lower), upper).

    Attributes:
        weights: the factor of each state.
        offset: the addend.
        upper: the upper bound, which counts where both cross.
    """

    weights: tuple[Part, ...]
    offset: Part = None
    lower: Part = None
    upper: Part = None

    @property
    def is_bounded(self) -> bool:
        """Test for a bound."""
        return self.lower is not None or self.upper is not None

    @property
    def is_independent(self) -> bool:
        """Test for a function that no state changes."""
        return not any(self.weights)


@record(frozen=True)
class Step:
    """A function of states that a condition may replace by a value of the iteration.

    Attributes:
        plain: the function where the condition does not hold.
        reset: the condition, a truth value; the number 0 for never, 1 for always.
        fresh: the value where it holds.
    """

    plain: Bounded
    reset: Coefficient = ZERO
    fresh: Coefficient = ZERO

    @property
    def is_constant(self) -> bool:
        """Test for a value of the iteration alone."""
        return self.reset.number == 1.0

    @property
    def is_reset(self) -> bool:
        """Test for a condition that may hold."""
        return self.reset.number != 0.0


@record(frozen=True)
class Comparison:
    """A comparison of a value of the iteration with a function of the state.

    Attributes:
        kind: Max or Min: which of both the candidate is if the comparison holds.
        flag: the comparison.
        is_last: true if it holds for equal ones.
    """

    kind: str
    candidate: Value
    before: Value
    flag: Value
    is_last: bool

    @property
    def sides(self) -> tuple[Value, Value]:
        """The two values compared."""
        return self.candidate, self.before
