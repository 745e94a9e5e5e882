"""Results of a batch: a record for each model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from ..records import asdict, record, replace

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


@record(frozen=True)
class Record:
    """Result of one model.

    Attributes:
        name: its place below the folder of the results, parts joined by slashes.
        source: where it was read from, as the caller named it.
        target: where the result is; where it was to go, if it failed.
        status: "written"; "skipped" (it was done before and is unchanged) or "failed".
        problem: what kind of failure it was; "" where there was none.
        messages: what went wrong; or what is to be known about what was written.
        outputs: "proved", "proved, not replayed", "equal", "different", "contradictory", "open" or
            "not verified"; "" where nothing was compared.
        nodes: how many nodes there are in all graphs, before and after; None without a result.
        control_flow: how many of them hold graphs, before and after.
        run_time: the predicted time of a run in onnxruntime in microseconds, before and after; None
            for a large model.
        size: the bytes of the model with its external data, before and after.
        opset: the version of ONNX's operator set, before and after.
        left: the control flow that is left, each with the reason, as in JSON.
        seconds: the time that the work took; of a skipped model, the time when it was done.
        report: the page that shows the rewrite; "" without one.

    Examples:
        >>> import straightline as sl
        >>> sl.batch.Record("a.onnx", "in/a.onnx", "out/a.onnx", "written").problem
        ''
    """

    name: str
    source: str
    target: str
    status: Status
    problem: Problem = ""
    messages: tuple[str, ...] = ()
    outputs: str = ""
    nodes: tuple[int, int] | None = None
    control_flow: tuple[int, int] | None = None
    run_time: tuple[float, float] | None = None
    size: tuple[int, int] | None = None
    opset: tuple[int, int] | None = None
    left: tuple[Mapping[str, Any], ...] = ()
    seconds: float = 0.0
    report: str = ""

    @property
    def ok(self) -> bool:
        """Test whether the result is there."""
        return self.status != "failed"

    def describing(self, outcome: Outcome) -> Record:
        """Return the record with the content of an outcome."""
        from ..passes.costs.measures import Measures

        outputs, messages = "", self.messages
        if outcome.left:
            messages = (*messages, f"control flow left: {len(outcome.left)}")
        if outcome.untaken:
            messages = (*messages, outcome.untaken_sum)
        messages += tuple(str(remark.reason) for remark in outcome.alarms)
        if outcome.verdict is not None:
            proof = outcome.verdict.proof if outcome.verdict.proved else None
            outputs = outcome.verdict.status if proof is None else proof.word
            if proof is not None and proof.unreplayed:
                messages = (*messages, f"{proof.word}: {proof.unreplayed}")
            if not outcome.verdict.equal:
                messages = (*messages, f"not verified: {outcome.verdict.reason}")
        one, other = map(Measures.of, (outcome.request.prepare()[0], outcome.ir))
        times = one.run_time, other.run_time
        return replace(
            self,
            control_flow=(one.control_flow, other.control_flow),
            run_time=None if times[0] is None or times[1] is None else (times[0], times[1]),
            messages=messages,
            outputs=outputs,
            nodes=(outcome.nodes.before, outcome.nodes.after),
            opset=(outcome.opset.before, outcome.opset.after),
            # The reason stands there also as tables show it.
            left=tuple([{**r.to_dict(), "brief": str(r.brief.reason)} for r in outcome.left]),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the record in types that JSON has."""
        return asdict(self)

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> Record:
        """Make a record of what JSON holds.

        Raises:
            TypeError: a field is missing, unknown or of another type.
        """
        # JSON has lists alone, where a record has tuples.
        fields: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in entry.items()
        }
        record = cls(**fields)
        texts = (record.name, record.source, record.target, record.status, record.problem)
        counts = (record.nodes, record.control_flow, record.size, record.opset)
        pairs = [pair for pair in counts if pair is not None]
        if not (
            _are(str, texts, record.messages, (record.outputs, record.report))
            and _are(int, *pairs)
            and all(len(pair) == 2 for pair in (*pairs, record.run_time or (0, 0)))
            and _are(Mapping, record.left)
            and _are((int, float), (record.seconds,), record.run_time or ())
        ):
            raise TypeError("a field of a record has another type")
        return record


@record(frozen=True)
class Done:
    """Result of a model, with its entry in the state.

    Attributes:
        record: for people.
        entry: what is to be known of it later; None where nothing was written.
    """

    record: Record
    entry: dict[str, Any] | None = None


def _are(kind: type | tuple[type, ...], *values: object) -> bool:
    """Return whether all are tuples of elements of a kind."""
    return all(isinstance(v, tuple) and all(isinstance(e, kind) for e in v) for v in values)
