"""The files of the package, for tests of how it is built."""

import functools
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NOT_INSTALLED = ("benchmarks", "build", "dist", "docs", "examples", "tests", "tools")


@functools.cache
def sources(root=ROOT):
    """The files of the package, as paths from the root."""
    tops = [path for path in root.iterdir() if path.name not in NOT_INSTALLED]
    found = [path for top in tops if not top.name.startswith(".") for path in top.rglob("*.py")]
    return frozenset(path.relative_to(root).as_posix() for path in [*found, *root.glob("*.py")])
