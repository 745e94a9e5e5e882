"""Write the tables of the pages about loops, from the code.

Run: python -m straightline.dev.tools.loop_pages

A page holds a table between a pair of comments, the first of which names it.
"""

import dataclasses
import inspect
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
from straightline.facts.types import INTEGER_BITS
from straightline.passes import PASSES, Pass
from straightline.passes.recurrences.recognize.semirings import SEMIRINGS, Semiring, neutral

FOLDER = Path(__file__).parents[2] / "docs" / "passes"
PAGES = {
    "recurrences": ("raise-recurrences", "search-loops", "count-loops"),
    "vectorizing": ("vectorize-loops", "block-loops", "store-rows", "mask-prefixes"),
}
"""The pages, and the passes of each."""
_TABLE = re.compile(
    r"<!-- (\w+), made by dev/tools/loop_pages\.py -->\n.*?<!-- to here -->\n", re.S
)
_FIELD = re.compile(r"^ {4}(\w+): (.*?)\.?$")


def pairs(_: Sequence[str]) -> str:
    """The pairs of operations over which iterations compose."""
    lines = [
        "| sum, product | neutral for the sum, for the product | element types | keeps |",
        "|---|---|---|---|",
        *(_pair(semiring) for semiring in SEMIRINGS),
    ]
    return "\n".join(lines)


def _pair(semiring: Semiring) -> str:
    names = [onnx.TensorProto.DataType.Name(each).lower() for each in semiring.types]
    is_float = "float" in names
    dtype = np.dtype(np.float32 if is_float else bool if names == ["bool"] else np.int64)
    integers = {onnx.TensorProto.DataType.Name(each).lower() for each in INTEGER_BITS}
    if integers <= {*names}:
        listed = [*(name for name in names if name not in integers), "all integers"]
    else:
        listed = names
    both = ", ".join(f"{neutral(name, dtype)}" for name in (semiring.join, semiring.act))
    kept = "up to rounding; integers bits" if "int64" in names else "up to rounding"
    kept = kept if semiring.rounds else "bits"
    kept += ", of numbers of at least 0" if semiring.is_ordered else ""
    return f"| {semiring.join}, {semiring.act} | {both} | {', '.join(listed)} | {kept} |"


def options(names: Sequence[str]) -> str:
    """The options of passes, each with the passes that have it."""
    rows: dict[tuple[str, str, str], list[str]] = {}
    for kind in (kind for name in names for kind in PASSES if kind.name == name):
        for option in dataclasses.fields(kind):
            default = _default(kind, option)
            key = option.name, default, _meanings(kind).get(option.name, "")
            rows.setdefault(key, []).append(kind.name)
    lines = ["| option | default | meaning | pass |", "|---|---|---|---|"]
    lines += [f"| `{n}` | {d} | {m} | {', '.join(of)} |" for (n, d, m), of in rows.items()]
    return "\n".join(lines)


def _default(kind: type[Pass], option: dataclasses.Field[object]) -> str:
    own, other = option.default, kind.default_options.get(option.name, option.default)
    text = str(own).lower()
    return text if own == other else f"{text}; {str(other).lower()} in `straighten`"


def _meanings(kind: type[Pass]) -> dict[str, str]:
    """The fields that docstrings of a class and its bases describe, by name."""
    found: dict[str, str] = {}
    for each in reversed(kind.__mro__):
        text, name = inspect.cleandoc(each.__dict__.get("__doc__") or ""), ""
        for line in text.splitlines():
            if match := _FIELD.match(line):
                name, found[match[1]] = match[1], match[2]
            elif name and line.startswith(" " * 8):
                found[name] += f" {line.strip().removesuffix('.')}"
            else:
                name = ""
    return found


_TABLES = {"pairs": pairs, "options": options}


def written(name: str, page: str) -> str:
    """The text of a page with its tables as they are now."""

    def table(match: re.Match[str]) -> str:
        begin = f"<!-- {match[1]}, made by dev/tools/loop_pages.py -->"
        return f"{begin}\n\n{_TABLES[match[1]](PAGES[name])}\n\n<!-- to here -->\n"

    return _TABLE.sub(table, page)


if __name__ == "__main__":
    for own in PAGES:
        path = FOLDER / f"{own}.md"
        path.write_text(written(own, path.read_text(encoding="utf-8")), encoding="utf-8")
