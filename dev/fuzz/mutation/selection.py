"""Which files are changed, and which of their mutants are tried."""

import random
from collections.abc import Sequence

from mutation.mutants import ROOT, Mutant, mutants_of

DEFAULT = (
    *("definitions", "ir", "facts", "ops", "analysis", "verification", "passes"),
    *("version_converter", "targets", "driver"),
)
"""Folders whose lines are measured: no mutant elsewhere is reached."""


def source_files(where: Sequence[str]) -> list[str]:
    """The files under the given folders or files, as paths from the root."""
    found: set[str] = set()
    for name in where:
        place = ROOT / name
        if not place.exists():
            raise SystemExit(f"{name}: no such file or folder under {ROOT}")
        files = [place] if place.is_file() else place.rglob("*.py")
        found.update(str(file.relative_to(ROOT)) for file in files)
    return sorted(found)


def sample(files: Sequence[str], size: int, seed: int) -> list[Mutant]:
    """Mutants drawn at random, from each file its share (0: all of them).

    So the share caught in the sample stands for the share of all of them.
    """
    mutants = {file: mutants_of(file) for file in files}
    total = sum(map(len, mutants.values()))
    if not 0 < size < total:
        return [mutant for file in files for mutant in mutants[file]]
    draw = random.Random(seed)
    chosen: list[Mutant] = []
    seen = 0
    for file in files:
        before, seen = seen, seen + len(mutants[file])
        count = size * seen // total - size * before // total
        chosen += sorted(draw.sample(mutants[file], count), key=lambda mutant: mutant.index)
    return chosen
