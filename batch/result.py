"""Results of a batch: a record for each model."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from ..driver.result import Outcome

Status = Literal["written", "skipped", "failed"]
Problem = Literal[
    "",
    "bad input",
    "usage",
    "outputs differ",
    "control flow left",
    "not taken",
    "not verified",
    "worker died",
    "fault",
]


@dataclasses.dataclass(frozen=True)
class Record:
    """Result of one model.

    Attributes:
        name: its place below the folder of the results, parts joined by slashes.
        source: where it was read from, as the caller named it.
        target: where the result is; where it was to go, if it failed.
        status: "written"; "skipped" (it was done before and is unchanged) or "failed".
        problem: what kind of failure it was; "" where there was none.
        messages: what went wrong; or what is to be known about what was written.
        outputs: "proved", "equal", "different" or "not verified"; "" where nothing was compared.
        nodes: how many nodes there are in all graphs, before and after; None without a result.
        opset: the version of ONNX's operator set, before and after.
        left: the control flow that is left, each with the reason, as in JSON.
        seconds: the time that it took.
    """

    name: str
    source: str
    target: str
    status: Status
    problem: Problem = ""
    messages: tuple[str, ...] = ()
    outputs: str = ""
    nodes: tuple[int, int] | None = None
    opset: tuple[int, int] | None = None
    left: tuple[Mapping[str, Any], ...] = ()
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        """Test whether the result is there."""
        return self.status != "failed"

    def describing(self, outcome: Outcome) -> Record:
        """Return the record with the content of an outcome."""
        outputs, messages = "", self.messages
        if outcome.left:
            messages = (*messages, f"control flow left: {len(outcome.left)}")
        if outcome.untaken:
            messages = (*messages, outcome.untaken_sum)
        if outcome.verdict is not None:
            outputs = "proved" if outcome.verdict.proved else outcome.verdict.status
            if not outcome.verdict.equal:
                messages = (*messages, f"not verified: {outcome.verdict.reason}")
        return dataclasses.replace(
            self,
            messages=messages,
            outputs=outputs,
            nodes=(outcome.nodes.before, outcome.nodes.after),
            opset=(outcome.opset.before, outcome.opset.after),
            left=tuple(remark.to_dict() for remark in outcome.left),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the record in types that JSON has."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> Record:
        """Make a record of what JSON holds.

        Raises:
            TypeError: a field is missing, unknown or of another type.
        """
        fields: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in entry.items()
        }
        record = cls(**fields)
        texts = (record.name, record.source, record.target, record.status, record.problem)
        pairs = [pair for pair in (record.nodes, record.opset) if pair is not None]
        if not (
            _are(str, texts, record.messages, (record.outputs,))
            and _are(int, *pairs)
            and all(len(pair) == 2 for pair in pairs)
            and _are(Mapping, record.left)
            and _are((int, float), (record.seconds,))
        ):
            raise TypeError("a field of a record has another type")
        return record


def _are(kind: type | tuple[type, ...], *values: object) -> bool:
    """Return whether all are tuples of elements of a kind."""
    return all(isinstance(v, tuple) and all(isinstance(e, kind) for e in v) for v in values)
