"""What a verification found, for people and for scripts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from ...display import Block, Line, Table, as_html, time_of
from ...runtimes.session import Feeds
from .comparison import Difference

if TYPE_CHECKING:
    from ..proof.result import Proof

Status = Literal["equal", "different", "contradictory", "open", "not verified"]
OutputStatus = Literal["equal", "different", "not deterministic"]


@dataclass(frozen=True)
class OutputDifference:
    """One output over all samples.

    Attributes:
        name: the output.
        status: "not deterministic" where the original does not repeat its own values, so that
            only type and shape were compared.
        difference: the largest differences over all samples, and the first place outside the
            tolerance.
        sample: the label of the sample that `difference.first` belongs to.
    """

    name: str
    status: OutputStatus
    difference: Difference
    sample: str = ""

    def __str__(self) -> str:
        text = f"{self.name}: {self.status}"
        found = self.difference
        if self.status == "different":
            text += f" in {found.kind}"
            if found.first is not None:
                text += f" {found.first}"
            if self.sample:
                text += f" ({self.sample})"
        return f"{text}; {self.largest}" if self.largest else text

    @property
    def largest(self) -> str:
        """The largest differences in a line; "" where there is none, or none was expected."""
        found = self.difference
        if not found.max_abs or self.status == "not deterministic":
            return ""
        return (
            f"at most {found.max_abs:.3g} absolute, {found.max_rel:.3g} relative,"
            f" {found.max_ulps} ULPs"
        )


@dataclass(frozen=True)
class Verdict:
    """Whether a rewrite gives the same outputs as its original. True only where it does.

    Attributes:
        status: "equal"; "different"; "contradictory" where they differ although there is a proof;
            "open" where a proof alone was tried and there is none; or "not verified" where nothing
            could be compared.
        reason: one sentence that says why.
        runtimes: what ran the models.
        samples: the samples on which both were run, by label.
        outputs: one entry per output, in order; empty where the models could not be run.
        disagreements: under runtime "both", the outputs on which the runtimes disagree about the
            original; that is a fault of a runtime, not of the rewrite.
        notes: what was done differently than asked, and what could not be covered.
        seconds: time spent.
        proof: what came of the proof that they are equal, where one was tried.
        feeds: where the outputs differ, an input on which they do.
    """

    status: Status
    reason: str
    runtimes: tuple[str, ...] = ()
    samples: tuple[str, ...] = ()
    outputs: tuple[OutputDifference, ...] = ()
    disagreements: tuple[OutputDifference, ...] = ()
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    proof: Proof | None = None
    feeds: Feeds | None = field(default=None, repr=False, compare=False)

    @property
    def proved(self) -> bool:
        """Whether the outputs are proved to be equal for every input."""
        return self.equal and self.proof is not None and self.proof.proved

    @property
    def equal(self) -> bool:
        """Whether the status is "equal"."""
        return self.status == "equal"

    @property
    def differs(self) -> bool:
        """Whether outputs differ on a sample, be there a proof or not."""
        return self.status in ("different", "contradictory")

    def __bool__(self) -> bool:
        return self.equal

    def to_dict(self) -> dict[str, Any]:
        """The verdict in types that JSON has; floats that JSON lacks become strings."""
        found: dict[str, Any] = _plain(asdict(replace(self, proof=None, feeds=None)))
        del found["feeds"]
        found["proof"] = None if self.proof is None else self.proof.to_dict()
        return {"equal": self.equal, "proved": self.proved, **found}

    def blocks(self) -> Iterator[Block]:
        """What it has to tell, for people: what was found for each output where that matters."""
        if self.outputs and not self.equal:
            yield self._table()
        if self.proved:
            assert self.proof is not None
            yield Line(f": {self.proof.claim} ({time_of(self.proof.seconds)})", status="proved")
        if self.status == "open":
            yield Line(f": {self.reason} ({time_of(self.seconds)})", status=self.status)
        elif self.samples or not self.proved:
            yield Line(self._what_ran(), status=self.status)
        for other in self.disagreements:
            yield Line(f"the runtimes disagree on the original: {other}")
        for note in self.notes:
            yield Line(f"note: {note}", "note")

    def _table(self) -> Table:
        """Every output with its largest differences and the first place that differs."""
        rows = []
        for output in self.outputs:
            found, differs = output.difference, output.status == "different"
            first = f"{found.kind} {found.first or ''}".strip() if differs else ""
            numbers = (f"{found.max_abs:.3g}", f"{found.max_rel:.3g}", str(found.max_ulps))
            rows.append((output.name, output.status, *numbers, first))
        columns = ("Output", "Verdict", "Largest abs", "Largest rel", "ULPs", "First difference")
        return Table(columns, rows)

    def _what_ran(self) -> str:
        """What running the models came to; why there is no proof, where one was tried."""
        ran = ", ".join(self.runtimes) or "nothing was run"
        ran += f", verified in {self.seconds:.2f} s"
        found = f": {self.reason}"
        if self.equal and all(output.status == "equal" for output in self.outputs):
            count = len(self.samples)
            found = f" on {count} sample{'' if count == 1 else 's'}"
            if self.proof is not None and not self.proved:
                ran = f"open: {self.proof.reason}; {ran}"
        return f"{found} ({ran})"

    def _repr_html_(self) -> str:
        return as_html("straightline: verification", self.blocks())

    def __str__(self) -> str:
        where = f" [{', '.join(self.runtimes)}]" if self.runtimes else ""
        lines = [f"{self.status}: {self.reason}{where}"]
        lines += [f"  {output}" for output in self.outputs]
        lines += [f"  the runtimes disagree on the original: {d}" for d in self.disagreements]
        lines += [f"  note: {note}" for note in self.notes]
        return "\n".join(lines)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, complex) or (isinstance(value, float) and not math.isfinite(value)):
        return str(value)
    return value
