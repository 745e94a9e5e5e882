"""Sentences of remarks, each rendered from the template of its code and typed arguments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..ir.option_names import by
from ..records import record


class Reason(str):
    """A sentence with the fields that it was rendered from.

    Attributes:
        plain: the sentence without its options.
        code: the name of its template, which stays the same; "" for a sentence without one.
        arguments: the fields of the template, in types that JSON has.
        options: options of the command line that may decide the matter: ("--set n=...",).
    """

    plain: str
    code: str
    arguments: Mapping[str, Any]
    options: tuple[str, ...]
    _parts: tuple[Reason, ...]

    def __new__(
        cls,
        plain: str,
        code: str = "",
        arguments: Mapping[str, Any] | None = None,
        options: Sequence[str] = (),
        parts: Sequence[Reason] = (),
    ) -> Reason:
        """Render a sentence; its options, if any, come last."""
        offer = f"; decide it with {by(*options)}" if options else ""
        self = super().__new__(cls, "; ".join(parts) if parts else plain + offer)
        self.plain, self.code, self.arguments = plain, code, dict(arguments or {})
        self.options, self._parts = tuple(options), tuple(parts)
        return self

    @property
    def parts(self) -> tuple[Reason, ...]:
        """The sentences that it joins; only itself where it joins none."""
        return self._parts or (self,)

    def __add__(self, more: str) -> Reason:
        """Append text to the last sentence, before its options."""
        *others, last = self.parts
        longer = Reason(last.plain + more, last.code, last.arguments, last.options)
        return Reason.join([*others, longer])

    def replaced(self, plain: str) -> Reason:
        """Return another sentence about the same, which names its options itself."""
        return Reason(plain, self.code, self.arguments)

    @classmethod
    def of(cls, text: str) -> Reason:
        """Return a sentence as it is, plain text as one without fields."""
        return text if isinstance(text, cls) else cls(text)

    @classmethod
    def rank(cls, texts: Iterable[str]) -> Reason:
        """Join sentences: first what options decide, then what inputs decide, then the rest."""
        parts = [part for text in texts for part in cls.of(text).parts]
        parts.sort(key=lambda part: (not part.options, not part.is_deciding))
        return cls.join(parts)

    @property
    def is_deciding(self) -> bool:
        """Test whether the sentence names what decides the matter: inputs, operators or a limit."""
        return "depends_on" in self.arguments or "needed" in self.arguments

    @property
    def brief(self) -> Reason:
        """The sentences that name what decides the matter; all, where none does."""
        return Reason.join([part for part in self.parts if part.is_deciding] or self.parts)

    @property
    def obstacle(self) -> Reason:
        """The sentence of the highest rank, with all options; in brief, where none has a rank."""
        ranks = [MESSAGES[part.code].rank if part.code in MESSAGES else 0 for part in self.parts]
        if not any(ranks):
            return self.brief
        first = self.parts[ranks.index(max(ranks))]
        others = self.parts if max(ranks) < FINAL else (first,)
        options = dict.fromkeys(option for part in others for option in part.options)
        return Reason(first.plain, first.code, first.arguments, tuple(options))

    @classmethod
    def join(cls, texts: Iterable[str]) -> Reason:
        """Join sentences, each once: with the code of the first one, and the arguments of all."""
        parts = tuple(dict.fromkeys(part for text in texts for part in cls.of(text).parts))
        if len(parts) == 1:
            return parts[0]
        plain = "; ".join(part.plain for part in parts)
        options = dict.fromkeys(option for part in parts for option in part.options)
        # Backwards, so that arguments of the first sentence win.
        arguments = {n: value for part in parts[::-1] for n, value in part.arguments.items()}
        return cls(plain, parts[0].code, arguments, tuple(options), parts)


FINAL = 3
"""The lowest rank of an obstacle that no option of another one removes."""

MESSAGES: dict[str, Message] = {}
"""Every template by its code."""


@record(frozen=True)
class Message:
    """A template of sentences, such as "trip count depends on {cause}".

    Attributes:
        code: its name, which stays the same when the words change.
        template: the sentence; `cause` stands for the sentence or phrase that explains it, and `s`
            for the ending of a plural.
        rank: the obstacle of the pass of the highest rank decides that a construct stays; 0 for
            obstacles that all count.
    """

    code: str
    template: str
    rank: int = 0

    def __post_init__(self) -> None:
        """Register the template."""
        assert MESSAGES.setdefault(self.code, self) == self, self.code

    def __call__(self, cause: str = "", **arguments: Any) -> Reason:
        """Render the sentence; arguments and options of its cause become its own."""
        because = Reason.of(cause)
        if cause:
            arguments = {**because.arguments, "cause": because.plain, **arguments}
        plural = "" if 1 in arguments.values() else "s"
        text = self.template.format(**arguments, s=plural)
        return Reason(text, self.code, arguments, because.options)
