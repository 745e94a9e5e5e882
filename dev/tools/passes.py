"""Write what derives from the classes of passes: registry, docs/passes.md, navigation.

Run: python -m straightline.dev.tools.passes

The registry keeps its order, which is that of the default pipeline; a new pass comes last. Move its
line where the order matters, and run this again.
"""

import ast
import re
import textwrap
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
_APART = {"manager", "utils"}
"""Folders of `passes/` whose passes are pipelines or helpers."""
_COMMON = {"exactness", "max_nodes"}
"""Options that the head of docs/passes.md describes."""
_IMPORT = re.compile(r"^from \.\.([\w.]+) import (\w+) as \w+$", re.MULTILINE)


class PassClass(NamedTuple):
    """A class of a pass, as its file declares it.

    Attributes:
        module: the module below `passes`.
        kind: the class.
        name: the name in pipelines.
        summary: the first line of the docstring.
        by_default: true for a pass of the default pipeline.
        text: the docstring of the file, or of the class, below its first line: an example, and
            what the pass keeps.
        options: the entries of the class's docstring for its options.
    """

    module: str
    kind: str
    name: str
    summary: str
    by_default: bool
    text: str
    options: str

    @property
    def line(self) -> str:
        """The line of the registry."""
        return f"from ..{self.module} import {self.kind} as {self.kind}"

    @property
    def section(self) -> str:
        """The section of a pass without a page of its own."""
        parts = [f"## {self.name}", self.summary if self.by_default else f"Opt-in. {self.summary}"]
        parts += [_markdown(self.text)] if self.text else []
        entries = re.sub(r"\n\s+", " ", self.options)
        options = [
            f"- `{name}`: {text}"
            for name, text in re.findall(r"^(\w+): (.*)$", entries, re.M)
            if name not in _COMMON
        ]
        return "\n\n".join([*parts, "\n".join(options)] if options else parts)


def _markdown(text: str) -> str:
    """Return a docstring as Markdown: paragraphs with an arrow or an indent are code."""
    parts: list[str] = []
    for part in text.rstrip().split("\n\n"):
        if not ("->" in part or all(line[:4].strip() == "" for line in part.splitlines())):
            parts.append(part.replace("\n", " "))
        elif parts and parts[-1].endswith("\n```"):
            parts[-1] = f"{parts[-1][:-4]}\n\n{textwrap.dedent(part)}\n```"
        else:
            parts.append(f"```text\n{textwrap.dedent(part)}\n```")
    return "\n\n".join(parts)


def classes(folder: Path = ROOT / "passes") -> dict[str, PassClass]:
    """Return the passes of all families by class, in the order of their files."""
    kinds = {}
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder).with_suffix("").parts
        if len(parts) == 1 or parts[0] in _APART:
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        # The docstring of a file with several passes is about what these have in common.
        kinds_here = [n for n in tree.body if isinstance(n, ast.ClassDef)]
        is_alone = sum("name" in _constants(node) for node in kinds_here) == 1
        for node in tree.body:
            if (
                isinstance(node, ast.ClassDef)
                and node.bases
                and "name" in (own := _constants(node))
            ):
                text = ast.get_docstring(node) or ""
                head = (".".join(parts), node.name, own["name"], text.partition("\n")[0])
                options = re.search(r"^(?:Options|Attributes):\n(.*)", text, re.M | re.S)
                kinds[node.name] = PassClass(
                    *head,
                    by_default=bool(own.get("by_default", False)),
                    text=(is_alone and _body(ast.get_docstring(tree) or "")) or _body(text),
                    options=textwrap.dedent(options[1]) if options else "",
                )
    return kinds


def _body(text: str) -> str:
    """Return a docstring below its first paragraph, without options."""
    return re.split(r"(?:^|\n\n)(?:Options|Attributes):\n", text.partition("\n\n")[2])[0]


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


def pages(root: Path = ROOT) -> dict[str, str]:
    """Return the long page about each pass that has one, by the names before its first blank line.

    A page begins with its title and a line such as "Passes: `unroll-loops`, `unroll-scans`.".
    """
    found = {}
    for page in sorted((root / "docs" / "passes").glob("*.md")):
        head = "\n".join(page.read_text(encoding="utf-8").split("\n\n")[:2])
        names = re.findall(r"`([\w-]+)`", head) if "\nPasses: " in head else [page.stem]
        found |= dict.fromkeys(names, f"passes/{page.name}")
    return found


def reference(root: Path = ROOT) -> str:
    """Return docs/passes.md with links to passes on long pages, and a section for each other."""
    text = (root / "docs" / "passes.md").read_text(encoding="utf-8")
    long, own = pages(root), ordered(root)
    links = (f"[{one.name}]({long[one.name]}#{one.name})" for one in own if one.name in long)
    sections = "\n\n".join(one.section for one in own if one.name not in long)
    head = text.partition("\n\nOn other pages: ")[0]
    return f"{head}\n\nOn other pages: {', '.join(links)}.\n\n{sections}\n"


def navigation(root: Path = ROOT) -> str:
    """Return mkdocs.yml with the long pages about passes."""
    text = (root / "mkdocs.yml").read_text(encoding="utf-8")
    names = sorted(page.name for page in (root / "docs" / "passes").glob("*.md"))
    lines = "".join(f"      - passes/{name}\n" for name in names)
    return re.sub(r"(^      - passes/[\w-]+\.md\n)+", lines, text, flags=re.M)


def files(root: Path = ROOT) -> dict[Path, str]:
    """Return the content of each file that derives from the classes."""
    return {
        root / "passes" / "manager" / "registry.py": registry(root),
        root / "docs" / "passes.md": reference(root),
        root / "mkdocs.yml": navigation(root),
    }


def main(root: Path = ROOT) -> None:
    """Write the files."""
    for path, text in files(root).items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
