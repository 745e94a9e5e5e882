"""Differences between two models, in a few tables."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from ..analysis.peak_memory import PeakMemory
from .model_data import ModelData, ValueData
from .texts import size_text

_CONTROL_FLOW = ("Loop", "Scan", "If", "SequenceMap")


@dataclasses.dataclass(frozen=True)
class Change:
    """An entry and its values in both models; "" where it is absent."""

    name: str
    before: str
    after: str


@dataclasses.dataclass(frozen=True)
class Differences:
    """Two models side by side.

    Attributes:
        sizes: nodes, graphs, constants and their bytes, changed or not.
        control_flow: the operators of control flow in either model, with their counts.
        operators: all operators with their counts, the largest changes first.
        versions: different opsets and versions of the file format.
        inputs: inputs of different types, or of one model only.
        outputs: outputs of different types, or of one model only.
    """

    sizes: tuple[Change, ...]
    control_flow: tuple[Change, ...]
    operators: tuple[Change, ...]
    versions: tuple[Change, ...]
    inputs: tuple[Change, ...]
    outputs: tuple[Change, ...]

    @property
    def changed_operators(self) -> tuple[Change, ...]:
        """The operators with different counts."""
        return tuple([row for row in self.operators if row.before != row.after])

    @property
    def none(self) -> bool:
        """Test for models without any difference here."""
        changed = (*self.sizes, *self.operators, *self.versions, *self.inputs, *self.outputs)
        return all(row.before == row.after for row in changed)

    def to_dict(self) -> dict[str, Any]:
        """The differences as JSON."""
        return {"none": self.none, **dataclasses.asdict(self)}


def differences(
    before: ModelData,
    after: ModelData,
    stored: tuple[int | None, int | None] = (None, None),
    memory: tuple[PeakMemory | None, PeakMemory | None] = (None, None),
) -> Differences:
    """Compare two models.

    Args:
        before: one model.
        after: the other one.
        stored: the bytes of their files, where there are files.
        memory: the peak memory of their values, if known.
    """
    operators = _counts(before.counts, after.counts)
    return Differences(
        _sizes(before, after, stored, memory),
        tuple([row for row in operators if row.name in _CONTROL_FLOW]),
        tuple(sorted(operators, key=_by_change)),
        _versions(before, after),
        _changes(_by_name(before.graphs[0].inputs), _by_name(after.graphs[0].inputs)),
        _changes(_by_name(before.graphs[0].outputs), _by_name(after.graphs[0].outputs)),
    )


def _sizes(
    before: ModelData,
    after: ModelData,
    stored: tuple[int | None, int | None],
    memory: tuple[PeakMemory | None, PeakMemory | None],
) -> tuple[Change, ...]:
    rows = [
        ("nodes", str(before.nodes), str(after.nodes)),
        ("graphs", str(len(before.graphs)), str(len(after.graphs))),
        ("constants", str(before.constants), str(after.constants)),
        ("constants take", size_text(before.weights), size_text(after.weights)),
    ]
    if memory[0] is not None and memory[1] is not None:
        rows.append(("values alive at a time, at most", str(memory[0]), str(memory[1])))
    one, other = stored
    if one is not None and other is not None:
        rows.append(("files take", size_text(one), size_text(other)))
    return tuple([Change(*row) for row in rows])


def _versions(before: ModelData, after: ModelData) -> tuple[Change, ...]:
    one, other = (
        {
            **{f"opset {domain or 'ai.onnx'}": str(v) for domain, v in model.opsets.items()},
            "IR version": str(model.ir_version),
        }
        for model in (before, after)
    )
    return _changes(one, other)


def _counts(before: Mapping[str, int], after: Mapping[str, int]) -> list[Change]:
    names = dict.fromkeys((*before, *after))
    return [Change(name, str(before.get(name, 0)), str(after.get(name, 0))) for name in names]


def _by_change(row: Change) -> tuple[int, int, str]:
    return -abs(int(row.after) - int(row.before)), -int(row.after), row.name


def _by_name(values: Sequence[ValueData]) -> dict[str, str]:
    return {value.name: value.type or "of no declared type" for value in values}


def _changes(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[Change, ...]:
    names = dict.fromkeys((*before, *after))
    rows = [Change(name, before.get(name, ""), after.get(name, "")) for name in names]
    return tuple([row for row in rows if row.before != row.after])
