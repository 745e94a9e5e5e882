"""Write the pairs of operations of recurrences into the page of raise-recurrences.

Run: python dev/tools/recurrence_table.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from straightline.passes.recurrences.recognize.semirings import SEMIRINGS, Semiring, neutral

PAGE = Path(__file__).parents[2] / "docs" / "passes" / "raise-recurrences.md"
BEGIN, END = "<!-- made by dev/tools/recurrence_table.py -->\n", "<!-- to here -->\n"


def table() -> str:
    """The rows of the table, one for each pair."""
    lines = [
        "| sum, product | neutral for the sum, for the product | element types | keeps |",
        "|---|---|---|---|",
        *(_row(semiring) for semiring in SEMIRINGS),
    ]
    return "\n".join(lines) + "\n"


def _row(semiring: Semiring) -> str:
    names = [onnx.TensorProto.DataType.Name(each).lower() for each in semiring.types]
    dtype = np.dtype(bool if names == ["bool"] else np.float32)
    both = ", ".join(f"{neutral(name, dtype)}" for name in (semiring.join, semiring.act))
    kept = "up to rounding; integers bits" if "int64" in names else "up to rounding"
    kept = kept if semiring.rounds else "bits"
    kept += ", of numbers of at least 0" if semiring.is_ordered else ""
    return f"| {semiring.join}, {semiring.act} | {both} | {', '.join(names)} | {kept} |"


def written(page: str) -> str:
    """The page with the table as it is now."""
    before, _, rest = page.partition(BEGIN)
    return before + BEGIN + "\n" + table() + "\n" + END + rest.partition(END)[2]


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
