"""Errors of conversions: failures by node, with reasons."""

from collections.abc import Mapping, Sequence
from typing import Any

from ..ir import Error, Value
from ..records import asdict, record, replace

Place = tuple[str, str]
"""An operator and a path."""


@record(frozen=True)
class Failure:
    """A node that the next version cannot express.

    Attributes:
        path: its place: the labels of the nodes around it and its own.
        op_type: its operator.
        from_version: the opset version up to which the conversion came.
        to_version: the next version, to which the node cannot be converted.
        reason: why not.

    Examples:
        >>> import straightline as sl
        >>> sl.versions.Failure("y", "Loop", 16, 15, "optional states").op_type
        'Loop'
    """

    path: str
    op_type: str
    from_version: int
    to_version: int
    reason: str

    def __str__(self) -> str:
        return (
            f"{self.op_type} '{self.path}', opset {self.from_version} to {self.to_version}:"
            f" {self.reason}"
        )

    @property
    def place(self) -> Place:
        """The operator and path of the node."""
        return self.op_type, self.path

    def because(self, kept: str | None) -> "Failure":
        """The failure with the reason why its node was not rewritten, if there is one."""
        if kept is None:
            return self
        return replace(self, reason=f"{self.reason}; not rewritten: {kept}")

    def to_dict(self) -> dict[str, str | int]:
        """The failure for JSON."""
        return asdict(self)


class ConversionError(Error):
    """The model cannot be converted to the target version; it was not changed.

    Attributes:
        message: why not, without the nodes.
        failures: every node that prevents the conversion; empty where the reason is not a node.
        reached: the opset nearest to the target that the model can be converted to, which was
            tried; None where there is none, or where it was not looked for.
    """

    def __init__(
        self, message: str, failures: Sequence[Failure] = (), reached: int | None = None
    ) -> None:
        super().__init__("\n  ".join([message, *map(str, failures)]))
        self.message = message
        self.failures = tuple(failures)
        self.reached = reached

    @property
    def is_upgrade(self) -> bool:
        """True if the target is a higher version."""
        return any(failure.to_version > failure.from_version for failure in self.failures)

    def to_dict(self) -> dict[str, Any]:
        """The error for JSON, besides its message."""
        return {
            "reached": self.reached,
            "failures": [failure.to_dict() for failure in self.failures],
        }

    def last_reached(self) -> int:
        """The last version before any node failed."""
        versions = [failure.from_version for failure in self.failures]
        return min(versions) if self.is_upgrade else max(versions)

    def reaching(self, opset: int | None) -> "ConversionError":
        """The error with the nearest opset that the model reaches; None for its own."""
        if not self.failures:
            return self
        last = self.last_reached()
        first = [f.op_type for f in self.failures if f.from_version == last]
        most = "highest" if self.is_upgrade else "lowest"
        reach = f"the {most} opset that it reaches is {opset}" if opset else "it reaches no other"
        names = ", ".join(dict.fromkeys(sorted(first)))
        message = f"{self.message}; {reach}; blocking the next: {names}"
        return ConversionError(message, self.failures, opset)

    def places(self) -> set[Place]:
        """The operators and paths of the failed nodes."""
        return {failure.place for failure in self.failures}

    def explained(self, kept: Mapping[Place, str]) -> "ConversionError":
        """The error with reasons, by operator and path, why constructs were not rewritten."""
        failures = [f.because(kept.get(f.place)) for f in self.failures]
        return ConversionError(self.message, failures, self.reached)

    def lines(self) -> list[str]:
        """The message, then a line for each failed node."""
        return [self.message, *map(str, self.failures)]


class Refused(Exception):
    """Refusal of an adapter to convert one node; the engine turns it into a `Failure`.

    Attributes:
        reason: why not.
        undecided: the value that must be known before run time, if there is one.
    """

    def __init__(self, reason: str, undecided: Value | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.undecided = undecided
