"""Verdict of a verification, for people and for scripts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, field, replace
from typing import TYPE_CHECKING, Any, Literal

from ...display import Block, Line, Table, as_html, time_of
from ...records import record
from ...runtimes.session import Feeds
from .comparison import Difference

if TYPE_CHECKING:
    from ..proof.result import Proof

Status = Literal["equal", "different", "contradictory", "open", "not verified"]
OutputStatus = Literal["equal", "different", "not deterministic"]

PLAIN_SAMPLE, GIVEN_SAMPLE = "sample", "given sample"
"""Labels, before a number, of samples whose number the caller chose; all others are edge cases."""


@record(frozen=True)
class OutputDifference:
    """One output over all samples.

    Attributes:
        name: the output.
        status: "not deterministic" where values change between runs of the original, so that only
            type and shape were compared.
        difference: the largest differences over all samples, and the first place outside the
            tolerance.
        sample: the label of the sample that `difference.first` belongs to.
    """

    name: str
    status: OutputStatus
    difference: Difference
    sample: str = ""

    def __str__(self) -> str:
        return f"{self.summary}; {self.largest}" if self.largest else self.summary

    @property
    def summary(self) -> str:
        """The status with the first difference."""
        text = f"{self.name}: {self.status}"
        difference = self.difference
        if self.status == "different":
            text += f" in {difference.kind}"
            if difference.first is not None:
                text += f" {difference.first}"
            if self.sample:
                text += f" ({self.sample})"
        return text

    @property
    def largest(self) -> str:
        """The largest differences in a line; "" where there is none, or none was expected."""
        difference = self.difference
        if not difference.max_abs or self.status == "not deterministic":
            return ""
        return (
            f"at most {difference.max_abs:.3g} absolute, {difference.max_rel:.3g} relative,"
            f" {difference.max_ulps} ULPs"
        )


@record(frozen=True)
class Verdict:
    """Verdict on equal outputs of a rewrite and its original. True only if equal.

    Attributes:
        status: "equal"; "different"; "contradictory" where they differ although there is a proof;
            "open" where a proof alone was tried and there is none; or "not verified" where nothing
            could be compared.
        reason: the reason in one sentence.
        runtimes: the runtimes of the models.
        samples: the samples on which both were run, by label.
        outputs: one entry per output, in order; empty where the models could not be run.
        disagreements: under runtime "both", the outputs on which the runtimes disagree about the
            original; that is a fault of a runtime, not of the rewrite.
        notes: deviations from the options, and gaps in the coverage.
        seconds: time spent.
        proof: the result of the proof that they are equal, where one was tried.
        feeds: where the outputs differ, an input on which they do.
        fault: the complaint about a rewrite that is no valid model, whose status is "different".

    Examples:
        >>> import straightline as sl
        >>> head = '<ir_version: 8, opset_import: ["" : 17]> '
        >>> one, other = (
        ...     sl.ir.parse(head + f"g (float[2] x) => (float[2] y) {{ y = {op} (x) }}")
        ...     for op in ("Relu", "Abs")
        ... )
        >>> verdict = sl.verify(one, other)
        >>> bool(verdict), verdict.status, [output.name for output in verdict.outputs]
        (False, 'different', ['y'])
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
    fault: str = ""

    @classmethod
    def invalid(cls, fault: str, **details: Any) -> Verdict:
        """The verdict on a rewrite that is not a valid model, whatever its outputs."""
        reason = f"the rewrite is not a valid model: {fault}"
        return cls("different", reason, fault=fault, **details)

    @property
    def difference(self) -> str:
        """The first differences of all outputs in a sentence, or the reason."""
        texts = [output.summary for output in self.outputs if output.status == "different"]
        return "; ".join(texts) or self.reason

    @property
    def counted_samples(self) -> str:
        """The number of samples in words: the caller's, and the edge cases that are added."""
        chosen = sum(
            label.rpartition(" ")[0] in (PLAIN_SAMPLE, GIVEN_SAMPLE) for label in self.samples
        )
        counts = {"sample": chosen, "edge case": len(self.samples) - chosen}
        return " and ".join(
            f"{count} {noun}{'s' * (count != 1)}" for noun, count in counts.items() if count
        )

    @property
    def proved(self) -> bool:
        """True if the outputs are proved to be equal for every input."""
        return self.equal and self.proof is not None and self.proof.proved

    @property
    def equal(self) -> bool:
        """True if the status is "equal"."""
        return self.status == "equal"

    @property
    def _is_unproved(self) -> bool:
        """True if runs found no difference, and a proof was tried in vain."""
        return self.equal and self.proof is not None and not self.proved

    @property
    def differs(self) -> bool:
        """True if outputs differ on a sample, with or without a proof."""
        return self.status in ("different", "contradictory")

    def __bool__(self) -> bool:
        return self.equal

    def to_dict(self) -> dict[str, Any]:
        """The verdict in types that JSON has; floats that JSON lacks become strings."""
        fields: dict[str, Any] = _plain(asdict(replace(self, proof=None, feeds=None)))
        del fields["feeds"], fields["fault"]
        fields["proof"] = None if self.proof is None else self.proof.to_dict()
        return {"equal": self.equal, "proved": self.proved, **fields}

    def blocks(self) -> Iterator[Block]:
        """The verdict for people, with a table of outputs unless they are equal."""
        if self.outputs and not self.equal:
            yield self._table()
        if self.proved:
            assert self.proof is not None
            yield from self.proof.blocks()
        if self.status == "open":
            yield Line(f": {self.reason} ({time_of(self.seconds)})", status=self.status)
        elif self.samples or not self.proved:
            status = "open" if self._is_unproved else self.status
            yield Line(self._summary(), status=status)
        for other in self.disagreements:
            yield Line(f"the runtimes disagree on the original: {other}")
        for note in self.notes:
            yield Line(f"note: {note}", "note")

    def _table(self) -> Table:
        """The table of outputs with their largest and first differences."""
        rows = []
        for output in self.outputs:
            worst, differs = output.difference, output.status == "different"
            first = f"{worst.kind} {worst.first or ''}".strip() if differs else ""
            numbers = (f"{worst.max_abs:.3g}", f"{worst.max_rel:.3g}", str(worst.max_ulps))
            rows.append((output.name, output.status, *numbers, first))
        columns = ("Output", "Verdict", "Largest abs", "Largest rel", "ULPs", "First difference")
        return Table(columns, rows)

    def _summary(self) -> str:
        """The summary of the runs, with the reason for an open proof."""
        ran = ", ".join(self.runtimes) or "nothing was run"
        ran += f", verified in {self.seconds:.2f} s"
        outcome = f": {self.reason}"
        if self.equal and all(output.status == "equal" for output in self.outputs):
            outcome = f" on {self.counted_samples}"
        if self._is_unproved:
            assert self.proof is not None
            return f", equal{outcome} ({self.proof.reason}; {ran})"
        return f"{outcome} ({ran})"

    def _repr_html_(self) -> str:
        return as_html("straightline: verification", self.blocks())

    def __str__(self) -> str:
        where = f" [{', '.join(self.runtimes)}]" if self.runtimes else ""
        status: str = "proved" if self.proved else self.status
        if self._is_unproved:
            status = "open, equal"
        reason = self.reason
        if self.proved and self.proof is not None:
            status, reason = self.proof.word, self.proof.claim
        lines = [f"{status}: {reason}{where}"]
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
