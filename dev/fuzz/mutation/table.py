"""What came of it, file by file."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

_COLUMNS = ("caught", "timeout", "survived", "not reached")


def table(results: Sequence[dict[str, Any]]) -> str:
    """One row for each file, one for each folder, one for all."""
    rows: dict[str, Counter[str]] = {}
    for result in results:
        folder = result["path"].rpartition("/")[0] + "/"
        for row in (result["path"], folder, "all"):
            rows.setdefault(row, Counter())[result["status"]] += 1
    files = sorted(row for row in rows if row.endswith(".py"))
    folders = sorted(row for row in rows if row.endswith("/"))
    head = f"| {'where':44} | mutants | caught | timeout | survived | not reached | share |"
    rule = f"|{'-' * 46}|--------:|-------:|--------:|---------:|------------:|------:|"
    return "\n".join([head, rule, *(_row(row, rows[row]) for row in (*files, *folders, "all"))])


def _row(name: str, counts: Counter[str]) -> str:
    total = counts.total()
    share = 100 * (counts["caught"] + counts["timeout"]) / total
    cells = (f"{counts[column]:{len(column)}}" for column in _COLUMNS)
    return f"| {name:44} | {total:7} | {' | '.join(cells)} | {share:4.0f}% |"


def survivors(results: Sequence[dict[str, Any]]) -> str:
    """Where the mutants are that no test noticed."""
    return "\n".join(
        f"{result['path']}:{result['line']}: {result['name']} {result['operator']}, "
        f"{result['tests']} tests run, {result['left']} left for lack of time"
        for result in results
        if result["status"] in ("survived", "not reached")
    )
