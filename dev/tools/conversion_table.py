"""Write docs/conversion-table.md: what is converted how, and onnx's tests with control flow.

python dev/tools/conversion_table.py
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

import onnx
from check_conversions import CONTROL_TARGETS, cases, check_all, has_control_flow
from straightline.version_converter.attribute_to_input import MOVES, Move
from straightline.version_converter.registry import (
    ADDED_VALUES,
    DOWNGRADES,
    HARMLESS,
    INEXACT_BODIES,
    LONGER_FORMS,
    UPGRADES,
    Adapter,
)
from straightline.version_converter.via_wider_type import DETOURS, Detour

Row = TypeVar("Row")
TARGET = Path(__file__).parents[2] / "docs" / "conversion-table.md"

HEAD = """\
# Conversion table

The conversion of each operator between versions, written by `python dev/tools/conversion_table.py`.
An operator outside this list converts by its schema alone: its versions differ only in types, in
attributes whose default means the earlier behaviour, or in optional inputs at the end. See
[opset-conversion](opset-conversion.md).
"""


def moves() -> str:
    rows: dict[tuple[int, Move], list[str]] = defaultdict(list)
    for (op_type, version), found in by_version(MOVES):
        for move in found:
            rows[version, move].append(op_type)
    lines = [
        "## Attributes that became inputs",
        "",
        "Up, the constant becomes an initializer; down, the input must be constant.",
        "",
        "| operators | opset | attribute | input |",
        "|---|---|---|---|",
    ]
    for (version, move), op_types in rows.items():
        names = ", ".join(op_types)
        lines.append(f"| {names} | {version} | `{move.attribute}` | {move.position} |")
    return "\n".join(lines)


def by_version(table: Mapping[tuple[str, int], Row]) -> list[tuple[tuple[str, int], Row]]:
    """The rows of a table by operator and version, in the order of the versions."""
    return sorted(table.items(), key=lambda row: row[0][1])


def adapters() -> str:
    rows: dict[tuple[int, str, str], list[str]] = defaultdict(list)
    for direction, table in (("up", UPGRADES), ("down", DOWNGRADES)):
        for (op_type, version), found in table.items():
            for adapter in found:
                rows[version, direction, told(adapter)].append(op_type)
    lines = ["## Adapters", "", "| step | operators | conversion |", "|---|---|---|"]
    for (version, direction, text), op_types in sorted(rows.items()):
        step = f"{version - 1} to {version}" if direction == "up" else f"{version} to {version - 1}"
        lines.append(f"| {step} | {', '.join(sorted(op_types))} | {text} |")
    lines.append("| 8 to 9, 9 to 8 | Scan | The passes scan-8-to-9 and scan-9-to-8. |")
    return "\n".join(lines)


def told(adapter: Adapter) -> str:
    """What the first paragraph of an adapter's docstring says."""
    return " ".join((adapter.__doc__ or "").split("\n\n")[0].split())


def longer_forms() -> str:
    rows: dict[tuple[int, str], list[str]] = defaultdict(list)
    for (op_type, version), adapter in LONGER_FORMS.items():
        rows[version, told(adapter)].append(op_type)
    lines = [
        "## Longer forms",
        "",
        "For nodes that the step would refuse otherwise.",
        "",
        "| step | operators | conversion |",
        "|---|---|---|",
    ]
    for (version, text), op_types in sorted(rows.items()):
        lines.append(f"| {version} to {version - 1} | {', '.join(sorted(op_types))} | {text} |")
    return "\n".join(lines)


def detours() -> str:
    rows: dict[tuple[int, Detour], list[str]] = defaultdict(list)
    for (op_type, version), found in by_version(DETOURS):
        for detour in found:
            rows[version, detour].append(op_type)
    lines = [
        "## Types through wider types",
        "",
        "| operators | step | types | computed in |",
        "|---|---|---|---|",
    ]
    name = onnx.TensorProto.DataType.Name
    for (version, detour), op_types in rows.items():
        types = ", ".join(name(t).lower() for t in detour.types)
        step = f"{version} to {version - 1}"
        lines.append(f"| {', '.join(op_types)} | {step} | {types} | {name(detour.via).lower()} |")
    return "\n".join(lines)


def functions() -> str:
    names = sorted(
        {
            schema.name
            for schema in onnx.defs.get_all_schemas_with_history()
            if schema.domain == "" and schema.since_version > 7
            if (schema.has_function or schema.has_context_dependent_function)
            and schema.name not in INEXACT_BODIES
        }
    )
    return "\n".join(
        [
            "## Operators with a function",
            "",
            "If the older version lacks the operator or does not support the node, the function"
            " that defines it in ONNX replaces it: " + ", ".join(names) + ".",
            "",
            "These are exceptions, because their function is less accurate or differs in meaning"
            " ([function-bodies](function-bodies.md)): " + ", ".join(sorted(INEXACT_BODIES)) + ".",
        ]
    )


def values() -> str:
    lines = [
        "## Refused below",
        "",
        "| operator | attribute | value | opset |",
        "|---|---|---|---|",
    ]
    added = sorted(
        (version, op_type, attribute, value.decode())
        for op_type, attributes in ADDED_VALUES.items()
        for attribute, since in attributes.items()
        for value, version in since.items()
    )
    lines += [
        f"| {op_type} | `{attribute}` | {value} | {version} |"
        for version, op_type, attribute, value in added
    ]
    dropped = ", ".join(f"{op_type}.{name}" for op_type, name in sorted(HARMLESS))
    return "\n".join([*lines, "", f"Dropped without effect on results: {dropped}."])


def control_flow() -> str:
    chosen = [case for case in cases() if has_control_flow(case.model)]
    lines = [
        "## onnx's backend tests with Scan, Loop or If",
        "",
        "= : equal to the expected outputs; - : refused with a reason; ? : valid, and no runtime"
        " here runs the original or the result. `onnx.version_converter` is in parentheses where it"
        " differs (x: wrong or invalid).",
        "",
        "| test | own opset | " + " | ".join(map(str, CONTROL_TARGETS)) + " |",
        "|---|---|" + "---|" * len(CONTROL_TARGETS),
    ]
    sign = {"right": "=", "refused": "-", "not run": "?"}
    equal = refused = theirs = 0
    for case, rows in zip(chosen, check_all(chosen, CONTROL_TARGETS), strict=True):
        cells = {row.target: row for row in rows}
        shown = []
        for target in CONTROL_TARGETS:
            row = cells.get(target)
            if row is None:
                shown.append("")
                continue
            ours, other = (sign.get(o.verdict, "x") for o in (row.ours, row.theirs))
            equal, refused, theirs = (
                equal + (ours == "="),
                refused + (ours == "-"),
                theirs + (other == "="),
            )
            shown.append(ours if ours == other else f"{ours} ({other})")
        own = rows[0].source if rows else ""
        lines.append(f"| {case.name} | {own} | " + " | ".join(shown) + " |")
    lines += [
        "",
        f"{equal} equal, {refused} refused; `onnx.version_converter`: {theirs} equal.",
    ]
    return "\n".join(lines)


def main() -> None:
    parts = [HEAD, moves(), adapters(), longer_forms(), detours()]
    parts += [functions(), values(), control_flow()]
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text("\n\n".join(part.rstrip() for part in parts) + "\n")


if __name__ == "__main__":
    main()
