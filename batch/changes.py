"""Changes between two batches: models whose result is another one, what got worse first."""

from collections.abc import Callable, Iterable
from functools import partial
from operator import attrgetter
from typing import Any, Literal

from ..records import record
from ..report.sheet import Column, Sheet, Value
from .result import Problem, Record
from .summary import TONES, why

Verdict = Literal["worse", "better", "new", "gone"]

_PROBLEMS: tuple[Problem, ...] = (
    *("", "not taken", "control flow left", "not verified", "worker died"),
    *("bad input", "usage", "outputs differ", "fault"),
)
_OUTPUTS = ("proved", "proved, not replayed", "equal", "", "not verified", "different")
"""Problems and outputs, the best first."""


def _status(record: Record) -> str:
    return record.problem or ("failed" if record.status == "failed" else "written")


def _after(field: str, record: Record) -> Value:
    pair: tuple[Value, Value] | None = getattr(record, field)
    return None if pair is None else pair[1]


_FIELDS: tuple[tuple[str, str, str, Callable[[Record], Value]], ...] = (
    ("status", "status", "status", _status),
    ("outputs", "outputs", "status", attrgetter("outputs")),
    ("left", "control flow left", "count", partial(_after, "control_flow")),
    ("nodes", "nodes", "count", partial(_after, "nodes")),
    ("run_time", "predicted run", "microseconds", partial(_after, "run_time")),
    ("size", "size", "bytes", partial(_after, "size")),
    ("seconds", "seconds", "seconds", attrgetter("seconds")),
)
"""The compared fields with title, kind and value, the most important first."""

COLUMNS: tuple[Column, ...] = (
    Column("name", "model", "name"),
    Column("change", "change", "status"),
    *(
        Column(f"{field}_{when}", when, kind, title)  # type: ignore[arg-type]
        for field, title, kind, _ in _FIELDS
        for when in ("old", "new")
    ),
    Column("why", "remaining control flow, with reasons"),
)
KEYS = [column.key for column in COLUMNS]


@record(frozen=True)
class Change:
    """A model that changed between two batches.

    Attributes:
        name: the place of its result.
        change: "worse" or "better", by the first of what is compared that differs; "new" or "gone".
        old: its earlier record; None for a new model.
        new: its later record; None for one that is gone.
        degree: how much worse each of what is compared is, 0 for the same.
    """

    name: str
    change: Verdict
    old: Record | None
    new: Record | None
    degree: tuple[float, ...] = ()

    @property
    def row(self) -> list[Value]:
        """The cells of its row."""
        values = [
            None if record is None else value(record)
            for *_, value in _FIELDS
            for record in (self.old, self.new)
        ]
        return [self.name, self.change, *values, "" if self.new is None else why(self.new)]

    def to_dict(self) -> dict[str, Any]:
        """Return the row in types that JSON has, by the keys of its columns."""
        return dict(zip(KEYS, self.row, strict=True))


@record(frozen=True)
class Changes:
    """Changes between two batches.

    Attributes:
        changes: the models that changed, what got worse first.
        same: the number of other models.
        seconds: the sums of seconds, of the earlier and the later batch.
    """

    changes: tuple[Change, ...]
    same: int
    seconds: tuple[float, float]

    @classmethod
    def of(cls, old: Iterable[Record], new: Iterable[Record]) -> "Changes":
        """Compare the records of two batches by the names of models."""
        before, after = ({record.name: record for record in records} for records in (old, new))
        pairs = {name: (before.get(name), after.get(name)) for name in (*before, *after)}
        changes = [change for name, pair in pairs.items() if (change := _change(name, *pair))]
        changes.sort(key=_worst_first)
        sums = [sum(record.seconds for record in each.values()) for each in (before, after)]
        return cls(tuple(changes), len(pairs) - len(changes), (sums[0], sums[1]))

    def sheet(self, title: str) -> Sheet:
        """Return the changes as a table."""
        tones = (*TONES, ("worse", "bad"), ("better", "good"))
        return Sheet(title, COLUMNS, [one.row for one in self.changes], (), self.cards(), tones)

    def cards(self) -> list[tuple[str, str]]:
        """Return the counts at a glance."""
        counts = {kind: sum(one.change == kind for one in self.changes) for kind in _ORDER}
        return [
            *((kind, f"{count:,}") for kind, count in counts.items() if count),
            ("same", f"{self.same:,}"),
            ("seconds of work", " → ".join(f"{sum_:.1f}" for sum_ in self.seconds)),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the changes in types that JSON has."""
        return {
            "changes": [change.to_dict() for change in self.changes],
            "same": self.same,
            "seconds": list(self.seconds),
        }


_ORDER: tuple[Verdict, ...] = ("worse", "gone", "new", "better")


def _worst_first(change: Change) -> tuple[int, tuple[float, ...], str]:
    return _ORDER.index(change.change), tuple(-part for part in change.degree), change.name


def _change(name: str, old: Record | None, new: Record | None) -> Change | None:
    """Return the change of a model; None for the same."""
    if old is None or new is None:
        return Change(name, "new" if old is None else "gone", old, new)
    degree = _degree(old, new)
    first = next(filter(None, degree), 0.0)
    return Change(name, "worse" if first > 0 else "better", old, new, degree) if first else None


def _degree(old: Record, new: Record) -> tuple[float, ...]:
    """Return how much worse the later record is in each respect, the more telling first."""
    return (
        _PROBLEMS.index(new.problem) - _PROBLEMS.index(old.problem),
        _rank(new.outputs) - _rank(old.outputs),
        _growth(old.control_flow, new.control_flow),
        _growth(old.nodes, new.nodes),
        _growth(old.run_time, new.run_time, ratio=1.01),
        _growth(_time(old), _time(new), ratio=1.5, least=1.0),
    )


def _time(record: Record) -> tuple[float, float] | None:
    return (0.0, record.seconds) if record.ok else None


def _rank(outputs: str) -> int:
    return _OUTPUTS.index(outputs) if outputs in _OUTPUTS else len(_OUTPUTS)


def _growth(
    old: tuple[float, float] | None,
    new: tuple[float, float] | None,
    *,
    ratio: float = 1.0,
    least: float = 0.0,
) -> float:
    """Return the growth of the second numbers; 0 where one lacks, or where they are close.

    Args:
        old: the earlier numbers.
        new: the later numbers.
        ratio: the largest ratio of close numbers.
        least: the least difference of others.
    """
    if old is None or new is None:
        return 0.0
    growth, (small, large) = new[1] - old[1], sorted((old[1], new[1]))
    return 0.0 if large <= small * ratio or large - small < least else growth
