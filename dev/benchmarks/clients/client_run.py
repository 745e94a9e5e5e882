"""What became of a model in a client, and why."""

import dataclasses
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import onnx.defs
from straightline.verification.runs.comparison import Difference, Tolerance, combine, compare

from .running import Answer

Status = Literal["right", "wrong", "not loaded", "not run", "late", "not made"]
"""The last: a step could not be done, so there is no model to give to the client."""

_REASON = 400
_HALVES = {"float16", "bfloat16"}
_ORDERS = Tolerance(factor=52.0)
_ORDERS_OF_HALVES = Tolerance(factor=2.0)
"""A client adds up in another order, and has an exp of its own: 1e-4 of the value for float32, as
many epsilons for float64, four for the halves."""


@dataclasses.dataclass(frozen=True)
class ClientRun:
    """A model in a client at one step."""

    model: str
    client: str
    step: str
    status: Status
    reason: str = ""


@dataclasses.dataclass
class Results:
    """What became of models in clients, whose versions are told by name."""

    versions: dict[str, str]
    outcomes: list[ClientRun]

    def add(self, other: "Results") -> None:
        """Take in what was found of other clients."""
        self.versions |= other.versions
        self.outcomes += other.outcomes

    def write(self, file: Path) -> None:
        """Keep it as JSON."""
        file.write_text(json.dumps(dataclasses.asdict(self), indent=1), encoding="utf-8")

    @classmethod
    def read(cls, file: Path) -> "Results":
        """What was kept."""
        kept = json.loads(file.read_text(encoding="utf-8"))
        return cls(kept["versions"], [ClientRun(**outcome) for outcome in kept["outcomes"]])


def classify(answer: Answer, expected: Sequence[Any]) -> tuple[Status, str]:
    """How a client did, and what hindered it."""
    if answer.outputs is None:
        reason = essence(answer.reason)
        if answer.late:
            return "late", reason
        return ("not loaded" if answer.stage == "load" else "not run"), reason
    if len(answer.outputs) != len(expected):
        return "wrong", f"{len(answer.outputs)} outputs for {len(expected)}"
    pairs = zip(map(_plain, expected), map(_plain, answer.outputs), strict=True)
    found = combine(compare(wanted, got, _tolerance(wanted)) for wanted, got in pairs)
    return ("wrong", _told(found)) if found.kind else ("right", "")


def _plain(value: Any) -> Any:
    """A sequence of maps, which only ZipMap makes, as its numbers: a row for each map."""
    if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
        return np.array([list(one.values()) for one in value], np.float32)
    return value


def _tolerance(wanted: Any) -> Tolerance:
    name = str(getattr(wanted, "dtype", ""))
    return _ORDERS_OF_HALVES if name in _HALVES else _ORDERS


def _told(found: Difference) -> str:
    return f"other {found.kind}: {found.first}"


_ADDRESSES = re.compile(r"0x[0-9a-f]+")
_SAYS_MOST = re.compile(r"\berror: |No conversion rule found|Conversion is failed")


def essence(reason: str) -> str:
    """The line of a reason that says most, with what follows it."""
    lines = [_ADDRESSES.sub("0x…", line.strip()) for line in reason.splitlines() if line.strip()]
    first = next((at for at, line in enumerate(lines) if _SAYS_MOST.search(line)), 0)
    return " ".join(lines[first:])[:_REASON]


_OPERATORS = frozenset(schema.name for schema in onnx.defs.get_all_schemas_with_history())
_NAMED = [
    re.compile(pattern)
    for pattern in (
        r"operation_type='(\w+)'",
        r"\bop='(\w+)'",
        r"\bonnx\.(\w+)",
        r"frontend ONNX: ([\w, ]+)",
        r"(?:operations|failed for): ([\w:, -]+)",
    )
]
"""How clients name an operator of the model, or several."""


def operators_in(reason: str) -> list[str]:
    """The ONNX operators that a reason names, each once."""
    found = [word for how in _NAMED for text in how.findall(reason) for word in text.split(", ")]
    plain = [word.strip().partition("-")[0] for word in found]  # Loop-16
    return list(dict.fromkeys(word for word in plain if word in _OPERATORS))
