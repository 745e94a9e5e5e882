"""Result of a proof."""

import logging
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal

from ...display import Block, Code, Line, as_html, time_of
from ...facts.notions import EQUAL, Equality
from ...ir.faults import described, warn_of_fault
from ...records import asdict, field, record, replace
from ...reference.bound_inputs import GIVEN
from ...runtimes.value_text import text_of
from .terms.exact_operators import FOLDED, LONGER, OF_ROWS

_log = logging.getLogger(__name__)

Status = Literal["proved", "refuted", "open"]

INTERNAL_ERROR = "internal error in the proof"
"""The first words of the reason of a proof that failed."""


@record(frozen=True)
class Condition:
    """A condition under which an open question is decided: it is proved then.

    Attributes:
        text: the condition in words, to stand after "if".
        options: the options of `straightline prove` that state it; none for some.
        arguments: the same as arguments of `straightline.prove`.

    Examples:
        >>> import straightline as sl
        >>> sl.Condition("n is at least 1", ("--dim", "n>=1"), {"dims": {"n": 1}}).text
        'n is at least 1'
    """

    text: str
    options: tuple[str, ...] = ()
    arguments: dict[str, Any] = field(default_factory=dict)


@record(frozen=True)
class Proof:
    """Answer to whether two models give equal outputs for every input; true only if proved.

    Attributes:
        status: "proved"; "refuted", by an input on which runs differ, or because the rewrite is not
            a valid model; or "open".
        reason: reason of the status in one sentence.
        rules: rules that the proof used.
        outputs: number of terms of each output.
        assumptions: assumptions of the proof, a sentence each.
        first: if not proved, the first terms that differ, as ONNX text.
        paths: the nodes of both models that these come from, with the nodes around them.
        needed: if open, the rule that would make these equal, in words.
        conditions: if open, conditions under which it is proved; each was tried.
        feeds: an input on which the outputs differ, minimized, if there is one.
        equality: the strongest notion that was proved: "bits"; "values", where -0.0 and 0.0 are
            alike; "reals", if floats were real numbers; None if none was.
        minima: minimum sizes of named dimensions that were assumed; `assumptions` hold them, too.
        derivation: what the checker replayed, as JSON, or the reason why it cannot replay the
            proof; None if it was not asked.
        seconds: time spent.

    Examples:
        >>> import straightline as sl
        >>> head = '<ir_version: 8, opset_import: ["" : 17]> '
        >>> one, other = (
        ...     sl.ir.parse(head + f"g (float[2] x) => (float[2] y) {{ y = {op} (x) }}")
        ...     for op in ("Relu", "Abs")
        ... )
        >>> proof = sl.prove(one, other)
        >>> bool(proof), proof.status, sorted(proof.feeds or {})
        (False, 'refuted', ['x'])
    """

    status: Status
    reason: str
    rules: tuple[str, ...] = ()
    outputs: dict[str, int] = field(default_factory=dict)
    assumptions: tuple[str, ...] = ()
    first: tuple[str, str] | None = None
    paths: tuple[str, str] | None = None
    needed: str = ""
    conditions: tuple[Condition, ...] = ()
    feeds: dict[str, Any] | None = field(default=None, repr=False, compare=False)
    equality: Equality | None = None
    minima: Mapping[str, int] = field(default_factory=dict, repr=False)
    derivation: Mapping[str, Any] | str | None = field(default=None, repr=False, compare=False)
    seconds: float = 0.0

    @property
    def proved(self) -> bool:
        """True if the status is "proved"."""
        return self.status == "proved"

    @property
    def unreplayed(self) -> str:
        """Reason why the checker cannot replay the proof; empty if it can, or was not asked."""
        return self.derivation if isinstance(self.derivation, str) else ""

    @property
    def word(self) -> str:
        """Status, which tells a proof that the checker cannot replay from others."""
        return f"{self.status}, not replayed" if self.unreplayed else self.status

    @property
    def failed(self) -> bool:
        """True if the prover itself failed, so that the status "open" says nothing."""
        return self.reason.startswith(INTERNAL_ERROR)

    @property
    def claim(self) -> str:
        """Claim of the proof, with its assumptions."""
        return f"{EQUAL[self.equality or 'bits']} {self.scope}"

    @property
    def scope(self) -> str:
        """Inputs that the claim is about: all of them, or those for which its assumptions hold."""
        condition = f", if {' and '.join(_clauses(self.assumptions))}" if self.assumptions else ""
        return f"for every input{condition}"

    def _sides(self) -> list[str]:
        """Both models, with the paths of the nodes that differ."""
        pairs = zip(("before", "after"), self.paths or ("", ""), strict=True)
        return [f"{side}, {path}" if path else side for side, path in pairs]

    def _input(self) -> list[str]:
        """The input on which the outputs differ, a line for each value."""
        lines = [f"on {name} = {text_of(value)}" for name, value in (self.feeds or {}).items()]
        more = len(lines) - _INPUTS
        return lines if more <= 0 else [*lines[:_INPUTS], f"and {more} more inputs"]

    def to_dict(self) -> dict[str, Any]:
        """Fields as JSON types; the values of the input as text."""
        fields = asdict(replace(self, feeds=None, derivation=None))
        del fields["minima"], fields["derivation"]
        if self.derivation is not None:
            fields["replayed"] = not self.unreplayed
        feeds = {name: text_of(value) for name, value in (self.feeds or {}).items()}
        return {"proved": self.proved, **fields, "feeds": feeds or None}

    def blocks(self, command: Callable[[Condition], str] | None = None) -> Iterator[Block]:
        """Display blocks for people; `command` writes the command that states a condition."""
        if self.proved:
            word = self.word.removeprefix(self.status)
            yield Line(f"{word}: {self.claim} ({time_of(self.seconds)})", status=self.status)
            if self.unreplayed:
                yield Line(f"the checker replays no derivation: {self.unreplayed}", "left")
            return
        yield Line(f": {self.reason}", status=self.status)
        yield from map(Line, self._input())
        for side, text in zip(self._sides(), self.first or (), strict=False):
            yield Line(f"{side}:")
            yield from map(Code, text.splitlines())
        if self.needed:
            yield Line(f"needed: {self.needed}", "left")
        for condition in self.conditions:
            is_command = command is not None and bool(condition.options)
            yield Line(f"proved if {condition.text}{':' if is_command else ''}", "left")
            if command is not None and is_command:
                yield Code(command(condition))

    def _repr_html_(self) -> str:
        return as_html("straightline: proof", self.blocks())

    def __bool__(self) -> bool:
        return self.proved

    def __str__(self) -> str:
        if self.proved:
            return f"{self.word}: {self.claim} ({time_of(self.seconds)})"
        lines = [f"{self.status}: {self.reason}", *(f"  {line}" for line in self._input())]
        if self.first is not None:
            for side, text in zip(self._sides(), self.first, strict=True):
                lines += [f"  {side}:", *textwrap.indent(text, "    ").splitlines()]
        if self.needed:
            lines.append(f"  needed: {self.needed}")
        lines += [f"  proved if {condition.text}" for condition in self.conditions]
        return "\n".join(lines)


