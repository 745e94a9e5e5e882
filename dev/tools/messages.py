"""Print every text of the package that a user may read, as a list to proofread.

    python -m straightline.dev.tools.messages [FOLDER...]

A text is a string with a blank outside of docstrings and ONNX graphs; {} stands for a value.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
_APART = {"dev", "tests", "build", "examples"}
"""Folders whose texts only people who work on straightline read."""


class Text(NamedTuple):
    """A text with its line."""

    line: int
    text: str


def texts(tree: ast.AST) -> Iterator[Text]:
    """Yield the texts of a source file."""
    inner: set[int] = set()
    for node in ast.walk(tree):  # a node comes before its parts
        inner.update(map(id, _parts_of(node)))
        if isinstance(node, ast.Constant | ast.JoinedStr) and id(node) not in inner:
            text = " ".join(_text(node).split())
            if " " in text and "=>" not in text and "->" not in text:
                yield Text(node.lineno, text)


def _parts_of(node: ast.AST) -> Iterator[ast.AST]:
    """Yield parts that are no texts: docstrings, parts of f-strings, annotations."""
    if isinstance(node, ast.JoinedStr):
        yield from node.values
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        yield node.value


def _text(node: ast.Constant | ast.JoinedStr) -> str:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    return "".join(
        str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values
    )


def sources(folders: list[str], root: Path = ROOT) -> Iterator[Path]:
    """Yield the source files of the package, or of some of its folders."""
    for file in sorted(root.rglob("*.py")):
        first, *_ = parts = file.relative_to(root).parts
        shipped = first not in _APART and not any(part.startswith(".") for part in parts)
        if shipped and (not folders or "/".join(parts).startswith(tuple(folders))):
            yield file


def main(folders: list[str]) -> None:
    """Print the texts."""
    for file in sources(folders):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        for line, text in sorted(texts(tree)):
            print(f"{file.relative_to(ROOT).as_posix()}:{line}: {text}")


if __name__ == "__main__":
    main(sys.argv[1:])
