"""Write what derives from the classes of passes: registry, table of docs/index.md, navigation.

Run: python -m straightline.dev.tools.passes

The registry keeps its order, which is that of the default pipeline; a new pass comes last. Move its
line where the order matters, and run this again.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
_APART = {"manager", "utils"}
"""Folders of `passes/` whose passes are pipelines or helpers."""
_IMPORT = re.compile(r"^from \.\.([\w.]+) import (\w+) as \w+$", re.MULTILINE)


class PassClass(NamedTuple):
    """A class of a pass, as its file declares it.

    Attributes:
        module: the module below `passes`.
        kind: the class.
        name: the name in pipelines.
        summary: the first line of the docstring.
        by_default: true for a pass of the default pipeline.
    """

    module: str
    kind: str
    name: str
    summary: str
    by_default: bool

    @property
    def line(self) -> str:
        """The line of the registry."""
        return f"from ..{self.module} import {self.kind} as {self.kind}"

    @property
    def row(self) -> str:
        """The row of the table of all passes."""
        text = self.summary.removesuffix(".")
        more = "" if self.by_default else "opt-in: "
        page = f"[{self.name}](passes/{self.name}.md)"
        return f"| {page} | {more}{text[:1].lower()}{text[1:]} |"


def classes(folder: Path = ROOT / "passes") -> dict[str, PassClass]:
    """Return the passes of all families by class, in the order of their files."""
    kinds = {}
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder).with_suffix("").parts
        if len(parts) == 1 or parts[0] in _APART:
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if (
                isinstance(node, ast.ClassDef)
                and node.bases
                and "name" in (own := _constants(node))
            ):
                lines = (ast.get_docstring(node) or "").splitlines() or [""]
                default = bool(own.get("by_default", False))
                one = PassClass(".".join(parts), node.name, own["name"], lines[0], default)
                kinds[node.name] = one
    return kinds


def _constants(node: ast.ClassDef) -> dict[str, str]:
    """Return the class variables of a class that are constants."""
    return {
        item.target.id: item.value.value
        for item in node.body
        if isinstance(item, ast.AnnAssign)
        and isinstance(item.target, ast.Name)
        and isinstance(item.value, ast.Constant)
        and "ClassVar" in ast.unparse(item.annotation)
    }


def ordered(root: Path = ROOT) -> list[PassClass]:
    """Return all passes in the order of the registry, new ones last."""
    text = (root / "passes" / "manager" / "registry.py").read_text(encoding="utf-8")
    kinds = classes(root / "passes")
    names = [kind for _, kind in _IMPORT.findall(text) if kind in kinds]
    return [kinds[name] for name in dict.fromkeys((*names, *kinds))]


def registry(root: Path = ROOT) -> str:
    """Return the registry with a line for each pass."""
    text = (root / "passes" / "manager" / "registry.py").read_text(encoding="utf-8")
    first, *_, last = _IMPORT.finditer(text)
    lines = "\n".join(one.line for one in ordered(root))
    return text[: first.start()] + lines + text[last.end() :]


def index(root: Path = ROOT) -> str:
    """Return docs/index.md with a row for each pass."""
    text = (root / "docs" / "index.md").read_text(encoding="utf-8")
    rows = "\n".join(one.row for one in ordered(root))
    return re.sub(r"(^\| \[[\w-]+\]\(passes/[\w-]+\.md\) \|.*\n?)+", f"{rows}\n", text, flags=re.M)


def navigation(root: Path = ROOT) -> str:
    """Return mkdocs.yml with the page of each pass."""
    text = (root / "mkdocs.yml").read_text(encoding="utf-8")
    lines = "".join(f"      - passes/{one.name}.md\n" for one in ordered(root))
    return re.sub(r"(^      - passes/[\w-]+\.md\n)+", lines, text, flags=re.M)


def files(root: Path = ROOT) -> dict[Path, str]:
    """Return the content of each file that derives from the classes."""
    return {
        root / "passes" / "manager" / "registry.py": registry(root),
        root / "docs" / "index.md": index(root),
        root / "mkdocs.yml": navigation(root),
    }


def main(root: Path = ROOT) -> None:
    """Write the files."""
    for path, text in files(root).items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
