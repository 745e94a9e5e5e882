"""What cannot be converted, and why."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from ..ir import Error


@dataclasses.dataclass(frozen=True)
class Failure:
    """One node that the next version cannot express.

    Attributes:
        path: where it is: the labels of the nodes around it and its own.
        op_type: its operator.
        from_version: the opset version up to which the conversion came.
        to_version: the next one, which the node cannot be carried to.
        reason: why not.
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

    def to_dict(self) -> dict[str, str | int]:
        """The failure as JSON takes it."""
        return dataclasses.asdict(self)


class ConversionError(Error):
    """The model cannot be carried to the target version; it was not changed.

    Attributes:
        message: why not, without the nodes.
        failures: every node that stands in the way, each with its operator and two versions; empty
            where the reason is not a node.
    """

    def __init__(self, message: str, failures: Sequence[Failure] = ()) -> None:
        super().__init__("\n  ".join([message, *map(str, failures)]))
        self.message = message
        self.failures = tuple(failures)

    def lines(self) -> list[str]:
        """The reason, then every node that stands in the way."""
        return [self.message, *map(str, self.failures)]


class Refused(Exception):
    """An adapter cannot carry one node over; the engine turns it into a `Failure`."""
