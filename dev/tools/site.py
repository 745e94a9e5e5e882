"""Build the documentation as a site in build/site, by Zensical (see mkdocs.yml). Run: make docs

The pages of `docs/` and those at the root of the repository are copied into build/docs, where links
between them are links within the site.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
AT_THE_ROOT = ("CHANGELOG.md", "CONTRIBUTING.md", "DESIGN.md", "tests/README.md")
PAGES = ROOT / "build" / "docs"
_LINK = re.compile(r"\]\(([^)\s]+)\)")


def copy_pages(folder: Path) -> None:
    """Copy all pages and pictures into a folder, with links as the site has them."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "docs", folder)
    for page in folder.rglob("*.md"):
        depth = len(page.relative_to(folder).parts) - 1
        page.write_text(out_of_docs(page.read_text(encoding="utf-8"), depth), encoding="utf-8")
    for name in AT_THE_ROOT:
        text = (ROOT / name).read_text(encoding="utf-8")
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(from_the_root(text), encoding="utf-8")


def link_package() -> None:
    """Show the package under its name, as the type checker sees it; the root is the package."""
    link = ROOT / "build" / "types" / "straightline"
    link.parent.mkdir(parents=True, exist_ok=True)
    if not link.exists():
        link.symlink_to(Path("..") / "..")


def from_the_root(text: str) -> str:
    """Rewrite the links of a page of the root."""
    return _LINK.sub(lambda match: f"]({match[1].removeprefix('docs/')})", text)


def out_of_docs(text: str, depth: int) -> str:
    """Rewrite the links to pages of the root, of a page so many folders deep in `docs/`."""
    out, within = "../" * (depth + 1), "../" * depth

    def linked(match: re.Match[str]) -> str:
        name = match[1].removeprefix(out)
        if name != match[1] and name.partition("#")[0] in AT_THE_ROOT:
            return f"]({within}{name})"
        return match[0]

    return _LINK.sub(linked, text)


def main() -> int:
    """Build the site; a warning is an error."""
    link_package()
    copy_pages(PAGES)
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean"]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
