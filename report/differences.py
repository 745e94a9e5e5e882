"""Differences between two models, in a few tables."""

from collections.abc import Mapping, Sequence
from typing import Any

from ..analysis.peak_memory import PeakMemory, size_text
from ..records import asdict, record
from .model_data import ModelData, ValueData

_CONTROL_FLOW = ("Loop", "Scan", "If", "SequenceMap")


@record(frozen=True)
class Change:
    """An entry and its values in both models; "" where it is absent.

    Examples:
        >>> import straightline as sl
        >>> sl.report.Change("Loop", "1", "").before
        '1'
    """

    name: str
    before: str
    after: str


@record(frozen=True)
class Differences:
    """Two models side by side.

    Attributes:
        sizes: nodes, graphs, constants and their bytes, changed or not.
        control_flow: the operators of control flow in either model, with their counts.
        operators: all operators with their counts, the largest changes first.
        versions: different opsets and versions of the file format.
        inputs: inputs of different types, or of one model only.
        outputs: outputs of different types, or of one model only.

    Examples:
        >>> import straightline as sl
        >>> head = '<ir_version: 8, opset_import: ["" : 17]> '
        >>> one, other = (
        ...     sl.ir.parse(head + f"g (float[2] x) => (float[2] y) {{ y = {op} (x) }}")
        ...     for op in ("Relu", "Abs")
        ... )
        >>> differences = sl.report.gather(one, other).differences
        >>> [(row.name, row.before, row.after) for row in differences.changed_operators]
        [('Abs', '0', '1'), ('Relu', '1', '0')]
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
        return {"none": self.none, **asdict(self)}


def differences(
    before: ModelData,
    after: ModelData,
    stored: tuple[int | None, int | None] = (None, None),
    memory: tuple[PeakMemory | None, PeakMemory | None] = (None, None),
) -> Differences:
    """Compare two models.

    Args:
        stored: the bytes of their files, where there are files.
        memory: the peak memory of their values, if known.
    """
    one, other = before.graphs[0], after.graphs[0]
    rows = _rows(_texts(before.counts), _texts(after.counts), absent="0")
    return Differences(
        _sizes(before, after, stored, memory),
        tuple([row for row in rows if row.name in _CONTROL_FLOW]),
        tuple(sorted(rows, key=_largest_first)),
        _changes(_versions(before), _versions(after)),
        _changes(_types(one.inputs), _types(other.inputs)),
        _changes(_types(one.outputs), _types(other.outputs)),
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
        ("size of constants", size_text(before.weights), size_text(after.weights)),
    ]
    if memory[0] is not None and memory[1] is not None:
        rows.append(("peak activation memory, at most", str(memory[0]), str(memory[1])))
    one, other = stored
    if one is not None and other is not None:
        rows.append(("size of files", size_text(one), size_text(other)))
    return tuple([Change(*row) for row in rows])


def _versions(model: ModelData) -> dict[str, str]:
    opsets = {f"opset {domain or 'ai.onnx'}": version for domain, version in model.opsets.items()}
    return _texts({**opsets, "IR version": model.ir_version})


def _types(values: Sequence[ValueData]) -> dict[str, str]:
    return {value.name: value.type or "of no declared type" for value in values}


def _texts(numbers: Mapping[str, int]) -> dict[str, str]:
    return {name: str(number) for name, number in numbers.items()}


def _largest_first(row: Change) -> tuple[int, int, str]:
    return -abs(int(row.after) - int(row.before)), -int(row.after), row.name


def _changes(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[Change, ...]:
    return tuple([row for row in _rows(before, after) if row.before != row.after])


def _rows(before: Mapping[str, str], after: Mapping[str, str], absent: str = "") -> list[Change]:
    names = dict.fromkeys((*before, *after))
    return [Change(name, before.get(name, absent), after.get(name, absent)) for name in names]
