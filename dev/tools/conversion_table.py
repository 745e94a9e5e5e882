"""Write docs/data/conversions.csv and conversion-tests.csv: how each operator is converted.

python dev/tools/conversion_table.py

The second holds onnx's backend tests with control flow: = equal to the expected outputs, - refused
with a reason, ? valid, and no runtime here runs the original or the result. The sign of
`onnx.version_converter` is in parentheses where it differs (x: wrong or invalid).
"""

import itertools
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

import onnx
from check_conversions import CONTROL_TARGETS, cases, check_all, has_control_flow
from straightline.dev.tools import data_files
from straightline.version_converter.attribute_to_input import MOVES
from straightline.version_converter.registry import (
    ADDED_VALUES,
    DOWNGRADES,
    HARMLESS,
    INEXACT_BODIES,
    LONGER_FORMS,
    UPGRADES,
    Adapter,
)
from straightline.version_converter.via_wider_type import DETOURS

Row = TypeVar("Row")
Line = tuple[str, str, str, str]
"""A kind of conversion, its step, its operators and the conversion."""


def lines(kind: str, rows: Mapping[tuple[str, str], Sequence[str]]) -> Iterator[Line]:
    """Yield the lines of one kind from the operators by step and conversion."""
    for (step, text), op_types in rows.items():
        yield kind, step, ", ".join(sorted(op_types)), text


def down(version: int) -> str:
    return f"{version} to {version - 1}"


def moves() -> Iterator[Line]:
    """Attributes that became inputs: up, an initializer; down, the input must be constant."""
    rows: dict[tuple[str, str], list[str]] = defaultdict(list)
    for (op_type, version), found in by_version(MOVES):
        for move in found:
            text = f"attribute {move.attribute} is input {move.position}"
            rows[f"{version - 1} to {version}", text].append(op_type)
    return lines("attribute to input", rows)


def by_version(table: Mapping[tuple[str, int], Row]) -> list[tuple[tuple[str, int], Row]]:
    """The rows of a table by operator and version, in the order of the versions."""
    return sorted(table.items(), key=lambda row: row[0][1])


def adapters() -> Iterator[Line]:
    rows: dict[tuple[int, str, str], list[str]] = defaultdict(list)
    for direction, table in (("up", UPGRADES), ("down", DOWNGRADES)):
        for (op_type, version), found in table.items():
            for adapter in found:
                rows[version, direction, summary(adapter)].append(op_type)
    ordered = {
        (f"{version - 1} to {version}" if way == "up" else down(version), text): op_types
        for (version, way, text), op_types in sorted(rows.items())
    }
    yield from lines("adapter", ordered)
    yield "adapter", "8 to 9, 9 to 8", "Scan", "The batch axis becomes a Scan over rows, or goes."


def summary(adapter: Adapter) -> str:
    """Return the first paragraph of an adapter's docstring."""
    return " ".join((adapter.__doc__ or "").split("\n\n")[0].split())


def longer_forms() -> Iterator[Line]:
    """Conversions of nodes that the step would refuse otherwise."""
    rows: dict[tuple[int, str], list[str]] = defaultdict(list)
    for (op_type, version), adapter in LONGER_FORMS.items():
        rows[version, summary(adapter)].append(op_type)
    ordered = {(down(version), text): names for (version, text), names in sorted(rows.items())}
    return lines("longer form", ordered)


def detours() -> Iterator[Line]:
    """Types that are computed in wider types."""
    rows: dict[tuple[str, str], list[str]] = defaultdict(list)
    name = onnx.TensorProto.DataType.Name
    for (op_type, version), found in by_version(DETOURS):
        for detour in found:
            types = ", ".join(name(t).lower() for t in detour.types)
            rows[down(version), f"{types} in {name(detour.via).lower()}"].append(op_type)
    return lines("wider type", rows)


def functions() -> Iterator[Line]:
    """Operators whose function in ONNX replaces them where an older version lacks them."""
    names = {
        schema.name
        for schema in onnx.defs.get_all_schemas_with_history()
        if schema.domain == "" and schema.since_version > 7
        if schema.has_function or schema.has_context_dependent_function
    }
    for name in sorted(names):
        text = "its function is less accurate" if name in INEXACT_BODIES else "its function"
        yield "function", "", name, text


def values() -> Iterator[Line]:
    """Values of attributes that are refused below an opset, and attributes without effect."""
    for op_type, attributes in ADDED_VALUES.items():
        for attribute, since in attributes.items():
            for value, version in since.items():
                text = f"{attribute} = {value.decode()} is refused below"
                yield "refused", down(version), op_type, text
    for op_type, name in sorted(HARMLESS):
        yield "dropped", "", op_type, f"{name} has no effect on results"


def control_flow() -> Iterator[list[str]]:
    """Yield a row for each backend test with control flow."""
    chosen = [case for case in cases() if has_control_flow(case.model)]
    sign = {"right": "=", "refused": "-", "not run": "?"}
    for case, rows in zip(chosen, check_all(chosen, CONTROL_TARGETS), strict=True):
        cells = {row.target: row for row in rows}
        shown = []
        for target in CONTROL_TARGETS:
            row = cells.get(target)
            if row is None:
                shown.append("")
                continue
            ours, other = (sign.get(o.verdict, "x") for o in (row.ours, row.theirs))
            shown.append(ours if ours == other else f"{ours} ({other})")
        yield [case.name, str(rows[0].source) if rows else "", *shown]


def main() -> None:
    head = ("kind", "step", "operators", "conversion")
    parts = (moves(), adapters(), longer_forms(), detours(), functions(), values())
    data_files.write("conversions", head, itertools.chain(*parts))
    head = ("test", "own opset", *map(str, CONTROL_TARGETS))
    data_files.write("conversion-tests", head, control_flow())


if __name__ == "__main__":
    main()
