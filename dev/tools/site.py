"""Build the documentation as a site in build/site, by Zensical (see mkdocs.yml). Run: make docs

The pages of `docs/` and those at the root of the repository are copied into build/docs, where links
between them are links within the site. Beside them stand live examples: the report of a rewrite,
and the page of a batch.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
AT_THE_ROOT = ("CHANGELOG.md", "CONTRIBUTING.md", "DESIGN.md", "tests/README.md")
PAGES = ROOT / "build" / "docs"
SITE = ROOT / "build" / "site"
LIVE = {
    "report.md": "[Open a report](examples/report.html) of a loop that becomes straight-line code.",
    "many-models.md": "[Open the page of a batch](examples/batch.html), whose rows are links.",
}
"""Lines below the first paragraph of a page, about examples that the site alone has."""
_LINK = re.compile(r"\]\(([^)\s]+)\)")


def copy_pages(folder: Path) -> None:
    """Copy all pages and pictures into a folder, with links as the site has them."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "docs", folder)
    for page in folder.rglob("*.md"):
        depth = len(page.relative_to(folder).parts) - 1
        page.write_text(out_of_docs(page.read_text(encoding="utf-8"), depth), encoding="utf-8")
    for name, line in LIVE.items():
        title, first, rest = (folder / name).read_text(encoding="utf-8").split("\n\n", 2)
        (folder / name).write_text("\n\n".join([title, first, line, rest]), encoding="utf-8")
    for name in AT_THE_ROOT:
        text = (ROOT / name).read_text(encoding="utf-8")
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(from_the_root(text), encoding="utf-8")


def write_examples(folder: Path) -> None:
    """Rewrite the small models of the documentation, and write the pages about that."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        models, flat = Path(name) / "models", Path(name) / "flat"
        one, pages = (
            ["--report", str(folder / "report.html")],
            ["--report", str(folder / "reports")],
        )
        batch = ["-o", str(flat), "--summary", str(folder / "batch.html"), *pages, "--jobs", "1"]
        one_model = [str(models / "model.onnx"), f"{name}/out.onnx", "--shape", "x=2,6", *one]
        for command in (
            [str(ROOT / "examples" / "models.py"), str(models)],
            ["-m", "straightline", "rewrite", str(models), *batch, "--quiet"],
            ["-m", "straightline", "rewrite", *one_model, "--set", "sr=16000", "--quiet"],
        ):
            subprocess.run([sys.executable, *command], check=True, stdout=subprocess.DEVNULL)


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


def watch(process: subprocess.Popen[bytes], pages: int) -> int:
    """Show how many pages are written until a process ends, and return its code."""
    shown = 0
    while process.poll() is None:
        time.sleep(1)
        written = sum(1 for _ in SITE.rglob("*.html"))
        if written >= shown + pages // 10:
            shown = written
            print(f"{written} of {pages} pages", flush=True)
    return process.returncode


def main() -> int:
    """Build the site; a warning is an error."""
    link_package()
    print("pages", flush=True)
    copy_pages(PAGES)
    print("examples", flush=True)
    write_examples(PAGES / "examples")
    print("site", flush=True)
    shutil.rmtree(SITE, ignore_errors=True)
    command = [sys.executable, "-m", "zensical", "build", "--strict"]
    pages = sum(1 for suffix in ("md", "html") for _ in PAGES.rglob(f"*.{suffix}"))
    return watch(subprocess.Popen(command, cwd=ROOT), pages)


if __name__ == "__main__":
    sys.exit(main())
