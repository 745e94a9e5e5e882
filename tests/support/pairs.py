"""Pairs of models as text: what both begin with, then what follows in each, as in a patch."""

import re
from typing import NamedTuple


class Pair(NamedTuple):
    """Two texts and the opset of each; no opsets where the table names none."""

    before: str
    after: str
    opsets: tuple[int, ...] = ()


def pairs(table: str) -> dict[str, Pair]:
    """Read "# NAME" or "# NAME, OPSET, OPSET", the common text, "- TEXT" and "+ TEXT"."""
    found: dict[str, Pair] = {}
    for block in table.split("\n# ")[1:]:
        header, rest = block.split("\n", 1)
        name, *opsets = re.split(r", (?=\d)", header)
        assert name not in found, name
        common, before, after = re.split(r"^[-+] ", rest, flags=re.MULTILINE)
        found[name] = Pair(common + before, common + after, tuple(map(int, opsets)))
    return found
