"""What makes a site of the documentation, called by mkdocs (see mkdocs.yml). Run: make docs

Pages that stand at the root of the repository become pages of the site, and links between them and
`docs/` are turned into links within it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
AT_THE_ROOT = ("CHANGELOG.md", "CONTRIBUTING.md", "DESIGN.md")
_LINK = re.compile(r"\]\(([^)\s]+)\)")


def on_config(config: Any) -> Any:
    """Show the package under its name, as the type checker sees it; the root is the package."""
    link = ROOT / "build" / "types" / "straightline"
    link.parent.mkdir(parents=True, exist_ok=True)
    if not link.exists():
        link.symlink_to(Path("..") / "..")
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add the pages of the root."""
    from mkdocs.structure.files import File

    for name in AT_THE_ROOT:
        text = (ROOT / name).read_text(encoding="utf-8")
        files.append(File.generated(config, name, content=from_the_root(text)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Links out of `docs/` to pages of the root."""
    return out_of_docs(markdown, page.file.src_uri.count("/"))


def from_the_root(text: str) -> str:
    """The text of a page of the root with links as the site has them."""
    return _LINK.sub(lambda found: f"]({found[1].removeprefix('docs/')})", text)


def out_of_docs(text: str, depth: int) -> str:
    """The text of a page, so many folders deep in `docs/`, with links to pages of the root as the
    site has them."""
    out, within = "../" * (depth + 1), "../" * depth

    def linked(found: re.Match[str]) -> str:
        name = found[1].removeprefix(out)
        if name != found[1] and name.partition("#")[0] in AT_THE_ROOT:
            return f"]({within}{name})"
        return found[0]

    return _LINK.sub(linked, text)
