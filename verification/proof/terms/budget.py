"""Budgets of a proof: counted terms and steps rather than time, so equal on every machine."""

from ....facts.fact import Fact, length_of
from ....ir import Signal
from ....limits import allowed, limit
from ....records import record

MANY = 8
"""Number of operands up to which a term costs nothing more."""

_EACH = 4
"""Steps for each of many operands."""


_TERM = 16
"""Steps for each monomial of long sizes."""


_BRIEF_TERMS, _BRIEF_TERMS_PER_NODE = 50_000, 20
_BRIEF_STEPS, _BRIEF_STEPS_PER_NODE = 250_000, 50
"""The budget of a proof that every rewrite makes: it gives up within a second or two where models
are small. A proof that is asked for by name may take more."""


class OpenError(Signal):
    """Signal that a proof cannot go on: the question stays open."""


@record
class Budget:
    """Terms and steps that a proof may still spend.

    Attributes:
        terms: terms that may still be built.
        steps: nodes that may still run and pairs of terms that may still be compared.
    """

    terms: int = limit("proof_terms")
    steps: int = limit("proof_steps")

    @classmethod
    def of_size(cls, nodes: int) -> "Budget":
        """Budget for models of so many nodes."""
        return cls(steps=limit("proof_steps") + nodes * limit("proof_steps_per_node"))

    def brief(self, nodes: int) -> "Budget":
        """Budget of a brief proof for models of so many nodes, within this one."""
        return Budget(
            min(self.terms, _BRIEF_TERMS + _BRIEF_TERMS_PER_NODE * nodes),
            min(self.steps, _BRIEF_STEPS + _BRIEF_STEPS_PER_NODE * nodes),
        )

    def __post_init__(self) -> None:
        self._most = {"proof_terms": self.terms, "proof_steps": self.steps}

    def make_terms(self, count: int) -> None:
        """Count terms.

        Raises:
            OpenError: there are too many.
        """
        self.terms -= count
        if self.terms < 0:
            raise self._over("the models have too many terms", "proof_terms")

    def take(self, operands: int) -> None:
        """Count the operands of a term that has many. A Concat of Concats has all their operands,
        which may double on each iteration.

        Raises:
            OpenError: there are too many.
        """
        self.step(_EACH * operands)

    def take_sizes(self, facts: list[Fact]) -> list[Fact]:
        """Count the monomials of sizes if there are many, and return the facts unchanged.

        Raises:
            OpenError: there are too many.
        """
        terms = sum(map(length_of, facts))
        if terms > MANY:
            self.step(_TERM * terms)
        return facts

    def step(self, count: int = 1) -> None:
        """Count steps.

        Raises:
            OpenError: there are too many.
        """
        self.steps -= count
        if self.steps < 0:
            raise self._over("the comparison needs too many steps", "proof_steps")

    def _over(self, what: str, name: str) -> OpenError:
        return OpenError(f"{what}: more than {allowed(name, self._most[name])}")
