"""The verdict of a verification as plain data: outputs, proof, and the first difference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..records import record
from ..verification.rules_in_words import NOTIONS_IN_WORDS, rules_in_words
from .first_difference import FirstDifference

if TYPE_CHECKING:
    from ..verification.mismatch import MismatchError
    from ..verification.proof.result import Proof
    from ..verification.runs.verdict import OutputDifference, Verdict


_MOST_PLACES = 5
"""The most named constructs of a pass at fault."""


@record(frozen=True)
class OutputRow:
    """An output and its status: "proved", "equal", "different", "not deterministic"."""

    name: str
    status: str
    detail: str


@record(frozen=True)
class ProofData:
    """A proof in words, found or open.

    Attributes:
        status: "proved", "refuted" or "open".
        claim: the notion of equality in a sentence; "" for an open proof.
        rules: the rules that it used, a sentence each.
        assumptions: its assumptions, a clause each.
        needed: for an open proof, the rule that is missing.
        conditions: for an open proof, conditions under which there is one.
        first: for an open proof, the first terms that differ, as ONNX text.
    """

    status: str
    claim: str
    rules: tuple[str, ...]
    assumptions: tuple[str, ...]
    needed: str
    conditions: tuple[str, ...]
    first: tuple[str, str] | None

    @classmethod
    def of(cls, proof: Proof) -> ProofData:
        """Describe a proof."""
        claim = NOTIONS_IN_WORDS[proof.equality or "bits"] if proof.proved else ""
        if proof.assumptions:
            claim = claim.replace("gives outputs.", "gives outputs and the assumptions hold.")
        return cls(
            proof.status,
            claim,
            rules_in_words(proof.rules),
            proof.assumptions,
            proof.needed,
            tuple([condition.text for condition in proof.conditions]),
            proof.first,
        )


@record(frozen=True)
class VerdictData:
    """The verdict of the verification.

    Attributes:
        status: "proved", or as in `Verdict`: "equal", "different", "contradictory", "open", "not
            verified".
        reason: the reason in one sentence.
        ran: the runtime and the number of samples.
        notes: the limits of the verification.
        seconds: time spent.
        proof: the proof, where one was tried.
        fault: the pass at fault, with the constructs that it rewrote; "" where none is known.
        difference: the values of the first node that differs, or the reason why none is known.
    """

    status: str
    reason: str
    ran: str
    outputs: tuple[OutputRow, ...]
    notes: tuple[str, ...]
    seconds: float
    proof: ProofData | None = None
    fault: str = ""
    difference: FirstDifference | str = ""

    @classmethod
    def of(
        cls,
        verdict: Verdict,
        mismatch: MismatchError | None = None,
        difference: FirstDifference | str = "",
    ) -> VerdictData:
        """Describe a verdict.

        Args:
            mismatch: the error that names the pass at fault.
        """
        proof = verdict.proof
        where = ", ".join(verdict.runtimes)
        ran = f"run by {where} on {verdict.counted_samples}" if where else ""
        notes = list(verdict.notes)
        if proof is not None and not proof.proved:
            notes.append(f"no proof was found: {proof.reason}")
        return cls(
            "proved" if verdict.proved else verdict.status,
            proof.claim if verdict.proved and proof is not None else verdict.reason,
            ran,
            _outputs(verdict),
            tuple(notes),
            verdict.seconds or (proof.seconds if proof is not None else 0.0),
            None if proof is None else ProofData.of(proof),
            _fault(mismatch),
            difference,
        )


def _outputs(verdict: Verdict) -> tuple[OutputRow, ...]:
    rows = [OutputRow(o.name, o.status, _detail(o)) for o in verdict.outputs]
    proof = verdict.proof
    if verdict.proved and proof is not None:
        details = {
            name: f"both models compute the same {count} term{'s' * (count != 1)}"
            for name, count in proof.outputs.items()
        } | {row.name: row.detail for row in rows}
        rows = [OutputRow(name, "proved", details[name]) for name in proof.outputs]
    return tuple(rows)


def _detail(output: OutputDifference) -> str:
    """The largest difference of an output, and the first one where it differs."""
    first = output.difference.first if output.status == "different" else None
    return "; ".join(filter(None, [output.largest, "" if first is None else f"first {first}"]))


def _fault(mismatch: MismatchError | None) -> str:
    if mismatch is None or not mismatch.culprit:
        return ""
    places = [f"{remark.op_type} '{remark.path}'" for remark in mismatch.remarks[:_MOST_PLACES]]
    more = len(mismatch.remarks) - len(places)
    if more > 0:
        places.append(f"{more} more")
    where = f", where it rewrote {', '.join(places)}" if places else ""
    return f"The outputs differ after the pass {mismatch.culprit}{where}."
