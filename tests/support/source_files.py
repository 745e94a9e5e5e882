"""The files of the package, for tests of how it is built."""

import ast
import functools
import re
import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
TOOL = PROJECT["tool"]
LOWEST = tuple(map(int, re.findall(r"\d+", PROJECT["project"]["requires-python"])))
"""The lowest Python that the package is for: (3, 10)."""
NOT_INSTALLED = ("build", "dev", "dist", "docs", "examples", "tests")


@functools.cache
def sources(root=ROOT):
    """The files of the package, as paths from the root."""
    tops = [path for path in root.iterdir() if path.name not in NOT_INSTALLED]
    found = [path for top in tops if not top.name.startswith(".") for path in top.rglob("*.py")]
    return frozenset(path.relative_to(root).as_posix() for path in [*found, *root.glob("*.py")])


@functools.cache
def python_files():
    """All Python files: the package, tests, examples, benchmarks and tools."""
    folders = [ROOT / name for name in ("dev", "examples", "tests")]
    others = [path for folder in folders for path in folder.rglob("*.py")]
    return sorted([*(ROOT / name for name in sources()), *others])


def statements(node):
    """All statements below a node of a syntax tree: a fifth of what `ast.walk` visits."""
    for field in ("body", "orelse", "handlers", "finalbody", "cases"):
        for child in getattr(node, field, ()):
            if not isinstance(child, ast.ExceptHandler | ast.match_case):
                yield child
            yield from statements(child)


@functools.cache
def imports(path):
    """Imports in a file, wherever they are, each with whether it is for type checkers alone."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    typing = {
        id(inner)
        for node in statements(tree)
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    nodes = [node for node in statements(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    return tuple((node, id(node) in typing) for node in nodes)