_INPUTS = 8
"""Limit of inputs that are shown."""

_NAMED = 3
"""Limit of operators that an assumption names."""

_ENDINGS = (OF_ROWS, FOLDED, LONGER, GIVEN)
"""Endings of assumptions that one clause states for many subjects."""


@record(frozen=True)
class Failure:
    """Open answer whose explanation takes another run.

    Attributes:
        explain: returns the answer with the nodes that differ, by the reason.
        error: the reason.
    """

    explain: Callable[[Any], Proof]
    error: Exception

    status: ClassVar = "open"
    proved: ClassVar = False


def explained_proof(answer: Proof | Failure) -> Proof:
    """Answer, with the nodes that differ."""
    return answer.explain(answer.error) if isinstance(answer, Failure) else answer


def invalid_proof(fault: str, side: int) -> Proof:
    """Answer for an invalid model: against the rewrite only if the original is valid."""
    if side:
        return Proof("refuted", f"the rewrite is not a valid model: {fault}")
    return Proof("open", f"the original is not a valid model: {fault}")


def failed_proof(error: Exception) -> Proof:
    """Answer of a prover that failed.

    Warns:
        FaultWarning: always.
    """
    _log.info("the proof failed", exc_info=error)
    proof = Proof("open", f"{INTERNAL_ERROR}; please report both models ({described(error)})")
    warn_of_fault(proof.reason)
    return proof


def _clauses(assumptions: Sequence[str]) -> list[str]:
    """Assumptions in short: one clause for all operators with the same one."""
    names: dict[str, list[str]] = {}
    for text in assumptions:
        ending = next((each for each in _ENDINGS if text.endswith(each)), text)
        names.setdefault(ending, []).append(text.removesuffix(ending).strip())
    return [_clause(each, ending) for ending, each in names.items()]


def _clause(names: Sequence[str], ending: str) -> str:
    if len(names) == 1:
        return f"{names[0]} {ending}".strip()
    shortened = list(names[:_NAMED]) if len(names) <= _NAMED else list(names[: _NAMED - 1])
    if len(names) > len(shortened):
        shortened.append(f"{len(names) - len(shortened)} others")
    return f"{', '.join(shortened[:-1])} and {shortened[-1]} {_plural(ending)}"


def _plural(ending: str) -> str:
    plurals = {"gives": "give", "has": "have", "its": "their", "definition": "definitions"}
    return " ".join([plurals.get(word, word) for word in ending.split(" ")])
